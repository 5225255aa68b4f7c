import type { Verdict } from "./ladder";
import type { WindowFigures } from "./load";

/** A load has broken something when so large a share of its requests went wrong … */
export const MOST_ERRORS = 0.05;
/** … or when one in a hundred took longer than this, in milliseconds. */
export const MOST_P99 = 500;
/**
 * What makes the load is the limit when it sends one in a hundred requests later than this, in milliseconds: a tenth of what
 * breaks, which decides nothing by itself …
 */
export const MOST_LAG = MOST_P99 / 10;
/** … or when it uses more than this share of a processor. */
export const MOST_PROCESSOR = 0.9;

/** The share of a window's requests that went wrong. */
export const errorShare = ({ all }: Pick<WindowFigures, "all">): number =>
  all.due === 0 ? 0 : (all.due - all.ok) / all.due;

/** What a window says of the load in it. */
export function judge(window: Pick<WindowFigures, "all" | "lag" | "processor">): Verdict {
  const { all, lag, processor } = window;
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
