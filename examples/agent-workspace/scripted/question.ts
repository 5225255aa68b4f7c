import { cellsOf } from "./cells";

/** What is asked of a table: how the numbers of one column differ between the groups that another one makes. */
export interface Question {
  readonly path: string;
  readonly delimiter: string;
  /** Whether its numbers have a decimal comma, as where a semicolon or a tab is between cells. */
  readonly hasCommas: boolean;
  readonly group: string;
  readonly value: string;
  /** Whether cells without a value were seen, so that the code must expect them. */
  readonly hasGaps: boolean;
}

/** The first lines of a table, as a step has read them. */
export interface Head {
  readonly path: string;
  readonly content: string;
}

/** What stands in a table where there is no value. */
export const GAPS: readonly string[] = ["", "-", "NA", "N/A", "NaN", "null"];

type Kind = "number" | "date" | "text";
interface Column {
  readonly name: string;
  readonly kind: Kind;
  readonly hasCommas: boolean;
  readonly hasGaps: boolean;
  /** Whether a text stands in it more than once. */
  readonly repeats: boolean;
}

/** Chooses the table and its columns: those that the task names, else the first that fit; undefined where none do. */
export function questionOf(task: string, heads: readonly Head[]): Question | undefined {
  let best: { readonly question: Question; readonly score: number } | undefined;
  for (const head of heads) {
    const found = questionTo(task, head);
    if (found !== undefined && (best === undefined || found.score > best.score)) best = found;
  }
  return best?.question;
}

/** Words of a task that asks to compare, or for the most or the mean of something. */
const ASKS =
  /\b(?:compar\w*|differ\w*|var(?:y|ies)|versus|vs|by|per|each|every|between|across|among|which|\w{2,}est|most|least|mean|average|median|how (?:much|many|large|long|high|heavy|strong))\b/i;
const ANY = /\b(?:groups?|tables?)\b|^\W*compare\W*$/i;

/** Whether these rules can answer a task: one that asks to compare what the tables have, by their names or a column's. */
export function isUnderstood(task: string, heads: readonly Head[]): boolean {
  if (!ASKS.test(task)) return false;
  const named = heads.flatMap((head) => [head.path, ...namesIn(head)]);
  return ANY.test(task) || named.some((name) => overlap(task, name) > 0);
}

/** The names of a table's columns. */
export const namesIn = ({ path, content }: Head): string[] =>
  columnsOf(content, delimiterOf(path, content)).map(({ name }) => name);

/** "Body mass between the species": what comes before such a word tells the numbers, what comes after it the groups. */
const BETWEEN = /\b(?:by|per|each|every|between|across|among)\b/i;

function questionTo(task: string, { path, content }: Head): { question: Question; score: number } | undefined {
  const delimiter = delimiterOf(path, content);
  const columns = columnsOf(content, delimiter);
  const [before = task, after] = task.split(BETWEEN);
  const byName = (part: string, { name }: Column): number => 2 * overlap(part, name) + overlap(task, name);
  const asGroup = (column: Column): number =>
    byName(after ?? task, column) + (column.kind === "text" ? 0.5 : 0) + (column.repeats ? 0.25 : 0);
  const asValue = (column: Column): number => byName(before, column);
  // Numbers make groups where the task says so, as in "by cylinders".
  const mayGroup = ({ kind, name }: Column): boolean =>
    kind === "text" || (kind === "number" && overlap(after ?? "", name) > 0);
  const group = first(columns.filter(mayGroup), asGroup);
  const value = first(
    columns.filter((column) => column.kind === "number" && column !== group),
    asValue,
  );
  if (group === undefined || value === undefined) return undefined;
  const score = 3 * overlap(task, path) + asGroup(group) + asValue(value);
  return {
    question: {
      path,
      delimiter,
      group: group.name,
      value: value.name,
      hasCommas: value.hasCommas,
      hasGaps: value.hasGaps,
    },
    score,
  };
}

function delimiterOf(path: string, content: string): string {
  if (path.endsWith(".tsv")) return "\t";
  const [line = ""] = content.replace(/"[^"]*"/g, "").split("\n", 1);
  return first([",", ";", "\t"], (delimiter) => line.split(delimiter).length) ?? ",";
}

function columnsOf(content: string, delimiter: string): Column[] {
  let rows: string[][];
  try {
    rows = cellsOf(content, delimiter);
  } catch {
    return []; // No table, or a cell goes on below the lines that were read.
  }
  const [names = [], ...sample] = rows;
  return names.flatMap((name, index) => {
    if (name.trim() === "") return [];
    const cells = sample.map((row) => (row[index] ?? "").trim());
    const values = cells.filter((cell) => !GAPS.includes(cell));
    const hasGaps = values.length < cells.length;
    const hasCommas = delimiter !== "," && values.some((value) => COMMA.test(value));
    const kind = kindOf(hasCommas ? values.map(withPoint) : values);
    return { name, kind, hasCommas, hasGaps, repeats: new Set(values).size < values.length };
  });
}

const COMMA = /^[+-]?\d[\d.]*,\d+$/;
/** `1.234,5` as `1234.5`. It goes into the sandbox as its own source text, and so uses nothing from around it. */
export function withPoint(cell: string): string {
  return cell.replaceAll(".", "").replace(",", ".");
}

function kindOf(values: readonly string[]): Kind {
  if (values.length > 0 && values.every((value) => Number.isFinite(Number(value)))) return "number";
  return values.length > 0 && values.every((value) => /^\d{4}-\d\d/.test(value)) ? "date" : "text";
}

/** How many words of a name a text has, in the singular or the plural. */
export function overlap(text: string, name: string): number {
  const words = new Set(wordsOf(text));
  return new Set(wordsOf(name).filter((word) => words.has(word))).size;
}

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1)
    .map((word) => word.replace(/s$/, ""));

/** The one with the highest score, and the first of several. */
function first<Item>(items: readonly Item[], score: (item: Item) => number): Item | undefined {
  return items.toSorted((a, b) => score(b) - score(a))[0]; // A stable sort.
}
