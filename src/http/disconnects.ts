import type { Clock } from "../index";

/** Milliseconds until a request is watched, and at most twice as many. */
const PAUSE = 25;

/** A request whose client may leave. */
export interface Watched {
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
  /** The request is answered. */
  end(): void;
}

class Watch implements Watched {
  readonly #controller = new AbortController();
  readonly #request: Request;
  readonly #watches: Set<Watch>;

  constructor(request: Request, watches: Set<Watch>) {
    this.#request = request;
    this.#watches = watches;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  begin(): void {
    const { signal } = this.#request;
    const leave = (): void => this.#controller.abort(signal.reason);
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  }

  end(): void {
    this.#watches.delete(this);
  }
}

/**
 * Watches for clients that leave. The signal of a request costs 10 µs, as much as the rest of a short one, so it is only looked at once
 * a request has taken a while.
 */
export class Disconnects {
  readonly #clock: Clock;
  #young = new Set<Watch>();
  #isSweeping = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  watch(request: Request): Watched {
    const watch = new Watch(request, this.#young);
    this.#young.add(watch);
    if (!this.#isSweeping) this.#sweepLater();
    return watch;
  }

  #sweepLater(): void {
    this.#isSweeping = true;
    const grown = this.#young;
    this.#young = new Set();
    const timer = this.#clock.setTimer(() => {
      for (const watch of grown) watch.begin();
      this.#isSweeping = false;
      if (this.#young.size > 0) this.#sweepLater();
    }, PAUSE);
    timer.unref();
  }
}
