import type { Histogram, Metrics, OperationMetrics, System } from "../../index";
import type { OperationRow } from "./shapes";

/** Most rows. */
const MOST = 50;

type Before = Pick<OperationMetrics, "handled" | "failed" | "dead" | "handlerTime">;

/** Compares the metrics of a system with those of the look before. */
export class OperationRates {
  readonly #system: System;
  #before = new Map<string, Before>();
  /** False once it is known that the system has no metrics. */
  #hasMetrics = true;

  constructor(system: System) {
    this.#system = system;
  }

  /**
   * Gives the busiest operations, and the messages of all of them that failed and that were dead-lettered; null where the system has no metrics.
   *
   * @param perSecond turns a number since the last look into a rate; 0 at the first look.
   */
  look(perSecond: number): { rows: readonly OperationRow[]; failed: number; dead: number } | null {
    const metrics = this.#metrics();
    if (metrics === null) return null;
    const rows: OperationRow[] = [];
    const now = new Map<string, Before>();
    for (const each of metrics.operations) {
      const { protocol = "", operation = "", handled, failed, dead, handlerTime } = each;
      const key = JSON.stringify([protocol, operation]);
      const before = this.#before.get(key);
      now.set(key, each);
      const ended = handled + failed - (before === undefined ? 0 : before.handled + before.failed);
      const rate = ended * perSecond;
      rows.push({
        protocol,
        operation,
        rate,
        failed,
        dead,
        ...timesOf(handlerTime, before?.handlerTime, metrics.bounds),
      });
    }
    this.#before = now;
    return {
      rows: rows.toSorted((a, b) => b.rate - a.rate).slice(0, MOST),
      failed: rows.reduce((sum, row) => sum + row.failed, 0),
      dead: rows.reduce((sum, row) => sum + row.dead, 0),
    };
  }

  forget(): void {
    this.#before = new Map();
  }

  #metrics(): Metrics | null {
    if (!this.#hasMetrics) return null;
    try {
      return this.#system.metrics();
    } catch {
      this.#hasMetrics = false; // It was made without the option.
      return null;
    }
  }
}

/** The mean of the times since the look before, and the bound below which 99 in 100 of them are. */
function timesOf(
  { count, sum, max, buckets }: Histogram,
  before: Histogram | undefined,
  bounds: readonly number[],
): Pick<OperationRow, "mean" | "high"> {
  const timed = count - (before?.count ?? 0);
  if (timed <= 0) return { mean: null, high: null };
  let above = timed / 100;
  let index = buckets.length - 1;
  for (; index > 0; index--) {
    above -= (buckets[index] ?? 0) - (before?.buckets[index] ?? 0);
    if (above < 0) break;
  }
  return { mean: (sum - (before?.sum ?? 0)) / timed, high: Math.min(bounds[index] ?? max, max) };
}
