import { refuse } from "../file-error";
import type { SharedQuota } from "./shared-quota";
import { type Amount, Bound, type Counter, type Most, Usage } from "./usage";

/** The space that the files below an actor's root take, and may take by its own bounds and those of a shared quota. */
export class Quota {
  readonly #usage: Usage;
  readonly #own: Bound;
  readonly #shared: SharedQuota | null;
  readonly #bounds: readonly Bound[];
  readonly #counter: Counter;
  /** True if the number of files is bounded. */
  readonly boundsFiles: boolean;

  /** @param key identifies the root in a shared quota. */
  constructor(most: Most, counter: Counter, shared: SharedQuota | null = null, key = "") {
    this.#counter = counter;
    this.#shared = shared;
    this.#usage = shared === null ? new Usage(counter) : shared.join(key, counter);
    this.#own = new Bound(most, () => [this.#usage]);
    const isBound = most.bytes !== undefined || most.files !== undefined;
    this.#bounds = [...(isBound ? [this.#own] : []), ...(shared === null ? [] : [shared.bound])];
    this.boundsFiles = this.#bounds.some((bound) => bound.most.files !== undefined);
  }

  /** The amount in use. Null before the first count. */
  get used(): Amount | null {
    return this.#usage.used;
  }

  /** Counts, unless this much more fits by the last count. */
  async countFor(bytes: number, files = 0): Promise<void> {
    for (const bound of this.#bounds) await bound.countFor(bytes, files, this.#usage);
  }

  /** True if this much more fits by the last count. */
  fits(bytes: number, files = 0): boolean {
    return this.#bounds.every((bound) => bound.fits(bytes, files));
  }

  /** Refuses this much more if it does not fit or if the root was never counted. The error names the bound. */
  admit(bytes: number, given: string, files = 0): void {
    for (const bound of this.#bounds) {
      const { most, taken } = bound;
      const isOwn = bound === this.#own;
      if (bound.exceedsBytes(taken, bytes)) {
        refuseMore(given, `${most.bytes} bytes`, isOwn ? "quotaBytes" : "bytes", isOwn);
      }
      if (bound.exceedsFiles(taken, files)) {
        refuseMore(given, `${most.files} files and directories`, isOwn ? "quotaFiles" : "files", isOwn);
      }
    }
  }

  /** Notes that the root gained this much, or lost it. */
  add(bytes: number, files = 0): void {
    this.#usage.add(bytes, files);
  }

  /**
   * Settles when the running count ends. Null if none runs. A move waits for it: the count could miss a file that is in
   * neither place when it passes, and the quota could be exceeded by that file.
   */
  get counting(): Promise<void> | null {
    return this.#usage.counting;
  }

  /**
   * Reserves room for bytes during a write, since others of a shared quota write meanwhile. A negative number releases
   * it.
   */
  hold(bytes: number): void {
    this.#usage.hold(bytes);
  }

  /** Called when the actor stops serving its root. */
  dispose(): void {
    this.#shared?.leave(this.#usage, this.#counter);
  }
}

function refuseMore(given: string, most: string, option: string, isOwn: boolean): never {
  const shown = JSON.stringify(given);
  const where = isOwn
    ? `the root would hold more than its ${most}`
    : `the roots of one quota would hold more than its ${most}`;
  const advice = isOwn ? "delete something first" : "delete something first, in any of them";
  return refuse("quota", given, `With ${shown}, ${where} (${option}); ${advice}.`);
}
