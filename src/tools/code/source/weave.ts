/** A part of a text, by its offsets. */
export type Range = readonly [from: number, to: number];

/**
 * A change of a text. The part from `at` to `until` (default: `at`) is replaced by a text of ours, which may contain parts
 * of the text itself.
 */
export interface Edit {
  readonly at: number;
  readonly until?: number;
  readonly text: string | readonly (string | Range)[];
}

/**
 * Maps a text to the text before its edits. Three numbers a part, cheap to transfer: its offset, its offset in the text
 * before, and its length. The parts are in the order of the first; the text between them is ours.
 */
export type Origins = ArrayLike<number>;

/** Applies edits, given in their order, to a text. `ending` comes after its end, on a line of its own. */
export function weave(
  source: string,
  edits: readonly Edit[],
  ending = "",
): { readonly text: string; readonly origins: Origins } {
  let text = "";
  const origins: number[] = [];
  const copy = (from: number, to: number) => {
    if (to <= from) return;
    origins.push(text.length, from, to - from);
    text += source.slice(from, to);
  };
  let done = 0;
  for (const { at, until = at, text: put } of edits) {
    copy(done, at);
    for (const part of typeof put === "string" ? [put] : put) {
      if (typeof part === "string") text += part;
      else copy(part[0], part[1]);
    }
    done = until;
  }
  copy(done, source.length);
  if (ending !== "") text += `\n${ending}`;
  return { text, origins };
}

/**
 * Maps an offset to the text before the edits. An offset in text of ours maps to the next part; undefined if there is
 * none.
 */
export function originOf(origins: Origins, offset: number): number | undefined {
  let low = 0;
  let high = origins.length / 3;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((origins[middle * 3] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  const [at = 0, from = 0, length = -1] = [origins[low * 3 - 3], origins[low * 3 - 2], origins[low * 3 - 1]];
  return offset <= at + length ? from + offset - at : origins[low * 3 + 1];
}
