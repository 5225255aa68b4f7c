import type { ActorOptions, Clock, Factory, RefTo, SignaturesOf } from "envoi";
import type { Diary } from "./diary";
import { pause } from "./pause";
import type { Entry, Lobby, Reader } from "./protocols";

/**
 * A reader's mailbox. A room does not wait for those who read slowly, and an old line is the one that can be spared: the
 * history has it, and the position of the next one tells that it is missing. So what is dropped is read there.
 */
export const READER: ActorOptions = { capacity: 8, overflow: "drop-oldest" };

/** How long to wait before the history is asked for again, in milliseconds. */
const AGAIN = 100;

export interface ReaderParts {
  readonly diary: Diary;
  readonly lobby: RefTo<typeof Lobby>;
  readonly clock: Clock;
  /** How long it takes to read a line, in milliseconds. */
  readonly pace: number;
  readonly onHeard: (entry: Entry) => void;
}

/** Reads all that is said in a room, each line once and in order. */
export function readerOf({ diary, lobby, clock, pace, onHeard }: ReaderParts): Factory<SignaturesOf<typeof Reader>> {
  const { heard, room } = diary;
  return (ctx) => {
    async function read(entries: readonly Entry[]): Promise<void> {
      for (const entry of entries) {
        if (entry.position !== heard.length) continue; // It was read before.
        heard.push(entry);
        onHeard(entry);
      }
      if (pace > 0) await pause(clock, pace, ctx.signal);
    }

    /** Reads what is missing in the history; false when the room could not say. */
    async function readHistory(): Promise<boolean> {
      const missing = await ctx.ask(lobby, "since", { room, position: heard.length }, { timeout: 250 });
      if (missing.isErr()) return false; // The next line, or catchUp, asks again.
      await read(missing.value);
      return true;
    }

    return {
      async hear(entry) {
        if (entry.position <= heard.length) await read([entry]);
        else if (await readHistory()) diary.caughtUp++;
      },

      async catchUp() {
        while (!(await readHistory()) && !ctx.signal.aborted) await pause(clock, AGAIN, ctx.signal);
      },
    };
  };
}
