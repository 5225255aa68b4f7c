import type { Clock, ClockTimer } from "../../../index";
import type { Ended, LogEntry, Run } from "../tier";
import { ENTRY_BYTES, LEVELS, type Order, type Outcome } from "./channel";
import { FILE } from "./program-file";
import { stackOf } from "./stack";

/** Milliseconds after its time that a run has to end by itself, which spares a process. */
const GRACE = 50;
/** Bytes that a byte of a log or value takes on the channel at most, with its escapes: twice, since a value is a text in a text. */
const INFLATION = 12;

/** A run from when it was asked for until it is told what became of it, which is once. */
export class ActiveRun {
  readonly run: Run;
  readonly #clock: Clock;
  readonly #settle: (ended: Ended) => void;
  readonly #abort: () => void;
  readonly #logs: LogEntry[] = [];
  #began: number | undefined;
  #timer: ClockTimer | undefined;
  /** Bytes that the logs and the value may still take. */
  #left: number;
  isSettled = false;

  /** @param onAbort what ends the run when its asker gives up. */
  constructor(run: Run, clock: Clock, settle: (ended: Ended) => void, onAbort: (active: ActiveRun) => void) {
    this.run = run;
    this.#clock = clock;
    this.#settle = settle;
    this.#left = run.maxOutput;
    this.#abort = () => onAbort(this);
    run.signal.addEventListener("abort", this.#abort, { once: true });
  }

  /** Most bytes that a process may write about it. */
  get mostBytes(): number {
    return this.run.maxOutput * INFLATION + 512 * 1024;
  }

  /** Begins to count its time; `onTimeout` is called when it did not end by itself. */
  begin(number: number, onTimeout: () => void): Order {
    const { program, input, timeout, memory, maxOutput } = this.run;
    this.#began = this.#clock.monotonicTime();
    this.#timer = this.#clock.setTimer(onTimeout, timeout + GRACE);
    return {
      number,
      file: FILE,
      body: program.body,
      declares: program.declares,
      isKept: false,
      ...(input !== undefined && { input }),
      timeout,
      memory,
      maxOutput,
    };
  }

  /** False when that is more than it may write. */
  log(level: number, text: string, time: number): boolean {
    const name = LEVELS[level];
    this.#left -= Buffer.byteLength(text) + ENTRY_BYTES;
    if (name === undefined || this.#left < 0) return false;
    this.#logs.push({ level: name, text, time });
    return true;
  }

  end(outcome: Outcome): void {
    if (outcome.kind !== "value") {
      const { kind, message, name, stack } = outcome;
      const places = stack === undefined ? undefined : stackOf(stack, this.run.program);
      this.fail(kind, this.#sentence(kind, message), {
        ...(name !== undefined && { name }),
        ...(places !== undefined && { stack: places }),
      });
    } else if (outcome.value !== undefined && Buffer.byteLength(outcome.value) > this.#left) {
      this.exceedOutput();
    } else {
      this.#finish({ kind: "value", value: outcome.value, logs: this.#logs, durationMs: this.#duration });
    }
  }

  fail(
    kind: Exclude<Ended["kind"], "value">,
    message: string,
    more: Pick<Exclude<Ended, { kind: "value" }>, "name" | "stack"> = {},
  ): void {
    this.#finish({ kind, message, ...more, logs: this.#logs, durationMs: this.#duration });
  }

  timeOut(): void {
    this.fail("timeout", this.#sentence("timeout", ""));
  }

  exceedOutput(): void {
    this.fail("output-limit", this.#sentence("output-limit", ""));
  }

  #finish(ended: Ended): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.#timer?.cancel();
    this.run.signal.removeEventListener("abort", this.#abort);
    this.#settle(ended);
  }

  get #duration(): number {
    return this.#began === undefined ? 0 : this.#clock.monotonicTime() - this.#began;
  }

  #sentence(kind: string, message: string): string {
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
