import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AskResult, Message, Router, System } from "envoi";
import { address, createMessage, createSystem, systemClock } from "envoi";
import { type Isolation, spawnCodeExecution, spawnFileSystem, spawnProgram } from "envoi/tools";
import { CodeRefusal, type Ended, openTier, Sources, spawnCodeOver } from "#internals";
import type { Sample } from "../harness/code-floors";
import { writeWhole } from "../harness/file-samples";
import { disk, makeFolder } from "../harness/places";
import { counted, slowSteps } from "../harness/rows";
import type { Prepared } from "../harness/suite";
import { FILES, replied as repliedByFiles } from "./files";

export const CODE = address("code");

type Ran = { readonly value: unknown; readonly logs: number };

const replied = <Value>(answer: AskResult): Value => repliedByFiles(answer) as Value; // By the protocol.

export function ran(answer: AskResult): Ran {
  const { value, logs } = replied<{ value: unknown; logs: readonly unknown[] }>(answer);
  return { value, logs: logs.length };
}

export const execute = (router: Router, code: string, input?: unknown): Promise<AskResult> =>
  router.ask(createMessage(CODE, "execute", input === undefined ? { code } : { code, input }));

const compile = async (router: Router, code: string): Promise<string> =>
  replied<{ program: string }>(await router.ask(createMessage(CODE, "compile", { code }))).program;

export const openSession = async (router: Router): Promise<string> =>
  replied<{ session: string }>(await router.ask(createMessage(CODE, "session", {}))).session;

/** Code that is run and files that are written, in one way or another. */
export interface Workbench<Answer> {
  run(code: string, input?: unknown): Promise<Answer>;
  told(answer: Answer): Ran;
  read(path: string): string | Promise<string>;
  write(path: string, content: string): void | Promise<void>;
  readonly folder: string;
}

/** One for all rows of a tier, since a pool takes longer to start than a row to run; it idles while other rows run. */
function once<Bench>(open: (isolation: Isolation) => Bench): (isolation: Isolation) => Bench {
  const benches = new Map<Isolation, Bench>();
  return (isolation) => {
    const bench = benches.get(isolation) ?? open(isolation);
    benches.set(isolation, bench);
    return bench;
  };
}

/** A tier as a code actor opens it. Both ways of running code share its processes: of two pools, one may be a tenth slower. */
const tierOf = once((isolation) =>
  openTier(isolation, { size: navigator.hardwareConcurrency, maxWaiting: 1_000, clock: systemClock }),
);

interface Actors extends Workbench<AskResult> {
  readonly system: System;
  readonly router: Router;
}

/** A code actor and a file actor, asked through the router; they end with the process. */
export const openActors = once(async (isolation: Isolation): Promise<Actors> => {
  const folder = makeFolder(disk, "envoi-code-").path;
  const system = createSystem();
  const { router } = system;
  spawnCodeOver(system, { isolation }, tierOf);
  spawnFileSystem(system, { root: folder });
  ran(await execute(router, "1")); // The first one waits until there is a process.
  return {
    system,
    router,
    run: (code, input) => execute(router, code, input),
    told: ran,
    // Text, since no encoding is asked for.
    read: async (path) => repliedByFiles(await router.ask(createMessage(FILES, "read", { path }))).content as string,
    write: async (path, content) =>
      void repliedByFiles(await router.ask(createMessage(FILES, "write", { path, content }))),
    folder,
  };
});

const never = new AbortController().signal;

/** The same without actors: the tier by itself, with no message and no check of either, and the bare calls of `node:fs`. */
export const openByHand = once((isolation: Isolation): Workbench<Ended> => {
  const folder = makeFolder(disk, "envoi-code-").path;
  const tier = tierOf(isolation);
  const sources = new Sources();
  return {
    async run(code, input) {
      const read = sources.compile(code, "javascript");
      const program = read instanceof Promise ? await read : read;
      if (program instanceof CodeRefusal) throw new Error(program.error.message);
      return tier.run({
        program,
        input: input === undefined ? undefined : JSON.stringify(input),
        timeout: 5_000,
        memory: 64 * 1024 * 1024,
        maxOutput: 1024 * 1024,
        signal: never,
      });
    },
    told(ended) {
      if (ended.kind !== "value") throw new Error(`${ended.kind}: ${ended.message}`);
      return { value: ended.value === undefined ? undefined : JSON.parse(ended.value), logs: ended.logs.length };
    },
    read: (path) => readFileSync(join(folder, path), "utf8"),
    write(path, content) {
      const [temporary, whole] = [join(folder, "temporary"), join(folder, path)];
      if (!writeWhole(temporary, whole, Buffer.from(content))) throw new Error("it was not written");
    },
    folder,
  };
});

