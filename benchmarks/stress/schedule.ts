import { createRandom, type SeededRandom } from "envoi/testing";

/** How arrivals lie in time: independent of each other, as those of many clients are, or with one gap between all. */
export type Arrivals = "poisson" | "constant";

/** What is asked for, and how often beside the others: `{ ask: 3, code: 1 }`. */
export type Mix = Readonly<Record<string, number>>;

export interface ScheduleOptions {
  /** Requests a second; 0 for none. */
  readonly rate: number;
  readonly mix: Mix;
  readonly arrivals: Arrivals;
  /** The same seed gives the same schedule. */
  readonly seed: number;
}

/** When each request is due, and what it asks for: laid down beforehand, whatever becomes of the requests (an open schedule). */
export class Schedule {
  readonly #random: SeededRandom;
  readonly #arrivals: Arrivals;
  #rate: number;
  #operations: readonly string[] = [];
  /** Up to which draw each operation is picked. */
  #bounds: readonly number[] = [];
  #due: number;

  /** @param start The time from which requests are due, in milliseconds. */
  constructor({ rate, mix, arrivals, seed }: ScheduleOptions, start: number) {
    this.#random = createRandom(seed);
    this.#arrivals = arrivals;
    this.#rate = rate;
    this.#setMix(mix);
    this.#due = start + this.#gap();
  }

  /** When the next request is due, in milliseconds; `Infinity` where none is. */
  get due(): number {
    return this.#due;
  }

  /** Requests a second. */
  get rate(): number {
    return this.#rate;
  }

  /** What the next request asks for. The one after it becomes the next. */
  take(): string {
    this.#due += this.#gap();
    const draw = this.#random.next();
    const picked = this.#bounds.findIndex((bound) => draw < bound);
    return this.#operations[picked] ?? ""; // The last bound is above all draws.
  }

  /** Goes on with another rate or mix. */
  change(
    { rate = this.#rate, mix }: { readonly rate?: number | undefined; readonly mix?: Mix | undefined },
    now: number,
  ) {
    if (mix !== undefined) this.#setMix(mix);
    this.#rate = rate;
    this.#due = now + this.#gap();
  }

  #gap(): number {
    if (this.#rate === 0) return Number.POSITIVE_INFINITY;
    const mean = 1_000 / this.#rate;
    // The gaps of a Poisson process are exponentially distributed.
    return this.#arrivals === "constant" ? mean : -Math.log(1 - this.#random.next()) * mean;
  }

  #setMix(mix: Mix): void {
    const parts = Object.entries(mix);
    const sum = parts.reduce((total, [, part]) => total + part, 0);
    let below = 0;
    this.#operations = parts.map(([operation]) => operation);
    this.#bounds = parts.map(([, part], index) => {
      below += part / sum;
      return index === parts.length - 1 ? 1 : below;
    });
  }
}
