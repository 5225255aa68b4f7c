import { createSystem, defineProtocol, Type } from "envoi";
import { Proof } from "../harness/sampling";
import type { Prepared, Suite } from "../harness/suite";

/** All that envoi does: a call of each timed row of the suites in turn, and of what fails. */
export async function openMixed(suites: readonly Suite[]) {
  const kinds: [name: string, operations: number, prepared: Prepared][] = [["what fails", FAILING, failing(FAILING)]];
  for (const { rows } of suites) {
    for (const row of rows) if (row.kind === "timed") kinds.push([row.name, row.operations, await row.setup()]);
  }
  const proofs = kinds.map((kind) => new Proof(...kind));
  const operations = kinds.reduce((sum, [, each]) => sum + each, 0);
  return {
    round: async () => {
      for (const proof of proofs) await proof.call();
      return operations;
    },
    stop: async () => {
      for (const [, , prepared] of kinds) await prepared.teardown?.();
    },
  };
}

const FAILING = 200;

const Trouble = defineProtocol("trouble", { silence: { reply: Type.Unknown() }, endless: { stream: Type.Number() } });

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
    for (const ask of await Promise.all(late)) if (ask.isErr() && ask.error.kind === "timeout") completed++;
    for (const ask of await Promise.all(cancelled)) if (ask.isErr() && ask.error.kind === "cancelled") completed++;
    for (let i = 0; i < quarter; i++) {
      for await (const item of trouble.stream("endless")) if (item === 1) break;
      completed++;
    }
    const { accepted, handled, failed, dead, queued, running } = system.router.audit();
    if (accepted !== handled + failed + dead + queued + running) throw new Error("the audit does not balance");
  };
  return { run, completed: () => completed, teardown: () => system.shutdown() };
}
