/** What files take: their bytes, and how many files and directories there are. */
export interface Amount {
  readonly bytes: number;
  readonly files: number;
}

/** What may be there; what is left out has no bound. */
export interface Most {
  readonly bytes?: number | undefined;
  readonly files?: number | undefined;
}

/** Adds up the sizes of all files below a root, and how many files and directories there are. */
export type Counter = () => Promise<Amount>;

/** How often is counted anew what did not fit while others wrote. */
const MOST_COUNTS = 3;

/** What the files below one root take, by the last count and what was done since. */
export class Usage {
  /** One of each actor that serves the root. */
  readonly #counters: Counter[];
  #used: Amount | null = null;
  #counting: Promise<void> | null = null;
  /** What was added while it counts, which the count may have come past already. */
  #meanwhile: Amount = NOTHING;
  /** What was promised to writes that are under way. */
  #held: Amount = NOTHING;

  constructor(...counters: Counter[]) {
    this.#counters = counters;
  }

  /** In use, without what is held; null before it was counted. */
  get used(): Amount | null {
    return this.#used;
  }

  /** In use and held; null before it was counted. */
  get taken(): Amount | null {
    return this.#used === null ? null : sum(this.#used, this.#held);
  }

  /** Whether anything was added within the last count. */
  get isUncertain(): boolean {
    return this.#meanwhile.bytes > 0 || this.#meanwhile.files > 0;
  }

  /** Another actor serves the root, too. */
  join(counter: Counter): void {
    this.#counters.push(counter);
  }

  /** An actor serves the root no more; whether none does. */
  leave(counter: Counter): boolean {
    this.#counters.splice(this.#counters.indexOf(counter), 1);
    return this.#counters.length === 0;
  }

  /** Ends, and never rejects, with the count that is under way; null where none is. */
  get counting(): Promise<void> | null {
    return this.#counting?.catch(() => {}) ?? null;
  }

  /** Counts; all who ask meanwhile wait for one count. */
  count(): Promise<void> {
    this.#counting ??= this.#countAll();
    return this.#counting;
  }

  async #countAll(): Promise<void> {
    this.#meanwhile = NOTHING;
    try {
      // Rather a file twice than none: the next count tells.
      const counted = await this.#counters.at(-1)?.();
      if (counted !== undefined) this.#used = sum(counted, this.#meanwhile);
    } finally {
      this.#counting = null;
    }
  }

  /** Notes that there is so much more, or less. */
  add(bytes: number, files: number): void {
    const more = { bytes: Math.max(0, bytes), files: Math.max(0, files) };
    if (this.#counting !== null) this.#meanwhile = sum(this.#meanwhile, more);
    if (this.#used === null) return;
    this.#used = { bytes: Math.max(0, this.#used.bytes + bytes), files: Math.max(0, this.#used.files + files) };
  }

  /** Keeps room for bytes that are going to be written, until they are let go with the same number below zero. */
  hold(bytes: number): void {
    this.#held = { ...this.#held, bytes: this.#held.bytes + bytes };
  }
}

const NOTHING: Amount = { bytes: 0, files: 0 };
const sum = (a: Amount, b: Amount): Amount => ({ bytes: a.bytes + b.bytes, files: a.files + b.files });

/** A bound on what some roots take together. */
export class Bound {
  readonly most: Most;
  readonly #usages: () => Iterable<Usage>;

  constructor(most: Most, usages: () => Iterable<Usage>) {
    this.most = most;
    this.#usages = usages;
  }

  /** What all roots take, with what is held; null while one of them was not counted. */
  get taken(): Amount | null {
    let all = NOTHING;
    for (const { taken } of this.#usages()) {
      if (taken === null) return null;
      all = sum(all, taken);
    }
    return all;
  }

  /** Whether so much more fits by the last counts. */
  fits(bytes: number, files: number): boolean {
    const { taken } = this;
    return taken !== null && !this.exceedsBytes(taken, bytes) && !this.exceedsFiles(taken, files);
  }

  /** Whether so many bytes more are too many, after what is `taken`; null says that nobody knows. */
  exceedsBytes(taken: Amount | null, more: number): boolean {
    const { bytes: most } = this.most;
    return more > 0 && most !== undefined && (taken === null || taken.bytes + more > most);
  }

  /** The same of so many files and directories. */
  exceedsFiles(taken: Amount | null, more: number): boolean {
    const { files: most } = this.most;
    return more > 0 && most !== undefined && (taken === null || taken.files + more > most);
  }

  /**
   * Counts, unless so much more fits by the last counts: what others wrote and deleted is not told to the actors, so nothing is
   * refused by an old figure. A root of another actor that cannot be counted, such as one that is gone, keeps its last figure.
   *
   * @param own the root of the actor that asks.
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
