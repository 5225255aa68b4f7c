import { REPORT } from "../permission";
import { cellsOf } from "./cells";
import { chartOf } from "./chart";
import { labelOf, titled } from "./label";
import { GAPS, type Question, withPoint } from "./question";
import { summaryOf } from "./summary";

/** Where the chart is written. */
export const CHART = `${REPORT}/chart.svg`;

/** Most groups in a chart. */
const MOST_GROUPS = 20;

/**
 * Writes the code that answers a question. It takes a cell that is no number for an error, rather than guess what is
 * meant by it, unless cells without a value were seen before.
 */
export function analysisOf({ path, delimiter, group, value, hasCommas, hasGaps }: Question): string {
  const label = labelOf(value);
  // Further down there may be a decimal comma although the first rows have none.
  const inOther = hasCommas ? "withPoint(cell)" : 'cell.includes(",") ? withPoint(cell) : cell';
  const numberText = delimiter === "," ? "cell" : inOther;
  return `const path = ${quoted(path)};
const [group, value] = [${quoted(group)}, ${quoted(value)}];

const read = await tools.files.read({ path });
if (!read.ok) throw new Error(read.error.message);
const [names, ...rows] = cellsOf(read.value.content, ${quoted(delimiter)});
const [groupAt, valueAt] = [names.indexOf(group), names.indexOf(value)];

const groups = new Map();
let gaps = 0;
for (const [index, row] of rows.entries()) {
  const cell = (row[valueAt] ?? "").trim();
${hasGaps ? `${SKIP}\n` : ""}  const number = cell === "" ? NaN : Number(${numberText});
  if (!Number.isFinite(number)) throw new RangeError(value + " of row " + (index + 1) + " is " + JSON.stringify(cell));
  const name = (row[groupAt] ?? "").trim() || "(none)";
  if (!groups.has(name)) groups.set(name, []);
  groups.get(name).push(number);
}
if (groups.size === 0) throw new RangeError("no row has a number for " + value);

const summaries = Array.from(groups, ([name, numbers]) => summaryOf(name, numbers));
const most = summaries.toSorted((a, b) => b.count - a.count).slice(0, ${MOST_GROUPS});
const isOrdered = most.every(({ name }) => Number.isFinite(Number(name)));
most.sort((a, b) => (isOrdered ? Number(a.name) - Number(b.name) : b.mean - a.mean));

const chart = ${quoted(CHART)};
const content = chartOf({
  title: ${quoted(`${capitalised(label.text)} by ${labelOf(group).text}`)},
  axis: ${quoted(titled(label))},
  groups: most.map((summary) => ({ ...summary, numbers: groups.get(summary.name) })),
});
const written = await tools.files.write({ path: chart, content });
if (!written.ok) throw new Error(written.error.message);
return { rows: rows.length, gaps, groups: most, groupsLeftOut: summaries.length - most.length, chart };

${[cellsOf, ...(delimiter === "," ? [] : [withPoint]), summaryOf, chartOf].join("\n\n")}
`;
}

/** Leaves out a row that has no value. */
const SKIP = `  if (${JSON.stringify(GAPS)}.includes(cell)) {
    gaps++;
    continue;
  }`;

/**
 * Repairs code that threw, by the place where it did and by what it said: where a cell had no value, rows without one are
 * left out. Undefined where that is not the reason.
 */
export function repaired(
  code: string,
  error: { readonly message: string; readonly line?: number },
): string | undefined {
  const lines = code.split("\n");
  const at = (error.line ?? 0) - 1;
  const [, cell] = / is (".*")$/s.exec(error.message) ?? [];
  if (cell === undefined || !GAPS.includes(JSON.parse(cell))) return undefined;
  if (!lines[at]?.includes("throw new RangeError")) return undefined;
  return lines.toSpliced(at, 0, SKIP).join("\n");
}

const quoted = (text: string): string => JSON.stringify(text);
const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
