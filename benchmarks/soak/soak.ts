import { digits } from "../harness/format";
import { type Point, trend } from "../harness/statistics";
import type { Sample } from "./process";

/** What a soak touches. */
export interface SoakAround {
  out(text: string): void;
  err(text: string): void;
  /** Ends it: what it has seen by then is told. */
  readonly signal: AbortSignal;
}

/** What a soak runs. */
export interface Soaked {
  readonly module: URL;
  /** Minutes. */
  readonly settling: number;
}

const MINUTE = 60_000;
const PROCESS = Bun.fileURLToPath(new URL("process.ts", import.meta.url));
const MIXED = new URL("mixed.ts", import.meta.url);
/** Fewest samples of a soak; a long one takes one a minute. */
const SAMPLES = 60;
/** The trends are those of the last half … */
const SETTLED = 0.5;
/** … and of nothing before so many minutes: until then the compiler finds much to do in all that envoi does. */
const SETTLING = 2;
/** Minutes that are enough. */
const TOLD = 3;
/**
 * What grows by a smaller share in the second half is no leak yet: the compiler finds something to do for minutes, and
 * added 0.3 % in the third one. A leak adds more the longer a soak lasts.
 */
const FAINT = 0.01;
/** Fewer samples tell no trend. */
const FEWEST = 10;

/**
 * Has a process work for so many minutes of real time, at full load, and watches its memory: a line a minute, and the trends
 * at the end.
 *
 * @param load URL of a module that exports `open: OpenLoad`, and after how many minutes its memory can be judged. Default: all
 * that envoi does, in turn, after two.
 * @returns the exit status: 0; 1 when something leaks, or the work went wrong; 2 when there is no such number of minutes; 3 when
 * they were too few to tell; 130 when it was ended by the signal.
 */
export async function soak(
  minutes: number,
  around: SoakAround,
  load: Soaked = { module: MIXED, settling: SETTLING },
): Promise<0 | 1 | 2 | 3 | 130> {
  if (!(minutes > 0 && Number.isFinite(minutes))) {
    around.err(`A soak takes a number of minutes above 0, such as --soak 30; got ${minutes}.\n`);
    return 2;
  }
  if (minutes < TOLD && load.module === MIXED) around.err(`Whether memory grows, no less than ${TOLD} minutes tell.\n`);
  const duration = minutes * MINUTE;
  const interval = Math.min(MINUTE, duration / SAMPLES);
  const child = Bun.spawn({
    cmd: [process.execPath, PROCESS, load.module.href, String(duration), String(interval)],
    stdio: ["pipe", "pipe", "pipe"],
    env: process.env,
  });
  const end = () => child.kill("SIGTERM");
  around.signal.addEventListener("abort", end, { once: true });
  if (around.signal.aborted) end();
  const complaint = child.stderr.text();
  try {
    const samples: Sample[] = [];
    for await (const line of linesOf(child.stdout)) {
      const sample = JSON.parse(line) as Sample; // As its process prints it.
      if (samples.length === 0 || minuteOf(sample) > minuteOf(samples.at(-1))) around.out(`${describe(sample)}\n`);
      samples.push(sample);
    }
    if ((await child.exited) !== 0 && !around.signal.aborted) {
      around.err(`The soak's process failed (status ${child.exitCode}): ${(await complaint).trim()}\n`);
      return 1;
    }
    const leaks = judge(samples, Math.max(duration * SETTLED, load.settling * MINUTE), around);
    if (around.signal.aborted) return 130;
    if (leaks === undefined) return 3;
    return leaks > 0 ? 1 : 0;
  } finally {
    around.signal.removeEventListener("abort", end);
    child.kill("SIGKILL");
    await child.exited;
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

const minuteOf = (sample: Sample | undefined): number => Math.floor((sample?.milliseconds ?? 0) / MINUTE);
const megabytes = (bytes: number): string => `${digits(bytes / 1e6)} MB`;

const kilobytes = (bytes: number): string => `${digits(bytes / 1e3)} kB`;

const describe = (sample: Sample): string =>
  [
    `${minuteOf(sample)} min`.padStart(8),
    `${sample.operations.toLocaleString("en")} operations`.padStart(24),
    `heap ${megabytes(sample.heap)}`,
    `RSS ${megabytes(sample.rss)}`,
    `its processes ${megabytes(sample.processes)}`,
  ].join("  ");

const WATCHED = [
  ["heap", ({ heap }: Sample) => heap],
  ["RSS", ({ rss }: Sample) => rss],
  ["RSS of its processes", ({ processes }: Sample) => processes],
] as const;

/** Whether memory surely grew by more than what settles late. */
export function growsSurely(least: number, points: readonly Point[]): boolean {
  const [[begin, memory] = [0, 0]] = points;
  const [end] = points.at(-1) ?? [begin];
  return least * (end - begin) > memory * FAINT;
}

/** Tells the trend of each kind of memory, and returns how many of them go up; undefined where nothing can be told. */
function judge(samples: readonly Sample[], from: number, { out, err }: SoakAround): number | undefined {
  const settled = samples.filter(({ milliseconds }) => milliseconds >= from);
  const last = samples.at(-1);
  if (last === undefined || settled.length < FEWEST) {
    err(`It ended too early to tell whether memory grows: ${TOLD} minutes tell.\n`);
    return undefined;
  }
  const passed = digits(last.milliseconds / MINUTE);
  out(
    `\n${last.operations.toLocaleString("en")} operations in ${passed} minutes; a minute adds, with 99 % confidence:\n`,
  );
  let leaks = 0;
  for (const [name, bytesOf] of WATCHED) {
    const points = settled.map((sample): Point => [sample.milliseconds / MINUTE, bytesOf(sample)]);
    const { slope, least, most } = trend(points);
    const isLeak = growsSurely(least, points);
    if (isLeak) leaks++;
    const interval = `${kilobytes(slope)} (${kilobytes(least)} to ${kilobytes(most)})`;
    out(`  ${name}: ${interval}, ${megabytes(bytesOf(last))} at the end: ${isLeak ? "it leaks" : "no leak"}\n`);
  }
  return leaks;
}
