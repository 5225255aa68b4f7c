import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Suite } from "./suite";
import type { Target } from "./target";

/** Everything that a part of the command touches. */
export interface Terminal {
  /** The package's folder, in a checkout or installed. */
  readonly root: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Shows where the run is, on a terminal; an empty text clears it. */
  readonly progress: (text: string) => void;
  /** Whether somebody watches the progress; else it is told by lines. */
  readonly isTerminal: boolean;
  /** Aborted when the run is to end: what is finished is told, nothing is written. */
  readonly signal: AbortSignal;
}

/** What the benchmarks touch beside. */
export interface Surroundings extends Terminal {
  /** What was typed to come here: `bun run bench`. */
  readonly command: string;
  readonly suites: () => Promise<readonly Suite[]>;
  readonly targets: readonly Target[];
  /** Whether `root` is a checkout of envoi, into which results may be written; not a package that somebody installed. */
  readonly isCheckout: boolean;
  /** Makes the pages of a checkout anew from the results that are there. */
  readonly writePages: (root: string) => Promise<void>;
}

/** Whether a folder is a checkout of envoi: a package has no sources of the library. */
export const isCheckout = (root: string): boolean => existsSync(join(root, "src/index.ts"));

/**
 * How a command ended: 1 when a row failed or a target was missed, 2 for a wrong command line, 3 when a target could not be
 * judged, 130 when it was interrupted.
 */
export type Status = 0 | 1 | 2 | 3 | 130;
