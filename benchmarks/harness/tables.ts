import { duration, NANOSECONDS, quantity, range, rate, table } from "./format";
import type { ProbeReading, ProbeResult, SuiteResult, TimedResult } from "./results";
import { isKept, isSame, readingOf, type Target } from "./target";

export const NONE = "–";

const ORDER = ["message-creation", "routing", "patterns", "files", "code", "gaps", "memory", "latency", "startup"];
const rank = (suite: string): number => (ORDER.includes(suite) ? ORDER.indexOf(suite) : ORDER.length);

/** The suites in the order of the page: those with published figures first, then by name. */
export function inOrder<Named>(items: readonly Named[], nameOf: (item: Named) => string): Named[] {
  return [...items].sort((a, b) => rank(nameOf(a)) - rank(nameOf(b)) || (nameOf(a) < nameOf(b) ? -1 : 1));
}

type Limit = (row: string, figure: string) => string | undefined;

/** The table of a suite, a line for each row: what it takes, its floor, and its limit. */
export function suiteTable(result: SuiteResult, targets: readonly Target[]): string {
  const limit: Limit = (row, figure) => {
    const target = targets.find((each) => isSame(each, { suite: result.suite, row, figure }));
    return target && limitIn(target, [result]);
  };
  return table(
    ["row", "here", "p99", "floor", "times the floor (min–max)", "limit"],
    result.rows.map((row) => (row.kind === "timed" ? timedCells(row, limit) : probeCells(row, limit))),
  );
}

/** What a timed row takes: `44.3 ns`, or `4.68 µs for 100`. */
export const timeOf = ({ p50, per }: TimedResult): string =>
  per === 1 ? duration(p50) : `${duration(p50)} for ${per.toLocaleString("en")}`;

function timedCells(row: TimedResult, limit: Limit): string[] {
  return [
    row.row,
    timeOf(row),
    row.p99 === null ? NONE : duration(row.p99),
    "none" in row.floor ? NONE : `${row.floor.name}: ${duration(row.floor.p50)}`,
    row.ratio === null ? NONE : range(row.ratio),
    limit(row.row, "ratio") ?? NONE,
  ];
}

/** A value with its unit; a time or a rate in the unit that suits it. */
export function measured(value: number, unit: string): string {
  const size = NANOSECONDS[unit];
  if (size !== undefined) return duration(value * size);
  return unit === "/s" ? rate(value) : quantity(value, unit);
}

/** A limit in the unit of its figure, which says so where it was missed: `≤ 20 ms (missed)`. */
export function limitIn(target: Target, results: readonly SuiteResult[]): string {
  const reading = readingOf(target, results);
  const [sign, limit] = "atMost" in target ? ["≤", target.atMost] : ["≥", target.atLeast];
  const isMissed = reading !== undefined && !isKept(target, reading.value);
  return `${sign} ${measured(limit, reading?.unit ?? "")}${isMissed ? " (missed)" : ""}`;
}

function probeCells(probe: ProbeResult, limit: Limit): string[] {
  const { row, figures, floor } = probe;
  const list = (cells: readonly (string | undefined)[]) =>
    cells.filter((cell) => cell !== undefined).join("; ") || NONE;
  const beside = figures.find((each) => each.floor !== null);
  const named = (figure: string, cell: string) => (figures.length === 1 ? cell : `${figure} ${cell}`);
  return [
    row,
    list(figures.map((each) => tell(each, figures, limit(row, each.figure) !== undefined))),
    NONE,
    beside?.floor && "name" in floor ? `${floor.name}: ${measured(beside.floor.median, beside.unit)}` : NONE,
    list(figures.map(({ figure, ratio }) => (ratio === null ? undefined : named(figure, range(ratio))))),
    list(
      figures.map(({ figure }) => {
        const text = limit(row, figure);
        return text && named(figure, text);
      }),
    ),
  ];
}

const END = /, (least|most)$/;

/** A figure: with its ends where the probe tells an interval, with its rounds where it has a limit. */
function tell(reading: ProbeReading, all: readonly ProbeReading[], hasLimit: boolean): string | undefined {
  const { figure, unit, median, min, max } = reading;
  if (END.test(figure) && all.some((each) => each.figure === figure.replace(END, ""))) return undefined;
  const endOf = (end: string) => all.find((each) => each.figure === `${figure}, ${end}`)?.median;
  const [least, most] = [endOf("least"), endOf("most")];
  const told = measured(median, unit);
  const [from, to] = least !== undefined && most !== undefined ? [least, most] : hasLimit ? [min, max] : [];
  const interval =
    from === undefined || to === undefined || from === to ? "" : ` (${measured(from, unit)} to ${measured(to, unit)})`;
  return `${figure} ${told}${interval}`;
}
