import type { CodeError } from "./code-error";
import { CodeRefusal } from "./code-refusal";
import { DEEPEST, isTooDeep } from "./depth";
import { exceeds, faultOf, TOO_LARGE } from "./measure";
import type { ExecuteReply } from "./protocol";
import type { Ended, Isolation, Program } from "./tier";

/** A reply: the value, or the reason why there is none. */
export type Told<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: CodeError };

const LONGEST_MESSAGE = 4_000;

/** Copies the error: a refusal may be kept and sent to many askers, and each of them may change its reply. */
export const refused = ({ error }: CodeRefusal): Told<never> => ({ ok: false, error: { ...error, logs: [] } });

/** Fewest bytes that a value of an input counts as: a list of a million numbers takes as long to write as 8 MB of text. */
const LEAST = 8;

/** Writes an input as JSON; undefined stays undefined. More than `most` bytes are refused, if possible before writing. */
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

/** Describes any thrown value, even one that throws when it is read: an input may be anything. */
function sentenceOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error && typeof thrown.message === "string") return thrown.message.replace(/\.$/, "");
  } catch {
    // Continues with the general sentence.
  }
  return "a getter or toJSON of it threw";
}

/** Makes the reply to a run of a program. Its line and column are in that program's source. */
export function outcomeOf(ended: Ended, program: Program, isolation: Isolation): Told<ExecuteReply> {
  const logs = ended.logs as ExecuteReply["logs"]; // The run has ended: nothing changes them any more.
  if (ended.kind === "value") {
    const { value: text, durationMs } = ended;
    try {
      const value: unknown = text === undefined ? undefined : JSON.parse(text);
      // Each level takes two characters at least.
      if (text === undefined || text.length <= 2 * DEEPEST || !isTooDeep(value)) {
        return { ok: true, value: { value, logs, durationMs, isolation } };
      }
    } catch {
      // Too deep for JSON.parse.
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
      // Code can set the message and the name to texts of any length.
      message: shorten(message),
      ...place,
      ...(name !== undefined && { name: shorten(name) }),
      ...(places !== undefined && { stack: places }),
      logs,
    },
  };
}

const shorten = (text: string): string => (text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text);
