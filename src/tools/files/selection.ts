import { type Matcher, matcherOf } from "./glob";
import type { Effort, Steps } from "./steps";

/** The cost of a glob for each letter of a path, in bytes searched: 500 ns for a glob built to be slow. */
const LETTER = 64;

/** The globs of a request: one or several. */
type Globs = string | readonly string[] | undefined;

const matchersOf = (globs: Globs, given: string): readonly Matcher[] =>
  (globs === undefined ? [] : typeof globs === "string" ? [globs] : globs).map((glob) => matcherOf(glob, given));

/** The files that a request applies to, by their paths below the request's directory. */
export class Selection {
  readonly #wanted: readonly Matcher[] | null;
  readonly #excluded: readonly Matcher[];

  /** @param given the request's path, for the error of an invalid glob. */
  constructor(glob: Globs, exclude: Globs, given: string) {
    this.#wanted = glob === undefined ? null : matchersOf(glob, given);
    this.#excluded = matchersOf(exclude, given);
  }

  /** True if every path is wanted. */
  get isAll(): boolean {
    return this.#wanted === null && this.#excluded.length === 0;
  }

  /** True for a path that matches one of the globs and none of the excluded ones. */
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
