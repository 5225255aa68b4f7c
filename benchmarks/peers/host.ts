/** The process of one candidate, `host.ts ROOM NAME FOLDER TASK`: it takes turns at one task as its parent asks for them. */
import type { RoomName } from "./results";
import { Lacks, type Reading, type Turn } from "./room";
import { openPeer, rooms } from "./rooms";

/** What a process tells its parent. */
export type Told =
  | { readonly kind: "opened" }
  | { readonly kind: "readings"; readonly readings: readonly Reading[] }
  | { readonly kind: "failed" | "lacks"; readonly reason: string };

const begun = performance.now();
const tell = (told: Told): void => void process.send?.(told);

function tellThrown(thrown: unknown): void {
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  tell({ kind: thrown instanceof Lacks ? "lacks" : "failed", reason });
}

const [room, name = "", root = "", taskName] = process.argv.slice(2);
process.on("disconnect", () => process.exit(0)); // Nobody is there to tell.
setInterval(() => {}, 60_000); // Its parent ends it.
try {
  const task = rooms[room as RoomName].tasks.find((each) => each.name === taskName); // Its parent names no other room.
  if (task === undefined) throw new Error(`there is no ${taskName}`);
  const peer = await openPeer(room as RoomName, name, root);
  const take = await task.prepare(peer, root, performance.now() - begun);
  process.on("message", (turn: Turn) => {
    take(turn).then((readings) => tell({ kind: "readings", readings }), tellThrown);
  });
  tell({ kind: "opened" });
} catch (thrown) {
  tellThrown(thrown);
}
