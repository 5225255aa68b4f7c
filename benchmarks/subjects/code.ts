import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AskResult, address, createMessage, createSystem, type Router } from "envoi";
import { type Isolation, spawnCodeExecution, spawnFileSystem, spawnProgram } from "envoi/tools";
import { type Ended, spawnCodeOver } from "#internals";
import { asUnique, report, type Sample, total } from "../harness/code-floors";
import { writeWhole } from "../harness/file-samples";
import { disk, makeFolder } from "../harness/places";
import type { Prepared } from "../harness/suite";
import { openAlone, openBare } from "./code-bare";

/** The address that a code actor has unless it is given a name. */
export const CODE = address("code");
const FILES = address("files");

/** What came of an execution. */
export interface Ran {
  readonly value: unknown;
  readonly logs: number;
}

/** Code that is run and files that are written, in one way or another. */
export interface Workbench<Answer> {
  run(code: string, input?: unknown): Promise<Answer>;
  /** What an answer says; one that says no value is thrown. */
  told(answer: Answer): Ran;
  read(path: string): string | Promise<string>;
  write(path: string, content: string): void | Promise<void>;
  /** Where the files are. */
  readonly folder: string;
}

/** The value of a reply to `execute`. */
export function ran(answer: AskResult): Ran {
  if (answer.isErr()) throw new Error(answer.error.message, { cause: answer.error });
  // The router knows no types; the protocol says that a reply is one of these two.
  const reply = answer.value as
    | { ok: true; value: { value: unknown; logs: readonly unknown[] } }
    | { ok: false; error: { kind: string; message: string } };
  if (!reply.ok) throw new Error(`${reply.error.kind}: ${reply.error.message}`);
  return { value: reply.value.value, logs: reply.value.logs.length };
}

/** Asks a code actor to run something. */
export const execute = (router: Router, code: string, input?: unknown): Promise<AskResult> =>
  router.ask(createMessage(CODE, "execute", input === undefined ? { code } : { code, input }));

/** One for all rows of a tier, since a pool takes longer to start than a row to run; it idles while other rows run. */
function once<Bench>(open: (isolation: Isolation) => Bench): (isolation: Isolation) => Bench {
  const benches = new Map<Isolation, Bench>();
  return (isolation) => {
    const bench = benches.get(isolation) ?? open(isolation);
    benches.set(isolation, bench);
    return bench;
  };
}

/**
 * Both ways of running code go to the same processes: of two pools, one may be a tenth slower than the other for as long
 * as it lives, and more rarely a third.
 */
const tierOf = once(openAlone);

interface Actors extends Workbench<AskResult> {
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
    router,
    run: (code, input) => execute(router, code, input),
    told: ran,
    async read(path) {
      const answer = await router.ask(createMessage(FILES, "read", { path }));
      if (answer.isErr()) throw new Error(answer.error.message);
      return (answer.value as { value: { content: string } }).value.content; // By the protocol; compared where it is used.
    },
    async write(path, content) {
      const answer = await router.ask(createMessage(FILES, "write", { path, content }));
      if (answer.isErr() || !(answer.value as { ok: boolean }).ok) throw new Error("it was not written");
    },
    folder,
  };
});

/** The same without actors: the tier by itself, and the bare calls of `node:fs`. */
export const openByHand = once((isolation: Isolation): Workbench<Ended> => {
  const folder = makeFolder(disk, "envoi-code-").path;
  const bare = openBare(tierOf(isolation));
  return {
    run: bare.run,
    told: bare.told,
    read: (path) => readFileSync(join(folder, path), "utf8"),
    write(path, content) {
      const [temporary, whole] = [join(folder, "temporary"), join(folder, path)];
      if (!writeWhole(temporary, whole, Buffer.from(content))) throw new Error("it was not written");
    },
    folder,
  };
});

/** The value of a reply that is no execution. */
function replied<Value>(answer: AskResult): Value {
  if (answer.isErr()) throw new Error(answer.error.message, { cause: answer.error });
  const reply = answer.value as { ok: true; value: Value } | { ok: false; error: { message: string } }; // As in `ran`.
  if (!reply.ok) throw new Error(reply.error.message);
  return reply.value;
}

/** Has a code actor keep a program. */
export async function compile(router: Router, code: string): Promise<string> {
  return replied<{ program: string }>(await router.ask(createMessage(CODE, "compile", { code }))).program;
}

/** Opens a session of a code actor. */
export async function openSession(router: Router): Promise<string> {
  return replied<{ session: string }>(await router.ask(createMessage(CODE, "session", {}))).session;
}

