import { createHistogram } from "node:perf_hooks";
import { NANOSECONDS } from "./format";
import type { ProbeFigure, Readings } from "./suite";

type Unit = "ns" | "µs" | "ms";

const FIGURES = { p50: 50, p95: 95, p99: 99, "p99.9": 99.9, max: 100 } as const;

/** The figures of a probe that times single operations: `p50`, `p95`, `p99`, `p99.9` and `max`. */
export const latencyFigures = (unit: Unit): ProbeFigure[] =>
  Object.keys(FIGURES).map((name) => ({ name, unit, ratio: false }));

/** How long single operations took, each of them kept, in nanoseconds. */
export class Latencies {
  /** Three digits of each time, however long: a bin is at most a thousandth wide (HDR histogram, Gil Tene). */
  readonly #histogram = createHistogram({ lowest: 1, highest: 1e12, figures: 3 });

  get count(): number {
    return this.#histogram.count;
  }

  record(nanoseconds: number): void {
    this.#histogram.record(Math.max(1, Math.round(nanoseconds))); // It takes no 0, which a coarse clock may read.
  }

  percentile(percent: number): number {
    return percent === 100 ? this.#histogram.max : this.#histogram.percentile(percent);
  }

  told(unit: Unit): Readings {
    const size = NANOSECONDS[unit] ?? 1;
    const read = Object.entries(FIGURES).map(([name, percent]) => [name, this.percentile(percent) / size]);
    return Object.fromEntries(read);
  }
}

export interface Timed<Answer> {
  /** Does one operation. What it gives is awaited if it is a promise, and the time ends then. */
  readonly operation: (index: number) => Answer | Promise<Answer>;
  readonly isDone: (answer: Answer, index: number) => boolean;
}

/**
 * Times so many operations, each by itself and one after the other, after half as many that are not counted and a forced collection.
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
 * whole time, and in the worst of its slices of 100 ms, which shows a pause that a mean hides. A batch that ends late ends its slice
 * late. `work` resolves once its batch is complete, with how many messages were handled since it was called. What it does in the first
 * slice is not counted, since it is compiled then.
 */
export async function sustain(
  milliseconds: number,
  work: () => Promise<number>,
  clock: () => number = () => performance.now(),
): Promise<Readings> {
  const slice = async () => {
    const start = clock();
    let [messages, taken] = [0, 0];
    while (taken < SLICE) {
      messages += await work();
      taken = clock() - start;
    }
    return { messages, taken, rate: (messages / taken) * 1_000 };
  };
  await slice();
  const slices = [];
  for (const end = clock() + milliseconds; clock() < end; ) slices.push(await slice());
  const [messages, taken] = slices.reduce(([sum, time], each) => [sum + each.messages, time + each.taken], [0, 0]);
  if (messages === 0) throw new Error("no message was handled");
  const slowest = Math.min(...slices.map(({ rate }) => rate));
  return { rate: (messages / taken) * 1_000, "slowest tenth of a second": slowest, messages };
}
