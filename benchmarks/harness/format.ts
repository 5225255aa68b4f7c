import type { Spread } from "./statistics";

/** How many nanoseconds a unit of time has. */
export const NANOSECONDS: Readonly<Record<string, number>> = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 };

/** Three digits that mean something: `0.0123`, `98.4`, `12,300`. */
export function digits(value: number): string {
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(3));
  return rounded.toLocaleString("en", { maximumFractionDigits: 20 });
}

/** Nanoseconds in the unit that suits them: `98.4 ns`, `1.2 ms`. */
export function duration(nanoseconds: number): string {
  const rounded = Number(nanoseconds.toPrecision(3)); // Before the unit is chosen, or 999.9 would read as 1,000 ns.
  if (rounded >= 1e9) return `${digits(rounded / 1e9)} s`;
  if (rounded >= 1e6) return `${digits(rounded / 1e6)} ms`;
  if (rounded >= 1e3) return `${digits(rounded / 1e3)} µs`;
  return `${digits(rounded)} ns`;
}

/** Operations a second: `10.4 M/s`. */
export function rate(perSecond: number): string {
  const rounded = Number(perSecond.toPrecision(3));
  if (rounded >= 1e9) return `${digits(rounded / 1e9)} G/s`;
  if (rounded >= 1e6) return `${digits(rounded / 1e6)} M/s`;
  if (rounded >= 1e3) return `${digits(rounded / 1e3)} k/s`;
  return `${digits(rounded)} /s`;
}

/** A value with its unit, if it has one: `350 B`, `40`. */
export const quantity = (value: number, unit: string): string =>
  unit === "" ? digits(value) : `${digits(value)} ${unit}`;

/** A median with its lowest and highest: `1.31 (1.22–1.5)`. */
export const range = ({ median, min, max }: Spread): string => `${digits(median)} (${digits(min)}–${digits(max)})`;

/** A Markdown table; the first column to the left, the others to the right. */
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

/** How long a line of a JSON file may be. */
const WIDTH = 140;

/** The JSON text of results, as many values a line as fit, with five digits of each figure: more than a run can tell. */
export function jsonText(value: unknown): string {
  const rounded = (_key: string, each: unknown) =>
    typeof each === "number" && !Number.isInteger(each) ? Number(each.toPrecision(5)) : each;
  return `${fitted(JSON.parse(JSON.stringify(value, rounded)), "")}\n`;
}

function fitted(value: unknown, indent: string): string {
  const flat = JSON.stringify(value);
  if (typeof value !== "object" || value === null || indent.length + flat.length <= WIDTH) return flat;
  const inner = `${indent} `;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((each) => fitted(each, inner))
    : Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}:${fitted(each, inner)}`);
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const joined = `${last},${part}`;
    if (last !== undefined && !joined.includes("\n") && inner.length + joined.length < WIDTH)
      lines.splice(-1, 1, joined);
    else lines.push(part);
  }
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  return `${open}\n${lines.map((line) => inner + line).join(",\n")}\n${indent}${close}`;
}
