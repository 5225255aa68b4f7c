import { createSystem, defineProtocol, type RefTo, type System, Type } from "envoi";
import { arithmetic } from "../harness/code-floors";
import { Proof } from "../harness/sampling";
import type { Prepared } from "../harness/suite";
import { executions, openActors, whyNot } from "../subjects/code";
import { byActor, write, writeAndDelete, writeAndRead } from "../subjects/file-kinds";
import { offers, pool, topic } from "../suites/flow.bench";
import { chain, fanOut, mixed, pingPong, spawnStop } from "../suites/patterns.bench";
import { items } from "../suites/streams.bench";
import { restart, stash, watch } from "../suites/survival.bench";
import type { OpenLoad } from "./load";

const OPERATIONS = 200;

/** All that envoi does, some of each in turn; code as far as this machine can confine it. */
export const open: OpenLoad = async () => {
  const kinds: Record<string, [operations: number, prepared: Prepared]> = {
    "ping-pong": [OPERATIONS, pingPong(OPERATIONS)],
    chain: [OPERATIONS, chain(OPERATIONS, 10)],
    "fan-out": [OPERATIONS, fanOut(OPERATIONS, 10)],
    "tells and asks": [OPERATIONS, mixed(OPERATIONS, 100)],
    "spawn and stop": [OPERATIONS, spawnStop(OPERATIONS)],
    restart: [OPERATIONS, restart(OPERATIONS)],
    watch: [OPERATIONS, watch(OPERATIONS)],
    stash: [OPERATIONS, stash(OPERATIONS, 100)],
    offers: [OPERATIONS, offers(OPERATIONS, 16, 8)],
    topic: [OPERATIONS, topic(OPERATIONS, 10)],
    pool: [OPERATIONS, pool(OPERATIONS, 100, { size: 4, routing: "least-busy" })],
    stream: [OPERATIONS, items(OPERATIONS, 100, "ticks", 16)],
    "what fails": [OPERATIONS, failing(OPERATIONS)],
    write: [10, byActor(write(10_000), 10)],
    "write and read": [10, byActor(writeAndRead, 10)],
    "write and delete": [10, byActor(writeAndDelete, 10)],
  };
  if ((await whyNot("sandbox")) === undefined) {
    kinds["code"] = [10, executions(arithmetic)(await openActors("sandbox"), 10, false)];
  }
  const all = Object.entries(kinds).map(([name, [operations, prepared]]) => ({
    operations,
    prepared,
    proof: new Proof(name, operations, prepared),
  }));
  return {
    round: async () => {
      for (const { proof } of all) await proof.call();
      return all.reduce((sum, { operations }) => sum + operations, 0);
    },
    stop: async () => {
      for (const { prepared } of all) await prepared.teardown?.();
    },
  };
};

const Trouble = defineProtocol("trouble", {
  silence: { reply: Type.Unknown() },
  endless: { stream: Type.Number() },
});

/** Asks that time out, tells that find the mailbox full, and streams that are left early: a quarter each, and as many cancelled. */
function failing(operations: number): Prepared {
  const system = createSystem({ logger: { warn: () => {}, error: () => {} } });
  const quarter = operations / 4;
  const width = { capacity: 2 * quarter, concurrency: quarter };
  const trouble: RefTo<typeof Trouble> = system.spawn(
    "trouble",
    Trouble,
    (ctx) => ({
      silence: () => new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve())),
      async *endless() {
        for (let i = 0; ; i++) yield i;
      },
    }),
    width,
  );
  let completed = 0;
  let dead = 0;
  system.router.deadLetters.subscribe(({ reason }) => {
    if (reason === "mailbox-full") dead++;
  });
  const run = async () => {
    const before = dead;
    const ending = new AbortController();
    const asks = Array.from({ length: quarter }, () => trouble.ask("silence", { timeout: 5 }));
    const cancelled = Array.from({ length: quarter }, () => trouble.ask("silence", { signal: ending.signal }));
    for (let i = 0; i < quarter; i++) trouble.tell("silence");
    ending.abort();
    for (const ask of await Promise.all(asks)) if (ask.isErr() && ask.error.kind === "timeout") completed++;
    for (const ask of await Promise.all(cancelled)) if (ask.isErr() && ask.error.kind === "cancelled") completed++;
    completed += dead - before;
    for (let i = 0; i < quarter; i++) completed += await leave(trouble);
    expectBalance(system);
  };
  return { run, completed: () => completed, teardown: () => system.shutdown() };
}

/** Takes two items of a stream that has no end. */
async function leave(trouble: RefTo<typeof Trouble>): Promise<number> {
  for await (const item of trouble.stream("endless")) if (item === 1) return 1;
  return 0;
}

function expectBalance({ router }: System): void {
  const { accepted, handled, failed, dead, queued, running } = router.audit();
  if (accepted !== handled + failed + dead + queued + running) {
    throw new Error(`the audit does not balance: ${JSON.stringify(router.audit())}`);
  }
}
