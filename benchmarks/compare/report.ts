import { align, digits, duration, quantity, table } from "../harness/format";
import { median } from "../harness/statistics";
import type { Comparison, Judged } from "./judge";
import { CONFIDENCE, RESOLUTION } from "./looks";
import type { NotCompared } from "./plan";
import { blindness } from "./verdict";

/** A whole comparison, as `--json` prints it. */
export interface Report extends Judged {
  readonly base: { readonly revision: string; readonly commit: string };
  readonly present: { readonly commit: string };
  /** What the benchmarks of this tree import and the base does not export. */
  readonly missing: readonly string[];
  readonly resolution: number;
  readonly confidence: number;
  readonly interrupted: boolean;
}

/** A machine on which half of the figures could have changed by more than this, unnoticed, was too noisy to compare on. */
const TOO_NOISY = 1.1;

/** The factor by which half of the figures could have changed without being noticed. */
export function noiseOf({ comparisons }: Judged): number {
  return comparisons.length === 0 ? 1 : median(comparisons.map(blindness));
}

/** The status that a comparison ends with. */
export function statusOf(report: Report): 0 | 1 | 3 | 130 {
  if (report.interrupted) return 130;
  const isWorse = report.comparisons.some(({ verdict }) => verdict === "slower");
  if (isWorse || report.notCompared.some(({ isBroken }) => isBroken)) return 1;
  return report.comparisons.length === 0 || noiseOf(report) > TOO_NOISY ? 3 : 0;
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
  const count = (verdict: Comparison["verdict"]) => report.comparisons.filter((each) => each.verdict === verdict);
  const slower = count("slower");
  const lines = [
    `${slower.length} slower, ${count("faster").length} faster, ${count("no difference").length} no difference; ${report.notCompared.length} not compared.`,
  ];
  const noise = percent(noiseOf(report) - 1);
  const alone = percent(report.confidence);
  if (report.comparisons.length > 0) {
    lines.push(
      `Half of the figures would have shown a change of ${noise} or less. Less than ${percent(report.resolution)} is no difference; ` +
        `verdicts hold with ${alone} confidence for all rows together, intervals of "no difference" each by itself.`,
    );
  }
  if (report.interrupted)
    lines.push("The run was interrupted: what was seen once was not confirmed, and some rows are not here.");
  else if (report.comparisons.length === 0) lines.push("Nothing was compared, so nothing is known.");
  else if (statusOf(report) === 3) {
    lines.push("The machine was too noisy to judge: end what else runs on it, and compare again.");
  }
  return lines;
}

const percent = (share: number): string => `${digits(share * 100)} %`;

/** The report as JSON text: six digits of each figure. */
export function serialise(report: Report): string {
  const round = (_key: string, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(6)) : value);
  return `${JSON.stringify(report, round, 2)}\n`;
}

/** The stated limits of every report. */
export const LIMITS = { resolution: RESOLUTION, confidence: CONFIDENCE };
