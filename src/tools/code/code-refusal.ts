import type { CodeError, Place } from "./code-error";

/** Carries an error from where it is found, before any code runs, to the edge of the actor. No Error: it needs no stack. */
export class CodeRefusal {
  readonly error: CodeError;

  constructor(kind: CodeError["kind"], message: string, place?: Place) {
    this.error = { kind, message, ...place, logs: [] };
  }
}
