import { type Static, Type } from "envoi";
import { Latencies } from "../harness/latency";

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
