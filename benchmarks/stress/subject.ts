/** The process under load: `bun subject.ts MODULE NAME FOLDER`. The module's subject does what the parent asks over their channel. */
import { rmSync } from "node:fs";
import { setPriority } from "node:os";
import type { AskResult, System } from "envoi";
import { liveHeap } from "../harness/heap";
import type { Request } from "./generator";

export type Outcome = number | string;

/** Does one operation and gives back the number once it has seen that the work was done, or the kind of the error. */
export type Operation = (number: number) => Promise<Outcome>;

export interface Subject {
  /** What can be asked of it. `bare` is answered without it: what the channel and promises cost. */
  readonly operations: Readonly<Record<string, Operation>>;
  readonly commands?: Readonly<Record<string, () => unknown>>;
  readonly system: System;
}

export type Open = (name: string, folder: string) => Subject | Promise<Subject>;

export function outcomeOf<Value>(answer: AskResult<Value>, number: number, isRight: (value: Value) => boolean) {
  if (answer.isErr()) return answer.error.kind;
  return isRight(answer.value) ? number : "wrong";
}

/** What this process says: how many requests it has taken, and numbers with what came of them; or what a command gave. */
export type Said =
  | { readonly taken: number; readonly answers: readonly Outcome[] }
  | { readonly value: unknown }
  | { readonly error: string };

const say = (said: Said) => process.send?.(said);

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
  const opening = Promise.try(() => open(name, folder));
  let operations: Subject["operations"] = {};
  opening.catch(() => {}); // The first command tells it.
  const work = (requests: readonly Request[]) => {
    thisTurn().taken += requests.length; // Told once they are begun.
    for (const [id, operation] of requests) {
      const done = operations[operation]?.(id) ?? Promise.resolve("unknown-operation");
      done.then(
        (outcome) => thisTurn().answers.push(id, outcome),
        (thrown: unknown) => thisTurn().answers.push(id, `thrown: ${String(thrown)}`),
      );
    }
  };
  const obey = async (command: string) => {
    try {
      const { system, commands, ...subject } = await opening;
      operations = { ...subject.operations, bare: async (number) => number };
      const all: Subject["commands"] = { ...commands, audit: () => system.router.audit(), heap: liveHeap };
      if (all[command] === undefined) throw new Error(`There is no command ${command}.`);
      say({ value: all[command]() ?? null });
    } catch (thrown) {
      say({ error: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  };
  process.on("message", (sent: string | readonly Request[]) => {
    if (typeof sent === "string") void obey(sent);
    else work(sent);
  });
  process.on("disconnect", async () => {
    await opening.then(({ system }) => system.shutdown()).catch(() => {});
    rmSync(folder, { recursive: true, force: true }); // The process that made it may be gone.
    process.exit();
  });
  process.on("SIGINT", () => {}); // Ctrl-C reaches all processes of a terminal; the parent says when it is over.
}

if (import.meta.main) {
  setPriority(0); // The generator, which is its parent, may go before others.
  const [module = "", name = "", folder = ""] = process.argv.slice(2);
  await serve(module, name, folder);
}
