import { UsageError } from "../harness/arguments";
import { digits } from "../harness/format";
import { liveHeap } from "../harness/heap";
import { descendants, residentBytes } from "../harness/processes";
import { type Point, trend } from "../harness/statistics";
import type { Terminal } from "../harness/terminal";
import { openMixed } from "./mixed";

/** Work that goes on as long as it is asked to. */
export interface Load {
  /** Does some of each kind of work, and resolves with how many operations were completed. Rejects when one went wrong. */
  readonly round: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

/** What a soak runs. */
export interface Soaked {
  readonly open: () => Load | Promise<Load>;
  /** Minutes until the compiler has found what there is to find, so that memory can be judged. */
  readonly settling: number;
}

const MINUTE = 60_000;
/** Fewest samples of a soak; a long one takes one a minute. */
const SAMPLES = 60;
/** Fewer samples tell no trend. */
const FEWEST = 10;
const MIXED: Soaked = { open: openMixed, settling: 2 };
/** Minutes that are enough for all that envoi does. */
const TOLD = 3;
/**
 * Growth by a smaller share in the second half is no leak yet: the compiler finds something to do for minutes, and added 0.3 % in the
 * third one. A leak adds more the longer a soak lasts.
 */
const FAINT = 0.01;

/** The kinds of memory that are watched, in bytes. */
const WATCHED = {
  heap: liveHeap,
  RSS: () => process.memoryUsage.rss(),
  "RSS of its processes": () => descendants(process.pid).reduce((sum, pid) => sum + residentBytes(pid), 0),
};
const KINDS = Object.keys(WATCHED);

/** Minutes since the work began, the operations that were completed since, and the bytes of each kind of memory. */
type Sample = { readonly at: number; readonly operations: number; readonly bytes: readonly number[] };

/**
 * Works for so many minutes of real time, at full load, and watches the memory of this process: a line a minute, and at the end the
 * trends of the second half, once the load has settled.
 *
 * @param load Default: all that envoi does, in turn.
 * @returns the exit status: 0; 1 when something leaks, or the work went wrong; 3 when the time was too short to tell; 130 when it was
 * ended by the signal, after which it tells what it has seen.
 * @throws UsageError when there is no such number of minutes.
 */
export async function soak(
  minutes: number,
  { out, err, signal }: Pick<Terminal, "out" | "err" | "signal">,
  { open, settling }: Soaked = MIXED,
): Promise<0 | 1 | 3 | 130> {
  if (!(minutes > 0 && Number.isFinite(minutes)))
    throw new UsageError(`A soak takes a number of minutes above 0, such as --soak 30; got ${minutes}.`);
  if (minutes < TOLD && open === openMixed) err(`Whether memory grows, no less than ${TOLD} minutes tell.\n`);
  const interval = Math.min(1, minutes / SAMPLES);
  const samples: Sample[] = [];
  const load = await open();
  try {
    const start = performance.now();
    const now = (): number => (performance.now() - start) / MINUTE;
    let operations = 0;
    for (let next = interval; !signal.aborted && next <= minutes; next += interval) {
      while (!signal.aborted && now() < next) operations += await load.round();
      const sample = { at: now(), operations, bytes: Object.values(WATCHED).map((bytes) => bytes()) };
      if (Math.floor(sample.at) > Math.floor(samples.at(-1)?.at ?? -1)) out(`${describe(sample)}\n`);
      samples.push(sample);
    }
  } catch (error) {
    err(`The work went wrong: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    await load.stop();
  }
  const settled = samples.filter(({ at }) => at >= Math.max(minutes / 2, settling));
  if (settled.length < FEWEST) {
    err(`It ended too early to tell whether memory grows: ${TOLD} minutes tell.\n`);
    return signal.aborted ? 130 : 3;
  }
  const leaks = leaksIn(settled, out);
  if (signal.aborted) return 130;
  return leaks.length > 0 ? 1 : 0;
}

const megabytes = (bytes = 0): string => `${digits(bytes / 1e6)} MB`;
const kilobytes = (bytes: number): string => `${digits(bytes / 1e3)} kB`;

function describe({ at, operations, bytes }: Sample): string {
  const done = `${operations.toLocaleString("en")} operations`.padStart(24);
  const memory = KINDS.map((name, index) => `${name} ${megabytes(bytes[index])}`);
  return [`${Math.floor(at)} min`.padStart(8), done, ...memory].join("  ");
}

/** Whether memory surely grew by more than what settles late. */
export function growsSurely(least: number, points: readonly Point[]): boolean {
  const [[begin, memory] = [0, 0]] = points;
  const [end] = points.at(-1) ?? [begin];
  return least * (end - begin) > memory * FAINT;
}

/** Tells the trend of each kind of memory, and returns those that go up. */
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
