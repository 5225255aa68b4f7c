import type { Frame, Program } from "../tier";
import { describe, type Failure, failure } from "./ended";

/** The function of a program. */
export type Code = (input: unknown, tools: unknown, progress: unknown, console?: unknown) => Promise<unknown>;

/** A program as a function of this process. An argument that its code cannot reach is not made. */
export interface Compiled {
  readonly code: Code;
  /** The unique name of its calls in stacks. */
  readonly url: string;
  readonly hasConsole: boolean;
  readonly hasTools: boolean;
  readonly hasProgress: boolean;
}

/** The declarations of a room's code, by name. */
export type Scope = Record<string, unknown>;

const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => Code; // As the language defines it.
const NAMES = "input, tools, progress";
/** Lines before the body: the engine's function has two, and a scope adds one of ours. */
const HEAD_LINES = 2;
const SCOPED_HEAD_LINES = 3;
const MOST_FRAMES = 100;
const LONGEST_STACK = 64 * 1024;

let count = 0;

/** Compiles a program to a function. With a scope, its declarations and its console are found there. */
export function compile(program: Program, scope?: Scope): Compiled | Failure {
  const { body } = program;
  const url = `trusted-program-${++count}`;
  const can = (name: string): boolean => new RegExp(`${name}|eval|\\\\u`).test(body);
  const [hasConsole, hasTools, hasProgress] = [can("console"), can("tools"), can("progress")];
  try {
    const code = scope === undefined ? plain(body, url) : scoped(body, url, scope);
    return { code, url, hasConsole, hasTools, hasProgress };
  } catch (thrown) {
    // The parser accepted it before: the engine knows less of the language, or has a smaller stack.
    const { name = "SyntaxError", message } = describe(thrown);
    return { ...failure("runtime-error", message), name };
  }
}

const plain = (body: string, url: string): Code =>
  new AsyncFunction(`${NAMES}, console`, `${body}\n//# sourceURL=${url}`);

function scoped(body: string, url: string, scope: Scope): Code {
  const source = `with ($scope) { return async function (${NAMES}) {\n${body}\n} }\n//# sourceURL=${url}`;
  return new Function("$scope", source)(scope) as Code; // The source above returns that function.
}

/** Finds the places of a stack that are in the programs of `programOf`. */
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
