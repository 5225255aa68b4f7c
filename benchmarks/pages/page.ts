import { digits, range, table } from "../harness/format";
import { revisionOf } from "../harness/machine";
import type { RowResult, SuiteResult } from "../harness/results";
import { inOrder, limitIn, measured, NONE, suiteTable, timeOf } from "../harness/tables";
import { checkTargets, type FigureName, figureOf, isSame, QUIET, readingOf, type Target } from "../harness/target";
import { actorsTable, beside, type Peers, RIVALS, rivalsTable } from "./rivals";

/** A picture that the page shows, in a light and in a dark file. */
export interface Shown {
  readonly name: string;
  /** What it shows, for readers who do not see it. */
  readonly alt: string;
  /** The question that it answers. */
  readonly question: string;
}

/** Everything that the page is made of. */
export interface Measured {
  readonly results: readonly SuiteResult[];
  readonly targets: readonly Target[];
  readonly peers?: Peers;
  /** The pictures of each suite, by its name. */
  readonly pictures?: ReadonlyMap<string, readonly Shown[]>;
  /** The figures that the summary begins with. */
  readonly headline?: readonly FigureName[];
  /** What the other pages are about, by their paths from BENCHMARKS.md. */
  readonly others?: ReadonlyMap<string, string>;
}

/** The suite whose rows have a page of their own. */
export const APART = "code";
/** Where the pages beside BENCHMARKS.md, and the charts, are. */
export const FOLDER = "benchmarks/results";
const WORST = 10;

/**
 * The whole of BENCHMARKS.md, from the results alone: the same results give the same text.
 *
 * @example
 * render({ results: await readResults("benchmarks/results"), targets })
 */
