import type { Frame, Program } from "../tier";
import { describe, type Failure, failure } from "./ended";

/** A program's function. */
export type Code = (input: unknown, tools: unknown, progress: unknown, console?: unknown) => Promise<unknown>;

/** A program as a function of this process, and what of its arguments it can get at: one that cannot is spared them. */
export interface Compiled {
  readonly code: Code;
  /** The name that its calls have in a stack, no other program's. */
  readonly url: string;
  readonly hasConsole: boolean;
  readonly hasTools: boolean;
  readonly hasProgress: boolean;
}

/** What the code of a room declares, by name. */
export type Scope = Record<string, unknown>;

const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => Code; // By the language.
const NAMES = "input, tools, progress";
/** Lines before the body: of a function that the engine writes, and with a scope the one of ours. */
const HEAD_LINES = 2;
const SCOPED_HEAD_LINES = 3;
const MOST_FRAMES = 100;
const LONGEST_STACK = 64 * 1024;

let count = 0;

/** Makes a function of a program; with a scope, its names are found there, and its console. */
export function compile(program: Program, scope?: Scope): Compiled | Failure {
  const { body } = program;
  const url = `trusted-program-${++count}`;
  const can = (name: string): boolean => new RegExp(`${name}|eval|\\\\u`).test(body);
  const [hasConsole, hasTools, hasProgress] = [can("console"), can("tools"), can("progress")];
  try {
    const code = scope === undefined ? plain(body, url) : scoped(body, url, scope);
    return { code, url, hasConsole, hasTools, hasProgress };
  } catch (thrown) {
    // Read before, it is code; the engine knows less of the language, or has a smaller stack.
    const { name = "SyntaxError", message } = describe(thrown);
    return { ...failure("runtime-error", message), name };
  }
}

const plain = (body: string, url: string): Code =>
  new AsyncFunction(`${NAMES}, console`, `${body}\n//# sourceURL=${url}`);

function scoped(body: string, url: string, scope: Scope): Code {
  const source = `with ($scope) { return async function (${NAMES}) {\n${body}\n} }\n//# sourceURL=${url}`;
  return new Function("$scope", source)(scope) as Code; // It returns the function that was written there.
}

/** The places of a stack that are in programs of whoever asks, who tells them by their names. */
export function placesOf(
  stack: string | undefined,
  programOf: (url: string) => Program | undefined,
  isScoped: boolean,
): Frame[] {
  const head = isScoped ? SCOPED_HEAD_LINES : HEAD_LINES;
  const places: Frame[] = [];
  for (const row of (stack ?? "").slice(0, LONGEST_STACK).split("\n", MOST_FRAMES)) {
    const found = /^ {4}at .*?\b(trusted-program-\d+):(\d+):(\d+)\)?$/.exec(row);
    if (found?.[1] === undefined) continue;
    const program = programOf(found[1]);
    const place = program?.place(Number(found[2]) - head, Number(found[3]));
    if (program !== undefined && place !== undefined) places.push({ program, ...place });
  }
  return places;
}
