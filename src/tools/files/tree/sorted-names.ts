import type { EntryKind, Name } from "../root/root";
import type { Steps } from "../steps";

/** Runs of about so many names are sorted at once, which takes 70 µs; longer ones are merged from them. */
const RUN = 1_024;
/** So many steps of a merge are one piece of work, some 20 µs. */
const PIECE = 1_024;
/** Names are merged, and those too many dropped, once there are so many more than are kept. */
const SLACK = 32 * RUN;

/** Which names of a directory are wanted. */
export interface Wanted {
  /** The first one that may come; `""` for all. */
  readonly from: string;
  /** Most names that are kept: the first ones in their order. */
  readonly most: number;
  /** Whether a name is wanted; null for each. */
  readonly admits: ((name: string, kind: EntryKind) => boolean) | null;
}

/**
 * The first names of a directory in the order of their UTF-16 code units, taken as they come from the disk. It keeps
 * no more of a large directory than it was asked for.
 */
export class SortedNames {
  /** Names that came without a kind; whoever reads the directory looks them up and adds them again. */
  readonly unknown: string[] = [];
  /** How many names are no text, and so cannot be said. */
  unnamable = 0;
  /** Whether there are names beyond those that are kept. */
  isCut = false;
  readonly #wanted: Wanted;
  /** Of what is no file. */
  readonly #kinds = new Map<string, EntryKind>();
  /** Those that no run has yet. */
  #fresh: string[] = [];
  /** Each is sorted. */
  #runs: string[][] = [];
  /** How many names the runs have. */
  #count = 0;
  /** No name after this one is kept. */
  #last: string | null = null;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  /** The names, once they have settled. */
  get sorted(): readonly string[] {
    return this.#runs[0] ?? [];
  }

  kindOf(name: string): EntryKind {
    return this.#kinds.size === 0 ? "file" : (this.#kinds.get(name) ?? "file");
  }

  /** Whether all of it can be sorted at once. */
  get isSmall(): boolean {
    return this.#count + this.#fresh.length <= 2 * RUN;
  }

  /** Takes a name. A property, so that it can be handed to the root as it is. */
  readonly add = (name: Name, kind: EntryKind | undefined): void => {
    const { from, admits } = this.#wanted;
    if (typeof name !== "string") {
      this.unnamable++;
      return;
    }
    if (name < from) return;
    if (kind === undefined) {
      this.unknown.push(name);
      return;
    }
    if (admits !== null && !admits(name, kind)) return;
    if (this.#last !== null && name > this.#last) {
      this.isCut = true;
      return;
    }
    this.#fresh.push(name);
    if (kind !== "file") this.#kinds.set(name, kind);
  };

  /** Makes a run of the names that have come, if they are many. Gives whether `settle` is due. */
  endBatch(): boolean {
    if (this.#fresh.length >= RUN) this.#endRun();
    return this.#count > this.#wanted.most + SLACK;
  }

  /** Sorts everything at once. */
  settleNow(): void {
    for (const _ of this.settle());
  }

  /** Sorts everything, piece by piece. More names can be added afterwards. */
  *settle(): Steps<void> {
    if (this.isSmall && this.#runs.length > 0) {
      this.#fresh = this.#fresh.concat(...this.#runs);
      this.#runs = [];
      this.#count = 0;
    }
    if (this.#fresh.length > 0) this.#endRun();
    while (this.#runs.length > 1) {
      const [a = [], b = [], ...others] = this.#runs;
      const merged = yield* this.#merge(a, b);
      this.#runs = [...others, merged];
      this.#count += merged.length - a.length - b.length;
    }
    const run = this.sorted;
    if (run.length === this.#wanted.most) this.#last = run[run.length - 1] ?? null;
  }

  #endRun(): void {
    const run = inOrder(this.#fresh);
    const { most } = this.#wanted;
    this.#drop(run, most);
    if (run.length > most) run.length = most;
    this.#fresh = [];
    this.#runs.push(run);
    this.#count += run.length;
  }

  *#merge(a: readonly string[], b: readonly string[]): Steps<string[]> {
    if (isBefore(a, b)) return this.#join(a, b);
    if (isBefore(b, a)) return this.#join(b, a);
    const merged: string[] = [];
    const { most } = this.#wanted;
    let i = 0;
    let j = 0;
    while (merged.length < most) {
      const end = Math.min(most, merged.length + PIECE);
      while (merged.length < end) {
        const left = a[i];
        const right = b[j];
        if (left === undefined && right === undefined) return merged;
        if (right === undefined || (left !== undefined && left <= right)) {
          merged.push(left as string); // Not both are undefined.
          i++;
        } else {
          merged.push(right);
          j++;
        }
      }
      yield;
    }
    this.#drop(a, i);
    this.#drop(b, j);
    return merged;
  }

  /** Of two runs, none of whose names are between those of the other. */
  #join(first: readonly string[], second: readonly string[]): string[] {
    const left = this.#wanted.most - first.length; // No run is longer than what is kept.
    this.#drop(second, left);
    return first.concat(second.slice(0, left));
  }

  #drop(run: readonly string[], start: number): void {
    if (start >= run.length) return;
    this.isCut = true;
    if (this.#kinds.size > 0) for (let i = start; i < run.length; i++) this.#kinds.delete(run[i] as string);
  }
}

/**
 * Sorts names. Many file systems give them in the order in which they were made, or the other way round, and many are made in
 * their order: to see that takes a quarter of a sort, and to see that it is not so a few looks.
 */
function inOrder(names: string[]): string[] {
  const last = names.length - 1;
  let i = 0;
  while (i < last && isAscending(names, i)) i++;
  if (i >= last) return names;
  if (i > 0) return names.sort();
  while (i < last && !isAscending(names, i)) i++;
  return i >= last ? names.reverse() : names.sort();
}

const isAscending = (names: readonly string[], i: number): boolean => (names[i] as string) <= (names[i + 1] as string); // Both are there.

/** Whether no name of the one comes after any of the other. */
const isBefore = (a: readonly string[], b: readonly string[]): boolean => {
  const [last, first] = [a.at(-1), b[0]];
  return last === undefined || first === undefined || last <= first;
};
