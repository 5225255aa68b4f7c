import { join } from "node:path";
import { loadSuites } from "./harness/load";
import type { Target } from "./harness/target";

export { stressTargets } from "./targets/stress";

const suites = await loadSuites(join(import.meta.dir, "suites"));

/**
 * What the figures must reach, with every promise switched on: each row's limits, which stand beside it. `bun run bench --check` fails
 * when one is missed three times. A ratio is to the floor of the same rounds; its limit is 1.15 times what was reached on the slowest
 * machine that measured it, or more where rounds needed it. One that a change of ours would have it miss stays, and is shown as
 * missed, unless a promise made since is what it costs. Times and rates depend on the machine, so most of their limits are twice the
 * worst round; those that a promise names (P5, what was published) are the promise, however far below it the figure is.
 */
export const targets: readonly Target[] = suites.flatMap(({ name, limits = [] }) =>
  limits.map((limit): Target => ({ suite: name, ...limit })),
);
