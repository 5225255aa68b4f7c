import type { TSchema } from "typebox";
import { type AskError, type AskResult, err, ok, type Result, Type } from "../index";

/** A tool's reply: the value, or the reason why there is none. */
export type ToolReply<Value, Failure> = { ok: true; value: Value } | { ok: false; error: Failure };

/**
 * Makes one Result of a tool's answer. Its error is the tool's own failure, or the AskError if the ask failed.
 *
 * @example
 * const file = resultOf(await files.ask("read", { path: "notes.txt" }));
 * console.log(file.isOk() ? file.value.content : file.error.message);
 */
export function resultOf<Value, Failure>(
  answer: AskResult<ToolReply<Value, Failure>>,
): Result<Value, Failure | AskError> {
  if (answer.isErr()) return err(answer.error);
  return answer.value.ok ? ok(answer.value.value) : err(answer.value.error);
}

/**
 * The schema of a tool's reply, for a protocol that passes one on: the value, or the reason why there is none.
 *
 * @example
 * const Library = defineProtocol("library", { page: { payload: Type.Integer(), reply: outcomeSchema(ReadReply, FileError) } });
 */
export const outcomeSchema = <Value extends TSchema, Failure extends TSchema>(value: Value, error: Failure) =>
  Type.Union([Type.Object({ ok: Type.Literal(true), value }), Type.Object({ ok: Type.Literal(false), error })]);
