import { createMessage, createSystem, defineProtocol, type System, Type } from "envoi";
import { type Isolation, spawnCodeExecution } from "envoi/tools";
import { arithmetic, runInBareProcess, type Sample, startEcho } from "../harness/code-floors";
import { liveHeap } from "../harness/heap";
import { descendants, residentBytes } from "../harness/processes";
import { median, medianSlope } from "../harness/statistics";
import type { Readings } from "../harness/suite";
import { CODE, execute, openSession, ran } from "./code";

async function once({ router }: System, { code, value, logs }: Sample, session?: string): Promise<void> {
  const asked = session && router.ask(createMessage(CODE, "execute", { code, session }));
  const told = ran(await (asked || execute(router, code)));
  if (told.value !== value || told.logs !== logs) throw new Error(`${String(told.value)} came of ${code}`);
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = Bun.nanoseconds();
  await work();
  return (Bun.nanoseconds() - start) / 1_000;
}

async function withCode(isolation: Isolation, work: (system: System) => Promise<Readings>): Promise<Readings> {
  const system = createSystem();
  spawnCodeExecution(system, { isolation });
  await once(system, arithmetic);
  return work(system).finally(() => system.shutdown());
}

const coldStart = async (isolation: Isolation): Promise<Readings> => {
  const system = createSystem();
  const time = await timeOf(() => {
    spawnCodeExecution(system, { isolation });
    return once(system, arithmetic);
  });
  await system.shutdown();
  return { time: time / 1_000 };
};

export const trustedColdStart = (): Promise<Readings> => coldStart("trusted");
export const sandboxColdStart = (): Promise<Readings> => coldStart("sandbox");
export const processColdStart = (): Promise<Readings> => coldStart("process");

export async function startOfProcess(times: number): Promise<Readings> {
  const taken: number[] = [];
  for (let i = 0; i < times; i++) {
    const work = async () => {
      if (!(await runInBareProcess())) throw new Error("the process did not print the value");
    };
    taken.push((await timeOf(work)) / 1_000);
  }
  return { time: median(taken) };
}

const WARMING = 2; // As many executions go before each that is counted: engines compile for some 550 of them.

const Adder = defineProtocol("adder", { add: { payload: Type.Object({ n: Type.Number() }), reply: Type.Number() } });

const calling = (calls: number): Sample => ({
  code: `let n = 0; for (let i = 0; i < ${calls}; i++) n = await tools.adder.add({ n }); n`,
  value: calls,
  logs: 0,
});

/** A run that calls a tool eleven times and one that calls it once, in turns; a call is a tenth of the difference. */
export const toolCall = async (runs: number): Promise<Readings> => {
  const system = createSystem();
  const adder = system.spawn("adder", Adder, () => ({ add: ({ n }) => n + 1 }));
  spawnCodeExecution(system, { tools: { adder } });
  const subjects = [calling(1), calling(11)].map((code) => ({ code, times: [] as number[] }));
  for (let i = -runs * WARMING; i < runs; i++) {
    for (const { code, times } of subjects) {
      const time = await timeOf(() => once(system, code));
      if (i >= 0) times.push(time);
    }
  }
  await system.shutdown();
  const [one = 0, eleven = 0] = subjects.map(({ times }) => median(times));
  return { "a call": (eleven - one) / 10, "a run of one call": one };
};

async function isReady({ router }: System): Promise<void> {
  for (let waited = 0; waited < 5_000; waited++) {
    const answer = await router.ask(createMessage(CODE, "inspect", undefined));
    // By the protocol.
    const { tiers } = (answer.unwrapOr(undefined) as { value: { tiers: { idle: number; processes: number }[] } }).value;
    if (tiers.every(({ idle, processes }) => idle > 0 && idle === processes)) return;
    await Bun.sleep(1);
  }
  throw new Error("its processes do not come to rest");
}

const REST = 20; // Milliseconds in which a process that is ready has rehearsed, and its host has not yet gone cold.

const START = 60; // Milliseconds that a bare process has to start, on a machine that is slow.

/** Executions in a session, whose process is its own; then each in a process that is ready, which runs nothing else. */
export const handOver = (executions: number): Promise<Readings> =>
  withCode("process", async (system) => {
    const session = await openSession(system.router);
    const kept: number[] = [];
    // As many again before are not counted: what the host does for each is compiled then.
    for (let i = -executions * 50; i < executions * 50; i++) {
      const time = await timeOf(() => once(system, arithmetic, session));
      if (i >= 0) kept.push(time);
    }
    await system.router.ask(createMessage(CODE, "endSession", { session }));
    const single: number[] = [];
    for (let i = 0; i < executions; i++) {
      await isReady(system);
      await Bun.sleep(REST);
      single.push(await timeOf(() => once(system, arithmetic)));
    }
    return { "one that is ready": median(single), "that of a session": median(kept) };
  });

/** The least of both: a line to a process and back, the first one after it has started and rested, and one after the other. */
export async function lineHandedOver(times: number): Promise<Readings> {
  const first: number[] = [];
  const later: number[] = [];
  for (let i = 0; i < times; i++) {
    const { echo, end } = startEcho();
    const echoed = async () => {
      if (!(await echo())) throw new Error("it was not echoed");
    };
    await Bun.sleep(START);
    first.push(await timeOf(echoed));
    for (let j = 0; j < 50; j++) later.push(await timeOf(echoed));
    await end();
  }
  return { "one that is ready": median(first), "that of a session": median(later) };
}

const STRETCH = 50;

/** The growth of memory with each execution. As many are run before, uncounted: the host's heap takes that long to settle. */
export const memorySlope = (executions: number): Promise<Readings> =>
  withCode("sandbox", async (system) => {
    for (let i = 0; i < executions; i++) await once(system, arithmetic);
    const heap: number[] = [];
    const host: number[] = [];
    const pool: number[] = [];
    for (let done = 0; done <= executions; done += STRETCH) {
      heap.push(liveHeap());
      host.push(residentBytes(process.pid));
      pool.push(descendants(process.pid).reduce((sum, pid) => sum + residentBytes(pid), 0));
      for (let i = 0; done < executions && i < STRETCH; i++) await once(system, arithmetic);
    }
    const last = (points: readonly number[]) => (points.at(-1) ?? 0) / 1e6;
    return {
      "host heap slope": medianSlope(heap) / STRETCH,
      "host RSS slope": medianSlope(host) / STRETCH,
      "pool RSS slope": medianSlope(pool) / STRETCH,
      "host RSS": last(host),
      "pool RSS": last(pool),
    };
  });
