import type { ProbeReading, ProbeResult, SuiteResult } from "./results";

export interface Suite {
  /** The name that the command line, the targets and the results use; the file is `NAME.bench.ts`. */
  readonly name: string;
  readonly about: string;
  readonly rows: readonly (Row | Probe)[];
  /** The module to load for a process of its own. Default: it is measured in this one. */
  readonly file?: string;
  readonly leftOut?: readonly LeftOut[];
  /** What its figures must keep, those of rows that are left out included. */
  readonly limits?: readonly Limit[];
}

/** What a figure must keep. */
export type Limit = {
  readonly row: string;
  /** `ratio` for a timed row, else the name of a probe's figure. */
  readonly figure: string;
  readonly aim: number;
  /** Why this much and no less, in half a sentence. */
  readonly reason: string;
} & ({ readonly atMost: number } | { readonly atLeast: number });

/** A row that is not run, and as the end of a sentence what the machine lacks for it; targets may name it. */
export type LeftOut = NonNullable<SuiteResult["leftOut"]>[number];

/** Work that is ready to be timed. It is called without `this`. */
export interface Prepared {
  /** Does the row's `operations` and returns, or resolves, once all of them are complete. It takes no argument. */
  readonly run: () => unknown;
  /** How many operations are complete since `setup`, counted where the work ends (in the handler, on the reply). */
  readonly completed: () => number;
  /** Throws when the work was done wrong, such as a reply with another value. Called after each round. */
  readonly verify?: (calls: number) => void;
  readonly teardown?: () => unknown;
}

/** The least that work of one kind can cost, measured in the same rounds as the rows that stand on it. */
export interface Floor {
  readonly name: string;
  readonly about: string;
  /** Whether floors of this name differ from row to row, as by the size of a file. Default: false. */
  readonly varies?: boolean;
  readonly setup: (operations: number) => Prepared | Promise<Prepared>;
}

/** Why no floor fits a row, as the end of a sentence. */
export interface NoFloor {
  readonly none: string;
}

export interface Row {
  readonly kind: "timed";
  readonly name: string;
  /**
   * How many operations one call of `run` completes: a thousand of those that take less than a microsecond. mitata's `await` of each
   * call costs some 50 ns, and its loop around a shorter call is compiled now well, now badly.
   */
  readonly operations: number;
  /** How many of those operations one figure covers: 1 for a figure by the message, 10 for "concurrent: 10 asks". */
  readonly per: number;
  readonly floor: Floor | NoFloor;
  /** How many pieces a round is cut into. Default: 1. Of processes, the kernel changes the pace by a half within a round. */
  readonly pieces?: number;
  /** How many calls it and its floor warm up with at least: more for those that run through much code. Default: 3. */
  readonly warmUp?: number;
  readonly setup: () => Prepared | Promise<Prepared>;
}

/** How large a probe works: `smoke` proves that it works, `full` is what is reported. */
export type Scale = "smoke" | "full";

export type Readings = Readonly<Record<string, number>>;

export interface ProbeFigure {
  readonly name: string;
  readonly unit: ProbeReading["unit"];
  /** Whether "so many times the floor" means something for this figure. */
  readonly ratio: boolean;
}

export type Series = NonNullable<ProbeResult["series"]>[number];

export interface Charted {
  readonly readings: Readings;
  readonly series: readonly Series[];
}

/** A row that is not a loop: memory, or what a timer gets. It measures itself, once a round, and throws when its work is not done. */
export interface Probe {
  readonly kind: "probe";
  readonly name: string;
  readonly figures: readonly ProbeFigure[];
  /** How many rounds it has, however quick the run, or full: as many as its figure needs. Default: 3, and 1 in a quick run. */
  readonly rounds?: number;
  readonly floor: { readonly name: string; readonly measure: (scale: Scale) => Promise<Readings> } | NoFloor;
  readonly measure: (scale: Scale) => Promise<Readings | Charted>;
}

/** Tells when a number of operations, each of which reports itself, have all come in. */
export class Completion {
  private left = 0;
  private total = 0;
  private finish = (): void => {};

  readonly completed = (): number => this.total;

  /** Resolves once `count` more operations have come in. */
  expect(count: number): Promise<void> {
    this.left = count;
    return new Promise((resolve) => {
      this.finish = resolve;
    });
  }

  /** Reports one operation, and returns whether more are due. */
  readonly arrive = (): boolean => {
    this.total++;
    if (--this.left > 0) return true;
    this.finish();
    return false;
  };
}
