import type { ActorOptions, Clock, Factory, RefTo, SignaturesOf, Topic } from "envoi";
import { type Entry, type Lobby, type Log, Room } from "./protocols";
import { roomOf } from "./room";

/** How the lobby runs, chosen by the tables of `Supervision` and `Overflow`. */
export const LOBBY: ActorOptions = {
  supervision: {
    strategy: "one-for-one", // Rooms share nothing.
    // A handler that threw may have left its room's state wrong, and the log has it right: so restart, the default. The wait
    // keeps a room that fails at once from failing a thousand times a second; with it, there is no need to give up.
    backoff: { initial: 20, max: 500, resetAfter: 2_000 },
    limit: Number.POSITIVE_INFINITY,
  },
};

/** Whoever finds so many posts waiting is told `mailbox-full` and comes again: a room that hangs gathers no crowd. */
const ROOM: ActorOptions = { capacity: 64, overflow: "reject" };

/** A lobby of some rooms, each with the topic of those who are in it. It opens none any more once `closing` is aborted. */
export function lobbyOf(
  topics: ReadonlyMap<string, Topic<Entry>>,
  log: RefTo<typeof Log>,
  clock: Clock,
  closing: AbortSignal,
): Factory<SignaturesOf<typeof Lobby>> {
  return (ctx) => {
    const rooms = new Map<string, RefTo<typeof Room>>();
    for (const [name, topic] of topics) open(name, topic);

    function open(name: string, topic: Topic<Entry>): void {
      const room = ctx.spawn(name, Room, roomOf({ name, log, topic, clock }), ROOM);
      rooms.set(name, room);
      // A restart is no stop: this is for a room that is gone. A system that shuts down takes nobody in.
      ctx.watch(room, () => {
        if (!closing.aborted) open(name, topic);
      });
    }

    function roomNamed(name: string): RefTo<typeof Room> {
      const room = rooms.get(name);
      if (room === undefined) throw new RangeError(`there is no room "${name}"`);
      return room;
    }

    const pass = ({ room }: { readonly room: string }) => ctx.forward(roomNamed(room));

    return {
      say: pass,
      since: pass,
      strike({ room, fault }) {
        if (fault === "stop") ctx.stop(roomNamed(room));
        else pass({ room });
      },
    };
  };
}
