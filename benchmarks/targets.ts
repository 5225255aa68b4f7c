import { join } from "node:path";
import { loadSuites } from "./harness/load";
import type { Target } from "./harness/target";

export { stressTargets } from "./targets/stress";

const suites = await loadSuites(join(import.meta.dir, "suites"));

/**
 * What the figures must reach, with every promise switched on: each row's limits, which stand beside it. `bun run bench --check` fails
 * when one is missed three times. A ratio is to the floor of the same rounds; its limit is the larger of 1.15 times what was reached
 * and the worst round of the results that are committed. Limits over the bare mailbox of `harness/raw-mailbox.ts` are owed a quiet run:
 * it became up to twice as quick after these results, so they are divided by what it gained, or are what minima on a busy machine
 * showed, whichever is more. Times and rates depend on the machine, so their limits are twice the worst round; those that a promise
 * names (P5, what was published) are the promise, however far below it the figure is.
 */
export const targets: readonly Target[] = suites.flatMap(({ name, limits = [] }) =>
  limits.map((limit): Target => ({ suite: name, ...limit })),
);
