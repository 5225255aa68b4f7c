import { address, defineProtocol, type Overflow, type System, Type } from "envoi";
import type { Operation } from "../subject";
import { type FaultPlan, type MakeTrouble, subjectOf, TIMEOUT } from "./trouble";

const WAITING = address("wait");
const Narrow = defineProtocol("narrow", { say: { payload: Type.Number(), reply: Type.Number() } });
/** Messages that wait. */
const CAPACITY = 20;
/** What a message takes, in milliseconds. */
const SLOW = 20;

export const fault: FaultPlan = {
  name: "mailboxes full",
  about:
    "Three actors, each with room for 20 messages and asked 200 times a second, take 20 ms for each: one refuses what it cannot hold, one drops the oldest, and one lets its askers wait.",
  rate: 800,
  mix: { reject: 1, "drop-oldest": 1, wait: 1, ask: 1 },
  allowed: { reject: ["mailbox-full"], "drop-oldest": ["mailbox-full"], wait: ["mailbox-full", "timeout"] },
  module: import.meta.url,
};

const make: MakeTrouble = ({ system }) => {
  let delay = 0;
  let slowed = 0;
  let dead = 0;
  let longest = 0;
  let watch: Timer | undefined;
  system.router.deadLetters.subscribe(() => {
    dead++;
  });
  const say = async (number: number) => {
    if (delay > 0) {
      slowed++;
      await Bun.sleep(delay);
    }
    return number;
  };
  const asked = (overflow: Overflow): Operation => {
    const narrow = system.spawn(overflow, Narrow, () => ({ say }), { capacity: CAPACITY, overflow });
    return async (number) => {
      const answer = await narrow.ask("say", number, { timeout: TIMEOUT });
      if (answer.isErr()) return answer.error.kind;
      return answer.value === number ? number : "wrong";
    };
  };
  return {
    operations: { reject: asked("reject"), "drop-oldest": asked("drop-oldest"), wait: asked("wait") },
    begin() {
      delay = SLOW;
      watch = setInterval(() => {
        longest = Math.max(longest, longestQueue(system));
      }, 1);
    },
    end() {
      delay = 0;
      clearInterval(watch);
    },
    happened: () => ({ "slow messages": slowed, "dead letters": dead, "messages in the fullest mailbox": longest }),
    complaints() {
      const failed: string[] = [];
      if (longest > CAPACITY) failed.push(`A mailbox for ${CAPACITY} messages held ${longest}.`);
      const { dead: counted } = system.router.audit();
      if (counted !== dead) failed.push(`The audit counts ${counted} dead letters, and ${dead} were published.`);
      return failed;
    },
  };
};

/** Those that let their askers wait count them too. */
const longestQueue = (system: System): number =>
  Math.max(...system.inspect().map(({ address, queued }) => (address === WAITING ? 0 : queued)));

export const open = subjectOf(make);
