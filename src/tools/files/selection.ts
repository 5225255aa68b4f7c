import { type Matcher, matcherOf } from "./glob";
import type { Effort, Steps } from "./steps";

/** What a glob costs for each letter of a path, in bytes searched: 500 ns, if it was made to take long. */
const LETTER = 64;

/** Globs of a request: one, or several. */
type Globs = string | readonly string[] | undefined;

const matchersOf = (globs: Globs, given: string): readonly Matcher[] =>
  (globs === undefined ? [] : typeof globs === "string" ? [globs] : globs).map((glob) => matcherOf(glob, given));

/** Which files a request is about, by their paths below the directory that it names. */
export class Selection {
  readonly #wanted: readonly Matcher[] | null;
  readonly #excluded: readonly Matcher[];

  /** @param given the path of the request, for the error where a glob cannot be one. */
  constructor(glob: Globs, exclude: Globs, given: string) {
    this.#wanted = glob === undefined ? null : matchersOf(glob, given);
    this.#excluded = matchersOf(exclude, given);
  }

  /** Whether every path is wanted. */
  get isAll(): boolean {
    return this.#wanted === null && this.#excluded.length === 0;
  }

  /** Whether a path is wanted: a file that matches one of the globs, and what no excluded one matches. */
  *admits(path: string, isDirectory: boolean, effort: Effort): Steps<boolean> {
    const cost = LETTER * path.length;
    for (const matches of this.#excluded) {
      if (effort.spend(cost)) yield;
      if (matches(path)) return false;
    }
    if (isDirectory || this.#wanted === null) return true;
    for (const matches of this.#wanted) {
      if (effort.spend(cost)) yield;
      if (matches(path)) return true;
    }
    return false;
  }
}
