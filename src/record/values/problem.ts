import { isDeliveryError } from "../../index";

/** The written form of an error. */
export interface Problem {
  readonly name?: unknown;
  readonly kind?: unknown;
  readonly message?: unknown;
  readonly [more: string]: unknown;
}

/** The fields of an error, of which most are not own keys or not enumerable; undefined for a value that is none. */
export function problemOf(value: unknown): Problem | undefined {
  if (isDeliveryError(value)) {
    const { kind, message, retryable, address, operation } = value;
    const cause = read(value, "cause");
    return { kind, message, retryable, address, operation, ...(cause === undefined ? {} : { cause }) };
  }
  if (!(value instanceof Error)) return undefined;
  const problem: Record<string, unknown> = {};
  for (const key of new Set(["name", "message", "stack", "cause", "errors", ...Object.keys(value)])) {
    const field = read(value, key);
    if (field !== undefined) problem[key] = field;
  }
  return problem;
}

/** The written form of a thrown value that is no error. */
export function problemOfOther(thrown: unknown): Problem {
  if (typeof thrown === "string") return { message: thrown };
  const kind = thrown === null ? "null" : typeof thrown;
  return { message: `Something else than an error was thrown: ${kind}.`, value: thrown };
}

/** The fields of an error as they are shown: its stack begins with the message, and where that is not kept, only the frames are. */
export function shownOf(problem: Problem, isKept: (message: string) => boolean): Problem {
  const { message, stack } = problem;
  if (typeof message !== "string" || typeof stack !== "string" || isKept(message)) return problem;
  return { ...problem, stack: framesOf(stack, message) };
}

/** The frames of a stack alone: without its head, which is the message, also where that has lines which look like frames. */
function framesOf(stack: string, message: string): string {
  const rest = message === "" ? stack : stack.replaceAll(message, "");
  return rest
    .split("\n")
    .filter((line) => FRAME.test(line))
    .join("\n");
}
const FRAME = /^ {4}at .{0,2000}(?::\d+|\(native[^)]*\)|<anonymous>\)?|unknown\)?|native code\)?)\)?$/;

function read(value: object, key: string): unknown {
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
}
