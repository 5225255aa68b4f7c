import { peek } from "bun";
import type { Clock } from "../../../index";
import type { Ended, Frame, LogEntry, Program, Room, Run, Tier } from "../tier";
import { Recorder } from "./console";

/** How trusted code runs. */
export interface TrustedOptions {
  /** How many may be under way at once; one more is told `busy`. */
  readonly size: number;
  readonly clock: Clock;
}

/**
 * Runs code in this process, as if it were the host's own: no isolation. It sees and changes all that the host can,
 * `memory` does not hold it, and one that loops without an `await` holds up the process for as long as it likes; that it
 * took too long is told then. One whose time is up while it waits is told so at once, and goes on behind.
 */
export function createTrusted(options: TrustedOptions): Tier {
  return new Trusted(options);
}

type Code = (input: unknown, console: unknown) => Promise<unknown>;
type Failure = Exclude<Ended, { kind: "value" }>;
type Settle = (ended: Ended) => void;

interface Compiled {
  readonly code: Code;
  /** The name that its calls have in a stack. */
  readonly url: string;
  /** Whether it can get at its console; one that cannot is spared 0.2 µs. */
  readonly hasConsole: boolean;
}

const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => Code; // By the language.
/** Lines of a function that the engine writes before its body. */
const HEAD_LINES = 2;
const MOST_FRAMES = 100;
const LONGEST_STACK = 64 * 1024;
const NO_LOGS: readonly LogEntry[] = [];

class Trusted implements Tier {
  readonly isolation = "trusted";
  readonly #clock: Clock;
  readonly #size: number;
  readonly #compiled = new WeakMap<Program, Compiled | Failure>();
  /** Those that wait for something, by how they end. */
  readonly #waiting = new Set<Settle>();
  #count = 0;

  constructor({ size, clock }: TrustedOptions) {
    this.#size = size;
    this.#clock = clock;
  }

