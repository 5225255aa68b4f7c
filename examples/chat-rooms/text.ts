/** Shows what a terminal would obey: control characters, line separators, and those that turn the writing round. */
export const printable = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Cs}\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );

/** The beginning of a text, at most so many columns wide; a wide character takes two. */
export function fit(text: string, columns: number): string {
  if (Bun.stringWidth(text) <= columns) return text;
  let kept = "";
  let width = 1;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += Bun.stringWidth(segment);
    if (width > columns) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Milliseconds as a time: `2.1 s`. */
export const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

/** Rows of cells in columns of one width each: to the left, or to the right where `right` has the column. */
export function columnsOf(rows: readonly (readonly string[])[], right: readonly number[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, Bun.stringWidth(cell));
    }
  }
  const pad = (cell: string, column: number): string => {
    const space = " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell));
    return right.includes(column) ? space + cell : cell + space;
  };
  return rows.map((row) => row.map(pad).join("  ").trimEnd());
}
