import type { CodeError } from "../code-error";

/**
 * The reason why a program actor did not handle a message: the `cause` of the asker's error.
 *
 * @example
 * const reply = await program.ask("run", 1);
 * if (reply.isErr() && reply.error.kind === "handler-failed" && reply.error.cause instanceof ProgramError) {
 *   console.log(reply.error.cause.kind, reply.error.cause.error.line); // such as "runtime-error" 3
 * }
 */
export class ProgramError extends Error {
  override readonly name = "ProgramError";
  readonly kind: CodeError["kind"];
  /** Has the place in the program's source, if it is known, and the message's log entries. */
  readonly error: CodeError;

  constructor(error: CodeError) {
    const { kind, message, name = "Error", line, column } = error;
    const place = line === undefined ? "" : ` (line ${line}, column ${column})`;
    super(kind === "runtime-error" ? `${name}: ${message}${place}` : `${message}${place}`);
    const calls = error.stack?.map((at) => `\n    at program:${at.line}:${at.column}`) ?? [];
    this.stack = `${this.name}: ${this.message}${calls.join("")}`; // The host's own calls say nothing about the program.
    this.kind = kind;
    this.error = error;
  }
}
