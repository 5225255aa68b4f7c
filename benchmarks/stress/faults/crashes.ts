import { defineProtocol, Type } from "envoi";
import { createRandom } from "envoi/testing";
import { type FaultPlan, type MakeTrouble, subjectOf, TIMEOUT } from "./trouble";

const Frail = defineProtocol("frail", { say: { payload: Type.Number(), reply: Type.Number() } });
const SHARE = 0.01;

export const fault: FaultPlan = {
  name: "actors that crash",
  about: "One message in a hundred, by chance, makes its actor throw, which then begins anew.",
  rate: 2_000,
  mix: { frail: 3, ask: 1 },
  allowed: { frail: ["handler-failed"] },
  module: import.meta.url,
};

const make: MakeTrouble = ({ system }) => {
  const random = createRandom(1);
  let share = 0;
  let thrown = 0;
  let told = 0;
  let restarted = 0;
  let wrong = 0;
  system.events.subscribe((event) => {
    if (event.kind === "restarted") restarted++;
  });
  const frail = system.spawn("frail", Frail, () => {
    let isRunning = false;
    return {
      async say(number) {
        if (isRunning) wrong++;
        isRunning = true;
        if (random.chance(share)) {
          thrown++;
          throw new Error("as it should");
        }
        await undefined;
        isRunning = false;
        return number;
      },
    };
  });
  return {
    operations: {
      async frail(number) {
        const answer = await frail.ask("say", number, { timeout: TIMEOUT });
        if (answer.isOk()) return answer.value === number ? number : "wrong";
        if (answer.error.kind === "handler-failed") told++;
        return answer.error.kind;
      },
    },
    begin() {
      share = SHARE;
    },
    end() {
      share = 0;
    },
    happened: () => ({ crashes: thrown, restarts: restarted }),
    complaints() {
      const failed: string[] = [];
      if (told !== thrown) failed.push(`Of ${thrown} crashes, ${told} were told to who had asked.`);
      if (restarted !== thrown) failed.push(`After ${thrown} crashes, the actor was made anew ${restarted} times.`);
      if (wrong > 0) failed.push(`${wrong} messages were handled beside another one.`);
      const { failed: counted } = system.router.audit();
      if (counted !== thrown) failed.push(`The audit counts ${counted} that failed.`);
      return failed;
    },
  };
};

export const open = subjectOf(make);
