import { Latencies } from "../harness/latency";
import type { Latency, Outcomes } from "./results";

/** A percentile stands on ten samples above it at the least. */
const ABOVE = 10;
const NANOSECONDS = 1e6;

/** How long requests took, in milliseconds, each of them kept. */
export class RequestTimes {
  readonly #latencies = new Latencies();
  #max = 0; // As it was; a bin would tell its end.

  get count(): number {
    return this.#latencies.count;
  }

  record(milliseconds: number): void {
    this.#latencies.record(milliseconds * NANOSECONDS);
    if (milliseconds > this.#max) this.#max = milliseconds;
  }

  /** The time below which a share of them lies, in milliseconds. */
  percentile(percent: number): number {
    return this.count === 0 ? 0 : this.#latencies.percentile(percent) / NANOSECONDS;
  }

  summary(): Latency {
    const { count } = this;
    const told = (percent: number) => (count * (1 - percent / 100) >= ABOVE - 1e-6 ? this.percentile(percent) : null);
    const [p50, p95] = [this.percentile(50), this.percentile(95)];
    return { count, p50, p95, p99: told(99), p999: told(99.9), max: this.#max };
  }
}

class Tally {
  due = 0;
  ok = 0;
  readonly errors: Record<string, number> = {};
  readonly latencies = new RequestTimes();

  settle(error: string | undefined, milliseconds: number): void {
    if (error === undefined) this.ok++;
    else this.errors[error] = (this.errors[error] ?? 0) + 1;
    this.latencies.record(milliseconds);
  }

  outcomes(): Outcomes {
    return { due: this.due, ok: this.ok, errors: this.errors, latency: this.latencies.summary() };
  }
}

/** The requests that were due in one stretch of time, wherever in time their answers are. */
export class Window {
  readonly all = new Tally();
  readonly #byOperation = new Map<string, Tally>();
  readonly #whole = Promise.withResolvers<void>();
  #until = Number.POSITIVE_INFINITY;

  constructor(readonly from: number) {}

  /** Resolves once it has ended and all of its requests are settled. */
  get whole(): Promise<void> {
    return this.#whole.promise;
  }

  get isWhole(): boolean {
    return this.#until !== Number.POSITIVE_INFINITY && this.all.latencies.count === this.#until - this.from;
  }

  has(id: number): boolean {
    return id >= this.from && id < this.#until;
  }

  end(until: number): void {
    this.#until = until;
    this.#tellIfWhole();
  }

  add(operation: string): void {
    this.all.due++;
    this.#of(operation).due++;
  }

  settle(operation: string, error: string | undefined, milliseconds: number): void {
    this.all.settle(error, milliseconds);
    this.#of(operation).settle(error, milliseconds);
    this.#tellIfWhole();
  }

  operations(): Record<string, Outcomes> {
    return Object.fromEntries([...this.#byOperation].map(([name, tally]) => [name, tally.outcomes()]));
  }

  #of(operation: string): Tally {
    let tally = this.#byOperation.get(operation);
    if (tally === undefined) {
      tally = new Tally();
      this.#byOperation.set(operation, tally);
    }
    return tally;
  }

  #tellIfWhole(): void {
    if (this.isWhole) this.#whole.resolve();
  }
}

/** Every request that was due, until it is answered or given up; each settles once. */
export class Requests {
  readonly #patience: number;
  // Rings: the place of a request is the lower bits of its id.
  readonly #mask: number;
  readonly #due: Float64Array;
  /** Its operation's place among the names, or 0 once it is settled. */
  readonly #operation: Uint8Array;
  readonly #names: string[] = [""];
  #oldest = 0;
  #next = 0;
  #open = 0;
  #windows: Window[] = [];

  /**
   * @param patience Milliseconds after which a request that has no answer is given up, as its client would.
   * @param bits So many requests as 2 to the power of it may be open.
   */
  constructor(patience: number, bits = 21) {
    this.#patience = patience;
    this.#mask = 2 ** bits - 1;
    this.#due = new Float64Array(2 ** bits);
    this.#operation = new Uint8Array(2 ** bits);
  }

  /** How many have no answer yet. */
  get open(): number {
    return this.#open;
  }

  /** Whether one more may be open. */
  get hasRoom(): boolean {
    return this.#operation[this.#next & this.#mask] === 0;
  }

  /** Begins a window: what is added from now on is in it. */
  begin(): Window {
    const window = new Window(this.#next);
    this.#windows.push(window);
    return window;
  }

  /** Ends a window: what is added from now on is not in it. */
  end(window: Window): void {
    window.end(this.#next);
    this.#forgetWhole();
  }

  /** Adds a request and returns its id; `due` rises from each to the next. */
  add(operation: string, due: number): number {
    const id = this.#next;
    const place = id & this.#mask;
    if (!this.hasRoom) {
      throw new Error(`More than ${this.#mask} requests are open: lower the rate, or the patience.`);
    }
    this.#next++;
    this.#open++;
    this.#due[place] = due;
    this.#operation[place] = this.#nameOf(operation);
    for (const window of this.#windows) if (window.has(id)) window.add(operation);
    return id;
  }

  /** Settles a request, unless it was given up before. @param error What went wrong, if anything did. */
  settle(id: number, error: string | undefined, now: number): void {
    const place = id & this.#mask;
    const name = this.#operation[place] ?? 0;
    if (name === 0 || id < this.#oldest || id >= this.#next) return; // It was given up.
    const operation = this.#names[name] ?? "";
    this.#operation[place] = 0;
    this.#open--;
    const taken = now - (this.#due[place] ?? now);
    let isOneWhole = false;
    for (const window of this.#windows) {
      if (!window.has(id)) continue;
      window.settle(operation, error, taken);
      isOneWhole ||= window.isWhole;
    }
    if (isOneWhole) this.#forgetWhole();
  }

  /** Gives up those that have waited too long. */
  giveUp(now: number): void {
    for (; this.#oldest < this.#next; this.#oldest++) {
      const place = this.#oldest & this.#mask;
      if (this.#operation[place] === 0) continue;
      if ((this.#due[place] ?? now) + this.#patience > now) return;
      this.settle(this.#oldest, "unanswered", now);
    }
  }

  #nameOf(operation: string): number {
    const known = this.#names.indexOf(operation, 1);
    return known > 0 ? known : this.#names.push(operation) - 1;
  }

  #forgetWhole(): void {
    this.#windows = this.#windows.filter((window) => !window.isWhole);
  }
}
