/** An amount of files: their bytes, and the number of files and directories. */
export interface Amount {
  readonly bytes: number;
  readonly files: number;
}

/** The bounds of a quota. A bound that is left out does not apply. */
export interface Most {
  readonly bytes?: number | undefined;
  readonly files?: number | undefined;
}

/** Adds up the sizes of all files below a root, and counts files and directories. */
export type Counter = () => Promise<Amount>;

/** Most counts before a refusal, if others write meanwhile. */
const MOST_COUNTS = 3;

/** The amount below one root: the last count and the changes since. */
export class Usage {
  /** One counter for each actor that serves the root. */
  readonly #counters: Counter[];
  #used: Amount | null = null;
  #counting: Promise<void> | null = null;
  /** The amount added during a count. The count may have missed it. */
  #meanwhile: Amount = NOTHING;
  /** The room reserved for running writes. */
  #held: Amount = NOTHING;

  constructor(...counters: Counter[]) {
    this.#counters = counters;
  }

  /** The amount in use, without reserved room. Null before the first count. */
  get used(): Amount | null {
    return this.#used;
  }

  /** The amount in use or reserved. Null before the first count. */
  get taken(): Amount | null {
    return this.#used === null ? null : sum(this.#used, this.#held);
  }

  /** True if anything was added during the last count. */
  get isUncertain(): boolean {
    return this.#meanwhile.bytes > 0 || this.#meanwhile.files > 0;
  }

  /** Called when another actor starts to serve the root. */
  join(counter: Counter): void {
    this.#counters.push(counter);
  }

  /** Called when an actor stops serving the root. Returns true if it was the last. */
  leave(counter: Counter): boolean {
    this.#counters.splice(this.#counters.indexOf(counter), 1);
    return this.#counters.length === 0;
  }

  /** Settles when the running count ends, and never rejects. Null if none runs. */
  get counting(): Promise<void> | null {
    return this.#counting?.catch(() => {}) ?? null;
  }

  /** Counts the root. Callers during a count share it. */
  count(): Promise<void> {
    this.#counting ??= this.#countAll();
    return this.#counting;
  }

  async #countAll(): Promise<void> {
    this.#meanwhile = NOTHING;
    try {
      // A file may be counted twice, but none is missed. The next count corrects this.
      const counted = await this.#counters.at(-1)?.();
      if (counted !== undefined) this.#used = sum(counted, this.#meanwhile);
    } finally {
      this.#counting = null;
    }
  }

  /** Notes that the root gained this much, or lost it. */
  add(bytes: number, files: number): void {
    const more = { bytes: Math.max(0, bytes), files: Math.max(0, files) };
    if (this.#counting !== null) this.#meanwhile = sum(this.#meanwhile, more);
    if (this.#used === null) return;
    this.#used = { bytes: Math.max(0, this.#used.bytes + bytes), files: Math.max(0, this.#used.files + files) };
  }

  /** Reserves room for a write. The same number, negated, releases it. */
  hold(bytes: number): void {
    this.#held = { ...this.#held, bytes: this.#held.bytes + bytes };
  }
}

const NOTHING: Amount = { bytes: 0, files: 0 };
const sum = (a: Amount, b: Amount): Amount => ({ bytes: a.bytes + b.bytes, files: a.files + b.files });

/** A bound on the total of some roots. */
export class Bound {
  readonly most: Most;
  readonly #usages: () => Iterable<Usage>;

  constructor(most: Most, usages: () => Iterable<Usage>) {
    this.most = most;
    this.#usages = usages;
  }

  /** The total in use or reserved. Null while a root is uncounted. */
  get taken(): Amount | null {
    let all = NOTHING;
    for (const { taken } of this.#usages()) {
      if (taken === null) return null;
      all = sum(all, taken);
    }
    return all;
  }

  /** True if this much more fits by the last counts. */
  fits(bytes: number, files: number): boolean {
    const { taken } = this;
    return taken !== null && !this.exceedsBytes(taken, bytes) && !this.exceedsFiles(taken, files);
  }

  /** True if so many more bytes are too many. `taken` is null if the total is unknown. */
  exceedsBytes(taken: Amount | null, more: number): boolean {
    const { bytes: most } = this.most;
    return more > 0 && most !== undefined && (taken === null || taken.bytes + more > most);
  }

  /** The same for files and directories. */
  exceedsFiles(taken: Amount | null, more: number): boolean {
    const { files: most } = this.most;
    return more > 0 && most !== undefined && (taken === null || taken.files + more > most);
  }

  /**
   * Counts all roots, unless this much more fits by the last counts. Other programs' changes are not reported to the
   * actors, so no refusal rests on an old count. If another actor's root cannot be counted, for example because it is
   * gone, its last count stays.
   *
   * @param own the root of the asking actor.
   */
  async countFor(bytes: number, files: number, own: Usage): Promise<void> {
    for (let i = 0; i < MOST_COUNTS && !this.fits(bytes, files); i++) {
      let isUncertain = false;
      for (const usage of [...this.#usages()]) {
        if (usage === own) await usage.count();
        else await usage.count().catch(() => {});
        isUncertain ||= usage.isUncertain;
      }
      if (!isUncertain) return;
    }
  }
}
