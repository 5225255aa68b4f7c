import { createHistogram } from "node:perf_hooks";
import type { Charted, ProbeFigure, Readings, Series } from "./suite";

/** Units that times are told in, with their nanoseconds. */
const NANOSECONDS = { ns: 1, µs: 1e3, ms: 1e6 } as const;
type Unit = keyof typeof NANOSECONDS;

const FIGURES = { p50: 50, p95: 95, p99: 99, "p99.9": 99.9, max: 100 } as const;
type Figure = keyof typeof FIGURES;

/** Shares at which a percentile curve has a point, each next one nearer to the slowest. */
const SHARES = [0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995, 0.9975, 0.999, 0.9995, 0.99975, 0.9999];
/** With fewer operations above a share than this, its point would be an anecdote. */
const ABOVE = 10;

/** Three digits of each time, however long: a bin is at most a thousandth wide (HDR histogram, Gil Tene). */
const BINS = { lowest: 1, highest: 1e12, figures: 3 };

/** The figures of a probe that times single operations: `p50`, `p95`, `p99`, `p99.9` and `max`. */
export const latencyFigures = (unit: Unit): ProbeFigure[] =>
  Object.keys(FIGURES).map((name) => ({ name, unit, ratio: false }));

/** How long single operations took, each of them kept, in nanoseconds. */
export class Latencies {
  readonly #histogram = createHistogram(BINS);

  get count(): number {
    return this.#histogram.count;
  }

  record(nanoseconds: number): void {
    this.#histogram.record(Math.max(1, Math.round(nanoseconds))); // It takes no 0, which a coarse clock may read.
  }

  /** The time in nanoseconds that so many percent of the operations took at most. */
  percentile(percent: number): number {
    return percent === 100 ? this.#histogram.max : this.#histogram.percentile(percent);
  }

  /** The figures, and the curve behind them as the series `latency`. */
  told(unit: Unit): Charted {
    const size = NANOSECONDS[unit];
    const readings = Object.fromEntries(
      Object.entries(FIGURES).map(([name, percent]) => [name, this.percentile(percent) / size]),
    ) as Record<Figure, number>; // Its keys are those of FIGURES.
    return { readings, series: [this.#curve(unit, size)] };
  }

  #curve(unit: Unit, size: number): Series {
    const shares = [...SHARES.filter((share) => (1 - share) * this.count >= ABOVE), 1];
    const valueAt = (share: number) => (share === 0 ? this.#histogram.min : this.percentile(share * 100));
    return {
      name: "latency",
      along: "share of the operations",
      unit,
      points: shares.map((share) => [share, valueAt(share) / size]),
    };
  }
}

/** Operations that are timed one by one. */
export interface Timed<Answer> {
  /** Does one operation. What it gives is awaited if it is a promise, and the time ends then. */
  readonly operation: (index: number) => Answer | Promise<Answer>;
  /** Whether the answer is the right one; asked outside the time. */
  readonly isDone: (answer: Answer, index: number) => boolean;
}

/**
 * Times so many operations, each by itself and one after the other, after half as many that are not counted and a forced
 * collection.
 *
 * @throws Error when an operation did not do its work.
 */
export async function timeEach<Answer>(
  count: number,
  { operation, isDone }: Timed<Answer>,
  clock: () => number = Bun.nanoseconds,
): Promise<Latencies> {
  const latencies = new Latencies();
  const rehearsals = Math.ceil(count / 2);
  let wrong = 0;
  for (let index = 0; index < rehearsals + count; index++) {
    if (index === rehearsals) Bun.gc(true);
    const start = clock();
    const given = operation(index);
    // No `await` of what is there already: it would cost more than a message does.
    const answer = given instanceof Promise ? await given : given;
    const taken = clock() - start;
    if (!isDone(answer, index)) wrong++;
    if (index >= rehearsals) latencies.record(taken);
  }
  if (wrong > 0) throw new Error(`${wrong} of ${rehearsals + count} operations did not do their work`);
  return latencies;
}

/** Milliseconds of one slice of the time. */
const SLICE = 100;

/** The figures of a probe that keeps something busy for a while. */
export const sustainedFigures: readonly ProbeFigure[] = [
  { name: "rate", unit: "/s", ratio: true },
  { name: "slowest tenth of a second", unit: "/s", ratio: true },
  { name: "messages", unit: "", ratio: false },
];

/**
 * Has `work` do one batch after the other for so many milliseconds, and tells how many messages a second that were: over the
 * whole time, and in the worst of its slices of 100 ms, which shows a pause that a mean hides. `work` resolves once its batch
 * is complete, with how many messages were handled since it was called. What it does in the first slice is not counted, since
 * it is compiled then.
 */
export async function sustain(
  milliseconds: number,
  work: () => Promise<number>,
  clock: () => number = () => performance.now(),
): Promise<Readings> {
  for (const end = clock() + SLICE; clock() < end; ) await work();
  const slices: number[] = [];
  const start = clock();
  let messages = 0;
  let now = start;
  let began = start;
  for (let inSlice = 0; now - start < milliseconds; ) {
    const handled = await work();
    messages += handled;
    inSlice += handled;
    now = clock();
    // As long as it was: a batch that ends late ends its slice late.
    if (now - began < SLICE) continue;
    slices.push((inSlice / (now - began)) * 1_000);
    began = now;
    inSlice = 0;
  }
  if (messages === 0) throw new Error("no message was handled");
  const rate = (messages / (now - start)) * 1_000;
  return { rate, "slowest tenth of a second": Math.min(rate, ...slices), messages };
}
