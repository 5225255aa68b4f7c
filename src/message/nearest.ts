/**
 * The name that a mistyped one was probably meant to be: the nearest of them, where at most `most` letters of it are wrong, whatever
 * their case. Default: a third of the name.
 */
export function nearestName(word: string, names: readonly string[], most?: number): string | undefined {
  const [best] = names
    .map((name) => ({ name, away: distance(word.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.away - b.away);
  return best !== undefined && best.away <= (most ?? Math.ceil(best.name.length / 3)) ? best.name : undefined;
}

/**
 * How many letters must be put in, taken out, replaced or swapped with the next to make one word of the other (optimal string
 * alignment; F. Damerau, "A technique for computer detection and correction of spelling errors", CACM 7(3), 1964).
 */
function distance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, index) => index)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1];
      const isSwapped = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      row.push(
        Math.min(
          at(i - 1, j) + 1,
          at(i, j - 1) + 1,
          at(i - 1, j - 1) + (isSame ? 0 : 1),
          isSwapped ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return at(from.length, to.length);
}
