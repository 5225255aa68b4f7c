import type { LeftOut, ProbeFigure, Readings } from "../harness/suite";

/** What a process is told to do; it does one thing at a time, and answers each. */
export type Order =
  | { readonly order: "load"; readonly suite: string }
  /** Prepares a timed row, and warms it up for so many nanoseconds. */
  | { readonly order: "begin"; readonly row: string; readonly warmUp: number }
  /** Runs the row that was begun for so many nanoseconds. */
  | { readonly order: "turn"; readonly nanoseconds: number }
  | { readonly order: "end" }
  | { readonly order: "probe"; readonly row: string };

/** What is answered, by the order. */
export interface Answers {
  readonly load: { readonly rows: readonly Outline[]; readonly leftOut: readonly LeftOut[] };
  readonly begin: null;
  /** The first decile of the turn's samples, in nanoseconds for what one figure of the row covers. */
  readonly turn: number;
  readonly end: null;
  readonly probe: Readings;
}

/** An answer, or why there is none. */
export type Answer = { readonly value: Answers[Order["order"]] } | { readonly failed: string };

/** A row, as far as one must know it to order it. */
export type Outline =
  | { readonly kind: "timed"; readonly row: string }
  | { readonly kind: "probe"; readonly row: string; readonly figures: readonly ProbeFigure[] };
