import type { Factory, RefTo, SignaturesOf, Topic } from "envoi";
import { around, pick, type Random } from "./chance";
import { type Entry, type Post, Reader, type User } from "./protocols";
import { READER, type ReaderParts, readerOf } from "./reader";

/** How long a user waits for an acknowledgement, and then before it sends again, in milliseconds. */
const PATIENCE = 250;
const AGAIN = 40;

/** What those say who talk by themselves. */
const LINES = [
  "Good morning!",
  "Has anybody seen the kettle?",
  "It was here a minute ago.",
  "That is what I said yesterday.",
  "Wait, did the room just go away?",
  "No, all of it is still here.",
  "Then let us go on.",
  "Who is for lunch?",
  "I am! 🍲",
  "The rain has stopped.",
];

export interface UserParts extends ReaderParts {
  readonly topic: Topic<Entry>;
  readonly random: Random;
  /** How long it thinks between two lines, about, in milliseconds; null for a person, who says what is typed. */
  readonly thinks: number | null;
}

/** A user: says lines one after the other, and each again until the room has acknowledged it. Its reader is its child. */
export function userOf(parts: UserParts): Factory<SignaturesOf<typeof User>> {
  const { diary, lobby, topic, random, thinks } = parts;
  const { name, room, sent, acknowledged } = diary;
  return (ctx) => {
    const reader: RefTo<typeof Reader> = ctx.spawn("reader", Reader, readerOf(parts), READER);
    topic.subscribe(reader, "hear"); // It ends when the reader stops.

    function say(text: string): Promise<void> {
      sent.push({ id: `${name}-${sent.length + 1}`, room, from: name, text });
      return deliver();
    }

    const undelivered = (): Post | undefined => sent[acknowledged.length];

    /** One at a time, so that they arrive in order. */
    async function deliver(): Promise<void> {
      ctx.timers.cancel("again");
      for (let post = undelivered(); post !== undefined && !ctx.signal.aborted; post = undelivered()) {
        const said = await ctx.ask(lobby, "say", post, { timeout: PATIENCE });
        if (said.isErr()) {
          // Whatever the reason is: the log takes a post once, so that to send it again is always right.
          diary.resent++;
          ctx.timers.once("again", around(AGAIN, random), deliver);
          return;
        }
        acknowledged.push(said.value);
      }
      ctx.unstash(); // Whoever waits for the end.
    }

    function talk(): void {
      if (thinks === null) return;
      ctx.timers.once("talk", around(thinks, random), async () => {
        await say(pick(LINES, random));
        talk();
      });
    }

    return {
      onStart() {
        talk();
        return deliver(); // What an instance before this one had not delivered.
      },
      say,
      finish() {
        ctx.timers.cancel("talk");
        if (undelivered() !== undefined) ctx.stash();
      },
      catchUp: () => ctx.forward(reader),
    };
  };
}
