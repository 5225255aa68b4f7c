import { address, createMessage } from "envoi";
import { type FaultPlan, type MakeTrouble, subjectOf } from "./trouble";

/** Milliseconds between two bursts, and the letters of each. */
const PAUSE = 5;
const BURST = 250;
/** What a second logs of dead letters: ten, and how many more there were. */
const LINES = 11;

export const fault: FaultPlan = {
  name: "a flood of dead letters",
  about: "50,000 messages a second are sent to an address that nobody has.",
  rate: 1_000,
  mix: { ask: 1 },
  allowed: {},
  module: import.meta.url,
};

const make: MakeTrouble = ({ system, lines }) => {
  const { router } = system;
  const nobody = address("nobody");
  let sent = 0;
  let published = 0;
  let began = 0;
  let seconds = 0;
  let timer: Timer | undefined;
  router.deadLetters.subscribe(({ reason }) => {
    if (reason === "no-recipient") published++;
  });
  return {
    operations: {},
    begin() {
      began = performance.now();
      timer = setInterval(() => {
        for (let i = 0; i < BURST; i++) router.tell(createMessage(nobody, "say", sent++));
      }, PAUSE);
    },
    end() {
      clearInterval(timer);
      seconds = (performance.now() - began) / 1_000;
    },
    happened: () => ({ "dead letters": published }),
    complaints() {
      const failed: string[] = [];
      if (published !== sent) failed.push(`Of ${sent} messages to nobody, ${published} were published as dead.`);
      const most = LINES * Math.ceil(seconds + 1);
      if (lines() > most) failed.push(`${lines()} lines were logged in ${seconds.toFixed(1)} s; ${most} may be.`);
      const { dead } = router.audit();
      if (dead !== sent) failed.push(`The audit counts ${dead} dead letters of ${sent}.`);
      return failed;
    },
  };
};

export const open = subjectOf(make);
