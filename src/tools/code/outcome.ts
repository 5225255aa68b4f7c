import type { CodeError } from "./code-error";
import { CodeRefusal } from "./code-refusal";
import type { ExecuteReply } from "./protocol";
import type { Ended, Isolation, Program } from "./tier";

/** What is replied: what was asked for, or why it could not be had. */
export type Told<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: CodeError };

const LONGEST_MESSAGE = 4_000;

/** A refusal may be kept, and told to many: each has one of its own, which it may change. */
export const refused = ({ error }: CodeRefusal): Told<never> => ({ ok: false, error: { ...error, logs: [] } });

/** A value as JSON; undefined stays so. */
export function textOf(input: unknown): string | undefined | CodeRefusal {
  if (input === undefined) return undefined;
  let fault = `a ${typeof input}`;
  try {
    const text: string | undefined = JSON.stringify(input);
    if (text !== undefined) return text;
  } catch (thrown) {
    fault = thrown instanceof Error ? thrown.message : "its toJSON threw";
  }
  return new CodeRefusal("unserializable-value", `The input is nothing that JSON can hold: ${fault}`);
}

/** What is told of a run of a program, whose places are those in its own source. */
export function outcomeOf(ended: Ended, program: Program, isolation: Isolation): Told<ExecuteReply> {
  const logs = ended.logs as ExecuteReply["logs"]; // Nobody writes to it any more.
  if (ended.kind === "value") {
    try {
      const value: unknown = ended.value === undefined ? undefined : JSON.parse(ended.value);
      return { ok: true, value: { value, logs, durationMs: ended.durationMs, isolation } };
    } catch {
      const message = "The value is nested too deeply; return a flatter one.";
      return { ok: false, error: { kind: "unserializable-value", message, logs } };
    }
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
