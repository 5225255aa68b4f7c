import type { Effort, Steps } from "../steps";

/** Lines that differ, counted from 0, without the end. */
export interface Gap {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/** The cost of a line, in bytes searched. */
const LINE = 256;

/** Numbers the lines of a text by their content: equal lines have the same number. */
export class Numbers {
  readonly #numbers = new Map<string, number>();

  *of(text: Buffer, starts: readonly number[], effort: Effort): Steps<Uint32Array> {
    const lines = new Uint32Array(starts.length - 1);
    for (let i = 0; i < lines.length; i++) {
      const [start = 0, end = 0] = [starts[i], starts[i + 1]];
      const line = text.toString("latin1", start, end);
      let number = this.#numbers.get(line);
      if (number === undefined) {
        number = this.#numbers.size;
        this.#numbers.set(line, number);
      }
      lines[i] = number;
      if (effort.spend(end - start + LINE)) yield;
    }
    return lines;
  }

  get size(): number {
    return this.#numbers.size;
  }
}

/**
 * Finds the differences of two texts by the lines that occur once in both and keep their order: Bram Cohen's patience
 * diff. The time grows with the number of lines, whatever they contain.
 */
export function* gapsBetween(old: Uint32Array, fresh: Uint32Array, kinds: number, effort: Effort): Steps<Gap[]> {
  const gaps: Gap[] = [];
  let [oldFrom, newFrom] = [0, 0];
  for (const [oldAt, newAt] of [
    ...(yield* anchorsOf(old, fresh, kinds, effort)),
    [old.length, fresh.length] as const,
  ]) {
    let [oldTo, newTo] = [oldAt, newAt];
    while (oldFrom < oldTo && newFrom < newTo && old[oldFrom] === fresh[newFrom]) {
      oldFrom++;
      newFrom++;
      if (effort.spend(LINE / 8)) yield;
    }
    while (oldFrom < oldTo && newFrom < newTo && old[oldTo - 1] === fresh[newTo - 1]) {
      oldTo--;
      newTo--;
      if (effort.spend(LINE / 8)) yield;
    }
    if (oldFrom < oldTo || newFrom < newTo) gaps.push({ oldFrom, oldTo, newFrom, newTo });
    oldFrom = oldAt + 1;
    newFrom = newAt + 1;
    if (effort.spend(LINE)) yield;
  }
  return gaps;
}

/** The lines that occur once in both texts, as many as have the same order in both. */
function* anchorsOf(
  old: Uint32Array,
  fresh: Uint32Array,
  kinds: number,
  effort: Effort,
): Steps<(readonly [number, number])[]> {
  const places = new Uint32Array(kinds); // The place of each line in the new text, counted from 1.
  const inOld = new Uint8Array(kinds);
  const inNew = new Uint8Array(kinds);
  for (const line of old) {
    inOld[line] = Math.min(2, (inOld[line] ?? 0) + 1);
    if (effort.spend(LINE / 8)) yield;
  }
  for (const [at, line] of fresh.entries()) {
    inNew[line] = Math.min(2, (inNew[line] ?? 0) + 1);
    places[line] = at + 1;
    if (effort.spend(LINE / 8)) yield;
  }
  // The longest increasing run of places, found by piles. The top of each pile is the smallest end of a run of its length.
  const pairs: { readonly oldAt: number; readonly newAt: number; readonly before: number }[] = [];
  const tops: number[] = [];
  for (const [oldAt, line] of old.entries()) {
    if (effort.spend(LINE / 2)) yield;
    if (inOld[line] !== 1 || inNew[line] !== 1) continue;
    const newAt = (places[line] ?? 0) - 1;
    let low = 0;
    for (let high = tops.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((pairs[tops[middle] ?? 0]?.newAt ?? 0) < newAt) low = middle + 1;
      else high = middle;
    }
    tops[low] = pairs.push({ oldAt, newAt, before: low === 0 ? -1 : (tops[low - 1] ?? -1) }) - 1;
  }
  const anchors: [number, number][] = [];
  for (let pair = pairs[tops.at(-1) ?? -1]; pair !== undefined; pair = pairs[pair.before]) {
    anchors.push([pair.oldAt, pair.newAt]);
  }
  return anchors.reverse();
}