/** Asks of one operation, each awaited before the next, that give what code gives. */
const asks = (
  router: Router,
  operations: number,
  isDone: (answer: AskResult, index: number) => boolean,
  message: (index: number) => ReturnType<typeof createMessage>,
): Prepared => {
  let completed = 0;
  const run = async () => {
    for (let i = 0; i < operations; i++) {
      if (isDone(await router.ask(message(completed)), completed)) completed++;
    }
  };
  return { run, completed: () => completed };
};

/** Runs of a program that the code actor was given once. */
export async function compiledRuns(
  isolation: Isolation,
  { code, value }: Sample,
  operations: number,
): Promise<Prepared> {
  const { router } = await openActors(isolation);
  const program = await compile(router, code);
  const isDone = (answer: AskResult) => ran(answer).value === value;
  return asks(router, operations, isDone, () => createMessage(CODE, "run", { program }));
}

/** Executions in a session, of which each finds what the one before left. */
export async function inSession(isolation: Isolation, operations: number): Promise<Prepared> {
  const { router } = await openActors(isolation);
  const session = await openSession(router);
  ran(await router.ask(createMessage(CODE, "execute", { code: "let count = 0", session })));
  const isDone = (answer: AskResult, index: number) => ran(answer).value === index + 1;
  const prepared = asks(router, operations, isDone, () =>
    createMessage(CODE, "execute", { code: "count += 1", session }),
  );
  const teardown = async () => void (await router.ask(createMessage(CODE, "endSession", { session })));
  return { ...prepared, teardown };
}

/** Asks of a program actor, which counts them. */
export async function programAsks(isolation: Isolation, operations: number): Promise<Prepared> {
  const system = createSystem();
  spawnProgram(system, "program", "let count = 0; ({ run: (by) => (count += by) })", { isolation });
  const to = address("program");
  const isDone = (answer: AskResult, index: number) => answer.isOk() && answer.value === index + 1;
  const prepared = asks(system.router, operations, isDone, () => createMessage(to, "run", 1));
  return { ...prepared, teardown: () => system.shutdown() };
}

/** How a row's work is done on a workbench: so many operations a call. */
export type Job = <Answer>(
  bench: Workbench<Answer>,
  operations: number,
  isUnique: boolean,
) => Omit<Prepared, "teardown">;

/** Executions, each awaited before the next. */
export const executions =
  ({ code, value, logs }: Sample): Job =>
  (bench, operations, isUnique) => {
    let completed = 0;
    const run = async () => {
      for (let i = 0; i < operations; i++) {
        const told = bench.told(await bench.run(isUnique ? asUnique(code) : code));
        if (told.value === value && told.logs === logs) completed++;
      }
    };
    return { run, completed: () => completed };
  };

/** Executions, ten at once. */
export const tenAtOnce =
  ({ code, value, logs }: Sample): Job =>
  (bench, operations, isUnique) => {
    let completed = 0;
    const run = async () => {
      for (let i = 0; i < operations; i += 10) {
        const answers = [];
        for (let j = 0; j < 10; j++) answers.push(bench.run(isUnique ? asUnique(code) : code));
        for (const answer of await Promise.all(answers)) {
          const told = bench.told(answer);
          if (told.value === value && told.logs === logs) completed++;
        }
      }
    };
    return { run, completed: () => completed };
  };

/** An execution whose value is written to a file. */
export const thenWrite: Job = (bench, operations, isUnique) => {
  let completed = 0;
  const run = async () => {
    for (let i = 0; i < operations; i++) {
      const code = isUnique ? asUnique(report.code) : report.code;
      const { value } = bench.told(await bench.run(code, completed));
      if (typeof value !== "string") throw new Error("no text came of it");
      await bench.write("report.txt", value);
      completed++;
    }
  };
  const verify = () => expectText(bench.folder, "report.txt", report.value(completed - 1));
  return { run, completed: () => completed, verify };
};

/** A file's text that code is given, whose value is written to another one. */
export const readThenWrite: Job = (bench, operations, isUnique) => {
  writeFileSync(join(bench.folder, "numbers.txt"), total.file);
  let completed = 0;
  const run = async () => {
    for (let i = 0; i < operations; i++) {
      const code = isUnique ? asUnique(total.code) : total.code;
      const { value } = bench.told(await bench.run(code, await bench.read("numbers.txt")));
      if (value !== total.value) throw new Error(`${String(value)} came of it`);
      await bench.write("total.txt", value);
      completed++;
    }
  };
  return { run, completed: () => completed, verify: () => expectText(bench.folder, "total.txt", total.value) };
};

function expectText(folder: string, name: string, text: string): void {
  if (readFileSync(join(folder, name), "utf8") !== text) throw new Error(`${name} does not hold what was written last`);
}

/** Why this machine cannot run code in a tier, as the end of a sentence; undefined where it can. Tried once for all suites. */
export const whyNot = once(tryTier);

async function tryTier(isolation: Isolation): Promise<string | undefined> {
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
}
