import { address, createMessage, createSystem, defineProtocol, type System, Type } from "envoi";
import { type Isolation, spawnCodeExecution } from "envoi/tools";
import { arithmetic, type Sample, samples, startEcho } from "../harness/code-floors";
import { liveHeap } from "../harness/heap";
import { descendants, residentBytes } from "../harness/processes";
import { ascending, median, medianSlope, quantile } from "../harness/statistics";
import type { Readings } from "../harness/suite";
import { CODE, compile, execute, openSession, ran } from "./code";

// What the probes about code run in a process of its own.

/** Runs a sample once, and throws unless what must come of it came. */
async function once({ router }: System, { code, value, logs }: Sample): Promise<void> {
  const told = ran(await execute(router, code));
  if (told.value !== value || told.logs !== logs) throw new Error(`${String(told.value)} came of ${code}`);
}

/** Works with a code actor that has run something, which ends with it. */
async function withCode(
  isolation: Isolation | undefined,
  work: (system: System) => Promise<Readings>,
): Promise<Readings> {
  const system = createSystem();
  try {
    spawnCodeExecution(system, isolation === undefined ? {} : { isolation });
    await once(system, arithmetic);
    return await work(system);
  } finally {
    await system.shutdown();
  }
}

const ASKS = 200;
/** Turns that are not counted. */
const WARM_UP = 50;
const Echo = defineProtocol("echo", {
  execute: { payload: Type.Object({ code: Type.String() }), reply: Type.Object({ code: Type.String() }) },
});

/**
 * Times trusted executions of one source and asks of an actor that gives back what it is sent, both through the router; in
 * turns, and each by its median over the turns. What is left is what running code adds to an ask.
 */
export const trustedOverAsk = (turns: number): Promise<Readings> =>
  withCode("trusted", async (system) => {
    const { router } = system;
    const { code, value } = arithmetic;
    system.spawn("echo", Echo, () => ({ execute: (payload) => payload }));
    const echo = address("echo");
    let wrong = 0;
    const executed = async () => {
      for (let i = 0; i < ASKS; i++) {
        if (ran(await router.ask(createMessage(CODE, "execute", { code }))).value !== value) wrong++;
      }
    };
    const program = await compile(router, code);
    const ranCompiled = async () => {
      for (let i = 0; i < ASKS; i++) {
        if (ran(await router.ask(createMessage(CODE, "run", { program }))).value !== value) wrong++;
      }
    };
    const asked = async () => {
      for (let i = 0; i < ASKS; i++) {
        const answer = await router.ask(createMessage(echo, "execute", { code }));
        if (answer.isErr() || (answer.value as { code: string }).code !== code) wrong++;
      }
    };
    const subjects = [executed, ranCompiled, asked].map((run) => ({ run, times: [] as number[] }));
    for (let turn = -WARM_UP; turn < turns; turn++) {
      for (const { run, times } of subjects) {
        const start = Bun.nanoseconds();
        await run();
        if (turn >= 0) times.push((Bun.nanoseconds() - start) / ASKS);
      }
    }
    if (wrong > 0) throw new Error(`${wrong} answers were wrong`);
    const [execution = 0, compiled = 0, ask = 0] = subjects.map(({ times }) => median(times));
    return { "over an ask": execution - ask, "compiled, over an ask": compiled - ask, execution, ask };
  });

/**
 * How many executions go before each that is counted. What is asked for is how long they take warm, and the engines of both
 * processes compile for some 550 executions, in which they take twice as much of a processor; a cold start has rows of its own.
 */
const WARMING = 2;

/** Microseconds of so many executions, back to back. */
async function timesOf(system: System, all: readonly Sample[], executions: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = -executions * WARMING; i < executions; i++) {
    const sample = all[Math.abs(i) % all.length] ?? arithmetic;
    const start = Bun.nanoseconds();
    await once(system, sample);
    if (i >= 0) times.push((Bun.nanoseconds() - start) / 1_000);
  }
  return ascending(times);
}

/** Executions by an actor that is told nothing about isolation, each as soon as the one before has answered. */
export const defaultBackToBack = (executions: number): Promise<Readings> =>
  withCode(undefined, async (system) => {
    const simple = await timesOf(system, [arithmetic], executions);
    const published = await timesOf(system, samples, executions);
    return {
      "simple arithmetic, p50": quantile(simple, 0.5),
      "the six published ones in turn, p95": quantile(published, 0.95) / 1_000,
    };
  });

const Adder = defineProtocol("adder", {
  add: { payload: Type.Object({ n: Type.Number() }), reply: Type.Number() },
});

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
      const start = Bun.nanoseconds();
      await once(system, code);
      if (i >= 0) times.push((Bun.nanoseconds() - start) / 1_000);
    }
  }
  await system.shutdown();
  const [one = 0, eleven = 0] = subjects.map(({ times }) => median(times));
  return { "a call": (eleven - one) / 10, "a run of one call": one };
};

/** Resolves once as many processes of the actor are idle as it keeps. */
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

/** Milliseconds in which a process that is ready has rehearsed, and its host has not yet gone cold. */
const REST = 20;

/** Milliseconds that a bare process has to start, on a machine that is slow. */
const START = 60;

