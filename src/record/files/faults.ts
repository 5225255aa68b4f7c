/**
 * A file cannot be read as a recording. Its sentence says why.
 *
 * @example
 * try {
 *   for await (const line of readRecording(path)) console.log(line.kind);
 * } catch (error) {
 *   if (error instanceof RecordingError) console.log(error.message); // "There is no file run.ndjson."
 * }
 */
export class RecordingError extends Error {
  override readonly name = "RecordingError";
}

/** Something of a recording that could not be read, beside which the rest was. */
export interface RecordingFault {
  /**
   * `torn`: a file ends within a line or a frame, as it does after a crash. `broken`: a line in the middle does not fit, and was passed over.
   * `missing`: a part, or some lines, are not there.
   */
  readonly kind: "torn" | "broken" | "missing";
  readonly path: string;
  /** The number of the line in its file, from 1. Undefined for a part that is missing. */
  readonly line?: number;
  /** A sentence that names the file. */
  readonly sentence: string;
}
