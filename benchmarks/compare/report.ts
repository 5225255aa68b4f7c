import { align, digits, duration, quantity, table } from "../harness/format";
import { ascending, quantile } from "../harness/statistics";
import { CONFIDENCE, type Comparison, FULL, type Judged, QUICK, type Thoroughness } from "./judge";
import type { NotCompared } from "./plan";

/** A whole comparison, as `--json` prints it. */
export interface Report extends Judged {
  readonly base: { readonly revision: string; readonly commit: string };
  readonly present: { readonly commit: string };
  /** What the benchmarks of this tree import and the base does not export. */
  readonly missing: readonly string[];
  readonly resolution: Thoroughness["resolution"];
  readonly confidence: number;
  /** How long it took. */
  readonly seconds: number;
  readonly interrupted: boolean;
}

/** A machine on which half of the figures could have changed by more than this, unnoticed, was too noisy to compare on. */
const TOO_NOISY = 1.1;

/**
 * The factor by which a share of the figures could have changed without being noticed: half the width of their intervals. Of a p99 more
 * is expected, and it tells nothing of the machine.
 */
export function blindness({ comparisons }: Judged, share: number): number {
  const widths = comparisons.filter(({ figure }) => figure !== "p99").map(({ low, high }) => Math.sqrt(high / low));
  return widths.length === 0 ? 1 : quantile(ascending(widths), share);
}

/** The status that a comparison ends with. */
export function statusOf(report: Report): 0 | 1 | 3 | 130 {
  if (report.interrupted) return 130;
  const isWorse = report.comparisons.some(({ verdict }) => verdict === "slower");
  if (isWorse || report.notCompared.some(({ isBroken }) => isBroken)) return 1;
  const isOpen = report.comparisons.some(({ verdict }) => verdict === "seen once");
  return isOpen || report.comparisons.length === 0 || blindness(report, 0.5) > TOO_NOISY ? 3 : 0;
}

/** The report for a terminal. */
export function render(report: Report): string {
  const { base, present, missing } = report;
  const parts = [`base: ${base.revision} (${base.commit})   this: ${present.commit}`];
  for (const suite of new Set(report.comparisons.map((each) => each.suite))) {
    const rows = report.comparisons.filter((each) => each.suite === suite);
    parts.push(`${suite}\n\n${align(table(HEAD, rows.map(cells)))}`);
  }
  if (missing.length > 0) parts.push(`The base lacks what some rows need: ${missing.join("; ")}.`);
  if (report.notCompared.length > 0) parts.push(`not compared\n\n${byReason(report.notCompared).join("\n")}`);
  parts.push(summary(report).join("\n"));
  return `${parts.join("\n\n")}\n`;
}

const HEAD = ["row", "base", "this", "this / base", "interval", "processes", ""];

function cells(each: Comparison): string[] {
  const value = (figure: number): string => (each.unit === "ns" ? duration(figure) : quantity(figure, each.unit));
  return [
    each.figure === "time" ? each.row : `${each.row}: ${each.figure}`,
    value(each.base),
    value(each.present),
    ratio(each.ratio),
    `${ratio(each.low)}–${ratio(each.high)}`,
    `2 × ${each.pairs}`,
    each.verdict,
  ];
}

const ratio = (value: number): string => (value >= 100 ? digits(value) : value.toFixed(value >= 10 ? 1 : 3));

function byReason(rows: readonly NotCompared[]): string[] {
  const reasons = Map.groupBy(rows, ({ suite, why }) => `${suite}: ${why}`);
  return [...reasons].map(([reason, each]) => `- ${reason} (${each.map(({ row }) => row).join("; ")})`);
}

function summary(report: Report): string[] {
  const count = (verdict: Comparison["verdict"]) =>
    report.comparisons.filter((each) => each.verdict === verdict).length;
  const { p99, others } = report.resolution;
  const once = count("seen once");
  const lines = [
    `${count("slower")} slower, ${count("faster")} faster, ${count("no difference")} no difference; ${report.notCompared.length} not compared; ${Math.round(report.seconds / 6) / 10} minutes.`,
  ];
  if (report.comparisons.length > 0) {
    lines.push(
      `A time is that of the quickest tenth. Less than ${percent(others)} is no difference, of a p99 less than ${percent(p99)}. Half of the figures ` +
        `would have shown a change of ${percent(blindness(report, 0.5) - 1)}, nine of ten one of ${percent(blindness(report, 0.9) - 1)}; of a p99, see its interval.`,
    );
  }
  if (report.interrupted)
    lines.push("The run was interrupted: what was seen once was not confirmed, and some rows are not here.");
  else if (report.comparisons.length === 0) lines.push("Nothing was compared, so nothing is known.");
  else if (blindness(report, 0.5) > TOO_NOISY) {
    lines.push("The machine was too noisy to judge: end what else runs on it, and compare again.");
  } else if (once > 0)
    lines.push(`There was no time to look again at ${once} that seemed to differ: name their suite.`);
  return lines;
}

const percent = (share: number): string => `${digits(share * 100)} %`;

/** The report as JSON text: six digits of each figure. */
export function serialise(report: Report): string {
  const round = (_key: string, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(6)) : value);
  return `${JSON.stringify(report, round, 2)}\n`;
}

const { first, second } = FULL;
const minutes = ({ first: one, second: other }: Thoroughness): number => (one.time + other.time) / 60_000;

/** How `bun run bench --compare REV` works, for the page. */
export const COMPARE_METHOD = `\`bun run bench --compare REV\` tells whether a revision and the working tree differ in speed. It looks at the quickest tenth of a
row's samples, and at their p99 where a process gives a thousand of them; of other rows, at what they read:

- Both are built the same way, each in a folder laid out like an installed package, and both run the benchmarks of the working tree. What
  the revision does not export is left out, with the reason.
- Processes of one build differ by more than their samples do, so a figure comes from pairs of processes, one of each build, in which the
  two take turns (base, this, this, base; the next row the other way round): a machine that gets slower is held against neither. A time is
  the first decile of a process's quickest turn. Floors have no part in it.
- The ratio is the median of the means of all two pairs, on a logarithmic scale; its interval is that of Wilcoxon's test of signed ranks.
- What seems to differ in the first look (${first.fewest} to ${first.pairs} pairs) is looked at again, in up to ${second.pairs} fresh pairs, which decide alone: it is **faster** or
  **slower** when that test finds it beyond the resolution, ${percent(FULL.resolution.others)}, or ${percent(FULL.resolution.p99)} of a p99 (${percent(QUICK.resolution.others)} and ${percent(QUICK.resolution.p99)} with \`--quick\`). Of two like builds, ${percent(CONFIDENCE)} of the
  runs tell no difference in any row (Benjamini and Hochberg). Everything else is **no difference**: its interval tells what could have gone unnoticed.
- Measuring takes ${minutes(FULL)} minutes at most, ${minutes(QUICK)} with \`--quick\`: where that is too short for ${first.fewest} pairs of each row, the rows that take longest are left out,
  and named. Figures that are neither better when lower nor when higher, and those that may be zero, are not compared.`;
