import type { Machine } from "../../harness/machine";
import type { Failure, PeerRow } from "../results";

/** What was measured of the candidates, as `benchmarks/results/peers-code.json` keeps it. */
export interface CodePeerResults {
  readonly machine: Machine;
  /** Rounds of all candidates in turn. */
  readonly rounds: number;
  /** The limits that were set, in milliseconds and bytes. */
  readonly limits: { readonly timeout: number; readonly memory: number };
  /** Milliseconds after which a candidate under attack was killed. */
  readonly patience: number;
  readonly peers: readonly CodePeerResult[];
}

export interface CodePeerResult {
  readonly name: string;
  readonly how: string;
  /** Package and version. */
  readonly packages: readonly string[];
  readonly rows: readonly PeerRow[];
  readonly attacks: readonly AttackResult[];
}

export interface AttackResult {
  readonly attack: string;
  readonly outcome: Outcome | Failure;
}

/** What became of an attack, and of the process that was attacked. */
export interface Outcome {
  /** Milliseconds until the run was over; null where it was not. */
  readonly after: number | null;
  /** How it was over; `died` where its process was. */
  readonly how: "value" | "error" | "died" | "killed";
  /** The longest time, in milliseconds, that a 5 ms timer beside it did not fire. */
  readonly gap: number;
  /** Most bytes of all its processes together, and those before the attack; null where they cannot be seen. */
  readonly memory: { readonly before: number; readonly peak: number } | null;
  /** Milliseconds that the next trivial run took; null where it gave nothing. */
  readonly usable: number | null;
  /** Of one processor, how much was still used after all was over; null where it cannot be seen. */
  readonly busy: number | null;
}