/** Executions in a session, whose process is its own; then each in a process that is ready, which runs nothing else. */
export const handOver = (executions: number): Promise<Readings> =>
  withCode("process", async (system) => {
    const { router } = system;
    const session = await openSession(router);
    const { code, value } = arithmetic;
    const kept: number[] = [];
    // As many again before are not counted: what the host does for each is compiled then.
    for (let i = -executions * 50; i < executions * 50; i++) {
      const start = Bun.nanoseconds();
      const told = ran(await router.ask(createMessage(CODE, "execute", { code, session })));
      if (told.value !== value) throw new Error(`${String(told.value)} came of it`);
      if (i >= 0) kept.push((Bun.nanoseconds() - start) / 1_000);
    }
    await router.ask(createMessage(CODE, "endSession", { session }));
    const single: number[] = [];
    for (let i = 0; i < executions; i++) {
      await isReady(system);
      await Bun.sleep(REST);
      const start = Bun.nanoseconds();
      await once(system, arithmetic);
      single.push((Bun.nanoseconds() - start) / 1_000);
    }
    return { "one that is ready": median(single), "that of a session": median(kept) };
  });

/** The least of both: a line to a process and back, the first one after it has started and rested, and one after the other. */
export async function lineHandedOver(times: number): Promise<Readings> {
  const first: number[] = [];
  const later: number[] = [];
  const timed = async (echo: () => Promise<boolean>, taken: number[]) => {
    const start = Bun.nanoseconds();
    if (!(await echo())) throw new Error("it was not echoed");
    taken.push((Bun.nanoseconds() - start) / 1_000);
  };
  for (let i = 0; i < times; i++) {
    const { echo, end } = startEcho();
    await Bun.sleep(START);
    await timed(echo, first);
    for (let j = 0; j < 50; j++) await timed(echo, later);
    await end();
  }
  return { "one that is ready": median(first), "that of a session": median(later) };
}

/** An execution in a process that is started for it, by an actor that has run something elsewhere: its parser is loaded. */
export async function processStartedForRun(starts: number): Promise<Readings> {
  const taken: number[] = [];
  for (let i = 0; i < starts; i++) {
    const system = createSystem();
    spawnCodeExecution(system, { isolation: "trusted", concurrency: 1 });
    await once(system, arithmetic);
    const { code, value } = arithmetic;
    const start = performance.now();
    const told = ran(await system.router.ask(createMessage(CODE, "execute", { code, isolation: "process" })));
    taken.push(performance.now() - start);
    if (told.value !== value) throw new Error(`${String(told.value)} came of it`);
    await system.shutdown();
  }
  return { time: median(taken) };
}

/** The least of it: a bare process started, until it has echoed a line. */
export async function bareProcessStarted(starts: number): Promise<Readings> {
  const taken: number[] = [];
  for (let i = 0; i < starts; i++) {
    const start = performance.now();
    const { echo, end } = startEcho();
    if (!(await echo())) throw new Error("it was not echoed");
    taken.push(performance.now() - start);
    await end();
  }
  return { time: median(taken) };
}

const coldStart = async (isolation: Isolation): Promise<Readings> => {
  const system = createSystem();
  const start = performance.now();
  spawnCodeExecution(system, { isolation });
  await once(system, arithmetic);
  const time = performance.now() - start;
  await system.shutdown();
  return { time };
};

/** From spawning the actor to the first result, in a process that has loaded the actor's own code and nothing else. */
export const trustedColdStart = (): Promise<Readings> => coldStart("trusted");
export const sandboxColdStart = (): Promise<Readings> => coldStart("sandbox");
export const processColdStart = (): Promise<Readings> => coldStart("process");

/** The same without an actor: a process of Bun started, until it has printed the value and ended. */
export async function startOfProcess(times: number): Promise<Readings> {
  const taken: number[] = [];
  for (let i = 0; i < times; i++) {
    const start = performance.now();
    const child = Bun.spawn({
      cmd: [process.execPath, "--no-install", "--no-env-file", "-e", `console.log(${arithmetic.code})`],
      cwd: "/",
      env: {},
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [text] = await Promise.all([child.stdout.text(), child.exited]);
    taken.push(performance.now() - start);
    if (Number(text) !== arithmetic.value) throw new Error(`the process printed ${text}`);
  }
  return { time: median(taken) };
}

/** All processes of the pool are killed, again and again, each time until there is a result again. */
export const recovery = (kills: number): Promise<Readings> =>
  withCode("sandbox", async (system) => {
    const taken: number[] = [];
    let failed = 0;
    for (let i = 0; i < kills; i++) {
      const pool = descendants(process.pid);
      if (pool.length === 0) throw new Error("there is no process to kill");
      for (const pid of pool) process.kill(pid, "SIGKILL");
      const start = performance.now();
      while (!(await succeeds(system))) if (++failed > 100) throw new Error("the pool does not recover");
      taken.push(performance.now() - start);
      const left = descendants(process.pid).filter((pid) => pool.includes(pid));
      if (left.length > 0) throw new Error(`${left.length} processes outlived their kill`);
    }
    return { "next result": median(taken), "asks that failed": failed / kills };
  });

const succeeds = (system: System): Promise<boolean> =>
  once(system, arithmetic).then(
    () => true,
    () => false,
  );

/** Executions between two looks at the memory. */
const STRETCH = 50;

/** How memory grows with each of so many executions, after as many that are not counted: the host's heap takes that long to settle. */
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
