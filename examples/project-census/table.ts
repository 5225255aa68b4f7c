export const count = (value: number): string => value.toLocaleString("en");

/** Bytes in the unit that suits them: `14.2 kB`; a kB is 1,000 bytes. */
export function size(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  for (; value >= 999.95 && unit < units.length - 1; unit++) value /= 1000;
  return `${value.toLocaleString("en", { maximumFractionDigits: unit === 0 ? 0 : 1 })} ${units[unit]}`;
}

const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Shows what a terminal would obey: control characters, line separators, and those that turn the writing round. */
export const printable = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Cs}\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu,
    (character) => NAMED[character] ?? `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );

/** The end of a text, at most so many columns wide: of a path, the end says more. */
export function shorten(text: string, columns: number): string {
  if (Bun.stringWidth(text) <= columns) return text;
  const kept: string[] = [];
  let width = 1;
  for (const { segment } of [...new Intl.Segmenter().segment(text)].reverse()) {
    width += Bun.stringWidth(segment);
    if (width > columns) break;
    kept.unshift(segment);
  }
  return `…${kept.join("")}`;
}

/** A table in columns of one width each, in which a wide character takes two; the first to the left, the others to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((cells) => Bun.stringWidth(cells[column] ?? ""))));
  const line = (cells: readonly string[]): string =>
    widths
      .map((width, column) => {
        const cell = cells[column] ?? "";
        const space = " ".repeat(width - Bun.stringWidth(cell));
        return column === 0 ? cell + space : space + cell;
      })
      .join("  ");
  return [line(head), widths.map((width) => "─".repeat(width)).join("  "), ...rows.map(line)].join("\n");
}
