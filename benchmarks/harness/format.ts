import type { Spread } from "./statistics";

export const NANOSECONDS: Readonly<Record<string, number>> = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 };

/** Three digits that mean something: `0.0123`, `98.4`, `12,300`. */
export function digits(value: number): string {
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(3));
  return rounded.toLocaleString("en", { maximumFractionDigits: 20 });
}

function scaled(value: number, units: readonly string[]): string {
  const rounded = Number(value.toPrecision(3)); // Before the unit is chosen, or 999.9 would read as 1,000 ns.
  const unit = units.findLastIndex((_, index) => index === 0 || rounded >= 1000 ** index);
  return `${digits(rounded / 1000 ** unit)} ${units[unit]}`;
}

export const duration = (nanoseconds: number): string => scaled(nanoseconds, ["ns", "µs", "ms", "s"]);

export const rate = (perSecond: number): string => scaled(perSecond, ["/s", "k/s", "M/s", "G/s"]);

/** A time in seconds as one says it: `45 s`, `2 min 10 s`, `1 h 5 min`. */
export function span(seconds: number): string {
  const whole = seconds < 60 ? Math.max(1, Math.round(seconds)) : Math.round(seconds / 5) * 5;
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  const parts = [hours > 0 && `${hours} h`, minutes > 0 && `${minutes} min`, rest > 0 && hours === 0 && `${rest} s`];
  return parts.filter(Boolean).join(" ");
}

export const quantity = (value: number, unit: string): string =>
  unit === "" ? digits(value) : `${digits(value)} ${unit}`;

export const range = ({ median, min, max }: Spread): string => `${digits(median)} (${digits(min)}–${digits(max)})`;

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  const rule = line(head.map((_, column) => (column === 0 ? "---" : "---:")));
  return [line(head), rule, ...rows.map(line)].join("\n");
}

/** A Markdown table as a terminal shows it best: the same cells, in columns of one width each. */
export function align(markdown: string): string {
  const rows = markdown.split("\n").map((line) => line.slice(2, -2).split(" | "));
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => Bun.stringWidth(row[column] ?? ""))));
  const pad = (cell: string, column: number) => {
    const space = " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell));
    return column === 0 ? cell + space : space + cell;
  };
  const rule = widths.map((width) => "─".repeat(width)).join("  ");
  return rows.map((row, index) => (index === 1 ? rule : row.map(pad).join("  ").trimEnd())).join("\n");
}

/** The JSON text of results, a line for each row, with five digits of each figure: more than a run can tell. */
export function jsonText(value: unknown): string {
  const rounded = (_key: string, each: unknown) =>
    typeof each === "number" && !Number.isInteger(each) ? Number(each.toPrecision(5)) : each;
  return `${inLines(JSON.parse(JSON.stringify(value, rounded)), 2)}\n`;
}

function inLines(value: unknown, depth: number): string {
  if (typeof value !== "object" || value === null || depth === 0) return JSON.stringify(value);
  if (Array.isArray(value)) return `[\n${value.map((each) => inLines(each, depth - 1)).join(",\n")}\n]`;
  const lines = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${inLines(each, depth - 1)}`);
  return `{\n${lines.join(",\n")}\n}`;
}
