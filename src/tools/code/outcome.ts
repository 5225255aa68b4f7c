import type { CodeError } from "./code-error";
import { CodeRefusal } from "./code-refusal";
import { DEEPEST, isTooDeep } from "./depth";
import { exceeds, faultOf, TOO_LARGE } from "./measure";
import type { ExecuteReply } from "./protocol";
import type { Ended, Isolation, Program } from "./tier";

/** What is replied: what was asked for, or why it could not be had. */
export type Told<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: CodeError };

const LONGEST_MESSAGE = 4_000;

/** A refusal may be kept, and told to many: each has one of its own, which it may change. */
export const refused = ({ error }: CodeRefusal): Told<never> => ({ ok: false, error: { ...error, logs: [] } });

/** Bytes that each value of an input counts at least: a list of a million numbers takes as long to write as 8 MB of text. */
const LEAST = 8;

/** An input as JSON; undefined stays so. One of more bytes than `most` is refused before a text of it is written. */
export function textOf(input: unknown, most: number): string | undefined | CodeRefusal {
  if (input === undefined) return undefined;
  let fault = typeof input === "object" ? "its toJSON gives nothing" : `a ${typeof input}`;
  try {
    const found = faultOf(input, { most, least: LEAST });
    if (found === TOO_LARGE) return tooLarge(most);
    if (found === null) {
      const text: string | undefined = JSON.stringify(input);
      if (text !== undefined) return exceeds(text, most) ? tooLarge(most) : text;
    } else {
      fault = `it ${found}`;
    }
  } catch (thrown) {
    fault = sentenceOf(thrown);
  }
  return new CodeRefusal("unserializable-value", `The input is nothing that JSON can hold: ${fault}.`);
}

const tooLarge = (most: number): CodeRefusal =>
  new CodeRefusal(
    "input-limit",
    `The input is more than ${most} bytes, of which each value counts ${LEAST} at least; hand over less, or let the code read it by a tool.`,
  );

/** Whatever was thrown, also what throws when it is looked at: an input may be anything. */
function sentenceOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error && typeof thrown.message === "string") return thrown.message.replace(/\.$/, "");
  } catch {
    // Told below.
  }
  return "a getter or toJSON of it threw";
}

/** What is told of a run of a program, whose places are those in its own source. */
export function outcomeOf(ended: Ended, program: Program, isolation: Isolation): Told<ExecuteReply> {
  const logs = ended.logs as ExecuteReply["logs"]; // Nobody writes to it any more.
  if (ended.kind === "value") {
    const { value: text, durationMs } = ended;
    try {
      const value: unknown = text === undefined ? undefined : JSON.parse(text);
      // Each level takes two characters at least.
      if (text === undefined || text.length <= 2 * DEEPEST || !isTooDeep(value)) {
        return { ok: true, value: { value, logs, durationMs, isolation } };
      }
    } catch {
      // Too deep to be read.
    }
    const message = `The value is nested more than ${DEEPEST} deep; return a flatter one.`;
    return { ok: false, error: { kind: "unserializable-value", message, logs } };
  }
  const { kind, message, name, stack } = ended;
  const places = stack?.map(({ program: of, line, column }) => ({
    line,
    column,
    ...(of !== program && { isEarlier: true as const }),
  }));
  const place = places?.find(({ isEarlier }) => isEarlier !== true);
  return {
    ok: false,
    error: {
      kind,
      // The code may have made them up, of any length.
      message: shorten(message),
      ...place,
      ...(name !== undefined && { name: shorten(name) }),
      ...(places !== undefined && { stack: places }),
      logs,
    },
  };
}

const shorten = (text: string): string => (text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text);
