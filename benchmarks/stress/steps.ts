import type { Window } from "./results";

/** A load has broken something when so large a share of its requests went wrong … */
export const MOST_ERRORS = 0.05;
/** … or when one in a hundred took longer than this, in milliseconds. */
export const MOST_P99 = 500;
/** The generator is the limit when it sends one in a hundred requests later than this, in milliseconds. */
export const MOST_LAG = MOST_P99 / 10;

/** The share of a window's requests that went wrong. */
export const errorShare = ({ due, ok }: Pick<Window, "due" | "ok">): number => (due === 0 ? 0 : (due - ok) / due);

/** The errors of a window, the most frequent one first. */
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

/** Tries of a step: a machine may falter once. */
const TRIES = 2;

/** Raises the load by fixed steps until one is not borne, twice. */
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

/** The breaking point was not found: the message says why. */
export class NotFound extends Error {}
