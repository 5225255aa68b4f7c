import type { CodeError, Place } from "./code-error";

/** An error that is found before any code runs, on its way to the reply. It is no Error, because it needs no stack. */
export class CodeRefusal {
  readonly error: CodeError;

  constructor(kind: CodeError["kind"], message: string, place?: Place) {
    this.error = { kind, message, ...place, logs: [] };
  }
}
