import { Completion } from "./completion";
import { RawMailbox } from "./raw-mailbox";
import type { Floor } from "./suite";

// What restart, watch and stash come down to, by hand.

/** A handler that throws, is caught, tells its asker, and is made anew. */
export const rawRestart: Floor = {
  name: "raw restart",
  about:
    "the bare mailbox: an `Error` thrown and caught in the handler, which is replaced by a new closure, and the ask awaited",
  setup(operations) {
    let made = 0;
    const make = (): (() => void) => {
      made++;
      return () => {
        throw new Error("as it should");
      };
    };
    let handler = make();
    const mailbox = new RawMailbox<number>(() => {
      try {
        return handler();
      } catch (thrown) {
        handler = make();
        return thrown;
      }
    });
    let completed = 0;
    const run = async () => {
      for (let i = 0; i < operations; i++) {
        const before = made;
        if ((await mailbox.ask(i)) instanceof Error && made === before + 1) completed++;
      }
    };
    return { run, completed: () => completed };
  },
};

/** A mailbox made under a name, and stopped, which tells another one. */
export const rawWatch: Floor = {
  name: "raw watch",
  about:
    "the bare mailbox: one is made and put in a `Map` by name, told to stop, taken out, and another one told of it",
  setup(operations) {
    const completion = new Completion();
    const directory = new Map<string, RawMailbox<string>>();
    const watcher = new RawMailbox<string>((name) => {
      if (!directory.has(name)) completion.arrive();
    });
    let made = 0;
    const run = async () => {
      for (let i = 0; i < operations; i++) {
        const done = completion.expect(1);
        const name = `actor-${made++}`;
        const mailbox = new RawMailbox<string>(() => {
          directory.delete(name);
          watcher.tell(name);
        });
        directory.set(name, mailbox);
        mailbox.tell("stop");
        await done;
      }
    };
    return { run, completed: completion.completed };
  },
};

/** Messages that are put aside in an array, and handled when they are taken back. */
export const rawStash = (width: number): Floor => ({
  name: `raw stash of ${width}`,
  about: `the bare mailbox: ${width} messages put aside in an array, then told again in their order, and handled`,
  setup(operations) {
    const completion = new Completion();
    let aside: number[] | null = [];
    const mailbox: RawMailbox<number> = new RawMailbox((payload) => {
      if (payload < 0) {
        const again = aside ?? [];
        aside = null;
        for (const each of again) mailbox.tell(each);
      } else if (aside !== null) aside.push(payload);
      else completion.arrive();
    });
    const run = async () => {
      for (let sent = 0; sent < operations; sent += width) {
        aside = [];
        const done = completion.expect(width);
        for (let i = 0; i < width; i++) mailbox.tell(i);
        mailbox.tell(-1);
        await done;
      }
    };
    return { run, completed: completion.completed };
  },
});
