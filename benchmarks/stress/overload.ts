import type { Load } from "./load";
import type { Overload, WindowResult } from "./results";
import { errorShare, MOST_ERRORS } from "./steps";

export interface OverloadOptions {
  /** The highest load that held, in requests a second. */
  readonly held: number;
  /** The lowest load that broke. */
  readonly broke: number;
  /** Of each window, in milliseconds. */
  readonly window: number;
}

/** How often what broke is offered in the overload; and again, while that is borne: a machine that is less busy bears more. */
const TIMES = 1.5;
const MOST_TIMES = 32;
/** Windows of it. */
const WINDOWS = 2;
/** Windows after it, of which one must be as before: the machine may falter. */
const TRIES = 5;
/** The share of what held that is offered before and after. */
const CALM = 0.5;
/** Length of the stretches that are looked at after the fall, in milliseconds. */
const STRETCH = 200;
/** After so many it does not recover. */
const STRETCHES = 50;
/** Bytes by which the live heap may be larger than before, for code that was compiled and tables that grew meanwhile. */
const SLACK = 16e6;
const SETTLE = 500;

/** What a window must have to be as one before: hardly any errors, and a p95 of no more than this. */
const usual = (before: number): number => before * 2 + 5;
const FEW_ERRORS = 0.01;

type Looked = Pick<Overload["before"], "all">;

/** Whether a window is as one before the trouble was. */
export const isAsBefore = (window: Looked, before: Looked): boolean =>
  errorShare(window) <= FEW_ERRORS && window.all.latency.p95 <= usual(before.all.latency.p95);

/** What is under load does not come back to what it was; the message says so. */
export class NotRecovered extends Error {}

/**
 * Waits until a load is borne as it was before.
 *
 * @returns Milliseconds from the call to the end of the first stretch that was.
 * @throws NotRecovered when it is not for ten seconds.
 */
export async function recover(load: Load, before: Looked): Promise<number> {
  const start = performance.now();
  const stretches: Promise<{ readonly isOver: boolean; readonly end: number }>[] = [];
  // Each is opened when the one before has ended, and known only when all its answers are there.
  for (let known = 0; known < STRETCHES; ) {
    const window = load.window(STRETCH);
    await Bun.sleep(STRETCH);
    const end = performance.now() - start;
    const opened = window.then((seen) => ({ isOver: isAsBefore(seen, before), end }));
    opened.catch(() => {}); // It is told below, unless one before it is.
    stretches.push(opened);
    for (; known < stretches.length; known++) {
      const stretch = await Promise.race([stretches[known], Promise.resolve(undefined)]);
      if (stretch === undefined) break;
      if (stretch.isOver) return stretch.end;
    }
  }
  throw new NotRecovered(`The figures were not as before within ${(STRETCH * STRETCHES) / 1_000} s.`);
}

/** Puts on more load than is borne, takes it away again, and looks whether all is as before. */
export async function overload(load: Load, { held, broke, window }: OverloadOptions): Promise<Overload> {
  const calm = Math.round(held * CALM);
  await load.rest();
  await load.change({ rate: calm });
  await Bun.sleep(SETTLE);
  const before = await load.window(window);
  const { heap: heapBefore } = await load.look();
  const heapDuring: number[] = [];
  const during: WindowResult[] = [];
  let over = broke;
  while (during.length === 0 ? over < broke * MOST_TIMES : during.length < WINDOWS) {
    if (during.length === 0) {
      over = Math.round(over * TIMES);
      await load.change({ rate: over });
    }
    const [seen, look] = await Promise.all([load.window(window), Bun.sleep(window).then(() => load.look())]);
    if (during.length === 0 && errorShare(seen) < MOST_ERRORS) continue;
    during.push(seen);
    heapDuring.push(look.heap);
  }
  await load.change({ rate: calm });
  const recovery = await recover(load, before);
  let after = await load.window(window);
  for (let tries = 1; tries < TRIES && !isAsBefore(after, before); tries++) {
    after = await load.window(window);
  }
  await load.rest();
  const { audit, heap: heapAfter } = await load.look();
  const heap = { before: heapBefore, during: heapDuring, after: heapAfter };
  const result = { calm, over, before, during, after, recovery, heap, audit };
  return { ...result, failed: complaints(result) };
}

/** How many requests were refused since a mailbox was full, or the queue behind one. */
export const refusals = ({ all: { errors } }: Looked): number => (errors["mailbox-full"] ?? 0) + (errors["busy"] ?? 0);

/** What should hold past the break, and did not. */
export function complaints({ before, during, after, heap, audit }: Omit<Overload, "failed">): string[] {
  const failed: string[] = [];
  const refused = during.reduce((sum, window) => sum + refusals(window), 0);
  if (refused === 0) failed.push("However much was asked for, nothing was refused.");
  if (!isAsBefore(after, before)) {
    const [then, now] = [before.all.latency.p95, after.all.latency.p95].map((p95) => p95.toFixed(1));
    const errors = (errorShare(after) * 100).toFixed(1);
    failed.push(`After the load fell, the p95 was ${now} ms with ${errors} % errors; before it was ${then} ms.`);
  }
  const [first = 0, ...later] = heap.during;
  if (Math.max(0, ...later) > first * 1.5 + SLACK) {
    failed.push(`The heap went on growing under overload: ${heap.during.map(megabytes).join(", ")} MB.`);
  }
  if (heap.after > heap.before + SLACK) {
    failed.push(`The heap had ${megabytes(heap.before)} MB before, and ${megabytes(heap.after)} MB after.`);
  }
  failed.push(...auditComplaints(audit));
  return failed;
}

/** What an audit of a system at rest should say, and does not. */
export function auditComplaints(audit: Overload["audit"]): string[] {
  const { accepted, handled, failed, dead, queued, running } = audit;
  const complaints: string[] = [];
  if (accepted !== handled + failed + dead + queued + running) complaints.push("The audit does not balance.");
  if (queued + running > 0) complaints.push(`${queued + running} messages wait or run, though nothing is asked.`);
  return complaints;
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
