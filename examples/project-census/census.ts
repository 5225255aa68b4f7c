import { type Audit, createSystem, type RefTo, type System } from "envoi";
import { type FileSystemRef, spawnFileSystem } from "envoi/tools";
import { aggregator as aggregatorFactory } from "./aggregator";
import { Aggregator, type Census, Reader, Walker } from "./protocols";
import { readerOf } from "./reader";
import { walkerOf } from "./walker";

/** How many files each reader has at once: the one that it reads, and the next. */
const IN_FLIGHT = 2;
/** How often progress is told, in milliseconds. */
const PROGRESS_EVERY = 100;

export interface CensusOptions {
  readonly folder: string;
  /** Whether the folders that are skipped by name are walked, too. */
  readonly all: boolean;
  readonly readers: number;
  /** Ends the census early, with what it has. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { readonly files: number; readonly bytes: number }) => void;
}

export interface CensusResult {
  readonly census: Census;
  readonly isComplete: boolean;
  readonly seconds: number;
  /** What became of all messages, after the last actor stopped. */
  readonly audit: Audit;
}

/** A machine that has no safe way to serve files; its message says what to do. */
export class CannotServe extends Error {}

/**
 * Counts a folder: a walker finds the files, readers read them, an aggregator keeps the counts. None of them can reach
 * anything but what the file actor serves.
 *
 * @throws CannotServe where the folder cannot be served.
 */
export async function takeCensus({ folder, all, readers, signal, onProgress }: CensusOptions): Promise<CensusResult> {
  const start = performance.now();
  // An ask waits as long as it takes: a file may be of any size.
  await using system = createSystem({ askTimeout: Number.POSITIVE_INFINITY });
  const files = serve(system, folder);
  const aggregator = system.spawn("aggregator", Aggregator, aggregatorFactory);
  const walker = system.spawn("walker", Walker, walkerOf(files, all, aggregator, signal));
  const lanes = Array.from({ length: readers }, (_, index) => {
    const reader = system.spawn(`readers/${index + 1}`, Reader, readerOf(files, aggregator, signal));
    return Array.from({ length: IN_FLIGHT }, () => lane(walker, reader, aggregator, signal));
  }).flat();

  const timer = setInterval(async () => {
    const progress = await aggregator.ask("progress");
    if (progress.isOk()) onProgress(progress.value);
  }, PROGRESS_EVERY);
  await Promise.all(lanes).finally(() => clearInterval(timer));
  const isComplete = !signal.aborted;

  const census = await aggregator.ask("census");
  if (census.isErr()) throw new Error(census.error.message, { cause: census.error });
  const seconds = (performance.now() - start) / 1000;
  await system.shutdown(); // Before the audit: nothing runs any more, so the sums must agree.
  return { census: census.value, isComplete, seconds, audit: system.router.audit() };
}

/** The files below a folder, and nothing outside of it; some of those that a package manager put there have two names. */
function serve(system: System, folder: string): FileSystemRef {
  try {
    return spawnFileSystem(system, { root: folder, readOnly: true, hardLinks: true });
  } catch (thrown) {
    throw new CannotServe(thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
  }
}

/**
 * Takes files from the walker and has the reader read them, one after the other: as there is one lane for each file in
 * flight, the walker never runs ahead, and no mailbox grows with the folder.
 */
async function lane(
  walker: RefTo<typeof Walker>,
  reader: RefTo<typeof Reader>,
  aggregator: RefTo<typeof Aggregator>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const next = await walker.ask("next");
    if (next.isErr()) throw new Error(next.error.message, { cause: next.error });
    const path = next.value;
    if (path === null || signal.aborted) return;
    const read = await reader.ask("read", path);
    if (read.isErr()) aggregator.tell("unreadable", { kind: "file", path, error: read.error });
  }
}

/** Whether each message had one outcome, and all of them were handled. */
export const isFlawless = ({ accepted, handled }: Audit): boolean => accepted === handled;
