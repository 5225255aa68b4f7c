/**
 * Guesses the name meant by a mistyped word: the nearest name, with at most `most` letters wrong. Ignores case.
 *
 * @param most the letters that may be wrong. Default: a third of the name's.
 * @returns the name, or undefined when none is near enough.
 * @example
 * nearestName("retires", ["retries", "timeout"]) // "retries"
 */
export function nearestName(word: string, names: readonly string[], most?: number): string | undefined {
  const start = word.slice(0, 100).toLowerCase(); // The time and memory grow with its length.
  const [best] = names
    .map((name) => ({ name, away: distance(start, name.toLowerCase()) }))
    .sort((a, b) => a.away - b.away);
  return best !== undefined && best.away <= (most ?? Math.ceil(best.name.length / 3)) ? best.name : undefined;
}

/**
 * The number of letters to insert, delete, replace or swap with the next one that turns one word into the other (optimal string
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