export function render(all: Measured): string {
  const { targets, peers, pictures } = all;
  const results = inOrder(all.results, ({ suite }) => suite);
  const parts = [
    INTRODUCTION,
    summary({ ...all, results }),
    READING,
    ...results.map((result) =>
      result.suite === APART ? apart(result, targets) : suitePart(result, targets, pictures?.get(result.suite) ?? []),
    ),
    peers === undefined ? "" : `## Other libraries and tools\n\n${rivalsTable(peers)}\n\n${RIVALS}`,
    links(all.others ?? new Map()),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

const INTRODUCTION = `# Benchmarks

Written by \`bun run bench\` from \`benchmarks/results/*.json\`. No figure is typed by hand, and a test fails when a page says something
else than the results. \`bun run bench\` in a clone of the repository, or \`bunx envoi bench\` where the package is installed, measures
on your machine.`;

const READING = `## How to read it

- A **row** is one kind of work. *Here* is its median; *p99* is given where there are 1,000 samples or more.
- A row stands beside its **floor**: the least that work of its kind costs without envoi, such as a bare mailbox; a **baseline** contains envoi.
- **Times the floor** is the row's median over its floor's, with the lowest and the highest round. It hardly depends on the machine.
- Row and floor run in one process in turns, each round after a forced collection, so a slow moment meets both.
- Work is counted where it ends: in the handler, or on the reply. A row that does too little or too much has no figure.
- A sample of a short row averages many operations. The suite *latency* times each operation by itself.
- The **limit** is what \`bun run bench --check\` holds. Each one has a reason on [the page of limits](${FOLDER}/limits.md).
- A machine is **quiet** when its floors vary by at most ${digits(QUIET * 100)} %. A row whose floor varies much is *unjudged*, kept or missed.
- Charts have logarithmic axes. A red bar is a limit, and a red dot missed it.
- [How the figures come about](${FOLDER}/method.md) tells the rest.`;

function summary(all: Measured): string {
  const { results, targets, peers, headline = [] } = all;
  return [
    "## Summary",
    "**Is it fast?** One row of each kind:",
    targetTable(results, targets, headline),
    limits(results, targets),
    `**Where is it slow?** The ${WORST} rows that are furthest from their floors:`,
    worst(results, targets),
    ...(peers === undefined ? [] : [`**Against whom?** ${beside(peers)}`]),
    trust(results, peers ?? []),
  ].join("\n\n");
}

/** A table of some figures: the row, its floor, what was measured, and the limit where there is one. */
export function targetTable(
  results: readonly SuiteResult[],
  targets: readonly Target[],
  figures: readonly FigureName[] = targets,
): string {
  const rows = figures.flatMap((named) => {
    const row = results.find(({ suite }) => suite === named.suite)?.rows.find((each) => each.row === named.row);
    const cells = row && figureCells(row, named.figure);
    const target = targets.find((each) => isSame(each, named));
    return cells ? [[...cells, target ? limitIn(target, results) : NONE]] : [];
  });
  return table(["row", "here", "floor", "times the floor (min–max)", "limit"], rows);
}

function figureCells(row: RowResult, name: string): string[] | undefined {
  if (row.kind === "timed") {
    if (row.ratio === null || "none" in row.floor) return undefined;
    return [row.row, timeOf(row), `${row.floor.name}: ${measured(row.floor.p50, "ns")}`, range(row.ratio)];
  }
  const figure = row.figures.find((each) => each.figure === name);
  if (figure === undefined) return undefined;
  const { floor, unit, ratio, median } = figure;
  const told = floor && "name" in row.floor ? `${row.floor.name}: ${measured(floor.median, unit)}` : NONE;
  return [`${row.row}: ${name}`, measured(median, unit), told, ratio === null ? NONE : range(ratio)];
}

/** What was kept, what was missed, what cannot be judged, and what has no figure yet. */
function limits(results: readonly SuiteResult[], targets: readonly Target[]): string {
  const { checked, misses, unjudged } = checkTargets(targets, results);
  const without = targets.filter((target) => figureOf(target, results) === undefined).length;
  const open =
    unjudged.length === 0 ? "" : ` ${unjudged.length} are *unjudged*: the rounds of their floors lie too far apart.`;
  const newer = without === 0 ? "" : ` Newer rows have ${without} more, without a figure in these results.`;
  const kept = `**What was kept?** ${checked - misses.length - unjudged.length} of ${checked} limits.${open}${newer}`;
  const rows = (verdict: string, all: typeof misses) =>
    all.map(({ target, measured: value }) => {
      const unit = readingOf(target, results)?.unit ?? "";
      const figure = target.figure === "ratio" ? "times the floor" : target.figure;
      const here = unit === "" ? String(Number(value.toPrecision(4))) : measured(value, unit);
      const limit = limitIn(target, results).replace(" (missed)", "");
      return [`${target.suite}: ${target.row}, ${figure}`, here, limit, String(target.aim), verdict];
    });
  const all = [...rows("missed", misses), ...rows("unjudged", unjudged)];
  return all.length === 0
    ? kept
    : `${kept} Not kept, or unjudged:\n\n${table(["figure", "here", "limit", "aim", ""], all)}`;
}

function worst(results: readonly SuiteResult[], targets: readonly Target[]): string {
  const ratios = results.flatMap(({ suite, rows }) =>
    rows.flatMap((row) => {
      const figures =
        row.kind === "timed"
          ? [{ figure: "ratio", times: row.ratio?.median }]
          : // More is better of a rate.
            row.figures.map(({ figure, unit, ratio }) => ({
              figure,
              times: ratio && unit === "/s" ? 1 / ratio.median : ratio?.median,
            }));
      return figures.flatMap(({ figure, times }) => (times === undefined ? [] : [{ suite, row, figure, times }]));
    }),
  );
  const furthest = ratios.toSorted((a, b) => b.times - a.times).slice(0, WORST);
  return table(
    ["row", "times the floor", "here", "floor", "limit"],
    furthest.map(({ suite, row, figure, times }) => {
      const [, here = NONE, floor = NONE] = figureCells(row, figure) ?? [];
      const target = targets.find((each) => isSame(each, { suite, row: row.row, figure }));
      const name = row.kind === "timed" ? row.row : `${row.row}: ${figure}`;
      return [`${suite}: ${name}`, digits(times), here, floor, target ? limitIn(target, results) : NONE];
    }),
  );
}

/** Where the figures are from, and how quiet it was there. */
function trust(results: readonly SuiteResult[], peers: Peers): string {
  const groups = Object.groupBy(results, whereOf);
  const places = Object.entries(groups).map(([where, [...suites] = []]) => {
    const noisy = suites.filter(({ noise }) => noise?.isNoisy).map(({ suite }) => suite);
    const spread = Math.max(...suites.flatMap(({ noise }) => noise?.spread ?? []));
    const quiet = Number.isFinite(spread) ? ` Its floors varied by at most ${digits(spread * 100)} %.` : "";
    const told = noisy.length === 0 ? quiet : ` **Noisy in ${noisy.join(", ")}.**${quiet}`;
    return `- ${suites.map(({ suite }) => suite).join(", ")}: ${where}.${told}`;
  });
  for (const [where, rooms = []] of Object.entries(Object.groupBy(peers, whereOf)))
    places.push(`- other libraries and tools (${rooms.map(({ room }) => room).join(", ")}): ${where}.`);
  return [
    "**Can I trust it?** Each row was measured in turns with its floor, and its work was counted. All figures are in",
    `\`${FOLDER}/*.json\`. They are of the machine and the commit named here, not of the newest code:`,
    `\n${places.join("\n")}`,
  ].join("\n");
}

/** On which machine, of which commit, when, and how often. */
export function whereOf({
  machine,
  rounds,
  probeRounds = rounds,
}: Pick<SuiteResult, "machine" | "rounds" | "probeRounds">): string {
  const { cpu, cores, system, bun, date } = machine;
  const often = probeRounds === rounds ? `${rounds} rounds` : `${rounds} rounds, ${probeRounds} of probes`;
  return `${cpu}, ${cores} cores, ${system}; Bun ${bun}; ${revisionOf(machine)}; ${date}; ${often}`;
}

function suitePart(result: SuiteResult, targets: readonly Target[], shown: readonly Shown[]): string {
  const { leftOut = [] } = result;
  return [
    `## ${result.suite}`,
    result.about,
    ...shown.map((each) => picture(each)),
    suiteTable(result, targets),
    ...(leftOut.length === 0
      ? []
      : [leftOut.map(({ row, why }) => `- *${row}*: left out, because ${why}.`).join("\n")]),
  ].join("\n\n");
}

/** Of a suite with a page of its own, the rows that have a limit. */
function apart(result: SuiteResult, targets: readonly Target[]): string {
  const hasLimit = (row: string) => targets.some((each) => each.suite === result.suite && each.row === row);
  const rows = result.rows.filter(({ row }) => hasLimit(row));
  return [
    `## ${result.suite}`,
    `The rows that have a limit. All ${result.rows.length} rows, by tier, are on [a page of their own](${FOLDER}/${result.suite}.md).`,
    suiteTable({ ...result, rows }, targets),
  ].join("\n\n");
}

const links = (others: ReadonlyMap<string, string>): string =>
  others.size === 0
    ? ""
    : `## More\n\n${[...others].map(([path, about]) => `- [${path.slice(FOLDER.length + 1)}](${path}): ${about}.`).join("\n")}`;

/** An image by itself follows the theme of the system; code hosts have `picture` follow that of the page. */
export function picture({ name, alt, question }: Shown, charts = `${FOLDER}/charts`): string {
  const file = (theme: string) => `${charts}/${name}.${theme}.svg`;
  return [
    `**${question}**`,
    "",
    "<picture>",
    `  <source media="(prefers-color-scheme: dark)" srcset="${file("dark")}">`,
    `  <img alt="${Bun.escapeHTML(alt)}" src="${file("light")}">`,
    "</picture>",
  ].join("\n");
}

/** A README with a table of some figures between its two markers; unchanged when it has no such markers. */
export const fillFigures = (
  readme: string,
  results: readonly SuiteResult[],
  targets: readonly Target[],
  figures: readonly FigureName[] = targets,
): string => fill(readme, "figures", targetTable(results, targets, figures));

/** A README with a table of other libraries of actors between its two markers; unchanged when it has no such markers. */
export const fillPeers = (readme: string, peers: Peers, names: readonly string[], rows: readonly string[]): string =>
  fill(readme, "peers", actorsTable(peers, names, rows));

function fill(readme: string, what: string, table: string): string {
  const opening = `<!-- ${what}:begin -->`;
  const begin = readme.indexOf(opening);
  const end = readme.indexOf(`<!-- ${what}:end -->`, begin);
  if (begin < 0 || end < 0) return readme;
  return `${readme.slice(0, begin + opening.length)}\n${table}\n${readme.slice(end)}`;
}
