import { RefusedRow } from "./proof";

/** Why a row has no figures. */
export interface Failure {
  /** The reason, in a sentence. */
  readonly why: string;
  /** What is told of it: with its stack where it is a fault of the row, or of envoi. */
  readonly told: string;
}

/** A row that failed in another process, which told why. */
export class FailedRow extends Error {
  constructor(readonly failure: Failure) {
    super(failure.why);
    this.name = "FailedRow";
  }
}

export function failureOf(row: string, error: unknown): Failure {
  if (error instanceof FailedRow) return error.failure;
  if (error instanceof RefusedRow) return { why: error.message, told: error.message };
  const why = error instanceof Error ? error.message : String(error);
  return { why, told: `Row "${row}" failed: ${Bun.inspect(error)}` };
}
