import { duration, quantity, range, rate, table } from "./format";
import { publishedNote, publishedReading, publishedRow } from "./published";
import type { ProbeResult, RowResult, SuiteResult, TimedResult } from "./results";
import { type FigureName, isSame, limitBeside, type Target } from "./target";

const NONE = "–";
const count = (value: number): string => value.toLocaleString("en");
const isTimed = (row: RowResult): row is TimedResult => row.kind === "timed";

/** The tables of one suite: its timed rows, then its probes. */
export function suiteTables(result: SuiteResult, targets: readonly Target[]): string {
  const timed = result.rows.filter(isTimed);
  const probes = result.rows.filter((row) => row.kind === "probe");
  const limits = (row: string, figure: string): readonly [string, string] => {
    const target = targets.find((each) => isSame(each, { suite: result.suite, row, figure }));
    return target ? [limitBeside(target, [result]), String(target.aim)] : [NONE, NONE];
  };
  const tables: string[] = [];
  if (timed.length > 0) {
    const head = ["row", "of", "p50", "p75", "p95", "p99", "throughput", "floor", "ratio (min–max)"];
    const rows = timed.map((row) => timedCells(result.suite, row, limits(row.row, "ratio")));
    tables.push(table([...head, "limit", "aim", "published avg / p75 / p99"], rows));
  }
  if (probes.length > 0) {
    const rows = probes.flatMap((probe) => probeCells(result.suite, probe, limits));
    tables.push(table(["row", "figure (min–max)", "floor", "ratio (min–max)", "limit", "aim", "published"], rows));
  }
  return tables.join("\n\n");
}

function timedCells(suite: string, row: TimedResult, limits: readonly string[]): string[] {
  const published = publishedRow(suite, row.row);
  return [
    row.row,
    `${count(row.per)} / ${count(row.operationsPerSample)}`,
    duration(row.p50),
    duration(row.p75),
    duration(row.p95),
    row.p99 === null ? NONE : duration(row.p99),
    rate(row.throughput),
    "none" in row.floor ? NONE : `${row.floor.name}: ${duration(row.floor.p50)}`,
    row.ratio === null ? NONE : range(row.ratio),
    ...limits,
    published ? [published.avg, published.p75, published.p99].map(duration).join(" / ") : NONE,
  ];
}

type Limits = (row: string, figure: string) => readonly [string, string];

function probeCells(suite: string, probe: ProbeResult, limits: Limits): string[][] {
  return probe.figures.map((figure) => {
    const published = publishedReading(suite, probe.row, figure.figure);
    const floor =
      figure.floor && "name" in probe.floor
        ? `${probe.floor.name}: ${quantity(figure.floor.median, figure.unit)}`
        : NONE;
    return [
      `${probe.row}: ${figure.figure}`,
      `${range(figure)} ${figure.unit}`.trim(),
      floor,
      figure.ratio ? range(figure.ratio) : NONE,
      ...limits(probe.row, figure.figure),
      published === undefined ? NONE : quantity(published, figure.unit),
    ];
  });
}

/** What the tables cannot say: why a row has no floor, and what is wrong with a published figure. */
export function suiteNotes(result: SuiteResult): string[] {
  const leftOut = (result.leftOut ?? []).map(({ row, why }) => `- *${row}*: left out, because ${why}.`);
  const ofRows = result.rows.flatMap((row) => {
    const notes: string[] = [];
    if ("none" in row.floor) notes.push(`- *${row.row}*: no floor, because ${row.floor.none}.`);
    const published = publishedNote(result.suite, row.row);
    if (published !== undefined) notes.push(`- *${row.row}*, published figure: ${published}.`);
    return notes;
  });
  return [...ofRows, ...leftOut];
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
    return cells ? [[...cells, target ? limitBeside(target, results) : NONE]] : [];
  });
  return table(["row", "floor", "here", "limit"], rows);
}

function figureCells(row: RowResult, name: string): string[] | undefined {
  if (row.kind === "timed") {
    if (row.ratio === null || "none" in row.floor) return undefined;
    const named = row.per === 1 ? row.row : `${row.row} (${count(row.per)})`;
    return [
      `${named}: ${duration(row.p50)}`,
      `${row.floor.name}: ${duration(row.floor.p50)}`,
      `${range(row.ratio)} × floor`,
    ];
  }
  const figure = row.figures.find((each) => each.figure === name);
  if (figure === undefined) return undefined;
  const floor =
    figure.floor && "name" in row.floor ? `${row.floor.name}: ${quantity(figure.floor.median, figure.unit)}` : NONE;
  return [`${row.row}: ${figure.figure}`, floor, `${range(figure)} ${figure.unit}`.trim()];
}
