import { join } from "node:path";
import { loadSuites } from "./harness/load";
import type { Target } from "./harness/target";

export { stressTargets } from "./targets/stress";

const suites = await loadSuites(join(import.meta.dir, "suites"));

/** Each row's limits, which stand beside it: 1.15 times what was reached on the slowest machine that measured it, or more where rounds needed it. */
export const targets: readonly Target[] = suites.flatMap(({ name, limits = [] }) =>
  limits.map((limit): Target => ({ suite: name, ...limit })),
);
