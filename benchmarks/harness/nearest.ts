/** The name that a mistyped word was probably meant to be: the nearest of them, if no more than a third of it is mistyped. */
function nearest(word: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, away: distance(word.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.away - b.away);
  return best !== undefined && best.away <= Math.ceil(best.name.length / 3) ? best.name : undefined;
}

/** How many letters must be put in, taken out or replaced to make one word of the other (Levenshtein 1966). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** What is said after the sentence about a name that there is not: what was probably meant, and what there is. */
export function instead(word: string, names: readonly string[], shown = names): string {
  const meant = nearest(word, names);
  return `${meant === undefined ? "" : ` Did you mean ${meant}?`} There are ${shown.join(", ")}.`;
}
