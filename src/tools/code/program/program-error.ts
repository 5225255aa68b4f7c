import type { CodeError } from "../code-error";

/** Why a program actor did not handle a message: the `cause` of what its asker gets. */
export class ProgramError extends Error {
  override readonly name = "ProgramError";
  readonly kind: CodeError["kind"];
  /** With its place in the source of the program, from where it is known, and what the message had logged. */
  readonly error: CodeError;

  constructor(error: CodeError) {
    const { kind, message, name = "Error", line, column } = error;
    const place = line === undefined ? "" : ` (line ${line}, column ${column})`;
    super(kind === "runtime-error" ? `${name}: ${message}${place}` : `${message}${place}`);
    const calls = error.stack?.map((at) => `\n    at program:${at.line}:${at.column}`) ?? [];
    this.stack = `${this.name}: ${this.message}${calls.join("")}`; // The host's own calls say nothing of the program.
    this.kind = kind;
    this.error = error;
  }
}
