import type { Clock } from "../../../index";
import type { Ended, LogEntry, Program, Run } from "../tier";
import { ENTRY_BYTES, LEVELS, type Outcome } from "./channel";
import { stackOf } from "./stack";
import { Stopwatch } from "./stopwatch";

type Failure = Exclude<Ended, { kind: "value" }>;

const GIVEN_UP = "Its asker gave up, or the code actor was stopped.";

/** A run from its request to its one outcome. */
export class ActiveRun {
  readonly run: Run;
  /** The time that it has had in processes. */
  readonly time: Stopwatch;
  /** The number of times that it was given to a process. */
  attempts = 0;
  /** Only a process that became free after this turn of the pool may take it. */
  after = 0;
  isSettled = false;
  readonly #settle: (ended: Ended) => void;
  readonly #abort: () => void;
  readonly #logs: LogEntry[] = [];
  /** Bytes that logs, progress and the value may still take. */
  #left: number;

  /** @param onAbort called when the asker gives up later. The run is settled by then. */
  constructor(run: Run, clock: Clock, settle: (ended: Ended) => void, onAbort: (active: ActiveRun) => void) {
    this.run = run;
    this.time = new Stopwatch(clock);
    this.#settle = settle;
    this.#left = run.maxOutput;
    this.#abort = () => {
      this.fail("stopped", GIVEN_UP);
      onAbort(this);
    };
    const { signal } = run;
    if (signal.aborted) this.fail("stopped", GIVEN_UP);
    else signal.addEventListener("abort", this.#abort);
  }

  /** False once the output limit is exceeded. */
  log(level: number, text: string, time: number): boolean {
    const name = LEVELS[level];
    if (name === undefined || !this.#take(text)) return false;
    const entry = { level: name, text, time };
    this.#logs.push(entry);
    this.run.onLog?.(entry);
    return true;
  }

  /** False once the output limit is exceeded. */
  progress(value: string): boolean {
    if (!this.#take(value)) return false;
    this.run.onProgress?.(value);
    return true;
  }

  end(outcome: Outcome, programOf: (file: string) => Program | undefined): void {
    if (outcome.kind !== "value") {
      const { kind, message, name, stack } = outcome;
      const places = stack === undefined ? undefined : stackOf(stack, programOf);
      this.fail(kind, message, { ...(name !== undefined && { name }), ...(places !== undefined && { stack: places }) });
    } else if (outcome.value !== undefined && Buffer.byteLength(outcome.value) > this.#left) {
      this.fail("output-limit");
    } else {
      this.#finish({ kind: "value", value: outcome.value, logs: this.#logs, durationMs: this.time.elapsed });
    }
  }

  fail(kind: Failure["kind"], message = "", more: Pick<Failure, "name" | "stack"> = {}): void {
    const sentence = this.#sentence(kind, message);
    this.#finish({ kind, message: sentence, ...more, logs: this.#logs, durationMs: this.time.elapsed });
  }

  #take(text: string): boolean {
    this.#left -= Buffer.byteLength(text) + ENTRY_BYTES;
    return this.#left >= 0;
  }

  #finish(ended: Ended): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.run.signal.removeEventListener("abort", this.#abort);
    this.#settle(ended);
  }

  #sentence(kind: Failure["kind"], message: string): string {
    const { timeout, memory, maxOutput } = this.run;
    switch (kind) {
      case "timeout":
        return `The code ran longer than its ${timeout} ms and was ended; give it more time, or less to do.`;
      case "out-of-memory":
        return `The code needed more than its ${memory} bytes of memory; give it more, or keep less at once.`;
      case "output-limit":
        return `The logs and the value took more than ${maxOutput} bytes; log and return less.`;
      case "unserializable-value":
        return `The value cannot be returned: ${message}.`;
      default:
        return message;
    }
  }
}
