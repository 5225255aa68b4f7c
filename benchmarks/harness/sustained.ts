import type { ProbeFigure, Readings } from "./suite";

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
