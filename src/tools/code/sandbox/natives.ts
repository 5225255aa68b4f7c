import type { LatePieces } from "./globals/pieces";

/** Functions of the process that code in the sandbox calls. */
export interface Natives {
  /** Takes the index of a level and a text as JSON. Negative once the output limit is exceeded. */
  write(entry: string): number;
  /** Returns -1 once the output limit is exceeded, and -2 for a value that is nested too deep. */
  progress(value: string): number;
  /** Returns the number of the call, from 1. For a refused call it is the negative index of the answer. */
  call(request: string): number;
  /** Takes `once` or `each` and the milliseconds. Returns the number of the timer, or 0 if there are too many. */
  setTimer(delay: string): number;
  clearTimer(id: string): number;
  /** Loads a late piece by its name; undefined if time or memory has run out. */
  load<Name extends keyof LatePieces>(name: Name): LatePieces[Name] | undefined;
  /** See `UrlRequest`. */
  askUrl(request: string): string | undefined;
  /** See `cryptoGlobal`. */
  random(bytes: string): string | undefined;
  /** Reports a thrown value that no code could catch. The process then calls `rethrow`. */
  fail(why: string): number;
}
