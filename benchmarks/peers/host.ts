/** The process of one candidate, `host.ts ROOM NAME FOLDER TASK`: it opens the candidate, and takes turns at one task. */
import { follow } from "../harness/worker";
import type { RoomName } from "./results";
import type { Turn } from "./room";
import { openPeer, rooms } from "./rooms";

const begun = performance.now();
const [room, name = "", root = "", taskName] = process.argv.slice(2);

async function open() {
  const task = rooms[room as RoomName].tasks.find((each) => each.name === taskName); // Its parent names no other room.
  if (task === undefined) throw new Error(`there is no ${taskName}`);
  const peer = await openPeer(room as RoomName, name, root);
  return task.prepare(peer, root, performance.now() - begun);
}

const opened = open();
opened.catch(() => {}); // The first order tells it.

// An order without a turn is followed once the candidate is open.
follow<Turn | null>(async (turn) => {
  const take = await opened;
  return turn === null ? [] : take(turn);
});
