import { createRandom } from "envoi/testing";
import { Latencies } from "../harness/latency";
import type { Window } from "./results";

export type Mix = Readonly<Record<string, number>>;

export type Request = readonly [id: number, operation: string];

export interface GeneratorOptions {
  readonly send: (requests: readonly Request[]) => void;
  /** Milliseconds until a request without an answer is given up, as its client would, and counted as `unanswered`. */
  readonly patience: number;
  readonly now?: () => number; // Default: `performance.now`.
}

/** Most requests that may be open, a power of two. Above that, requests are sent late, which windows tell. */
const ROOM = 2 ** 21;
const AT_ONCE = 10_000; // Most requests that are sent at once, so that answers are read in between.

/**
 * Load on an open schedule: when a request is due is laid down beforehand, whatever becomes of those before it, and its time counts
 * from then. Arrivals are independent of each other, as those of many clients are (a Poisson process).
 */
export class Generator {
  readonly #options: GeneratorOptions;
  readonly #now: () => number;
  readonly #random = createRandom(1); // The same schedule each time.
  #mix: readonly string[] = [];
  #rate = 0;
  #due = Number.POSITIVE_INFINITY;
  // Rings of what is open: the place of a request is the lower bits of its id.
  readonly #dues = new Float64Array(ROOM);
  readonly #operations: string[] = new Array(ROOM).fill("");
  readonly #windows: (OpenWindow | undefined)[] = new Array(ROOM).fill(undefined);
  #oldest = 0;
  #next = 0;
  #window = new OpenWindow();

  constructor(options: GeneratorOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  get isBusy(): boolean {
    return this.#oldest < this.#next;
  }

  isOpen(id: number): boolean {
    return id >= this.#oldest && id < this.#next && this.#windows[id % ROOM] !== undefined;
  }

  change(rate: number, mix?: Mix): void {
    this.tick();
    if (mix !== undefined) {
      this.#mix = Object.entries(mix).flatMap(([name, part]) => Array.from({ length: part }, () => name));
    }
    this.#rate = rate;
    this.#due = this.#now() + this.#gap();
  }

  /** The figures of the requests due in the next so many milliseconds, once all are settled. It ends a window that is open. */
  async window(milliseconds: number): Promise<Window> {
    this.tick();
    this.#beginWindow(this.#now() + milliseconds);
    const [rate, window] = [this.#rate, this.#window];
    await window.whole.promise;
    return { rate, ...window.figures() };
  }

  tick(): void {
    const now = this.#now();
    const requests: Request[] = [];
    while (this.#due <= now && requests.length < AT_ONCE && this.#windows[this.#next % ROOM] === undefined) {
      if (this.#due >= this.#window.end) this.#beginWindow();
      const place = this.#next % ROOM;
      const operation = this.#random.pick(this.#mix);
      this.#dues[place] = this.#due;
      this.#operations[place] = operation;
      this.#windows[place] = this.#window;
      this.#window.add(now - this.#due);
      requests.push([this.#next++, operation]);
      this.#due += this.#gap();
    }
    if (requests.length > 0) this.#options.send(requests);
    if (this.#due > now && now >= this.#window.end) this.#beginWindow();
    for (; this.#oldest < this.#next; this.#oldest++) {
      if (!this.isOpen(this.#oldest)) continue;
      if ((this.#dues[this.#oldest % ROOM] ?? 0) + this.#options.patience > now) return;
      this.settle(this.#oldest, "unanswered");
    }
  }

  settle(id: number, error: string | undefined): void {
    if (!this.isOpen(id)) return;
    const place = id % ROOM;
    const milliseconds = this.#now() - (this.#dues[place] ?? 0);
    this.#windows[place]?.settle(this.#operations[place] ?? "", error, milliseconds);
    this.#windows[place] = undefined;
  }

  #beginWindow(end?: number): void {
    this.#window.close();
    this.#window = new OpenWindow(end);
  }

  #gap(): number {
    return this.#rate === 0 ? Number.POSITIVE_INFINITY : (-Math.log(1 - this.#random.next()) * 1_000) / this.#rate;
  }
}

class OpenWindow {
  readonly whole = Promise.withResolvers<void>();
  readonly #times = new Latencies();
  readonly #lags = new Latencies();
  readonly #operations = new Map<string, Latencies>();
  readonly #errors: Record<string, number> = {};
  #due = 0;
  #ok = 0;
  #isClosed = false;

  constructor(readonly end = Number.POSITIVE_INFINITY) {}

  add(lag: number): void {
    this.#due++;
    this.#lags.record(lag * 1e6);
  }

  settle(operation: string, error: string | undefined, milliseconds: number): void {
    this.#times.record(milliseconds * 1e6);
    const ofOperation = this.#operations.getOrInsertComputed(operation, () => new Latencies());
    ofOperation.record(milliseconds * 1e6);
    if (error === undefined) this.#ok++;
    else this.#errors[`${operation} ${error}`] = (this.#errors[`${operation} ${error}`] ?? 0) + 1;
    this.#tellIfWhole();
  }

  close(): void {
    this.#isClosed = true;
    this.#tellIfWhole();
  }

  figures(): Omit<Window, "rate"> {
    const [due, ok, errors] = [this.#due, this.#ok, this.#errors];
    const [p50, p95, lag] = [percentile(this.#times, 50), percentile(this.#times, 95), percentile(this.#lags, 99)];
    const p99 = due < 1_000 ? null : percentile(this.#times, 99);
    const operations = Object.fromEntries([...this.#operations].map(([name, times]) => [name, percentile(times, 95)]));
    return { due, ok, errors, p50, p95, p99, operations, lag };
  }

  #tellIfWhole(): void {
    if (this.#isClosed && this.#times.count === this.#due) this.whole.resolve();
  }
}

const percentile = (times: Latencies, percent: number): number =>
  times.count === 0 ? 0 : times.percentile(percent) / 1e6;
