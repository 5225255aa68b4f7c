import type { Clock } from "../../../index";
import { DEEPEST, isTextTooDeep } from "../depth";
import { ENTRY_BYTES, LEVELS } from "../pool/channel";
import type { LogEntry, Run } from "../tier";

/** Thrown into code that has written too much, to end it. If the code catches it, its run still ends as `output-limit`. */
export class OutputLimit extends Error {
  override readonly name = "OutputLimit";
}

let format: typeof import("node:util").formatWithOptions | undefined;

/** Formats arguments like `console.log`. The formatter is loaded at the first write, because that takes 4 ms. */
export function display(parts: readonly unknown[]): string {
  format ??= process.getBuiltinModule("node:util").formatWithOptions;
  return format({ colors: false }, ...parts);
}

/** Records the output of one run. Logs are kept, not printed; listeners get them, and the progress. */
export class Recorder {
  readonly logs: LogEntry[] = [];
  bytes = 0;
  isFull = false;
  #isOpen = true;

  constructor(
    private readonly clock: Clock,
    private readonly start: number,
    private readonly run: Run,
  ) {}

  add(level: number, text: string): void {
    if (!this.#isOpen) return;
    this.#count(Buffer.byteLength(text) + ENTRY_BYTES);
    const entry = { level: LEVELS[level] ?? "log", text, time: this.clock.monotonicTime() - this.start };
    this.logs.push(entry);
    this.run.onLog?.(entry);
  }

  progress(value: unknown): void {
    const text: string | undefined = JSON.stringify(value); // If this throws, the code gets the error.
    if (text === undefined) throw new TypeError(`Progress is told as JSON, which holds no ${typeof value}.`);
    if (isTextTooDeep(text)) throw new TypeError(`Progress is nested more than ${DEEPEST} deep; tell a flatter value.`);
    if (!this.#isOpen) return;
    this.#count(Buffer.byteLength(text) + ENTRY_BYTES);
    this.run.onProgress?.(text);
  }

  /** Ends the recording with the run: later output is lost. */
  close(): readonly LogEntry[] {
    this.#isOpen = false;
    return this.logs;
  }

  #count(bytes: number): void {
    if (this.isFull || this.bytes + bytes > this.run.maxOutput) {
      this.isFull = true;
      throw new OutputLimit("The logs are more than they may be.");
    }
    this.bytes += bytes;
  }
}
