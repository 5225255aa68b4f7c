import type { Histogram, OperationMetrics } from "../index";

/** Protocols that have a row of their own. A program that makes protocols as it runs must not make rows without end. */
const MOST = 200;
/** The row of all other protocols, by the semantic conventions' name for what is left. */
const OTHER = "_OTHER";

/** The names of the protocols that have rows of their own: the first ones that were met, for good, since readers keep the rows of each. */
export class RowNames {
  readonly #known = new Set<string>();

  /** The name of the row in which a protocol counts. */
  of(protocol: string): string {
    const name = this.#known.has(protocol) || this.#known.size < MOST ? protocol : OTHER;
    this.#known.add(name);
    return name;
  }

  /** The names so far. */
  all(): Iterable<string> {
    return this.#known;
  }
}

/** One row for each operation of each name: several protocols may have one, and of the rows with one name a reader takes the last alone. */
export function rowsOf(operations: readonly OperationMetrics[], names: RowNames): OperationMetrics[] {
  const rows = new Map<string, OperationMetrics>();
  for (const each of operations) {
    const protocol = names.of(each.protocol ?? "");
    const operation = protocol === OTHER ? undefined : each.operation;
    const key = JSON.stringify([protocol, operation]);
    const row = rows.get(key);
    rows.set(key, row === undefined ? { ...each, protocol, operation } : sumOf(row, each));
  }
  return [...rows.values()];
}

const sumOf = (a: OperationMetrics, b: OperationMetrics): OperationMetrics => ({
  ...a,
  handled: a.handled + b.handled,
  failed: a.failed + b.failed,
  dead: a.dead + b.dead,
  queueTime: timesOf(a.queueTime, b.queueTime),
  handlerTime: timesOf(a.handlerTime, b.handlerTime),
});

const timesOf = (a: Histogram, b: Histogram): Histogram => ({
  count: a.count + b.count,
  sum: a.sum + b.sum,
  max: Math.max(a.max, b.max),
  buckets: a.buckets.map((count, index) => count + (b.buckets[index] ?? 0)),
});