  run(run: Run): Promise<Ended> {
    const { program } = run;
    let compiled = this.#compiled.get(program);
    if (compiled === undefined) {
      compiled = compile(program, ++this.#count);
      this.#compiled.set(program, compiled);
    }
    if ("kind" in compiled) return Promise.resolve(compiled);
    if (this.#waiting.size >= this.#size) {
      return Promise.resolve(failure("busy", `${this.#size} runs are under way already; ask again later.`, NO_LOGS, 0));
    }
    return Promise.resolve(this.#begin(run, compiled));
  }

  open(): Room {
    throw new Error("Not there yet.");
  }

  inspect() {
    return { processes: 0, idle: 0, running: this.#waiting.size, waiting: 0 };
  }

  async dispose(): Promise<void> {
    for (const settle of this.#waiting) {
      settle(failure("crashed", "The code actor was stopped before the code had ended.", NO_LOGS, 0));
    }
  }

  #begin(run: Run, compiled: Compiled): Ended | Promise<Ended> {
    const start = this.#clock.monotonicTime();
    const recorder = compiled.hasConsole ? new Recorder(this.#clock, start, run.maxOutput) : null;
    const input: unknown = run.input === undefined ? undefined : JSON.parse(run.input);
    // Thrown where it is called, a stack that is used up already is no rejection.
    let promise: Promise<unknown>;
    try {
      promise = compiled.code(input, recorder?.console());
    } catch (thrown) {
      promise = Promise.reject(thrown);
    }
    // What has not waited has its value now, and needs no timer.
    if (peek.status(promise) === "fulfilled") return this.#end(run, recorder, start, peek(promise));
    return this.#wait(run, compiled, recorder, start, promise);
  }

  #wait(
    run: Run,
    { url }: Compiled,
    recorder: Recorder | null,
    start: number,
    promise: Promise<unknown>,
  ): Promise<Ended> {
    const { signal, program, timeout } = run;
    return new Promise((resolve) => {
      const settle: Settle = (ended) => {
        if (!this.#waiting.delete(settle)) return;
        timer.cancel();
        signal.removeEventListener("abort", onAbort);
        const logs = recorder?.close() ?? NO_LOGS;
        resolve({ ...ended, logs, durationMs: this.#clock.monotonicTime() - start });
      };
      const onAbort = () => settle(failure("crashed", "Its asker gave up, or the code actor was stopped.", NO_LOGS, 0));
      const timer = this.#clock.setTimer(() => settle(timedOut(timeout, NO_LOGS, 0)), timeout);
      this.#waiting.add(settle);
      signal.addEventListener("abort", onAbort, { once: true });
      promise.then(
        (value) => settle(this.#end(run, recorder, start, value)),
        (thrown) => settle(this.#fail(run, recorder, start, thrown, url, program)),
      );
      if (signal.aborted) onAbort();
    });
  }

  #end(run: Run, recorder: Recorder | null, start: number, value: unknown): Ended {
    let text: string | undefined;
    let fault: string | null = null;
    if (value !== undefined) {
      try {
        text = JSON.stringify(value);
        if (text === undefined) fault = `A ${typeof value} is nothing that JSON can hold; return what it gives.`;
      } catch (thrown) {
        fault = `The value is nothing that JSON can hold: ${describe(thrown).message}`;
      }
    }
    const durationMs = this.#clock.monotonicTime() - start;
    const logs = recorder?.close() ?? NO_LOGS;
    if (recorder?.isFull === true || exceeds(text, run.maxOutput - (recorder?.bytes ?? 0))) {
      return tooMuch(run.maxOutput, logs, durationMs);
    }
    if (durationMs > run.timeout) return timedOut(run.timeout, logs, durationMs);
    if (fault !== null) return failure("unserializable-value", fault, logs, durationMs);
    return { kind: "value", value: text, logs, durationMs };
  }

  #fail(run: Run, recorder: Recorder | null, start: number, thrown: unknown, url: string, program: Program): Ended {
    const durationMs = this.#clock.monotonicTime() - start;
    const logs = recorder?.close() ?? NO_LOGS;
    if (recorder?.isFull === true) return tooMuch(run.maxOutput, logs, durationMs);
    if (durationMs > run.timeout) return timedOut(run.timeout, logs, durationMs);
    const { name, message, stack } = describe(thrown);
    const places = placesOf(stack, url, program);
    return {
      kind: "runtime-error",
      message,
      ...(name !== undefined && { name }),
      ...(places.length > 0 && { stack: places }),
      logs,
      durationMs,
    };
  }
}

function compile(program: Program, count: number): Compiled | Failure {
  const url = `trusted-program-${count}`;
  const { body } = program;
  try {
    const code = new AsyncFunction("input", "console", `${body}\n//# sourceURL=${url}`);
    return { code, url, hasConsole: /console|eval|\\u/.test(body) };
  } catch (thrown) {
    // Read before, it is code; the engine knows less of the language, or has a smaller stack.
    const { name = "SyntaxError", message } = describe(thrown);
    return { ...failure("runtime-error", message, NO_LOGS, 0), name };
  }
}

function failure(kind: Failure["kind"], message: string, logs: readonly LogEntry[], durationMs: number): Failure {
  return { kind, message, logs, durationMs };
}

const timedOut = (timeout: number, logs: readonly LogEntry[], durationMs: number): Failure =>
  failure("timeout", `The code had not ended after ${timeout} ms; do less at once, or allow more.`, logs, durationMs);

const tooMuch = (most: number, logs: readonly LogEntry[], durationMs: number): Failure =>
  failure(
    "output-limit",
    `The logs and the value are more than ${most} bytes; return less, or log less.`,
    logs,
    durationMs,
  );

/** Whether a text has more bytes than that; counted only where its length leaves it open. */
function exceeds(text: string | undefined, bytes: number): boolean {
  if (text === undefined || text.length * 3 <= bytes) return false;
  return text.length > bytes || Buffer.byteLength(text) > bytes;
}

/** What was thrown, which may be anything, also what throws when it is looked at. */
function describe(thrown: unknown): { name?: string; message: string; stack?: string } {
  try {
    if (!(thrown instanceof Error)) return { message: `The code threw ${Bun.inspect(thrown, { depth: 2 })}.` };
    const { name, message, stack } = thrown;
    return { name: String(name), message: String(message), ...(typeof stack === "string" && { stack }) };
  } catch {
    return { message: "The code threw what cannot be looked at." };
  }
}

/** The places of a stack that are in the program. */
function placesOf(stack: string | undefined, url: string, program: Program) {
  const places: Frame[] = [];
  for (const row of (stack ?? "").slice(0, LONGEST_STACK).split("\n", MOST_FRAMES)) {
    const found = /^ {4}at .*?\b(trusted-program-\d+):(\d+):(\d+)\)?$/.exec(row);
    if (found?.[1] !== url) continue;
    const place = program.place(Number(found[2]) - HEAD_LINES, Number(found[3]));
    if (place !== undefined) places.push({ program, ...place });
  }
  return places;
}
