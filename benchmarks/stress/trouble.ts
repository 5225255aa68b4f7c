import type { Load } from "./load";
import type { Trouble, Window } from "./results";

/** A load has broken something when so large a share of its requests went wrong … */
export const MOST_ERRORS = 0.05;
/** … or when one in a hundred took longer than this, in milliseconds. */
export const MOST_P99 = 500;
/** The generator is the limit when it sends one in a hundred requests later than this, in milliseconds. */
export const MOST_LAG = MOST_P99 / 10;

export const errorShare = ({ due, ok }: Pick<Window, "due" | "ok">): number => (due === 0 ? 0 : (due - ok) / due);

export const errorsOf = ({ errors }: Pick<Window, "errors">) =>
  Object.entries(errors).toSorted(([, a], [, b]) => b - a);

/** What a window says of the load in it: nothing (`void`) where the generator was the limit. `why` ends a sentence. */
export function judge(window: Window): { readonly kind: "held" | "broke" | "void"; readonly why: string } {
  const { lag, p95, p99 } = window;
  if (lag > MOST_LAG) return { kind: "void", why: `the generator sent one in 100 requests ${lag.toFixed(0)} ms late` };
  const errors = errorShare(window);
  if (errors >= MOST_ERRORS) {
    const [most = "none"] = errorsOf(window)[0] ?? [];
    return { kind: "broke", why: `${(errors * 100).toFixed(0)} % of the requests went wrong, most of them: ${most}` };
  }
  const slow = p99 ?? p95; // With fewer than a thousand requests there is no p99.
  if (slow <= MOST_P99) return { kind: "held", why: "" };
  return { kind: "broke", why: `one in ${p99 === null ? 20 : 100} requests took ${slow.toFixed(0)} ms` };
}

const TRIES = 2; // Of a step: a machine may falter once.

export async function climb(
  { from, factor }: { readonly from: number; readonly factor: number },
  take: (rate: number) => Promise<Window>,
) {
  const steps: Window[] = [];
  let held = 0;
  for (let rate = from, tries = 0; ; ) {
    const step = await take(rate);
    const verdict = judge(step);
    steps.push(step);
    if (verdict.kind === "held") {
      held = rate;
      rate = Number((rate * factor).toPrecision(2));
      tries = 0;
    } else if (++tries === TRIES) return { steps, held, broke: rate, ...verdict };
  }
}

export class NotFound extends Error {}

const FALTERS = 5; // Windows before and after a trouble, of which one must be as it should: the machine may falter.
const STRETCH = 200; // Length of the stretches that are looked at after the trouble, in milliseconds, and for how long.
const LONGEST = 10_000;
/** Bytes by which the live heap may be larger than before, for code that was compiled and tables that grew meanwhile. */
const SLACK = 16e6;

/** Whether a window is as one before the trouble was: hardly any errors, and a p95 near what it was. */
export const isAsBefore = (window: Window, before: Window): boolean =>
  errorShare(window) <= 0.01 && window.p95 <= before.p95 * 2 + 5;

export interface TroublePlan extends Pick<Trouble, "name" | "about"> {
  readonly window: number; // Its length, in milliseconds.
  readonly windows?: number; // Of the trouble. Default: 1.
  readonly begin: () => unknown;
  readonly end: () => unknown;
  readonly told: (during: readonly Window[]) => Promise<Pick<Trouble, "happened" | "failed">>;
}

/** Has something go wrong under load, and looks whether all is as before after it. The load rests in the end. */
export async function trouble(load: Load, plan: TroublePlan): Promise<Trouble> {
  const { name, about, window: length, windows = 1 } = plan;
  const before = await until(load, length, (seen) => errorShare(seen) === 0);
  const heap = [await load.call<number>("heap")];
  const seeing: Promise<Window>[] = [];
  await plan.begin();
  for (let i = 0; i < windows; i++) {
    const window = load.window(length);
    window.catch(() => {}); // It is awaited below, unless something before that fails.
    seeing.push(window);
    await Bun.sleep(length);
    heap.push(await load.call<number>("heap"));
  }
  await plan.end();
  const recovery = await recover(load, before);
  const during = await Promise.all(seeing);
  const after = await until(load, length, (seen) => isAsBefore(seen, before));
  const audit = await load.rest();
  heap.push(await load.call<number>("heap"));
  const { happened, failed } = await plan.told(during);
  const result = { name, about, before, during, after, recovery, happened, heap, audit };
  return { ...result, failed: [...failed, ...complaints(result)] };
}

async function until(load: Load, length: number, isRight: (seen: Window) => boolean): Promise<Window> {
  for (let tries = 1; ; tries++) {
    const seen = await load.window(length);
    if (isRight(seen) || tries === FALTERS) return seen;
  }
}

/** Milliseconds to the end of the first stretch of load that is borne as before; as long as was looked where none is. */
async function recover(load: Load, before: Window): Promise<number> {
  const start = performance.now();
  const stretches: Promise<void>[] = [];
  let recovery = LONGEST;
  // A stretch is known once all its answers are there. The next one begins before that.
  for (let end = STRETCH; end <= LONGEST && recovery === LONGEST; end = performance.now() - start + STRETCH) {
    const judged = load.window(STRETCH).then((seen) => {
      if (isAsBefore(seen, before)) recovery = Math.min(recovery, end);
    });
    judged.catch(() => {}); // It is awaited below.
    stretches.push(judged);
    await Bun.sleep(STRETCH);
  }
  await Promise.all(stretches);
  return recovery;
}

export function complaints({ before, after, recovery, happened, heap, audit }: Omit<Trouble, "failed">): string[] {
  const { accepted, handled, failed, dead, queued, running } = audit;
  const [atFirst = 0, first = 0] = heap;
  const [most, last = 0] = [Math.max(...heap.slice(2, -1), 0), heap.at(-1)];
  const p95 = ({ p95: milliseconds }: Window) => `${milliseconds.toFixed(1)} ms`;
  const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  const all: [isWrong: boolean, sentence: string][] = [
    [Object.values(happened).every((times) => times === 0), "Nothing went wrong, so this was no trouble."],
    [errorShare(before) > 0, "Something went wrong before it began."],
    [recovery >= LONGEST, `It was not as before ${LONGEST / 1_000} s after.`],
    [
      !isAsBefore(after, before),
      `After it, the p95 was ${p95(after)} with ${(errorShare(after) * 100).toFixed(1)} % errors; before it was ${p95(before)}.`,
    ],
    [most > first * 1.5 + SLACK, `The heap went on growing meanwhile, from ${mb(first)} to ${mb(most)}.`],
    [last > atFirst + SLACK, `The heap had ${mb(atFirst)} before, and ${mb(last)} after.`],
    [accepted !== handled + failed + dead + queued + running, "The audit does not balance."],
    [queued + running > 0, `${queued + running} messages wait or run, though nothing is asked.`],
  ];
  return all.flatMap(([isWrong, sentence]) => (isWrong ? [sentence] : []));
}
