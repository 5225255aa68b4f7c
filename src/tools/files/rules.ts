import { Glob } from "bun";

/** Globs of what is served: see `FileSystemOptions`. */
export interface Globs {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/**
 * Which paths are served. `deny` is about every path, and closes a directory with all that is in it; `allow` is about
 * files, so that directories can be seen and made on the way to them.
 *
 * | | denied, or in what is | a file, link or FIFO that `allow` leaves out | a directory that `allow` leaves out |
 * | --- | --- | --- | --- |
 * | read, write, append, edit | `denied` | `denied` | – |
 * | stat, exists | `denied` | `denied`, be it there or not | answered |
 * | list, search, watch | not shown | not shown | shown and gone into |
 * | mkdir | `denied` | – | made |
 * | move, delete | `denied`, and so is a directory that holds one | the same | done |
 * | copy | `denied`, and so is a directory that holds one | the same | done |
 */
export class Rules {
  readonly #allow: readonly Glob[] | null;
  readonly #deny: readonly Glob[];
  readonly #denyFolded: readonly Glob[];

  constructor({ allow, deny = [] }: Globs) {
    this.#allow = allow === undefined ? null : allow.map((glob) => new Glob(glob));
    this.#deny = withAllBelow(deny);
    this.#denyFolded = withAllBelow(deny.map(fold));
  }

  /** Whether every path is served. */
  get areOpen(): boolean {
    return this.#allow === null && this.#deny.length === 0;
  }

  /**
   * Whether a path, or a directory that it is in, is closed. A file system may take names for one that these globs tell
   * apart, such as `.ENV` and `.env`, or the two forms of `é`: all of them are closed.
   */
  denies(whole: string): boolean {
    if (this.#deny.length === 0) return false;
    return matches(this.#deny, whole) || matches(this.#denyFolded, fold(whole));
  }

  /** Whether a file of this path is served. */
  serves(whole: string): boolean {
    if (this.denies(whole)) return false;
    return this.#allow === null || matches(this.#allow, whole);
  }
}

/** Each glob, and what is below what it matches: two matches, where one for each directory on the way of a deep path takes 60 times as long. */
const withAllBelow = (globs: readonly string[]): Glob[] =>
  globs.flatMap((glob) => [new Glob(glob), new Glob(`${glob}/**`)]);

const matches = (globs: readonly Glob[], whole: string): boolean => globs.some((glob) => glob.match(whole));

const IGNORED = /\p{Default_Ignorable_Code_Point}/gu;

/** One spelling for all that a file system may take for the same (as Linux's casefold does: NFD, without what is not seen). */
export function fold(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
  return text.normalize("NFD").replace(IGNORED, "").toLowerCase().toUpperCase().toLowerCase().normalize("NFC");
}
