/** The name that a misspelt one is nearest to, with at most half of its letters wrong. */
export function nearestOf(word: string, names: readonly string[]): string | undefined {
  const [best] = names.map((name) => ({ name, away: distance(word, name) })).sort((a, b) => a.away - b.away);
  return best !== undefined && best.away <= best.name.length / 2 ? best.name : undefined;
}

/** The letters to insert, delete or replace (V. Levenshtein, 1966). A long text is compared by its beginning. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from.slice(0, 40).toLowerCase()].entries()) {
    const next = [index + 1];
    for (let at = 1; at <= to.length; at++) {
      const [left = 0, above = 0, before = 0] = [next[at - 1], row[at], row[at - 1]];
      next.push(Math.min(left + 1, above + 1, before + (letter === to[at - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
