import { type AskError, type AskResult, err, ok, type Result } from "../../index";
import type { FileError } from "./file-error";

/** What a file actor replies. */
export type FileReply<Value> = { ok: true; value: Value } | { ok: false; error: FileError };

/**
 * Makes one Result of a file actor's answer: what was asked for, or why not, whether the file system, the actor or the way
 * there is the reason.
 *
 * @example
 * const file = resultOf(await files.ask("read", { path: "notes.txt" }));
 * console.log(file.isOk() ? file.value.content : file.error.message);
 */
export function resultOf<Value>(answer: AskResult<FileReply<Value>>): Result<Value, FileError | AskError> {
  if (answer.isErr()) return err(answer.error);
  return answer.value.ok ? ok(answer.value.value) : err(answer.value.error);
}
