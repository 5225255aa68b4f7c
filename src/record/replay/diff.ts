import { structuredPatch } from "diff";
import type { Difference } from "./compare";

/** Longest text that is shown of a value on one line. */
const WIDEST = 160;
/** Most lines that are shown of the difference of two texts. */
const MOST_LINES = 40;
/** Longest texts whose lines are compared, and most lines that may be removed and added before the comparison is given up. */
const MOST_LETTERS = 200_000;
const MOST_EDITS = 400;
/** Most differences that are shown of one value. */
const MOST_SHOWN = 12;

/** Shows differences as lines: what was recorded after `-`, what came of the replay after `+`. */
export function showDifferences(differences: readonly Difference[], indent = "  "): string {
  const shown = differences.slice(0, MOST_SHOWN).flatMap(linesOf);
  const more = differences.length - MOST_SHOWN;
  if (more > 0) shown.push(`… and ${more} more`);
  return shown.map((line) => `${indent}${line}\n`).join("");
}

function linesOf({ path, recorded, replayed }: Difference): string[] {
  if (isText(recorded) && isText(replayed)) {
    const lines = linesThatDiffer(recorded, replayed);
    if (lines !== undefined) return [`${printable(path)}:`, ...lines.map((line) => `  ${line}`)];
    const at = firstDifference(recorded, replayed);
    return [`${printable(path)}:`, `  - ${excerptAt(recorded, at)}`, `  + ${excerptAt(replayed, at)}`];
  }
  return [`${printable(path)}:`, `  - ${show(recorded)}`, `  + ${show(replayed)}`];
}

const isText = (value: unknown): value is string => typeof value === "string";

/** The lines of two texts that differ, with two lines around them. Undefined when one of them is a single line, or too much differs. */
function linesThatDiffer(recorded: string, replayed: string): string[] | undefined {
  if (!recorded.includes("\n") || !replayed.includes("\n")) return undefined;
  if (recorded.length > MOST_LETTERS || replayed.length > MOST_LETTERS) return undefined;
  const patch = structuredPatch("", "", recorded, replayed, "", "", { context: 2, maxEditLength: MOST_EDITS });
  const lines = patch?.hunks.flatMap(({ oldStart, lines }) => [`@@ line ${oldStart}`, ...lines]);
  if (lines === undefined || lines.length === 0) return undefined;
  const shown = lines.slice(0, MOST_LINES).map((line) => cut(printable(line)));
  return lines.length > MOST_LINES ? [...shown, `… ${lines.length - MOST_LINES} more lines`] : shown;
}

/** Shows a value of a recording on one line. */
export function show(value: unknown): string {
  if (value === undefined) return "(nothing)";
  return cut(printable(JSON.stringify(value) ?? String(value)));
}

const cut = (text: string): string => (text.length > WIDEST ? `${text.slice(0, WIDEST).toWellFormed()}…` : text);

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

/** Shows a text around a place: the beginning of long texts is often the same. */
function excerptAt(text: string, at: number): string {
  const from = text.length > WIDEST ? Math.max(0, at - WIDEST / 4) : 0;
  const excerpt = JSON.stringify(text.slice(from, from + WIDEST).toWellFormed());
  return `${from > 0 ? "…" : ""}${printable(excerpt)}${from + WIDEST < text.length ? "…" : ""}`;
}

/** Shows what a terminal would obey. */
export const printable = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Cs}\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
