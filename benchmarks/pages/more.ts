import { COMPARE_METHOD } from "../compare/report";
import { digits, duration, table } from "../harness/format";
import { publishedMachine, publishedNote, publishedReading, publishedRow } from "../harness/published";
import type { RowResult, SuiteResult } from "../harness/results";
import { limitIn, measured, NONE, suiteTable, timeOf } from "../harness/tables";
import { figureOf, readingOf, type Target } from "../harness/target";
import { picture, type Shown, whereOf } from "./page";
import { publishedTable } from "./published";

const HEAD = "Written by `bun run bench` from the results beside it; no figure here is typed by hand.";
const page = (title: string, ...parts: readonly string[]): string => `${[`# ${title}`, HEAD, ...parts].join("\n\n")}\n`;

/** The page of floors: what each does, which rows have none, and why. */
export function floorsPage(results: readonly SuiteResult[]): string {
  const about = new Map<string, string>();
  const without = new Map<string, string[]>();
  for (const { suite, rows } of results) {
    for (const { row, floor } of rows) {
      if ("about" in floor) about.set(floor.name, floor.about);
      if ("none" in floor) without.set(floor.none, [...(without.get(floor.none) ?? []), `*${suite}: ${row}*`]);
    }
  }
  return page(
    "Floors",
    "A floor is the least that work of its kind costs without envoi. It runs in the same process as its row, in turns.",
    [...about].map(([name, text]) => `- *${name}*: ${text}.`).join("\n"),
    "## Rows without a floor",
    [...without].map(([why, rows]) => `- Because ${why}: ${rows.join(", ")}.`).join("\n"),
  );
}

/** The page of limits: each with its aim, its reason, and what was measured. */
export function limitsPage(results: readonly SuiteResult[], targets: readonly Target[]): string {
  const suites = Object.entries(Object.groupBy(targets, ({ suite }) => suite));
  const parts = suites.flatMap(([suite, [...all] = []]) => [
    `## ${suite}`,
    table(
      ["figure", "here", "limit", "aim", "reason"],
      all.map((target) => {
        const found = figureOf(target, results);
        const here = found === undefined ? NONE : measured(found, readingOf(target, results)?.unit ?? "");
        const figure = target.figure === "ratio" ? "times the floor" : target.figure;
        const aim = target.aim.toLocaleString("en", { maximumSignificantDigits: 6 });
        return [`${target.row}, ${figure}`, here, limitIn(target, results), aim, target.reason];
      }),
    ),
  ]);
  const about =
    "`bun run bench --check` holds the limits; the aim is what would be good. Both are in `benchmarks/targets.ts`.";
  return page("Limits", about, ...parts);
}

const TIERS = ["sandbox", "trusted", "process"] as const;
export type Tier = (typeof TIERS)[number];

/** The tier that a row of code is about; it is `trusted` where it names none. */
export function tierOf({ row }: Pick<RowResult, "row">): Tier {
  if (/\bsandbox\b|default tier/.test(row)) return "sandbox";
  return /\bprocess\b/.test(row) ? "process" : "trusted";
}

/** The results of a suite by tier, those of the default one first. */
export const byTier = (result: SuiteResult): readonly (readonly [tier: Tier, result: SuiteResult])[] =>
  TIERS.map((tier) => [tier, { ...result, rows: result.rows.filter((row) => tierOf(row) === tier) }] as const).filter(
    ([, { rows }]) => rows.length > 0,
  );

/** The page of code: a table and a chart for each tier. */
export function codePage(result: SuiteResult, targets: readonly Target[], pictures: readonly Shown[]): string {
  const parts = byTier(result).flatMap(([tier, rows]) => {
    const shown = pictures.filter(({ name }) => name === `${result.suite}-${tier}`);
    const title = tier === "sandbox" ? "`sandbox`, the default tier" : `\`${tier}\``;
    return [`## ${title}`, ...shown.map((each) => picture(each, "charts")), suiteTable(rows, targets)];
  });
  return page("Code", result.about, `${whereOf(result)}.`, ...parts);
}

/** The page of figures that were published for an earlier layer, on another machine. */
export function publishedPage(results: readonly SuiteResult[]): string {
  const rows = results.flatMap(({ suite, rows }) =>
    rows.flatMap((row): string[][] => {
      const name = `${suite}: ${row.row}`;
      if (row.kind === "timed") {
        const of = publishedRow(suite, row.row);
        const times = of && [of.avg, of.p75, of.p99].map(duration).join(" / ");
        return times === undefined ? [] : [[name, timeOf(row), times, publishedNote(suite, row.row) ?? ""]];
      }
      return row.figures.flatMap(({ figure, median, unit }) => {
        const value = publishedReading(suite, row.row, figure);
        if (value === undefined) return [];
        const note = publishedNote(suite, row.row) ?? "";
        return [[`${name}, ${figure}`, measured(median, unit), measured(value, unit), note]];
      });
    }),
  );
  return page(
    "Published figures",
    `An earlier messaging layer published these figures. They are from **another machine** (${publishedMachine}), so they are here for orientation; no limit is about them.`,
    table(["row", "here (median)", "published, on another machine (average / p75 / p99)", "note"], rows),
    "## Published targets",
    "The targets that the earlier layer set itself, and the figures here that show whether envoi meets them.",
    publishedTable(results),
  );
}

/** How the figures come about, and how two revisions are compared. */
export const methodPage = (): string =>
  page(
    "How the figures come about",
    `- **Ratio**: the median over the rounds of *the row's median over its floor's median of the same round*. Where a row waits for other
  processes or for a disk, its rounds are cut into pieces, the floor's and the row's in turn.
- **Samples**: [mitata](https://github.com/evanwashere/mitata) takes them. A sample lasts 20 µs or more, so that reading the clock does
  not count. Percentiles are over the samples of all rounds, none dropped. A p99 of fewer than ${digits(1000)} samples is not given.
- **Work** is counted where it ends, and the count is checked after each round. A row that does nothing, too little or too much, or
  that returns before its work is done, is refused.
- **Probes** (memory, latency, what a timer gets) run each round in a process of its own. Heap is read after a forced collection.
- **Slopes** of memory are what each message or actor leaves for good, with the ends of their interval.
- **Throughput** in the results is the operations completed over the wall time that passed, collections and pauses included.`,
    "## Two revisions beside each other",
    COMPARE_METHOD,
  );
