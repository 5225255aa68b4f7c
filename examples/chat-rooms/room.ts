import type { Clock, Factory, RefTo, SignaturesOf, Topic } from "envoi";
import { pause } from "./pause";
import type { Entry, Fault, Log, Room } from "./protocols";

/** How long a room hangs that chaos struck so, in milliseconds: longer than users wait. */
const HANG = 600;

export interface RoomParts {
  readonly name: string;
  readonly log: RefTo<typeof Log>;
  /** Who is in the room. It outlives the room, and so nobody has to come in again. */
  readonly topic: Topic<Entry>;
  readonly clock: Clock;
}

/** A room. All that it knows is in the log: one that begins anew reads it back before the first message. */
export function roomOf({ name, log, topic, clock }: RoomParts): Factory<SignaturesOf<typeof Room>> {
  return (ctx) => {
    let history: Entry[] = [];
    let fault: Fault | null = null;

    async function readBack(): Promise<void> {
      const read = await log.ask("read", name);
      if (read.isErr()) throw new Error(read.error.message, { cause: read.error });
      history = read.value;
    }

    /** The next post meets the fault: then it hits somebody who waits. */
    function takeFault(): Fault | null {
      const taken = fault;
      fault = null;
      return taken;
    }

    return {
      onStart: readBack,

      async say(post) {
        const struck = takeFault();
        if (struck === "throw") throw new Error("chaos, before the post was written");
        if (struck === "hang") await pause(clock, HANG);
        // By the log's own reference: what ctx.ask asks is given up with the message that is handled, and whether the log
        // has the post would be unknown here.
        const appended = await log.ask("append", post);
        if (appended.isErr()) throw new Error(appended.error.message, { cause: appended.error });
        if (struck === "throw-late") throw new Error("chaos, after the post was written");
        const entry = appended.value;
        history[entry.position] = entry;
        topic.publish(entry, ctx.self);
        return entry.position;
      },

      since: ({ position }) => history.slice(position),

      strike(strike) {
        fault = strike.fault;
      },
    };
  };
}
