import { createSystem, defineProtocol, type System, Type } from "envoi";
import { arithmetic } from "../harness/code-floors";
import { Proof } from "../harness/sampling";
import type { Prepared } from "../harness/suite";
import { executions, openActors, whyNot } from "../subjects/code";
import { byActor, write, writeAndDelete, writeAndRead } from "../subjects/file-kinds";
import { offers, pool, topic } from "../suites/flow.bench";
import { chain, fanOut, mixed, pingPong, spawnStop } from "../suites/patterns.bench";
import { items } from "../suites/streams.bench";
import { restart, stash, watch } from "../suites/survival.bench";

const MANY = 200;
const FEW = 10;

/** All that envoi does, some of each in turn; code as far as this machine can confine it. */
export async function openMixed() {
  const kinds: Record<string, [operations: number, prepared: Prepared]> = {
    ...{ "ping-pong": [MANY, pingPong(MANY)], chain: [MANY, chain(MANY, 10)], "fan-out": [MANY, fanOut(MANY, 10)] },
    ...{ "tells and asks": [MANY, mixed(MANY, 100)], "spawn and stop": [MANY, spawnStop(MANY)] },
    ...{ restart: [MANY, restart(MANY)], watch: [MANY, watch(MANY)], stash: [MANY, stash(MANY, 100)] },
    ...{ offers: [MANY, offers(MANY, 16, 8)], topic: [MANY, topic(MANY, 10)], "what fails": [MANY, failing(MANY)] },
    pool: [MANY, pool(MANY, 100, { size: 4, routing: "least-busy" })],
    stream: [MANY, items(MANY, 100, "ticks", 16)],
    write: [FEW, byActor(write(10_000), FEW)],
    "write and read": [FEW, byActor(writeAndRead, FEW)],
    "write and delete": [FEW, byActor(writeAndDelete, FEW)],
  };
  if ((await whyNot("sandbox")) === undefined)
    kinds["code"] = [FEW, executions(arithmetic)(await openActors("sandbox"), FEW)];
  const proofs = Object.entries(kinds).map(([name, [operations, prepared]]) => new Proof(name, operations, prepared));
  const operations = Object.values(kinds).reduce((sum, [each]) => sum + each, 0);
  return {
    round: async () => {
      for (const proof of proofs) await proof.call();
      return operations;
    },
    stop: async () => {
      for (const [, prepared] of Object.values(kinds)) await prepared.teardown?.();
    },
  };
}

const Trouble = defineProtocol("trouble", {
  silence: { reply: Type.Unknown() },
  endless: { stream: Type.Number() },
});

/** Asks that time out, asks that are cancelled, tells that find the mailbox full, and streams that are left early: a quarter each. */
function failing(operations: number): Prepared {
  const system = createSystem({ logger: { warn: () => {}, error: () => {} } });
  const quarter = operations / 4;
  const handlers = (ctx: { readonly signal: AbortSignal }) => ({
    silence: () => new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve())),
    async *endless() {
      for (let i = 0; ; i++) yield i;
    },
  });
  const trouble = system.spawn("trouble", Trouble, handlers, { capacity: 2 * quarter, concurrency: quarter });
  let completed = 0;
  system.router.deadLetters.subscribe(({ reason }) => {
    if (reason === "mailbox-full") completed++;
  });
  const run = async () => {
    const ending = new AbortController();
    const late = Array.from({ length: quarter }, () => trouble.ask("silence", { timeout: 5 }));
    const cancelled = Array.from({ length: quarter }, () => trouble.ask("silence", { signal: ending.signal }));
    for (let i = 0; i < quarter; i++) trouble.tell("silence");
    ending.abort();
    for (const [asks, kind] of [
      [late, "timeout"],
      [cancelled, "cancelled"],
    ] as const)
      for (const ask of await Promise.all(asks)) if (ask.isErr() && ask.error.kind === kind) completed++;
    for (let i = 0; i < quarter; i++) {
      for await (const item of trouble.stream("endless")) if (item === 1) break;
      completed++;
    }
    expectBalance(system);
  };
  return { run, completed: () => completed, teardown: () => system.shutdown() };
}

function expectBalance({ router }: System): void {
  const { accepted, handled, failed, dead, queued, running } = router.audit();
  if (accepted !== handled + failed + dead + queued + running)
    throw new Error(`the audit does not balance: ${JSON.stringify(router.audit())}`);
}
