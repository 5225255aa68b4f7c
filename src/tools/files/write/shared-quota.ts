import { type Amount, Bound, type Counter, type Most, Usage } from "./usage";

/** A quota shared by several file actors of one process. `createQuota` makes it, `spawnFileSystem` takes it. */
export interface FileQuota {
  /** The bounds given to `createQuota`. */
  readonly limits: { readonly bytes?: number; readonly files?: number };
  /** The content of all its roots: the last count and the actors' changes since. Null while a root is uncounted. */
  readonly used: Amount | null;
  /** Counts all roots now. Without it, changes by other programs are not seen until the next count. */
  recount(): Promise<void>;
}

/**
 * Makes a quota for several file actors of this process. Their roots together hold at most this many bytes, and this
 * many files and directories. A root with several actors counts once, as long as one of them serves it. A root within
 * another root counts in both.
 *
 * Existing files are counted before the first change. Writes and deletions by other programs are not noticed: all roots
 * are counted again before a refusal, and by `recount()`.
 *
 * @param most `bytes` bounds all files; `files` bounds files and directories. Each is a whole number from 1; one may be
 * left out.
 * @throws TypeError or RangeError for invalid bounds.
 * @example
 * const quota = createQuota({ bytes: 100_000_000, files: 10_000 });
 * for (const name of ["ada", "ben"]) spawnFileSystem(system, { name, root: `workspaces/${name}`, quota });
 */
export function createQuota(most: { readonly bytes?: number; readonly files?: number }): FileQuota {
  if (typeof most !== "object" || most === null) {
    throw new TypeError("The bounds of a quota are an object, such as { bytes: 100_000_000, files: 10_000 }.");
  }
  for (const key of Object.keys(most)) {
    if (key !== "bytes" && key !== "files") throw new TypeError(`A quota has no bound "${key}"; write bytes or files.`);
  }
  const { bytes, files } = most;
  if (bytes === undefined && files === undefined) {
    throw new TypeError("A quota has a bound: write bytes, files, or both.");
  }
  for (const [key, value] of [
    ["bytes", bytes],
    ["files", files],
  ] as const) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    throw new RangeError(
      `The ${key} of a quota are a whole number from 1; got ${Bun.inspect(value, { depth: 0 }).slice(0, 100)}.`,
    );
  }
  return new SharedQuota({ ...(bytes !== undefined && { bytes }), ...(files !== undefined && { files }) });
}

export class SharedQuota implements FileQuota {
  readonly limits: { readonly bytes?: number; readonly files?: number };
  readonly bound: Bound;
  /** Usages by the key of their root. */
  readonly #usages = new Map<string, Usage>();

  constructor(limits: { readonly bytes?: number; readonly files?: number }) {
    this.limits = limits;
    const most: Most = limits;
    this.bound = new Bound(most, () => this.#usages.values());
  }

  get used(): Amount | null {
    const all = { bytes: 0, files: 0 };
    for (const { used } of this.#usages.values()) {
      if (used === null) return null;
      all.bytes += used.bytes;
      all.files += used.files;
    }
    return all;
  }

  async recount(): Promise<void> {
    await Promise.all([...this.#usages.values()].map((usage) => usage.count()));
  }

  /** Called when an actor starts to serve a root. */
  join(key: string, counter: Counter): Usage {
    const known = this.#usages.get(key);
    known?.join(counter);
    const usage = known ?? new Usage(counter);
    this.#usages.set(key, usage);
    return usage;
  }

  /** Called when an actor stops serving a root. A root without actors no longer counts. */
  leave(usage: Usage, counter: Counter): void {
    if (!usage.leave(counter)) return;
    for (const [key, each] of this.#usages) if (each === usage) this.#usages.delete(key);
  }
}
