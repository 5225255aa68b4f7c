import { refuse } from "../file-error";
import type { SharedQuota } from "./shared-quota";
import { type Amount, Bound, type Counter, type Most, Usage } from "./usage";

/** What the files below the root of an actor take, and may take: by its own bounds, and by those that it shares with others. */
export class Quota {
  readonly #usage: Usage;
  readonly #own: Bound;
  readonly #shared: SharedQuota | null;
  readonly #bounds: readonly Bound[];
  readonly #counter: Counter;
  /** Whether the number of files has a bound. */
  readonly boundsFiles: boolean;

  /** @param key tells the roots of a shared quota apart. */
  constructor(most: Most, counter: Counter, shared: SharedQuota | null = null, key = "") {
    this.#counter = counter;
    this.#shared = shared;
    this.#usage = shared === null ? new Usage(counter) : shared.join(key, counter);
    this.#own = new Bound(most, () => [this.#usage]);
    const isBound = most.bytes !== undefined || most.files !== undefined;
    this.#bounds = [...(isBound ? [this.#own] : []), ...(shared === null ? [] : [shared.bound])];
    this.boundsFiles = this.#bounds.some((bound) => bound.most.files !== undefined);
  }

  /** In use, or null before it was counted. */
  get used(): Amount | null {
    return this.#usage.used;
  }

  /** Counts, unless so much more fits by the last count. */
  async countFor(bytes: number, files = 0): Promise<void> {
    for (const bound of this.#bounds) await bound.countFor(bytes, files, this.#usage);
  }

  /** Whether so much more fits by the last count. */
  fits(bytes: number, files = 0): boolean {
    return this.#bounds.every((bound) => bound.fits(bytes, files));
  }

  /** Refuses so much more where it does not fit, or was never counted, and names the bound. */
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

  /** Notes that there is so much more, or less. */
  add(bytes: number, files = 0): void {
    this.#usage.add(bytes, files);
  }

  /**
   * Ends with the count that is under way; null where none is. What is moved waits for it: a count that is in neither
   * place while it goes by would miss it, and a quota could be passed by as much.
   */
  get counting(): Promise<void> | null {
    return this.#usage.counting;
  }

  /** Keeps room for bytes while they are written, since others that share the quota write meanwhile; a number below zero lets go. */
  hold(bytes: number): void {
    this.#usage.hold(bytes);
  }

  /** The actor serves its root no more. */
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
