import { UsageError } from "../harness/arguments";
import { digits } from "../harness/format";
import { liveHeap } from "../harness/heap";
import { descendants, Interrupted, residentBytes, unlessInterrupted } from "../harness/processes";
import { type Point, trend } from "../harness/statistics";
import type { Status, Surroundings } from "../harness/terminal";
import { openMixed } from "./mixed";

export interface Load {
  /** Does some of each kind of work, and resolves with how many operations were completed. Rejects when one went wrong. */
  readonly round: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

const MINUTE = 60_000;
const SAMPLES = 60; // Fewest samples of a soak; a long one takes one a minute.
const FEWEST = 10; // Fewer samples of a load that has settled tell no trend.
/** Minutes until the compiler has found what there is to find, and minutes that are enough to tell. */
const [SETTLING, TOLD] = [2, 3];
/** Growth by a smaller share is no leak yet: the compiler finds something to do for minutes, and added 0.3 % in the third one. */
const FAINT = 0.01;

const WATCHED = {
  heap: liveHeap,
  RSS: () => process.memoryUsage.rss(),
  "RSS of its processes": () => descendants(process.pid).reduce((sum, pid) => sum + residentBytes(pid), 0),
};
const KINDS = Object.keys(WATCHED);

/** Minutes since the work began, the operations that were completed since, and the bytes of each kind of memory. */
type Sample = { readonly at: number; readonly operations: number; readonly bytes: readonly number[] };

/**
 * Works for so many minutes, and watches the memory of this process: a line a minute, and at the end the trends of the second half.
 *
 * @param load Default: all that the suites do, in turn. @param settling Minutes for it to settle in.
 * @returns 1 when something leaks, or the work went wrong; 3 when the time was too short to tell.
 */
export async function soak(
  minutes: number,
  { out, err, signal, suites }: Pick<Surroundings, "out" | "err" | "signal" | "suites">,
  load?: Load,
  settling = SETTLING,
): Promise<Status> {
  if (!(minutes > 0 && Number.isFinite(minutes)))
    throw new UsageError(`A soak takes a number of minutes above 0, such as --soak 30; got ${minutes}.`);
  if (minutes < TOLD && load === undefined) err(`Whether memory grows, no less than ${TOLD} minutes tell.\n`);
  const interval = Math.min(1, minutes / SAMPLES);
  const samples: Sample[] = [];
  const { round, stop } = load ?? (await openMixed(await suites()));
  try {
    const start = performance.now();
    const now = (): number => (performance.now() - start) / MINUTE;
    let operations = 0;
    for (let next = interval; !signal.aborted && next <= minutes; next += interval) {
      while (!signal.aborted && now() < next) operations += await unlessInterrupted(round(), signal);
      const sample = { at: now(), operations, bytes: Object.values(WATCHED).map((bytes) => bytes()) };
      if (Math.floor(sample.at) > Math.floor(samples.at(-1)?.at ?? -1)) out(`${describe(sample)}\n`);
      samples.push(sample);
    }
  } catch (error) {
    if (!(error instanceof Interrupted)) {
      err(`The work went wrong: ${error instanceof Error ? error.message : String(error)}\n`);
      return 1;
    }
  } finally {
    await stop();
  }
  const settled = samples.filter(({ at }) => at >= Math.max(minutes / 2, settling));
  if (settled.length < FEWEST) {
    err(`It ended too early to tell whether memory grows: ${TOLD} minutes tell.\n`);
    return signal.aborted ? 130 : 3;
  }
  const leaks = leaksIn(settled, out);
  return signal.aborted ? 130 : leaks.length > 0 ? 1 : 0;
}

const megabytes = (bytes = 0): string => `${digits(bytes / 1e6)} MB`;
const kilobytes = (bytes: number): string => `${digits(bytes / 1e3)} kB`;

function describe({ at, operations, bytes }: Sample): string {
  const done = `${operations.toLocaleString("en")} operations`.padStart(24);
  const memory = KINDS.map((name, index) => `${name} ${megabytes(bytes[index])}`);
  return [`${Math.floor(at)} min`.padStart(8), done, ...memory].join("  ");
}

export function growsSurely(least: number, points: readonly Point[]): boolean {
  const [[begin, memory] = [0, 0]] = points;
  const [end] = points.at(-1) ?? [begin];
  return least * (end - begin) > memory * FAINT;
}

function leaksIn(samples: readonly Sample[], out: (text: string) => void): string[] {
  out("\nA minute adds, with 99 % confidence:\n");
  return KINDS.filter((name, index) => {
    const points = samples.map(({ at, bytes }): Point => [at, bytes[index] ?? 0]);
    const { slope, least, most } = trend(points);
    const isLeak = growsSurely(least, points);
    const interval = `${kilobytes(slope)} (${kilobytes(least)} to ${kilobytes(most)})`;
    out(`  ${name}: ${interval}, ${megabytes(points.at(-1)?.[1])} at the end: ${isLeak ? "it leaks" : "no leak"}\n`);
    return isLeak;
  });
}
