import type { Clock, ClockTimer, Outgoing } from "../index";

/** Most asks that are remembered after their askers gave up. */
const MOST = 100;
/** Milliseconds for which such an ask is remembered: a reply that crossed the giving up has come by then. */
const KEPT_FOR = 10_000;

/**
 * Asks whose askers gave up: a reply that comes nevertheless is a dead letter (P7), which shows the ask. Only a reply that was under way
 * can come, because the other side sends none once it knows. Each is forgotten after a time, since it keeps its payload in memory.
 */
export class LateAsks {
  readonly #clock: Clock;
  /** The oldest first. */
  readonly #asks = new Map<string, { readonly out: Outgoing; readonly since: number }>();
  #timer: ClockTimer | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(id: string, out: Outgoing): void {
    const [oldest] = this.#asks.keys();
    if (oldest !== undefined && this.#asks.size === MOST) this.#asks.delete(oldest);
    this.#asks.set(id, { out, since: this.#clock.monotonicTime() });
    if (this.#timer === null) this.#wait(KEPT_FOR);
  }

  /** Gives an ask, and forgets it. */
  take(id: string): Outgoing | undefined {
    const late = this.#asks.get(id);
    this.#asks.delete(id);
    return late?.out;
  }

  clear(): void {
    this.#asks.clear();
    this.#timer?.cancel();
    this.#timer = null;
  }

  #wait(delay: number): void {
    this.#timer = this.#clock.setTimer(this.#forget, delay);
    this.#timer.unref();
  }

  readonly #forget = (): void => {
    this.#timer = null;
    const now = this.#clock.monotonicTime();
    for (const [id, { since }] of this.#asks) {
      if (now - since < KEPT_FOR) {
        this.#wait(since + KEPT_FOR - now);
        return;
      }
      this.#asks.delete(id);
    }
  };
}
