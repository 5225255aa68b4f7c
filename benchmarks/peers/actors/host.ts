/**
 * The process of one candidate, which its parent drives by messages: `host.ts <name> measure`; or which reads one thing and
 * tells it: `host.ts <name> heap`, `host.ts <name> fairness`, `host.ts <name> check <check>`.
 */
import { named } from "../room";
import { checks } from "./checks";
import { type ActorPeer, candidates, openPeer } from "./peer";
import { PreparedWork } from "./prepared-work";
import { LEAVES, readFairness, readHeap, timedRows } from "./rows";

/** What the parent asks of a process that measures. */
export interface Turn {
  readonly row: string;
  /** How long, in milliseconds. */
  readonly time: number;
  /** How many samples at least. */
  readonly fewest: number;
}

/** What a process tells its parent. */
export type Told =
  | { readonly kind: "opened" }
  /** Nanoseconds an operation, of each sample. */
  | { readonly kind: "samples"; readonly nanoseconds: readonly number[] }
  | { readonly kind: "read"; readonly readings: { readonly [name: string]: number } }
  | { readonly kind: "checked"; readonly holds: boolean }
  | { readonly kind: "failed"; readonly reason: string };

const tell = (told: Told): void => {
  process.send?.(told);
};

const reasonOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

function serve(name: string, peer: ActorPeer): void {
  const { leaves = LEAVES } = named(candidates, name);
  const ready = new Map<string, PreparedWork>();
  const prepare = async (row: string, time: number): Promise<PreparedWork> => {
    const timed = timedRows.find((each) => each.row === row);
    if (timed === undefined) throw new Error(`There is no row "${row}".`);
    const work = await (peer.own?.[timed.row]?.() ?? timed.prepare(peer, leaves));
    const isSkynet = timed.row === "skynet, a leaf";
    const prepared = new PreparedWork(work, isSkynet ? leaves : timed.operations);
    if (timed.inSequence) await prepared.fit(timed.operations, time);
    ready.set(row, prepared);
    return prepared;
  };
  const measure = async ({ row, time, fewest }: Turn): Promise<void> => {
    const prepared = ready.get(row) ?? (await prepare(row, time));
    const nanoseconds: number[] = [];
    Bun.gc(true);
    const end = performance.now() + time;
    while (nanoseconds.length < fewest || performance.now() < end) nanoseconds.push(await prepared.sample());
    tell({ kind: "samples", nanoseconds });
  };
  process.on("message", (turn: Turn) => {
    measure(turn).catch((thrown) => tell({ kind: "failed", reason: reasonOf(thrown) }));
  });
  tell({ kind: "opened" });
}

const [name = "", mode, what = ""] = process.argv.slice(2);
process.on("disconnect", () => process.exit(0)); // Nobody is there to tell.
try {
  const peer = await openPeer(name);
  const check = checks.find((each) => each.name === what);
  if (mode === "measure") serve(name, peer);
  else if (mode === "heap") tell({ kind: "read", readings: { heap: await readHeap(peer) } });
  else if (mode === "fairness") tell({ kind: "read", readings: await readFairness(peer) });
  else if (check !== undefined) tell({ kind: "checked", holds: await check.holds(peer) });
  else tell({ kind: "failed", reason: `there is no ${mode} ${what}` });
} catch (thrown) {
  tell({ kind: "failed", reason: reasonOf(thrown) });
}
setInterval(() => {}, 60_000); // Its parent ends it.
