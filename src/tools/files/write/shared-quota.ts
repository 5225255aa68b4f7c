import { type Amount, Bound, type Counter, type Most, Usage } from "./usage";

/** A quota that several file actors of one process share: `createQuota` makes it, and `spawnFileSystem` takes it. */
export interface FileQuota {
  /** The bounds that it was made with. */
  readonly limits: { readonly bytes?: number; readonly files?: number };
  /** What all its roots hold by the last count and what their actors did since; null while one was not counted. */
  readonly used: Amount | null;
  /** Counts what is there now: what other programs change is seen by no actor before. */
  recount(): Promise<void>;
}

/**
 * Makes a quota for several file actors of this process: together, the roots that they serve hold at most so many bytes, and so many
 * files and directories. A root that several of them serve counts once, and counts as long as one does; a root within
 * another one counts for itself, and in that one.
 *
 * What is there already is counted before the first change. What other programs write and delete is not seen: all
 * roots are counted anew before anything is refused, and by `recount()`.
 *
 * @param most `bytes`, of all files; `files`, of files and directories. Each is a whole number from 1; one may be left out.
 * @throws TypeError or RangeError for bounds that cannot be ones.
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
  /** By what tells the roots apart. */
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

  /** An actor begins to serve a root. */
  join(key: string, counter: Counter): Usage {
    const known = this.#usages.get(key);
    known?.join(counter);
    const usage = known ?? new Usage(counter);
    this.#usages.set(key, usage);
    return usage;
  }

  /** An actor serves a root no more: what nobody serves does not count. */
  leave(usage: Usage, counter: Counter): void {
    if (!usage.leave(counter)) return;
    for (const [key, each] of this.#usages) if (each === usage) this.#usages.delete(key);
  }
}
