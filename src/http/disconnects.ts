import type { Clock } from "../index";
import type { BunServer } from "./server";

/** Milliseconds until a request counts as slow, and at most twice as many. */
export const PAUSE = 25;

/** Seconds by which Bun waits longer than the gateway, which refuses with a sentence. */
const SPARE = 5;

/** The longest idle time that Bun takes, in seconds. */
const LONGEST = 255;

/** A wait that is looked at only once it has taken a while. It is a link of a list: a Set cost each request 0.6 µs. */
export interface Slow {
  before: Slow | null;
  after: Slow | null;
  /** Called once, after 25 to 50 ms. */
  grown(): void;
}

/** A request whose client may leave. */
export interface Watched {
  /** Calls back when the client has gone. A later callback takes the place of the one before. */
  whenGone(callback: (reason: unknown) => void): void;
  /** Aborts when the client has gone. It costs more than a microsecond: `whenGone` costs nothing. */
  readonly signal: AbortSignal;
  /** The request is answered. */
  end(): void;
}

/** A list of waits; it is before its first and after its last one. */
class Waits implements Slow {
  before: Slow = this;
  after: Slow = this;
  grown(): void {}

  get isEmpty(): boolean {
    return this.after === this;
  }
}

class RequestWatch implements Watched, Slow {
  before: Slow | null = null;
  after: Slow | null = null;
  #leave: ((reason: unknown) => void) | null = null;
  /** Made for those that want a signal. */
  #controller: AbortController | null = null;
  #isGone = false;
  readonly #request: Request;
  readonly #server: BunServer | undefined;
  readonly #time: number;
  readonly #disconnects: Disconnects;

  constructor(request: Request, server: BunServer | undefined, time: number, disconnects: Disconnects) {
    this.#request = request;
    this.#server = server;
    this.#time = time;
    this.#disconnects = disconnects;
  }

  whenGone(callback: (reason: unknown) => void): void {
    this.#leave = callback;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isGone) this.#controller.abort(this.#request.signal.reason);
    return this.#controller.signal;
  }

  grown(): void {
    // Else Bun ends a request after 10 seconds in which nothing was sent.
    keepOpen(this.#server, this.#request, this.#time);
    const { signal } = this.#request;
    const leave = (): void => {
      this.#isGone = true;
      this.#leave?.(signal.reason);
      this.#controller?.abort(signal.reason);
    };
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  }

  end(): void {
    this.#disconnects.drop(this);
  }
}

/**
 * Lets a request go on for a time in milliseconds though nothing is sent. It never throws: a router may hand on less than Bun's server, or a
 * request that is not the server's, and a timer calls this.
 */
export function keepOpen(server: BunServer | undefined, request: Request, time = Number.POSITIVE_INFINITY): void {
  const seconds = Math.ceil(time / 1000) + SPARE;
  try {
    server?.timeout(request, seconds > LONGEST ? 0 : seconds);
  } catch {
    // The request ends when its router ends it.
  }
}

/** The idle time of a server's connections, in seconds, that lets the gateway refuse first. */
export const idleTimeOf = (time: number): number => Math.min(Math.ceil(time / 1000) + SPARE, LONGEST);

/**
 * Watches for clients that leave. The signal of a request costs 10 µs, as much as the rest of a short one, so it is only looked at once
 * a request has taken a while. The same holds for the timer of its body.
 */
export class Disconnects {
  readonly #clock: Clock;
  #young = new Waits();
  #growing = new Waits();
  #isSweeping = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Watches a request until its `end()`.
   *
   * @param time the milliseconds that it may take at most.
   */
  watch(request: Request, server?: BunServer, time = 0): Watched {
    const watch = new RequestWatch(request, server, time, this);
    this.add(watch);
    return watch;
  }

  /** Tells an entry once it has taken a while. */
  add(entry: Slow): void {
    const young = this.#young;
    const last = young.before;
    entry.before = last;
    entry.after = young;
    last.after = entry;
    young.before = entry;
    if (!this.#isSweeping) this.#sweepLater();
  }

  drop(entry: Slow): void {
    const { before, after } = entry;
    if (before === null || after === null) return;
    before.after = after;
    after.before = before;
    entry.before = null;
    entry.after = null;
  }

  #sweepLater(): void {
    this.#isSweeping = true;
    const grown = this.#young;
    this.#young = this.#growing; // It is empty.
    this.#growing = grown;
    const timer = this.#clock.setTimer(() => {
      while (!grown.isEmpty) {
        const entry = grown.after;
        this.drop(entry);
        entry.grown();
      }
      this.#isSweeping = false;
      if (!this.#young.isEmpty) this.#sweepLater();
    }, PAUSE);
    timer.unref();
  }
}
