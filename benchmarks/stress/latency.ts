import { createHistogram, type RecordableHistogram } from "node:perf_hooks";
import { type Static, Type } from "envoi";

/** How long requests took, in milliseconds. */
export const Latency = Type.Object({
  count: Type.Integer({ minimum: 0 }),
  p50: Type.Number(),
  p95: Type.Number(),
  /** Null with fewer than a thousand requests. */
  p99: Type.Union([Type.Number(), Type.Null()]),
  /** Null with fewer than ten thousand requests. */
  p999: Type.Union([Type.Number(), Type.Null()]),
  max: Type.Number(),
});
export type Latency = Static<typeof Latency>;

/** A percentile stands on ten samples above it at the least. */
const ABOVE = 10;
const NANOSECONDS = 1e6;

/** Times in logarithmic bins with three digits each. */
export class Latencies {
  readonly #histogram: RecordableHistogram = createHistogram({ lowest: 1, highest: 1e11, figures: 3 });
  #max = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  record(milliseconds: number): void {
    this.#histogram.record(Math.max(1, Math.round(milliseconds * NANOSECONDS)));
    this.#count++;
    if (milliseconds > this.#max) this.#max = milliseconds;
  }

  /** The time below which a share of them lies, in milliseconds. */
  percentile(percent: number): number {
    return this.#count === 0 ? 0 : this.#histogram.percentile(percent) / NANOSECONDS;
  }

  summary(): Latency {
    const told = (percent: number) =>
      this.#count * (1 - percent / 100) >= ABOVE - 1e-6 ? this.percentile(percent) : null;
    const [p50, p95] = [this.percentile(50), this.percentile(95)];
    return { count: this.#count, p50, p95, p99: told(99), p999: told(99.9), max: this.#max };
  }
}
