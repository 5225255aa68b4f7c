import type { Clock } from "../../../index";
import { DEEPEST, isTextTooDeep } from "../depth";
import { ENTRY_BYTES, LEVELS } from "../pool/channel";
import type { LogEntry, Run } from "../tier";

/** What a console throws into code that has written too much, so that it ends; it may catch it, and is ended all the same. */
export class OutputLimit extends Error {
  override readonly name = "OutputLimit";
}

let format: typeof import("node:util").formatWithOptions | undefined;

/** As `console.log` shows it. What does so is loaded when something is first written: it takes 4 ms. */
export function display(parts: readonly unknown[]): string {
  format ??= process.getBuiltinModule("node:util").formatWithOptions;
  return format({ colors: false }, ...parts);
}

/** What one run writes: its logs are kept and shown nowhere, and whoever listens is told of them, and of its progress. */
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
    const text: string | undefined = JSON.stringify(value); // Throws into the code where it cannot.
    if (text === undefined) throw new TypeError(`Progress is told as JSON, which holds no ${typeof value}.`);
    if (isTextTooDeep(text)) throw new TypeError(`Progress is nested more than ${DEEPEST} deep; tell a flatter value.`);
    if (!this.#isOpen) return;
    this.#count(Buffer.byteLength(text) + ENTRY_BYTES);
    this.run.onProgress?.(text);
  }

  /** What is written from here on is lost: the run has ended. */
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
