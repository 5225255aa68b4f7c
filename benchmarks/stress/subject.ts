/** The process under load: `bun subject.ts MODULE NAME FOLDER`. It has the module's subject do what it is asked over the channel to its parent. */
import { rmSync } from "node:fs";
import { setPriority } from "node:os";
import type { AskResult, Audit } from "envoi";
import { liveHeap } from "../harness/heap";
import type { Request } from "./generator";

/** What came of a request: the number that it was made with, or the kind of an error. */
export type Outcome = number | string;

/** Does one operation and gives back the number once it has seen that the work was done, or the kind of the error. */
export type Operation = (number: number) => Promise<Outcome>;

/** What is under load: a module exports `open`, which makes it. */
export interface Subject {
  /** What can be asked of it. `bare` is answered without it: what the channel and promises cost. */
  readonly operations: Readonly<Record<string, Operation>>;
  /** What can be done to it meanwhile; see `Load.call`. */
  readonly commands?: Readonly<Record<string, () => unknown>>;
  /** Where its messages are; see `router.audit()`. */
  audit(): Audit;
  close(): Promise<unknown>;
}

/** Makes a subject. @param folder An empty folder for what it keeps, which is removed in the end. */
export type Open = (name: string, folder: string) => Subject | Promise<Subject>;

/** What became of an ask: the number when its value is right. */
export function outcomeOf<Value>(
  answer: AskResult<Value>,
  number: number,
  isRight: (value: Value) => boolean,
): Outcome {
  if (answer.isErr()) return answer.error.kind;
  return isRight(answer.value) ? number : "wrong";
}

/** How the process is. */
export interface Look {
  /** Milliseconds since it began. */
  readonly at: number;
  /** Milliseconds of processors that it has used. */
  readonly processor: number;
  readonly rss: number;
  readonly audit: Audit;
}

/** A call of a command by its name. */
export type Call = { readonly call: number; readonly name: string };

/** What this process says: how many requests it has taken, and numbers with what came of them; or what a call gave. */
export type Said =
  | { readonly taken: number; readonly answers: readonly Outcome[] }
  | { readonly call: number; readonly value?: unknown; readonly error?: string };

const say = (said: Said) => process.send?.(said);

/** What is told at the end of this turn of the event loop. */
let turn: { taken: number; answers: Outcome[] } | undefined;

function thisTurn() {
  if (turn !== undefined) return turn;
  setImmediate(() => {
    if (turn !== undefined) say(turn);
    turn = undefined;
  });
  turn = { taken: 0, answers: [] };
  return turn;
}

async function serve(module: string, name: string, folder: string): Promise<void> {
  const { open } = (await import(module)) as { readonly open: Open }; // What a subject's module exports.
  let operations: Subject["operations"] = {};
  const opening = Promise.try(() => open(name, folder)).then((subject) => {
    operations = { ...subject.operations, bare: async (number) => number };
    return subject;
  });
  opening.catch(() => {}); // The first call tells it.
  const unknown: Operation = async () => "unknown-operation";
  const work = (requests: readonly Request[]) => {
    thisTurn().taken += requests.length; // Told once they are begun, so that no more come than it can begin.
    for (const [id, operation] of requests) {
      (operations[operation] ?? unknown)(id).then(
        (outcome) => thisTurn().answers.push(id, outcome),
        (thrown: unknown) => thisTurn().answers.push(id, `thrown: ${String(thrown)}`),
      );
    }
  };
  const obey = async ({ call, name }: Call) => {
    try {
      const { audit, commands } = await opening;
      const all: Subject["commands"] = { ...commands, look: () => look(audit()), heap: liveHeap };
      const command = all[name];
      if (command === undefined) throw new Error(`There is no command ${name}.`);
      say({ call, value: await command() });
    } catch (thrown) {
      say({ call, error: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  };
  process.on(
    "message",
    (message: Call | readonly Request[]) => void ("call" in message ? obey(message) : work(message)),
  );
  process.on("disconnect", async () => {
    await opening.then(({ close }) => close()).catch(() => {});
    rmSync(folder, { recursive: true, force: true }); // The process that made it may be gone.
    process.exit();
  });
  process.on("SIGINT", () => {}); // Ctrl-C reaches all processes of a terminal; the parent says when it is over.
}

function look(audit: Audit): Look {
  const { user, system } = process.cpuUsage();
  return { at: performance.now(), processor: (user + system) / 1_000, rss: process.memoryUsage.rss(), audit };
}

if (import.meta.main) {
  setPriority(0); // The generator, which is its parent, may go before others.
  const [module = "", name = "", folder = ""] = process.argv.slice(2);
  await serve(module, name, folder);
}
