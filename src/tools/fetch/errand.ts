import type { Clock, ClockTimer } from "../../index";
import { FetchRefusal } from "./fetch-error";

/** The time of one request. It ends by its timeout, when its asker gives up, or when the request is done. */
export class Errand {
  readonly #ending = new AbortController();
  readonly #given: AbortSignal;
  readonly #timeout: number;
  readonly #timer: ClockTimer;
  #isLate = false;

  constructor(clock: Clock, timeout: number, given: AbortSignal) {
    this.#given = given;
    this.#timeout = timeout;
    this.#timer = clock.setTimer(() => {
      this.#isLate = true;
      this.#ending.abort();
    }, timeout);
    given.addEventListener("abort", this.#giveUp, { once: true });
    if (given.aborted) this.#giveUp();
  }

  /** Aborts at each kind of end, which closes the connection. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Waits for something that cannot be cancelled, and rejects at the end of the time. */
  wait<Value>(work: Promise<Value>): Promise<Value> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const stop = (): void => reject(signal.reason);
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop, { once: true });
      work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
    });
  }

  /** The reason why the time is over; null while it lasts. A sender that gave up has its own reason, which is thrown. */
  overBy(): FetchRefusal | null {
    if (this.#isLate) {
      return new FetchRefusal(
        "timeout",
        `The answer did not end within ${this.#timeout} ms; ask for less, or try again later.`,
      );
    }
    if (!this.#given.aborted) return null;
    const { reason } = this.#given;
    if (!(reason instanceof DOMException && reason.name === "AbortError")) throw reason;
    return new FetchRefusal("stopped", "The fetch actor was stopped before the answer ended; ask again.");
  }

  end(): void {
    this.#timer.cancel();
    this.#given.removeEventListener("abort", this.#giveUp);
    this.#ending.abort();
  }

  readonly #giveUp = (): void => {
    this.#timer.cancel();
    this.#ending.abort();
  };
}
