import { digits, duration, NANOSECONDS, quantity, range, rate, table } from "./format";
import type { RowResult, SuiteResult } from "./results";
import type { Spread } from "./statistics";
import { type FigureName, isAimMet, isKept, isSame, type Target } from "./target";

export const NONE = "–";

const ORDER = [
  "message-creation",
  "routing",
  "patterns",
  "files",
  "code",
  "gaps",
  "memory",
  "latency",
  "startup",
  "http",
  "rpc",
  "acp",
  "mcp",
  "record",
  "telemetry",
  "workers",
  "nats",
];
const rank = (suite: string): number => (ORDER.includes(suite) ? ORDER.indexOf(suite) : ORDER.length);

export function inOrder<Named>(items: readonly Named[], nameOf: (item: Named) => string): Named[] {
  return [...items].sort((a, b) => rank(nameOf(a)) - rank(nameOf(b)) || (nameOf(a) < nameOf(b) ? -1 : 1));
}

export interface Line extends FigureName {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly here: string;
  readonly p99: string;
  readonly floor: string;
  readonly ratio: Spread | null;
  readonly target: Target | undefined;
  readonly limit: string;
  readonly isMissed: boolean;
  readonly isAimMissed: boolean;
}

export const linesOf = ({ suite, rows }: SuiteResult, targets: readonly Target[]): Line[] =>
  rows.flatMap((row) =>
    readings(row).map((reading) => {
      const name = { suite, row: row.row, figure: reading.figure };
      const target = targets.find((each) => isSame(each, name));
      const [judged, unit] = row.kind === "timed" ? [row.ratio?.median, ""] : [reading.value, reading.unit];
      const isMissed = target !== undefined && judged !== undefined && !isKept(target, judged);
      const limit = target === undefined ? NONE : `${limitIn(target, unit)}${isMissed ? " (missed)" : ""}`;
      const isAimMissed = target !== undefined && judged !== undefined && !isAimMet(target, judged);
      return { ...name, ...reading, target, limit, isMissed, isAimMissed };
    }),
  );

function readings(row: RowResult): Omit<Line, "suite" | "row" | "target" | "limit" | "isMissed" | "isAimMissed">[] {
  const floorIn = (value: number | undefined, unit: string) =>
    "none" in row.floor || value === undefined ? NONE : `${row.floor.name}: ${measured(value, unit)}`;
  if (row.kind === "timed") {
    const { p50, p99, per, floor, ratio } = row;
    const time = { value: p50, unit: "ns", here: `${duration(p50)}${per === 1 ? "" : ` for ${digits(per)}`}` };
    const beside = {
      p99: p99 === null ? NONE : duration(p99),
      floor: floorIn("p50" in floor ? floor.p50 : undefined, "ns"),
    };
    return [{ figure: "ratio", name: row.row, ...time, ...beside, ratio }];
  }
  return row.figures.map(({ figure, unit, median: value, min, max, floor, ratio }) => {
    const [here, least, most] = [value, min, max].map((each) => measured(each, unit));
    const rounds = least === most ? "" : ` (${least} to ${most})`;
    const told = { here: `${here}${rounds}`, p99: NONE, floor: floorIn(floor?.median, unit) };
    return { figure, name: `${row.row}: ${figure}`, value, unit, ...told, ratio };
  });
}

export function measured(value: number, unit: string): string {
  const size = NANOSECONDS[unit];
  if (size !== undefined) return duration(value * size);
  return unit === "/s" ? rate(value) : quantity(value, unit);
}

const limitIn = (target: Target, unit: string): string =>
  "atMost" in target ? `≤ ${measured(target.atMost, unit)}` : `≥ ${measured(target.atLeast, unit)}`;

const share = ({ median, min, max }: Spread): string => {
  const [own, least, most] = [median, min, max].map((times) => digits(Math.max(0, 100 * (1 - 1 / times))));
  return `${own} % (${least}–${most})`;
};

export const aimOf = ({ aim }: Target): string => aim.toLocaleString("en", { maximumSignificantDigits: 6 });

const CELLS = {
  row: ({ name }) => name,
  here: ({ here }) => here,
  p99: ({ p99 }) => p99,
  floor: ({ floor }) => floor,
  "times the floor (min–max)": ({ ratio }) => (ratio === null ? NONE : range(ratio)),
  "share of its time over its floor": ({ ratio }) => (ratio === null ? NONE : share(ratio)),
  limit: ({ limit }) => limit,
  aim: ({ target, isAimMissed }) => (target === undefined ? NONE : `${aimOf(target)}${isAimMissed ? " (missed)" : ""}`),
  reason: ({ target }) => target?.reason ?? NONE,
} as const satisfies Record<string, (line: Line) => string>;

type Column = keyof typeof CELLS;

export const SHORT: readonly Column[] = ["row", "here", "floor", "times the floor (min–max)", "limit"];
const ALL: readonly Column[] = ["row", "here", "p99", "floor", "times the floor (min–max)", "limit"];

export const lineTable = (lines: readonly Line[], columns: readonly Column[] = ALL): string =>
  table(
    columns,
    lines.map((line) => columns.map((column) => CELLS[column](line))),
  );

export const suiteTable = (result: SuiteResult, targets: readonly Target[]): string =>
  lineTable(linesOf(result, targets));
