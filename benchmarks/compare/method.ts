import { CONFIDENCE, FULL, RESOLUTION } from "./looks";

const percent = (share: number): string => `${Math.round(share * 1_000) / 10} %`;
const { first, second } = FULL;

/** How `bun run bench --compare REV` works, for the page. */
export const COMPARE_METHOD = `\`bun run bench --compare REV\` tells whether a revision and the working tree differ in speed:

- Both are built the same way, each in a folder laid out like an installed package, and both run the benchmarks of the working tree. What
  the revision does not export is left out, with the reason.
- Every figure comes from several processes, since two processes of one build differ by more than their samples do: code is compiled at
  other moments and lies elsewhere. A pair of processes, one of each build, measures row by row in turns (base, this, this, base, …; the next
  row the other way round), so that a machine that gets slower is held against neither. A process's figure is the first decile of its
  shortest turn. Floors are not divided by here: both builds run in the same second, and a floor would only add its own noise.
- The ratio is a trimmed geometric mean over the pairs, its interval a symmetric bootstrap-t that draws pairs of processes again.
- The first look takes ${first.pairs.timed} pairs (${first.pairs.probe} of rows that are no loops). What seems to differ there is looked at again, by ${second.pairs.timed} fresh pairs (${second.pairs.probe}); the first look
  has no further part in it. It is **faster** or **slower** when the whole interval of the second look lies beyond ${percent(RESOLUTION)}; that
  interval is widened so that all verdicts of a run hold together with ${percent(CONFIDENCE)} confidence, however many rows there are. Everything else is
  **no difference**: look at the interval for how much could have gone unnoticed.
- Figures that are neither better when lower nor when higher, and those that may be zero, are not compared.`;
