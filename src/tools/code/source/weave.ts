/** A part of a text, by its offsets. */
export type Range = readonly [from: number, to: number];

/**
 * A change of a text: what is from `at` to `until` (by default nothing) gives way to a text of ours, in which parts of
 * the text itself may be.
 */
export interface Edit {
  readonly at: number;
  readonly until?: number;
  readonly text: string | readonly (string | Range)[];
}

/**
 * Where the parts of a text are from, as numbers so that it is little to hand over: for each of them its offset, its
 * offset in the text that was before, and its length. They are in the order of the first; what is between is ours.
 */
export type Origins = ArrayLike<number>;

/** Makes edits, in their order, to a text; what comes after its end is on a line of its own. */
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
 * The offset that an offset had before. One within what is ours is where the next part is from, and nowhere if none
 * comes.
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