/** A row's work on a workbench, with the number of operations a call. */
export type Job = <Answer>(bench: Workbench<Answer>, operations: number) => Prepared;

let turns = 0;

/** The same code as a new source, so that no cache of an earlier one serves it. */
export const asUnique = (code: string): string => `let turn = ${turns++};\n${code}`;

/** Executions, each awaited before the next; `source` makes each one's text. */
export const executions =
  ({ code, value, logs }: Sample, source: (code: string) => string = (same) => same): Job =>
  (bench, operations) =>
    counted(async () => {
      let done = 0;
      for (let i = 0; i < operations; i++) {
        const told = bench.told(await bench.run(source(code)));
        if (told.value === value && told.logs === logs) done++;
      }
      return done;
    });

export const tenAtOnce =
  ({ code, value, logs }: Sample): Job =>
  (bench, operations) =>
    counted(async () => {
      let done = 0;
      for (let i = 0; i < operations; i += 10) {
        const answers = [];
        for (let j = 0; j < 10; j++) answers.push(bench.run(code));
        for (const answer of await Promise.all(answers)) {
          const told = bench.told(answer);
          if (told.value === value && told.logs === logs) done++;
        }
      }
      return done;
    });

const REPORT = '"report " + (input % 2) + "\\n" + "-".repeat(90)';
const reportOf = (input: number): string => `report ${input % 2}\n${"-".repeat(90)}`;

export const thenWrite: Job = (bench, operations) => {
  let last = "";
  const step = async (index: number) => {
    last = String(bench.told(await bench.run(REPORT, index)).value);
    await bench.write("report.txt", last);
    return last === reportOf(index);
  };
  return slowSteps(operations, step, { verify: () => expectText(bench.folder, "report.txt", last) });
};

const NUMBERS = Array.from({ length: 100 }, (_, index) => index + 1).join("\n");
const TOTAL = 'const numbers = input.split("\\n").map(Number);\n"total " + numbers.reduce((sum, n) => sum + n, 0)';

export const readThenWrite: Job = (bench, operations) => {
  writeFileSync(join(bench.folder, "numbers.txt"), NUMBERS);
  const step = async () => {
    const { value } = bench.told(await bench.run(TOTAL, await bench.read("numbers.txt")));
    await bench.write("total.txt", String(value));
    return value === "total 5050";
  };
  return slowSteps(operations, step, { verify: () => expectText(bench.folder, "total.txt", "total 5050") });
};

function expectText(folder: string, name: string, text: string): void {
  if (readFileSync(join(folder, name), "utf8") !== text) throw new Error(`${name} does not hold what was written last`);
}

function asks(
  router: Router,
  operations: number,
  isDone: (answer: AskResult, index: number) => boolean,
  message: () => Message,
  teardown?: () => unknown,
): Prepared {
  let index = 0;
  const work = async () => {
    let done = 0;
    for (let i = 0; i < operations; i++) if (isDone(await router.ask(message()), index++)) done++;
    return done;
  };
  return counted(work, teardown && { teardown });
}

export async function compiledRuns(isolation: Isolation, sample: Sample, operations: number): Promise<Prepared> {
  const { router } = await openActors(isolation);
  const program = await compile(router, sample.code);
  const isDone = (answer: AskResult) => ran(answer).value === sample.value;
  return asks(router, operations, isDone, () => createMessage(CODE, "run", { program }));
}

/** Executions in a session, of which each finds what the one before left. */
export async function inSession(isolation: Isolation, operations: number): Promise<Prepared> {
  const { router } = await openActors(isolation);
  const session = await openSession(router);
  ran(await router.ask(createMessage(CODE, "execute", { code: "let count = 0", session })));
  return asks(
    router,
    operations,
    (answer, index) => ran(answer).value === index + 1,
    () => createMessage(CODE, "execute", { code: "count += 1", session }),
    () => router.ask(createMessage(CODE, "endSession", { session })),
  );
}

export async function programAsks(isolation: Isolation, operations: number): Promise<Prepared> {
  const system = createSystem();
  spawnProgram(system, "program", "let count = 0; ({ run: (by) => (count += by) })", { isolation });
  const to = address("program");
  return asks(
    system.router,
    operations,
    (answer, index) => answer.isOk() && answer.value === index + 1,
    () => createMessage(to, "run", 1),
    () => system.shutdown(),
  );
}

/** Why this machine cannot run code in a tier, as the end of a sentence; undefined where it can. Tried once for all suites. */
export const whyNot = once(async (isolation: Isolation): Promise<string | undefined> => {
  const system = createSystem();
  try {
    spawnCodeExecution(system, { isolation, concurrency: 1 });
    ran(await execute(system.router, "1"));
    return undefined;
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return `it was refused: ${reason.replace(/\.$/, "")}`;
  } finally {
    await system.shutdown();
  }
});
