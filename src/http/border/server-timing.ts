import type { Clock, Metadata, System } from "../../index";
import type { TimedPart, Timing } from "../contract";
import type { GatewayVisit } from "./visit";

/** In the metadata of a message whose times are taken. No name of a stranger's metadata can be it, and JSON leaves it out. */
const MARK = Symbol("timing");

/** Milliseconds between two looks whether a request was timed: to install and remove the observer for each one took 5 µs of it. */
const LINGER = 1_000;

/** Measures the parts of requests that ask for `Server-Timing`. A second or two after the last one, nothing is observed any more. */
export class ServerTimings {
  readonly #system: System;
  /** The number of requests that are being timed. */
  #count = 0;
  /** True when a request was timed since the last look. */
  #isWanted = false;
  /** Removes the observer; null while there is none. */
  #stop: (() => void) | null = null;

  constructor(system: System) {
    this.#system = system;
  }

  /** Begins to time a request that prefers it (`Prefer: server-timing`). */
  begin(visit: GatewayVisit): void {
    if (!visit.preferences.isTimed) return;
    this.#count++;
    this.#isWanted = true;
    if (this.#stop === null) this.#observe();
    visit.timing = new RequestTiming(this.#system.clock);
  }

  /** A request that was timed is answered. */
  end(): void {
    this.#count--;
  }

  #observe(): void {
    this.#stop = this.#system.around((handling, run) => {
      const { kind } = handling;
      const timing: unknown = kind === "message" || kind === "relay" ? Reflect.get(handling.metadata, MARK) : undefined;
      if (!(timing instanceof RequestTiming)) return run();
      timing.handling();
      run(() => timing.handled());
    });
    this.#lookLater();
  }

  #lookLater(): void {
    const look = (): void => {
      if (this.#isWanted || this.#count > 0) {
        this.#isWanted = false;
        this.#lookLater();
        return;
      }
      this.#stop?.();
      this.#stop = null;
    };
    this.#system.clock.setTimer(look, LINGER).unref();
  }
}

/** The times that the parts of one request took. */
export class RequestTiming implements Timing {
  readonly #clock: Clock;
  readonly begun: number;
  // The parts in the order in which they come; negative for what there was none of. Two arrays of them took 0.4 µs more.
  private auth = -1;
  private lookup = -1;
  private validate = -1;
  private queue = -1;
  private handler = -1;
  private encode = -1;
  #since = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.begun = clock.monotonicTime();
  }

  add(part: TimedPart, duration: number): void {
    const before = this[part];
    this[part] = before < 0 ? duration : before + duration;
  }

  /** Runs a part that does not wait. */
  measure<Value>(part: TimedPart, run: () => Value): Value {
    const start = this.#clock.monotonicTime();
    try {
      return run();
    } finally {
      this.add(part, this.#clock.monotonicTime() - start);
    }
  }

  /** Sends a message: its payload is validated at once, and then it waits for its handler. */
  send<Value>(run: () => Value): Value {
    const start = this.#clock.monotonicTime();
    const sent = run();
    this.#since = this.#clock.monotonicTime();
    this.add("validate", this.#since - start);
    return sent;
  }

  mark(metadata: Metadata | undefined): Metadata {
    return Object.assign(metadata ?? {}, { [MARK]: this });
  }

  /** A handler begins, or a transport has the message. */
  handling(): void {
    this.#lap("queue");
  }

  /** A handler has ended. The message may go on to another one (`ctx.forward`, a pool). */
  handled(): void {
    this.#lap("handler");
  }

  #lap(part: TimedPart): void {
    const now = this.#clock.monotonicTime();
    this.add(part, now - this.#since);
    this.#since = now;
  }

  /** The value of the header `Server-Timing` (W3C): durations in milliseconds, and nothing else. */
  toString(): string {
    const total = written(this.#clock.monotonicTime() - this.begun);
    return `${AUTH(this.auth)}${LOOKUP(this.lookup)}${VALIDATE(this.validate)}${QUEUE(this.queue)}${HANDLER(this.handler)}${ENCODE(this.encode)}total;dur=${total}`;
  }
}

/** A duration with two digits behind its point. `toFixed` takes four times as long, and there are seven of them. */
function written(duration: number): string {
  const hundredths = Math.round(duration * 100);
  const short = SHORT[hundredths];
  if (short !== undefined) return short;
  const rest = hundredths % 100;
  return `${(hundredths - rest) / 100}.${rest < 10 ? "0" : ""}${rest}`;
}

/** The durations of less than a millisecond, which most parts take. */
const SHORT: readonly string[] = Array.from({ length: 100 }, (_, hundredths) => (hundredths / 100).toFixed(2));

/** Writes a part, if there was one. Those that are short are written already: to put each together took 0.15 µs of a request. */
function writerOf(part: TimedPart): (duration: number) => string {
  const short = SHORT.map((text) => `${part};dur=${text}, `);
  return (duration) => {
    if (duration < 0) return "";
    return short[Math.round(duration * 100)] ?? `${part};dur=${written(duration)}, `;
  };
}

const AUTH = writerOf("auth");
const LOOKUP = writerOf("lookup");
const VALIDATE = writerOf("validate");
const QUEUE = writerOf("queue");
const HANDLER = writerOf("handler");
const ENCODE = writerOf("encode");
