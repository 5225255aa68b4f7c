const SYLLABLES = ["ba", "co", "di", "fu", "ga", "he", "jo", "ki", "lu", "ma", "ne", "or", "pa", "ri", "su", "to"];
/** The words of the language: of three syllables each, all spelt differently. */
const VOCABULARY = Array.from({ length: 400 }, (_, at) =>
  [at % 16, (at >> 4) % 16, (at * 7) % 16].map((which) => SYLLABLES[which]).join(""),
);

/** The text of a page: the same for the same seed and page, on every machine. Some words are more frequent than others. */
export function textOf(seed: number, page: number, words: number): string {
  let state = Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(page + 1, 0x85ebca6b) || 1; // 0 would stay 0 for ever.
  const random = (): number => {
    state ^= state << 13; // Marsaglia's xorshift.
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  return Array.from({ length: words }, () => VOCABULARY[Math.floor(random() ** 2 * VOCABULARY.length)]).join(" ");
}

/** How often each word of a text occurs. */
export function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [word] of text.matchAll(/\p{L}+/gu)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Adds counts to others. */
export function addCounts(totals: Map<string, number>, counts: Iterable<readonly [string, number]>): void {
  for (const [word, count] of counts) totals.set(word, (totals.get(word) ?? 0) + count);
}
