import type { Outcome, PeerRow } from "./results";

/** A library or a tool, or a floor. A module of its name in `subjects/ROOM/` exports `open(folder)`, which gives its `Peer`. */
export interface Candidate {
  readonly name: string;
  readonly packages?: readonly string[];
  /** The parts of it that are called, and its lacks that no row shows. */
  readonly how: string;
  readonly isFloor?: boolean; // What one could do without a library.
}

export type Room<Peer> = { readonly candidates: readonly Candidate[]; readonly tasks: readonly Task<Peer>[] };

export interface Task<Peer> {
  readonly name: string;
  readonly heads: readonly Pick<PeerRow, "table" | "row" | "unit">[];
  /** `timed`: rounds of all peers in turn, some in one process. `read`: a process for each round. `tried`: once. */
  readonly kind: "timed" | "read" | "tried";
  /** The samples that warm a process up, at least. Default: 3. */
  readonly warmUp?: number;
  /** Gives what takes a turn: a reading for each of `heads`. `opening` is how many milliseconds it took to load and open the peer. */
  readonly prepare: (peer: Peer, root: string, opening: number) => Take | Promise<Take>;
  /** The readings of a peer that gave nothing `after` so many milliseconds. Default: it failed, after a minute. */
  readonly late?: { readonly after: number; readonly readings: readonly Outcome[] };
}
type Take = (turn: Turn) => Promise<readonly Reading[]>;
export type Reading = readonly number[] | Outcome;

/** Milliseconds of a timed row's turn, and its least number of samples. */
export type Turn = { readonly time: number; readonly fewest: number };

/** Thrown by a task, or by a peer, where the peer has no such operation. Its message says why, as the end of a sentence. */
export class Lacks extends Error {
  override readonly name = "Lacks"; // By which the parent knows it.
}

export type Work = (count: number) => number | Promise<number>;

export interface Timed<Peer> {
  readonly row: string;
  readonly operations?: number; // Of a sample. Default: 1.
  readonly prepare: (peer: Peer, root: string) => Work | Promise<Work>;
  readonly verify?: ((root: string, done: number) => void) | undefined;
}

/** A row of times. Its samples are refused unless all that was done is as it should be. */
export const timed = <Peer>({ row, operations = 1, prepare, verify }: Timed<Peer>): Task<Peer> => ({
  name: row,
  heads: [{ table: "time", row, unit: "ns" }],
  kind: "timed",
  async prepare(peer, root) {
    const work = await prepare(peer, root);
    let all = 0;
    return async ({ time, fewest }) => {
      const samples: number[] = [];
      Bun.gc(true);
      const end = performance.now() + time;
      while (samples.length < fewest || performance.now() < end) {
        const before = Bun.nanoseconds();
        const done = await work(operations);
        const taken = Bun.nanoseconds() - before;
        if (done !== operations) throw new Error(`${done} of ${operations} operations were complete`);
        all += done;
        samples.push(taken / operations);
      }
      verify?.(root, all);
      return [samples];
    };
  },
});
