/**
 * The cells of a table that is written as text, row by row, the head first; empty lines are no rows. Cells may be quoted,
 * as RFC 4180 has it. It goes into the sandbox as its own source text, and so uses nothing from around it.
 */
export function cellsOf(text: string, delimiter: string): string[][] {
  const plain = `[^"${delimiter}\\r\\n][^${delimiter}\\r\\n]*`;
  const cell = new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|(${plain})?)(${delimiter}|\\r?\\n|\\r|$)`, "y");
  const rows: string[][] = [];
  let row: string[] = [];
  cell.lastIndex = text.startsWith("\uFEFF") ? 1 : 0;
  for (;;) {
    const at = cell.lastIndex;
    const match = cell.exec(text);
    if (match === null) {
      throw new SyntaxError(`The cell after row ${rows.length} is not quoted well: ${text.slice(at, at + 20)}`);
    }
    row.push(match[1] === undefined ? (match[2] ?? "") : match[1].replaceAll('""', '"'));
    if (match[3] === delimiter) continue;
    if (row.length > 1 || row[0] !== "") rows.push(row);
    if (match[3] === "") return rows;
    row = [];
  }
}
