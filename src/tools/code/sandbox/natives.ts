import type { LatePieces } from "./globals/pieces";

/** Functions of the process. */
export interface Natives {
  /** The index of a level, and a text as JSON. Negative where that is more than may be told. */
  write(entry: string): number;
  /** -1 where that is more than may be told, and -2 where it is nested too deep. */
  progress(value: string): number;
  /** The number of the call, from 1; where it is refused, the negative index of the answer. */
  call(request: string): number;
  /** `once` or `each`, and the milliseconds; the number of a timer, or 0 where there are too many. */
  setTimer(delay: string): number;
  clearTimer(id: string): number;
  /** A function that was late in coming, by its name; undefined where there is no memory for it. */
  load<Name extends keyof LatePieces>(name: Name): LatePieces[Name] | undefined;
  /** See `UrlRequest`. */
  askUrl(request: string): string | undefined;
  /** See `cryptoGlobal`. */
  random(bytes: string): string | undefined;
  /** Something was thrown that `rethrow` throws. */
  fail(why: string): number;
}
