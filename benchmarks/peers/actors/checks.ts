import { Lacks, type Task } from "../room";
import { ONE_AT_A_TIME } from "../standing";
import type { ActorPeer } from "./peer";

const LONG = 500; // Milliseconds: more than a message needs anywhere.

/** The outcome of an ask within `LONG`: its value, "failed" or "nothing". */
async function outcomeOf(peer: ActorPeer, actor: unknown, message: unknown, timeout = 10 * LONG) {
  const asked = Promise.try(async () => {
    const answer = await peer.ask(actor, message, timeout);
    return { value: peer.replyIn === undefined ? answer : peer.replyIn(answer) };
  }).catch(() => "failed" as const);
  return Promise.race([asked, Bun.sleep(LONG).then(() => "nothing" as const)]);
}

const spawnFrail = (peer: ActorPeer) =>
  peer.spawn("frail", (message) => {
    if (message === "fail") throw new Error("as it was told to");
    return message;
  });

async function answers(peer: ActorPeer, actor: unknown): Promise<boolean> {
  const outcome = await outcomeOf(peer, actor, "there");
  return typeof outcome === "object" && outcome.value === "there";
}

/** Does what makes an actor throw, and tells whether nobody else was harmed: neither the sender nor the process. */
async function harmsNobody(work: () => unknown): Promise<boolean> {
  let isSpared = true;
  const harm = (): void => {
    isSpared = false;
  };
  process.on("uncaughtException", harm).on("unhandledRejection", harm);
  await Promise.try(work).catch(harm);
  await Bun.sleep(LONG / 5);
  process.off("uncaughtException", harm).off("unhandledRejection", harm);
  return isSpared;
}

function expectAsk(peer: ActorPeer): void {
  if (peer.hasNoAsk) throw new Lacks("no ask of its own");
}

const promises: Readonly<Record<string, (peer: ActorPeer) => Promise<boolean>>> = {
  async "`tell` returns before the handler runs"(peer) {
    let handled = 0;
    const actor = await peer.spawn("noted", () => void handled++);
    peer.tell(actor, 1);
    const isLate = handled === 0;
    await Bun.sleep(LONG / 5);
    if (handled !== 1) throw new Error(`${handled} of 1 messages were handled`);
    return isLate;
  },

  async [ONE_AT_A_TIME](peer) {
    let [handled, working, most] = [0, 0, 0];
    const slow = await peer.spawn("slow", async () => {
      most = Math.max(most, ++working);
      await Bun.sleep(LONG / 25);
      working--;
      handled++;
    });
    for (let i = 0; i < 3; i++) peer.tell(slow, i);
    await Bun.sleep(LONG);
    if (handled !== 3) throw new Error(`${handled} of 3 messages were handled`);
    return most === 1;
  },

  async "an ask times out"(peer) {
    expectAsk(peer);
    const mute = await peer.spawn("mute", () => new Promise(() => {}));
    return (await outcomeOf(peer, mute, "anyone?", LONG / 10)) === "failed";
  },

  async "an asker is told that the handler threw"(peer) {
    expectAsk(peer);
    const frail = await spawnFrail(peer);
    let outcome: unknown;
    await harmsNobody(async () => {
      outcome = await outcomeOf(peer, frail, "fail");
    });
    return outcome === "failed";
  },

  async "a throw harms neither sender nor process"(peer) {
    const other = await peer.spawn("echo", (message) => message);
    const frail = await spawnFrail(peer);
    return (await harmsNobody(() => peer.tell(frail, "fail"))) && answers(peer, other);
  },

  async "an actor goes on after a throw"(peer) {
    const frail = await spawnFrail(peer);
    await harmsNobody(() => peer.tell(frail, "fail"));
    return answers(peer, frail);
  },
};

export const checks: readonly Task<ActorPeer>[] = Object.entries(promises).map(([row, holds]) => ({
  name: row,
  heads: [{ table: "checks", row, unit: "" }],
  kind: "tried",
  prepare: (peer) => async () => [{ holds: await holds(peer) }],
}));
