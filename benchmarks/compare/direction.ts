import type { ProbeFigure } from "../harness/suite";
import type { Target } from "../harness/target";

/** Which way a figure is better. */
export type Better = "lower" | "higher";

const BY_UNIT: Readonly<Record<ProbeFigure["unit"], Better | undefined>> = {
  ns: "lower",
  µs: "lower",
  ms: "lower",
  s: "lower",
  B: "lower",
  kB: "lower",
  MB: "lower",
  "/s": "higher",
  // A count or a share may be good or bad: a target tells.
  "": undefined,
  "%": undefined,
};

/** Which way a probe's figure is better, if there is one: as its target says, or else its unit. */
export function betterOf(
  suite: string,
  row: string,
  { name, unit }: ProbeFigure,
  targets: readonly Target[],
): Better | undefined {
  const target = targets.find((each) => each.suite === suite && each.row === row && each.figure === name);
  if (target === undefined) return BY_UNIT[unit];
  return "atMost" in target ? "lower" : "higher";
}
