import type { Load } from "./load";
import type { Heap, Trouble, Window } from "./results";
import { errorShare } from "./steps";

/** Windows before and after a trouble, of which one must be as it should: the machine may falter. */
const TRIES = 5;
/** Length of the stretches that are looked at after the trouble, in milliseconds, and how many there are at most. */
const STRETCH = 200;
const STRETCHES = 50;
/** Bytes by which the live heap may be larger than before, for code that was compiled and tables that grew meanwhile. */
const SLACK = 16e6;

type Looked = Pick<Window, "due" | "ok" | "p95">;

/** Whether a window is as one before the trouble was: hardly any errors, and a p95 near what it was. */
export const isAsBefore = (window: Looked, before: Looked): boolean =>
  errorShare(window) <= 0.01 && window.p95 <= before.p95 * 2 + 5;

export interface TroublePlan {
  /** Length of each window, in milliseconds. */
  readonly window: number;
  /** Windows of the trouble. */
  readonly windows: number;
  readonly begin: () => unknown;
  readonly end: () => unknown;
}

/** Has something go wrong under load, and looks whether all is as before after it. The load rests in the end. */
export async function trouble(load: Load, plan: TroublePlan): Promise<Trouble & { readonly heap: Heap }> {
  const before = await until(load, plan.window, (seen) => errorShare(seen) === 0);
  const heap = { before: await load.call<number>("heap"), during: [] as number[], after: 0 };
  const windows: Promise<Window>[] = [];
  await plan.begin();
  for (let i = 0; i < plan.windows; i++) {
    const window = load.window(plan.window);
    window.catch(() => {}); // It is awaited below, unless something before that fails.
    windows.push(window);
    await Bun.sleep(plan.window);
    heap.during.push(await load.call<number>("heap"));
  }
  await plan.end();
  const recovery = await recover(load, before);
  const during = await Promise.all(windows);
  const after = await until(load, plan.window, (seen) => isAsBefore(seen, before));
  await load.rest();
  heap.after = await load.call<number>("heap");
  const result = { before, during, after, recovery, heap, audit: (await load.look()).audit };
  return { ...result, failed: complaints(result) };
}

async function until(load: Load, length: number, isRight: (seen: Window) => boolean): Promise<Window> {
  for (let tries = 1; ; tries++) {
    const seen = await load.window(length);
    if (isRight(seen) || tries === TRIES) return seen;
  }
}

/** Milliseconds to the end of the first stretch of load that is borne as before; as long as was looked where none is. */
async function recover(load: Load, before: Window): Promise<number> {
  const start = performance.now();
  let recovery = STRETCH * STRETCHES;
  const stretches: Promise<void>[] = [];
  // A stretch is known once all its answers are there. The next one begins before that.
  while (stretches.length < STRETCHES && recovery === STRETCH * STRETCHES) {
    const stretch = load.window(STRETCH);
    const end = performance.now() - start + STRETCH;
    const judged = stretch.then((seen) => {
      if (isAsBefore(seen, before)) recovery = Math.min(recovery, end);
    });
    judged.catch(() => {}); // It is awaited below.
    stretches.push(judged);
    await Bun.sleep(STRETCH);
  }
  await Promise.all(stretches);
  return recovery;
}

/** What should hold of any trouble, and did not: a sentence each. */
export function complaints(result: Omit<Trouble, "failed"> & { readonly heap: Heap }): string[] {
  const { before, after, recovery, heap, audit } = result;
  const failed: string[] = [];
  if (errorShare(before) > 0) failed.push("Something went wrong before it began.");
  if (recovery >= STRETCH * STRETCHES) failed.push(`It was not as before ${(STRETCH * STRETCHES) / 1_000} s after.`);
  if (!isAsBefore(after, before)) {
    const errors = (errorShare(after) * 100).toFixed(1);
    failed.push(
      `After it, the p95 was ${after.p95.toFixed(1)} ms with ${errors} % errors; before it was ${before.p95.toFixed(1)} ms.`,
    );
  }
  const [first = 0, ...later] = heap.during;
  const mb = (bytes: number) => (bytes / 1e6).toFixed(1);
  if (Math.max(0, ...later) > first * 1.5 + SLACK) {
    failed.push(`The heap went on growing meanwhile: ${heap.during.map(mb).join(", ")} MB.`);
  }
  if (heap.after > heap.before + SLACK) {
    failed.push(`The heap had ${mb(heap.before)} MB before, and ${mb(heap.after)} MB after.`);
  }
  const { accepted, handled, failed: thrown, dead, queued, running } = audit;
  if (accepted !== handled + thrown + dead + queued + running) failed.push("The audit does not balance.");
  if (queued + running > 0) failed.push(`${queued + running} messages wait or run, though nothing is asked.`);
  return failed;
}
