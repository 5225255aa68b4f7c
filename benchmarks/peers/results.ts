import type { Machine } from "../harness/machine";

/** What was measured of the candidates, as `benchmarks/results/peers-files.json` keeps it. */
export interface PeerResults {
  readonly machine: Machine;
  /** Rounds of all candidates in turn. */
  readonly rounds: number;
  /** How long each race lasted, in seconds. */
  readonly seconds: number;
  readonly peers: readonly PeerResult[];
}

export interface PeerResult {
  readonly name: string;
  readonly how: string;
  /** Package and version. */
  readonly packages: readonly string[];
  readonly rows: readonly PeerRow[];
  readonly race: Race | Failure;
  readonly fifo: { readonly answer: "refuses" | "reads" | "hangs" } | Failure;
}

/** The reads of a race: those that gave what is outside, those that gave what is inside, and the rest, which were refused. */
export interface Race {
  readonly reads: number;
  readonly escapes: number;
  readonly inside: number;
}

/** Why there is no figure: it could not be installed, started, or do its work. */
export interface Failure {
  readonly failed: string;
}

export interface PeerRow {
  readonly row: string;
  /** In nanoseconds; null where the candidate has no such operation. */
  readonly figure: { readonly median: number; readonly min: number; readonly samples: number } | Failure | null;
}

export const hasFailed = (outcome: object): outcome is Failure => "failed" in outcome;
