/**
 * Returns the text that `console.table` writes, the same in each tier. Undefined for a value that is no object: it is logged
 * as it is.
 *
 * The function is sent to the sandbox as source text, so it uses nothing outside itself. It calls no getters, and it reads a
 * limited number of rows, columns and characters.
 */
export function tableText(
  data: unknown,
  only: readonly string[] | undefined,
  show: (parts: readonly unknown[]) => string,
): string | undefined {
  const [ROWS, COLUMNS, WIDTH] = [100, 20, 100];
  const { apply, ownKeys, getOwnPropertyDescriptor } = Reflect;
  const { padEnd } = String.prototype;
  const { isArray } = Array;

  if (typeof data !== "object" || data === null) return undefined;
  const cut = (text: string): string => {
    let made = "";
    for (let at = 0; at < text.length && at < WIDTH; at++) made += text[at] === "\n" ? " " : text[at];
    return text.length > WIDTH ? `${made}…` : made;
  };
  const pad = (text: string, width: number): string => apply(padEnd, text, [width]) as string;
  const memberOf = (of: object, key: PropertyKey): string => {
    const own = getOwnPropertyDescriptor(of, key);
    if (own === undefined) return "";
    return own.get === undefined && own.set === undefined ? cut(show([own.value])) : "[Getter]";
  };
  const keysOf = (of: object): string[] => {
    const keys = ownKeys(of);
    const found: string[] = [];
    for (let at = 0; at < keys.length && found.length < ROWS; at++) {
      const key = keys[at];
      if (typeof key === "string" && getOwnPropertyDescriptor(of, key)?.enumerable === true) found[found.length] = key;
    }
    return found;
  };

  const VALUES = "Values";
  const columns: string[] = [];
  let hasValues = false;
  const rows: { readonly key: string; readonly of: unknown; readonly value: string }[] = [];
  const keys = keysOf(data);
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as string; // The index is in range.
    const own = getOwnPropertyDescriptor(data, key);
    const of: unknown = own?.value;
    const isRow = typeof of === "object" && of !== null;
    rows[rows.length] = { key: cut(key), of, value: isRow ? "" : memberOf(data, key) };
    if (!isRow) hasValues = true;
    else if (only === undefined) {
      const members = keysOf(of);
      for (let index = 0; index < members.length && columns.length < COLUMNS; index++) {
        const member = members[index] as string; // The index is in range.
        let isKnown = false;
        for (let column = 0; column < columns.length; column++) if (columns[column] === member) isKnown = true;
        if (!isKnown) columns[columns.length] = member;
      }
    }
  }
  if (only !== undefined && isArray(only)) {
    for (let at = 0; at < only.length && at < COLUMNS; at++) columns[at] = `${only[at]}`;
  }

  const lines: string[][] = [["(index)"]];
  for (let at = 0; at < columns.length; at++) (lines[0] as string[])[at + 1] = cut(columns[at] as string);
  if (hasValues) (lines[0] as string[])[columns.length + 1] = VALUES;
  for (let at = 0; at < rows.length; at++) {
    const { key, of, value } = rows[at] as (typeof rows)[number]; // The index is in range.
    const line = [key];
    for (let column = 0; column < columns.length; column++) {
      const isRow = typeof of === "object" && of !== null;
      line[column + 1] = isRow ? memberOf(of, columns[column] as string) : "";
    }
    if (hasValues) line[columns.length + 1] = value;
    lines[lines.length] = line;
  }

  const widths: number[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string[]; // The index is in range.
    for (let column = 0; column < line.length; column++) {
      const { length } = line[column] as string;
      if (length > (widths[column] ?? 0)) widths[column] = length;
    }
  }
  const rule = (left: string, between: string, right: string): string => {
    let text = left;
    for (let column = 0; column < widths.length; column++) {
      for (let count = 0; count < (widths[column] as number) + 2; count++) text += "─";
      text += column + 1 < widths.length ? between : right;
    }
    return text;
  };
  let text = rule("┌", "┬", "┐");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string[]; // The index is in range.
    text += "\n│";
    for (let column = 0; column < widths.length; column++) {
      text += ` ${pad(line[column] as string, widths[column] as number)} │`;
    }
    if (at === 0) text += `\n${rule("├", "┼", "┤")}`;
  }
  text += `\n${rule("└", "┴", "┘")}`;
  return ownKeys(data).length > ROWS + 1 ? `${text}\n… more than ${ROWS} rows` : text;
}
