import type { WindowResult } from "./results";

/** A load has broken something when so large a share of its requests went wrong … */
export const MOST_ERRORS = 0.05;
/** … or when one in a hundred took longer than this, in milliseconds. */
export const MOST_P99 = 500;
/**
 * The generator is the limit when it sends one in a hundred requests later than this, in milliseconds: a tenth of what
 * breaks, which decides nothing by itself …
 */
export const MOST_LAG = MOST_P99 / 10;
/** … or when it uses more than this share of a processor. */
export const MOST_PROCESSOR = 0.9;

/** How a step of load went; `void` says nothing, since the generator or the machine was the limit. `why` ends a sentence. */
export type Verdict = { readonly kind: "held" } | { readonly kind: "broke" | "void"; readonly why: string };

type Judged = Pick<WindowResult, "all" | "generator">;

/** The share of a window's requests that went wrong. */
export const errorShare = ({ all }: Pick<Judged, "all">): number => (all.due === 0 ? 0 : (all.due - all.ok) / all.due);

/** What a window says of the load in it. */
export function judge(window: Judged): Verdict {
  const { all, generator } = window;
  const { lag, processor } = generator;
  if (lag > MOST_LAG) return { kind: "void", why: `the generator sent one in 100 requests ${lag.toFixed(0)} ms late` };
  if (processor > MOST_PROCESSOR) {
    return { kind: "void", why: `the generator used ${(processor * 100).toFixed(0)} % of a processor` };
  }
  const errors = errorShare(window);
  if (errors >= MOST_ERRORS) {
    const [most = "none"] = Object.entries(all.errors).toSorted(([, a], [, b]) => b - a)[0] ?? [];
    return { kind: "broke", why: `${(errors * 100).toFixed(0)} % of the requests went wrong, most of them: ${most}` };
  }
  const { p99 } = all.latency;
  const slow = p99 ?? all.latency.max; // Of fewer than a thousand, the slowest one.
  if (slow > MOST_P99) return { kind: "broke", why: `one in 100 requests took ${slow.toFixed(0)} ms` };
  return { kind: "held" };
}

/** Tries of a step: a machine may falter once. */
const TRIES = 2;

/** The steps in the order in which they were taken, and the first that was not borne. */
export interface Climb<Step> {
  readonly steps: readonly { readonly rate: number; readonly step: Step; readonly verdict: Verdict }[];
  /** The highest load that held, in requests a second; 0 when none did. */
  readonly held: number;
  /** The load at which it ended: the step after that. */
  readonly ended: number;
  readonly kind: "broke" | "void";
  readonly why: string;
}

/** Raises the load by fixed steps until one is not borne, twice. */
export async function climb<Step>(
  { from, factor }: { readonly from: number; readonly factor: number },
  take: (rate: number) => Promise<Step>,
  judged: (step: Step) => Verdict,
): Promise<Climb<Step>> {
  const steps: { rate: number; step: Step; verdict: Verdict }[] = [];
  let held = 0;
  for (let rate = from, tries = 0; ; ) {
    const step = await take(rate);
    const verdict = judged(step);
    steps.push({ rate, step, verdict });
    if (verdict.kind === "held") {
      held = rate;
      rate = Number((rate * factor).toPrecision(2));
      tries = 0;
    } else if (++tries === TRIES) return { steps, held, ended: rate, kind: verdict.kind, why: verdict.why };
  }
}

/** The breaking point was not found: the message says why. */
export class NotFound extends Error {}
