import { peek } from "bun";
import type { Clock, ClockTimer } from "../../../index";
import type { Ended, LogEntry, Program, Run, RunClock } from "../tier";
import { type Code, placesOf } from "./compiled";
import { describe, type Failure, failure, NO_LOGS, timedOut, tooMuch } from "./ended";
import { Recorder } from "./recorder";

/** The owner of active runs: a tier, or a room. */
export interface Home {
  readonly clock: Clock;
  /** Runs that wait for something. */
  readonly waiting: Set<TrustedRun>;
  /** Its programs, by their names in stacks. */
  readonly programs: ReadonlyMap<string, Program> | null;
}

/** A run from its start to its end, and its clock. */
export class TrustedRun implements RunClock {
  readonly run: Run;
  readonly #home: Home;
  readonly #start: number;
  #recorder: Recorder | null = null;
  /** The name of its program in stacks. */
  readonly #url: string;
  #isOver = false;
  /** Set while the run waits for something. */
  #settle: ((ended: Ended) => void) | null = null;
  #timer: ClockTimer | null = null;
  #stops = 0;
  #stoppedAt = 0;
  /** Milliseconds for which its clock has stood still. */
  #stood = 0;

  constructor(run: Run, home: Home, url: string) {
    this.run = run;
    this.#home = home;
    this.#url = url;
    this.#start = home.clock.monotonicTime();
  }

  get recorder(): Recorder {
    this.#recorder ??= new Recorder(this.#home.clock, this.#start, this.run);
    return this.#recorder;
  }

  get now(): number {
    return this.#home.clock.monotonicTime();
  }

  /** Calls a tool. An answer after the run's end is dropped, because nothing would catch its error. */
  call(request: string): Promise<string> {
    return new Promise((resolve) => {
      if (this.#isOver) return;
      void this.run.calls?.call(request, this).then((answer) => {
        if (!this.#isOver) resolve(answer);
      });
    });
  }

  /** Runs the code to its end. */
  begin(code: Code, tools: unknown, progress: unknown, console: unknown): Ended | Promise<Ended> {
    const { input } = this.run;
    const given: unknown = input === undefined ? undefined : JSON.parse(input);
    // If the stack is used up already, the call itself throws, and no promise rejects.
    let promise: Promise<unknown>;
    try {
      promise = code(given, tools, progress, console);
    } catch (thrown) {
      promise = Promise.reject(thrown);
    }
    // Code that did not wait has its value now, and needs no timer.
    return peek.status(promise) === "fulfilled" ? this.#end(peek(promise)) : this.#wait(promise);
  }

  /** Ends the run as `stopped` if it waits. */
  abandon(message: string): void {
    this.#finish(failure("stopped", message));
  }

  stop(): void {
    if (this.#isOver || this.#stops++ > 0) return;
    this.#stoppedAt = this.#home.clock.monotonicTime();
    this.#timer?.cancel();
    this.#timer = null;
  }

  start(): void {
    if (this.#isOver || this.#stops === 0 || --this.#stops > 0) return;
    this.#stood += this.#home.clock.monotonicTime() - this.#stoppedAt;
    if (this.#settle !== null) this.#setTimer();
  }

  #wait(promise: Promise<unknown>): Promise<Ended> {
    const { signal } = this.run;
    return new Promise((resolve) => {
      const onAbort = () => this.abandon("Its asker gave up, or the code actor was stopped.");
      this.#settle = (ended) => {
        signal.removeEventListener("abort", onAbort);
        resolve(ended);
      };
      this.#home.waiting.add(this);
      if (this.#stops === 0) this.#setTimer();
      signal.addEventListener("abort", onAbort);
      promise.then(
        (value) => this.#isOver || this.#finish(this.#end(value)),
        (thrown) => this.#isOver || this.#finish(this.#fail(thrown)),
      );
      if (signal.aborted) onAbort();
    });
  }

  #setTimer(): void {
    const { timeout } = this.run;
    const { clock } = this.#home;
    const left = timeout - (clock.monotonicTime() - this.#start - this.#stood);
    this.#timer = clock.setTimer(() => this.#finish(timedOut(timeout)), Math.max(left, 0));
  }

  #finish(ended: Ended): void {
    const settle = this.#settle;
    if (settle === null) return;
    this.#settle = null;
    this.#home.waiting.delete(this);
    this.#timer?.cancel();
    settle(ended.kind === "value" ? ended : this.#ended(ended));
  }

  #end(value: unknown): Ended {
    let text: string | undefined;
    let fault: string | null = null;
    if (value !== undefined) {
      try {
        text = JSON.stringify(value);
        if (text === undefined && typeof value !== "object") {
          fault = `A ${typeof value} is nothing that JSON can hold; return what it gives.`;
        }
      } catch (thrown) {
        fault = `The value is nothing that JSON can hold: ${describe(thrown).message}`;
      }
    }
    const { maxOutput } = this.run;
    const recorder = this.#recorder;
    if (recorder?.isFull === true || exceeds(text, maxOutput - (recorder?.bytes ?? 0))) {
      return this.#ended(tooMuch(maxOutput));
    }
    const durationMs = this.#home.clock.monotonicTime() - this.#start;
    if (this.#isLate(durationMs)) return this.#ended(timedOut(this.run.timeout));
    if (fault !== null) return this.#ended(failure("unserializable-value", fault));
    return { kind: "value", value: text, logs: this.#close(), durationMs };
  }

  #fail(thrown: unknown): Failure {
    const { run } = this;
    if (this.#recorder?.isFull === true) return tooMuch(run.maxOutput);
    if (this.#isLate(this.#home.clock.monotonicTime() - this.#start)) return timedOut(run.timeout);
    const { name, message, stack } = describe(thrown);
    const { programs } = this.#home;
    const programOf = (url: string) => (url === this.#url ? run.program : programs?.get(url));
    const places = placesOf(stack, programOf, programs !== null);
    return {
      ...failure("runtime-error", message),
      ...(name !== undefined && { name }),
      ...(places.length > 0 && { stack: places }),
    };
  }

  #isLate(durationMs: number): boolean {
    const standing = this.#stops > 0 ? this.#home.clock.monotonicTime() - this.#stoppedAt : 0;
    return durationMs - this.#stood - standing > this.run.timeout;
  }

  #ended(ended: Failure): Ended {
    return { ...ended, logs: this.#close(), durationMs: this.#home.clock.monotonicTime() - this.#start };
  }

  #close(): readonly LogEntry[] {
    this.#isOver = true;
    return this.#recorder?.close() ?? NO_LOGS;
  }
}

/** True when a text has more than `bytes` bytes. They are counted only if the length does not decide. */
function exceeds(text: string | undefined, bytes: number): boolean {
  if (text === undefined || text.length * 3 <= bytes) return false;
  return text.length > bytes || Buffer.byteLength(text) > bytes;
}
