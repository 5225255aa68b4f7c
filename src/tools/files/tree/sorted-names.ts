import type { EntryKind, Name } from "../root/root";
import type { Steps } from "../steps";

/** Names sorted at once, which takes 70 µs. Larger directories are merged from such runs. */
const RUN = 1_024;
/** Steps of a merge in one piece of work, some 20 µs. */
const PIECE = 1_024;
/** Names above the maximum that are collected before a merge drops them. */
const SLACK = 32 * RUN;

/** The wanted names of a directory. */
export interface Wanted {
  /** The first wanted name; `""` for all. */
  readonly from: string;
  /** Most names to keep: the first in their order. */
  readonly most: number;
  /** True for a wanted name. Null wants all. */
  readonly admits: ((name: string, kind: EntryKind) => boolean) | null;
}

/**
 * The first names of a directory in the order of their UTF-16 code units, collected in the order of the disk. It keeps
 * no more names of a large directory than requested.
 */
export class SortedNames {
  /** Names without a kind. The reader of the directory looks their kinds up and adds them again. */
  readonly unknown: string[] = [];
  /** The number of names that are not text, so no path can name them. */
  unnamable = 0;
  /** True if some names were dropped. */
  isCut = false;
  readonly #wanted: Wanted;
  /** Kinds of all entries but files. */
  readonly #kinds = new Map<string, EntryKind>();
  /** Names that are in no run yet. */
  #fresh: string[] = [];
  /** Sorted runs. */
  #runs: string[][] = [];
  /** The number of names in the runs. */
  #count = 0;
  /** Names after this one are dropped. */
  #last: string | null = null;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  /** The names, after `settle`. */
  get sorted(): readonly string[] {
    return this.#runs[0] ?? [];
  }

  kindOf(name: string): EntryKind {
    return this.#kinds.size === 0 ? "file" : (this.#kinds.get(name) ?? "file");
  }

  /** True if all names can be sorted at once. */
  get isSmall(): boolean {
    return this.#count + this.#fresh.length <= 2 * RUN;
  }

  /** Takes a name. It is a property, so it can be passed to the root as it is. */
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

  /** Makes a run of the collected names if there are enough. Returns true if `settle` is due. */
  endBatch(): boolean {
    if (this.#fresh.length >= RUN) this.#endRun();
    return this.#count > this.#wanted.most + SLACK;
  }

  /** Sorts everything at once. */
  settleNow(): void {
    for (const _ of this.settle());
  }

  /** Sorts everything piece by piece. More names can be added afterwards. */
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
          merged.push(left as string); // At most one of the two is undefined.
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

  /** Joins two runs that do not overlap. */
  #join(first: readonly string[], second: readonly string[]): string[] {
    const left = this.#wanted.most - first.length; // A run is never longer than the maximum.
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
 * Sorts names. Many file systems give them in the order of creation or its reverse, and files are often created in the
 * order of their names. Recognizing such an order takes a quarter of the time of a sort, and ruling it out only a few
 * looks.
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

// Both names exist.
const isAscending = (names: readonly string[], i: number): boolean => (names[i] as string) <= (names[i + 1] as string);

/** True if no name of `a` comes after one of `b`. */
const isBefore = (a: readonly string[], b: readonly string[]): boolean => {
  const [last, first] = [a.at(-1), b[0]];
  return last === undefined || first === undefined || last <= first;
};
