import type { Trial } from "../room";
import { ONE_AT_A_TIME } from "../standing";
import { type ActorPeer, type Kind, kinds } from "./peer";

/** Something that one may rely on, or not. */
export interface Check {
  readonly name: string;
  /** What is said of a peer that does not hold it. */
  readonly lack: string;
  /** Whether it asks, so that it says something of peers with an ask of their own alone. */
  readonly isOfAsks: boolean;
  readonly holds: (peer: ActorPeer) => Promise<boolean>;
}

/** More than a message needs anywhere, in milliseconds. */
const LONG = 500;
const SHORT_TIMEOUT = 50;
const LONG_TIMEOUT = 10 * LONG;
/** As many as overflow a stack on which each leaves a few calls. */
const CHAIN = 20_000;

const spawn = (peer: ActorPeer, kind: Kind, name: string = kind): unknown =>
  peer.spawn === undefined ? peer.spawnKind?.(kind) : peer.spawn(name, kinds[kind]());

/** What an ask gave within `LONG`: its value, that it failed, or nothing. */
async function outcomeOf(
  peer: ActorPeer,
  ask: () => Promise<unknown>,
): Promise<{ readonly value: unknown } | "failed" | "nothing"> {
  const asked = (async () => {
    try {
      return { value: peer.valueOf(await ask()) };
    } catch {
      return "failed" as const;
    }
  })();
  return Promise.race([asked, Bun.sleep(LONG).then(() => "nothing" as const)]);
}

const answers = async (peer: ActorPeer, actor: unknown): Promise<boolean> => {
  const outcome = await outcomeOf(peer, () => peer.ask(actor, "there", LONG_TIMEOUT));
  return typeof outcome === "object" && outcome.value === "there";
};

/** Has an actor throw, and tells whether its sender was spared, and how many errors nobody caught. */
async function afterThrow(
  peer: ActorPeer,
  actor: unknown,
): Promise<{ readonly isSpared: boolean; readonly uncaught: number }> {
  let uncaught = 0;
  const count = (): void => {
    uncaught++;
  };
  process.on("uncaughtException", count).on("unhandledRejection", count);
  let isSpared = true;
  try {
    peer.tell(actor, "fail");
  } catch {
    isSpared = false;
  }
  await Bun.sleep(LONG / 5);
  process.off("uncaughtException", count).off("unhandledRejection", count);
  return { isSpared, uncaught };
}

export const checks: readonly Check[] = [
  {
    name: "`tell` returns before the handler runs",
    lack: "`tell` runs the handler on the caller's stack",
    isOfAsks: false,
    async holds(peer) {
      if (peer.spawn === undefined) {
        const outcome = await outcomeOf(peer, async () => peer.ask(await spawn(peer, "thread"), "where"));
        return typeof outcome === "object" && outcome.value === false;
      }
      let handled = 0;
      const actor = await peer.spawn("noted", () => {
        handled++;
      });
      peer.tell(actor, 1);
      const isLate = handled === 0;
      await Bun.sleep(LONG / 5);
      if (handled !== 1) throw new Error(`${handled} of 1 messages were handled`);
      return isLate;
    },
  },
  {
    name: ONE_AT_A_TIME,
    lack: "the next message does not wait for the promise of the one before",
    isOfAsks: false,
    async holds(peer) {
      const slow = await spawn(peer, "slow");
      for (let i = 0; i < 3; i++) peer.tell(slow, "work");
      await Bun.sleep(LONG / 2);
      const outcome = await outcomeOf(peer, () => peer.ask(slow, "how many", LONG_TIMEOUT));
      if (typeof outcome === "string") throw new Error("it did not tell how many it worked at");
      if (!(Number(outcome.value) >= 1)) throw new Error("it did not work");
      return outcome.value === 1;
    },
  },
  {
    name: "a message goes along 20,000 actors",
    lack: "a message that is handed along 20,000 actors overflows the stack",
    isOfAsks: false,
    async holds(peer) {
      if (peer.spawn === undefined) throw new Error("nobody starts so many workers");
      let arrived = 0;
      let next = await peer.spawn("last", () => {
        arrived++;
      });
      for (let i = 1; i < CHAIN; i++) {
        const to = next;
        next = await peer.spawn(`link-${i}`, (message) => peer.tell(to, message));
      }
      const isCaught = (): void => {}; // An overflow far from here ends the chain, not the check.
      process.on("uncaughtException", isCaught).on("unhandledRejection", isCaught);
      try {
        peer.tell(next, 1);
      } catch {
        return false;
      }
      for (let i = 0; i < 20 && arrived === 0; i++) await Bun.sleep(LONG / 5);
      return arrived === 1;
    },
  },
  {
    name: "an ask times out",
    lack: "an ask has no timeout",
    isOfAsks: true,
    async holds(peer) {
      const mute = await spawn(peer, "mute");
      return (await outcomeOf(peer, () => peer.ask(mute, "anyone?", SHORT_TIMEOUT))) === "failed";
    },
  },
  {
    name: "an asker is told that the handler threw",
    lack: "an asker is not told that the handler threw",
    isOfAsks: true,
    async holds(peer) {
      const frail = await spawn(peer, "frail");
      return (await outcomeOf(peer, () => peer.ask(frail, "fail", LONG_TIMEOUT))) === "failed";
    },
  },
  {
    name: "a throw harms neither sender nor process",
    lack: "what a handler throws is thrown in its sender, or nobody in the process catches it",
    isOfAsks: false,
    async holds(peer) {
      const other = await spawn(peer, "echo");
      const { isSpared, uncaught } = await afterThrow(peer, await spawn(peer, "frail"));
      return isSpared && uncaught === 0 && (await answers(peer, other));
    },
  },
  {
    name: "an actor goes on after a throw",
    lack: "an actor whose handler threw handles nothing more, as it comes",
    isOfAsks: false,
    async holds(peer) {
      const frail = await spawn(peer, "frail");
      await afterThrow(peer, frail);
      return answers(peer, frail).catch(() => false);
    },
  },
  {
    name: "a stopped actor handles nothing",
    lack: "an actor handles messages after it was stopped",
    isOfAsks: false,
    async holds(peer) {
      if (peer.spawn === undefined || peer.stop === undefined) throw new Error("there is nothing to stop");
      let handled = 0;
      const actor = await peer.spawn("mortal", () => {
        handled++;
      });
      peer.tell(actor, 1);
      await Bun.sleep(LONG / 5);
      if (handled !== 1) throw new Error(`${handled} of 1 messages were handled`);
      await peer.stop(actor);
      const before = handled; // The floors stop by a message.
      try {
        peer.tell(actor, 2);
      } catch {
        // A sender that is told at once has its answer.
      }
      await Bun.sleep(LONG / 5);
      return handled === before;
    },
  },
];

/** Tries a check on a candidate, in a process of its own. */
export const checking: Trial<ActorPeer> = async (peer, { argument, tell }) => {
  const check = checks.find(({ name }) => name === argument);
  if (check === undefined) throw new Error(`There is no check ${argument}.`);
  tell({ kind: "ended", readings: {}, words: (await check.holds(peer)) ? "holds" : "" });
};
