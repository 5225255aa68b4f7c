import { UsageError } from "../harness/arguments";
import { counted } from "../harness/bench";
import { align, digits, duration, table } from "../harness/format";
import { disk, makeFolder } from "../harness/places";
import type { Suite } from "../harness/suite";
import type { Terminal } from "../harness/terminal";
import { buildBoth, commitOf } from "./builds";
import { blindness, CONFIDENCE, type Comparison, FULL, judge, QUICK, suspectRows, type Thoroughness } from "./judge";
import { type Looked, lookAt } from "./measure";

export interface Report extends ReturnType<typeof judge> {
  readonly base: string;
  readonly how: Thoroughness;
  readonly minutes: number;
  readonly isInterrupted: boolean;
}

/** Status 1: something is slower or broken; 3: too noisy, or nothing compared; 130: aborted. */
export async function compare(
  revision: string,
  suites: readonly Suite[],
  quick: boolean,
  { root, out, err, progress, signal }: Pick<Terminal, "root" | "out" | "err" | "progress" | "signal">,
): Promise<0 | 1 | 3 | 130> {
  const start = performance.now();
  const how = quick ? QUICK : FULL;
  const rows = suites.flatMap(({ name: suite, rows }) =>
    rows.flatMap(({ kind, name: row }) => (kind === "timed" ? [{ suite, row }] : [])),
  );
  if (rows.length === 0) throw new UsageError("No timed row is chosen, and --compare looks at no others.");
  const commit = await commitOf(root, revision, signal);
  const folder = makeFolder(disk, "envoi-compare-");
  const first: Looked = new Map();
  const second: Looked = new Map();
  try {
    progress(`building ${revision} and this tree`);
    const builds = await buildBoth(root, commit, folder.path, signal);
    err(`${counted(rows.length)} of ${revision} and of this tree: ${minutesOf(how)} minutes at most.\n`);
    await lookAt(rows, how.first, builds, signal, first, progress);
    await lookAt(suspectRows(first, how), how.second, builds, signal, second, progress);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    progress("");
    folder.remove();
  }
  const minutes = (performance.now() - start) / 60_000;
  const about = { base: `${revision} (${commit.slice(0, 9)})`, how, minutes, isInterrupted: signal.aborted };
  const report: Report = { ...about, ...judge(first, second, how) };
  out(render(report));
  return statusOf(report);
}

/** A machine on which half of the figures could have changed by more than this, unnoticed, was too noisy to compare on. */
const TOO_NOISY = 1.1;
const isNoisy = ({ comparisons }: Report): boolean => blindness(comparisons, 0.5) > TOO_NOISY;
const has = ({ comparisons }: Report, verdict: Comparison["verdict"]): boolean =>
  comparisons.some((each) => each.verdict === verdict);

export function statusOf(report: Report): 0 | 1 | 3 | 130 {
  if (report.isInterrupted) return 130;
  if (has(report, "slower") || report.notCompared.some(({ isBroken }) => isBroken)) return 1;
  return has(report, "seen once") || report.comparisons.length === 0 || isNoisy(report) ? 3 : 0;
}

export function render(report: Report): string {
  const parts = [`base: ${report.base}`];
  for (const [suite, rows] of Map.groupBy(report.comparisons, (each) => each.suite))
    parts.push(`${suite}\n\n${align(table(HEAD, rows.map(cells)))}`);
  const reasons = Map.groupBy(report.notCompared, ({ suite, why }) => `${suite}: ${why}`);
  const left = [...reasons].map(([reason, rows]) => `- ${reason} (${rows.map(({ row }) => row).join("; ")})`);
  if (left.length > 0) parts.push(`not compared\n\n${left.join("\n")}`);
  return `${[...parts, summary(report)].join("\n\n")}\n`;
}

const HEAD = ["row", "base", "this", "this / base", "interval", "processes", ""];

function cells({ row, figure, base, present, pairs, verdict, ...range }: Comparison): string[] {
  const ratio = (of: number): string => (of >= 100 ? digits(of) : of.toFixed(of >= 10 ? 1 : 3));
  const name = figure === "time" ? row : `${row}: ${figure}`;
  const interval = `${ratio(range.low)}–${ratio(range.high)}`;
  return [name, duration(base), duration(present), ratio(range.ratio), interval, `2 × ${pairs}`, verdict];
}

function summary(report: Report): string {
  const { comparisons, how, notCompared, minutes } = report;
  const verdicts = Map.groupBy(comparisons, ({ verdict }) => verdict);
  const counts = [...verdicts].map(([verdict, each]) => `${each.length} ${verdict}, `);
  const unseen = (share: number): string => percent(blindness(comparisons, share) - 1);
  const { time, p99 } = how.resolution;
  const resolution = `A time is that of the quickest tenth. Less than ${percent(time)} is no difference, of a p99 less than ${percent(p99)}.
Half of the times would have shown a change of ${unseen(0.5)}, nine of ten one of ${unseen(0.9)}; of a p99, see its interval.`;
  const lines = [
    `${counts.join("")}${notCompared.length} not compared; ${digits(minutes)} minutes.`,
    comparisons.length === 0 ? "Nothing was compared, so nothing is known." : resolution,
  ];
  if (report.isInterrupted) lines.push("The run was interrupted, so some rows were seen once, or not at all.");
  else if (isNoisy(report))
    lines.push("The machine was too noisy to judge: end what else runs on it, and compare again.");
  else if (verdicts.has("seen once"))
    lines.push("There was no time to look again at some that seemed to differ: name their suite.");
  return lines.join("\n");
}

const percent = (share: number): string => `${digits(share * 100)} %`;
const minutesOf = ({ first, second }: Thoroughness): number => first.minutes + second.minutes;

export const COMPARE_METHOD = `\`bun run bench --compare REV\` tells whether a revision and the working tree differ in speed. It looks at the quickest tenth of a
timed row's samples, and at their p99 where a process gives a thousand of them. Rows that are not timed are held by their limits alone.

- Both are built the same way, each in a folder laid out like an installed package, and both run the benchmarks of the working tree. A row
  that needs what the revision does not export is left out, with the reason.
- Processes of one build differ by more than their samples do, so a figure comes from pairs of processes, one of each build, which take
  turns: a machine that gets slower is held against neither. A time is the first decile of a process's quickest turn.
- The ratio is the median of the means of all two pairs, on a logarithmic scale; its interval is that of Wilcoxon's test of signed ranks.
- What seems to differ in the first look (${FULL.first.fewest} to ${FULL.first.pairs} pairs) is looked at again, in ${FULL.second.fewest} to ${FULL.second.pairs} fresh pairs, which decide alone: it is **faster** or
  **slower** when that test finds it beyond the resolution, ${percent(FULL.resolution.time)}, or ${percent(FULL.resolution.p99)} of a p99 (${percent(QUICK.resolution.time)} and ${percent(QUICK.resolution.p99)} with \`--quick\`). Of two like builds, ${percent(CONFIDENCE)} of the
  runs tell no difference in any row (Benjamini and Hochberg). Everything else is **no difference**: its interval tells what could have gone unnoticed.
- Measuring takes ${minutesOf(FULL)} minutes at most, ${minutesOf(QUICK)} with \`--quick\`. The rows that there is no time for are named.`;
