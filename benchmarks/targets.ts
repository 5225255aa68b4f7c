import type { Target } from "./harness/target";
import { latency, memoryTargets, startup } from "./targets/process";
import { codeRatios, fileRatios, messaging } from "./targets/ratios";
import { codeTargets, files, gaps } from "./targets/tools";

export { stressTargets } from "./targets/stress";

/**
 * What the figures must reach, with every promise switched on. `bun run bench --check` fails when one is missed three times. Ratios are
 * to the floor of the same rounds; *raw* is the bare mailbox of `harness/raw-mailbox.ts`.
 */
export const targets: readonly Target[] = [
  ...messaging,
  {
    suite: "patterns",
    row: "5 ms timer while two actors volley for 200 ms",
    figure: "ticks",
    atLeast: 38,
    aim: 40,
    reason: "no actor, however busy, starves timers (P5)",
  },
  {
    suite: "patterns",
    row: "5 ms timer while two actors volley for 200 ms",
    figure: "gap",
    atMost: 8,
    aim: 8,
    reason: "a turn is bounded to about a millisecond (P5)",
  },
  ...fileRatios,
  ...files,
  ...codeRatios,
  ...codeTargets,
  ...memoryTargets,
  ...latency,
  ...startup,
  ...gaps,
];
