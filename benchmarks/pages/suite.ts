import type { Picture } from "../charts/picture";
import { COMPARE_METHOD } from "../compare/compare";
import { digits, range } from "../harness/format";
import { revisionOf } from "../harness/machine";
import type { SuiteResult } from "../harness/results";
import { aimOf, linesOf, lineTable, NONE, suiteTable } from "../harness/tables";
import { figureOf, type Target } from "../harness/target";
import { partsOf } from "./shown";

export type Shown = Omit<Picture, "draw">;

export const written = (title: string, ...parts: readonly string[]): string =>
  `${[`# ${title}`, "Written by `bun run bench` from the results beside it; no figure here is typed by hand.", ...parts].join("\n\n")}\n`;

/** An image by itself follows the theme of the system; code hosts have `picture` follow that of the page. */
export function image({ name, alt }: Shown, charts: string): string {
  const file = (theme: string) => `${charts}/${name}.${theme}.svg`;
  const dark = `<source media="(prefers-color-scheme: dark)" srcset="${file("dark")}">`;
  return `<picture>${dark}<img alt="${Bun.escapeHTML(alt)}" src="${file("light")}"></picture>`;
}

export const picture = (shown: Shown): string => `**${shown.question}**\n\n${image(shown, "charts")}`;

export function whereOf(of: Pick<SuiteResult, "machine" | "rounds" | "probeRounds">): string {
  const { cpu, cores, system, bun, date } = of.machine;
  const ofProbes = of.probeRounds === undefined ? "" : `, ${of.probeRounds} of probes`;
  return `${cpu}, ${cores} cores, ${system}; Bun ${bun}; ${revisionOf(of.machine)}; ${date}; ${of.rounds} rounds${ofProbes}`;
}

export function suitePage(result: SuiteResult, targets: readonly Target[], pictures: readonly Shown[]): string {
  const parts = partsOf(result).flatMap(({ name, title, rows }) => [
    ...(title === "" ? [] : [`## ${title}`]),
    ...pictures.filter((each) => each.name === name).map(picture),
    suiteTable({ ...result, rows }, targets),
  ]);
  const leftOut = (result.leftOut ?? []).map(({ row, why }) => `- *${row}*: left out, because ${why}.`);
  return written(result.suite, result.about, `${whereOf(result)}.`, ...parts, ...leftOut);
}

export function floorsPage(results: readonly SuiteResult[]): string {
  const all = results.flatMap(({ suite, rows }) =>
    rows.map(({ row, floor }) => ({ floor, name: `*${suite}: ${row}*` })),
  );
  const about = all.flatMap(({ floor }) => ("about" in floor ? `- *${floor.name}*: ${floor.about}.` : []));
  const without = all.flatMap(({ floor, name }) => ("none" in floor ? { why: floor.none, name } : []));
  const groups = Object.entries(Object.groupBy(without, ({ why }) => why));
  return written(
    "Floors",
    "A floor is a program for that work without envoi, as quick as we could write it; envoi is below 1 where it does the work in another way. A baseline is other work, or contains envoi. It runs in the same process as its row, in turns.",
    [...new Set(about)].join("\n"),
    "## Rows without a floor",
    groups.map(([why, of = []]) => `- Because ${why}: ${of.map(({ name }) => name).join(", ")}.`).join("\n"),
  );
}

export function limitsPage(results: readonly SuiteResult[], targets: readonly Target[]): string {
  const parts = results.flatMap((result) => {
    const lines = linesOf(result, targets).filter(({ target }) => target !== undefined);
    return [
      `## ${result.suite}`,
      lineTable(lines, ["row", "here", "times the floor (min–max)", "limit", "aim", "reason"]),
    ];
  });
  const newer = targets.filter((target) => figureOf(target, results) === undefined);
  const missed = results.flatMap((result) => linesOf(result, targets).filter(({ isAimMissed }) => isAimMissed));
  return written(
    "Limits",
    "`bun run bench --check` holds the limits; the aim is what would be good; one that is missed stops nobody. The limit of a timed row is about the times of its floor.",
    ...parts,
    "## Missed aims",
    missed
      .map(
        ({ suite, name, here, ratio, target }) =>
          `- ${suite}: ${name}, ${ratio && target?.figure === "ratio" ? range(ratio) : here}, aim ${target ? aimOf(target) : NONE}`,
      )
      .join("\n") || "None.",
    "## Without a figure in these results",
    newer.map(({ suite, row, figure }) => `- ${suite}: ${row}, ${figure}`).join("\n"),
  );
}

export const methodPage = (): string =>
  written(
    "How the figures come about",
    `- **Ratio**: the median over the rounds of *the row's median over its floor's median of the same round*. Where a row waits for other
  processes or for a disk, its rounds are cut into pieces, the floor's and the row's in turn.
- **Samples**: [mitata](https://github.com/evanwashere/mitata) takes them. A sample lasts 20 µs or more, so that reading the clock does
  not count. Percentiles are over the samples of all rounds, none dropped. A p99 of fewer than ${digits(1000)} samples is not given.
- **Work** is counted where it ends, and the count is checked after each round. A row that does nothing, too little or too much, or
  that returns before its work is done, is refused.
- **Probes** (memory, latency, what a timer gets) run each round in a process of its own. Heap is read after a forced collection.
- **A check** (\`bench --check\`) measures the rows with a limit in three short rounds, and those that miss it, or whose floors lie
  too far apart to judge, up to twice more in full. A limit is missed by a row that misses each time.
- **Slopes** of memory are what each message or actor leaves for good, with the ends of their interval.
- **Throughput** in the results is the operations completed over the wall time that passed, collections and pauses included.`,
    "## Two revisions beside each other",
    COMPARE_METHOD,
  );
