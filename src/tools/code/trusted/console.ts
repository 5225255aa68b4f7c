import { formatWithOptions } from "node:util";
import type { Clock } from "../../../index";
import type { Level, LogEntry } from "../tier";

/** What a console throws into code that has written too much, so that it ends; it may catch it, and is ended all the same. */
export class OutputLimit extends Error {
  override readonly name = "OutputLimit";
}

/** The `console` of one run: what it is told is kept, and shown nowhere. */
export class Recorder {
  readonly logs: LogEntry[] = [];
  bytes = 0;
  isFull = false;
  #isOpen = true;

  constructor(
    private readonly clock: Clock,
    private readonly start: number,
    private readonly maxOutput: number,
  ) {}

  /** A console whose methods need no `this`, as those of a console do not. */
  console(): Readonly<Record<string, unknown>> {
    const at =
      (level: Level) =>
      (...parts: unknown[]) =>
        this.#add(level, parts);
    return {
      debug: at("debug"),
      log: at("log"),
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      trace: at("debug"),
      dir: (value: unknown) => this.#add("log", [value]),
      table: (value: unknown) => this.#add("log", [value]),
      assert: (isTrue: unknown, ...parts: unknown[]) => {
        if (!isTrue) this.#add("error", ["Assertion failed", ...parts]);
      },
    };
  }

  /** What is written from here on is lost: the run has ended. */
  close(): readonly LogEntry[] {
    this.#isOpen = false;
    return this.logs;
  }

  #add(level: Level, parts: readonly unknown[]): void {
    if (!this.#isOpen) return;
    const text = formatWithOptions({ colors: false }, ...parts);
    const bytes = Buffer.byteLength(text);
    if (this.isFull || this.bytes + bytes > this.maxOutput) {
      this.isFull = true;
      throw new OutputLimit("The logs are more than they may be.");
    }
    this.bytes += bytes;
    this.logs.push({ level, text, time: this.clock.monotonicTime() - this.start });
  }
}
