import { do_not_optimize } from "mitata";
import { RawMailbox } from "./raw-mailbox";
import { Completion, type Floor, type Prepared } from "./suite";

const synchronous = (name: string, about: string, make: (index: number) => unknown): Floor => ({
  name,
  about,
  setup: (operations): Prepared => {
    let completed = 0;
    const run = () => {
      for (let i = 0; i < operations; i++) do_not_optimize(make(completed++));
    };
    return { run, completed: () => completed };
  },
});

/** The floor of a message: an object literal of the same nine fields, and one reading of the clock. */
export const literal: Floor = synchronous(
  "literal",
  "an object literal of a message's nine fields, the clock read once with `Date.now()`",
  (index) => ({
    id: index,
    pattern: "tell",
    to: "@(echo)",
    from: undefined,
    type: "say",
    payload: index,
    correlationId: undefined,
    timestamp: Date.now(),
    metadata: undefined,
  }),
);

/** The floor of an id that is unique across machines. */
export const uuid: Floor = synchronous("uuid", "`crypto.randomUUID()`", () => crypto.randomUUID());

/** The floor of an address: a template string of one variable part. */
export const concat: Floor = synchronous("concat", "a template string with one variable part", (i) => `@(${i & 15})`);

/** The floor of a stream: a loop over a bare generator, `length` items for each. */
const loop = (
  name: string,
  about: string,
  length: number,
  generate: (count: number) => AsyncIterable<number> | Iterable<number>,
): Floor => ({
  name,
  about,
  setup: (operations): Prepared => {
    let completed = 0;
    const run = async () => {
      for (let begun = 0; begun < operations; begun += length) {
        let next = 0;
        for await (const item of generate(length)) if (item === next++) completed++;
      }
    };
    return { run, completed: () => completed };
  },
});

/** One asynchronous generator for every `length` items. */
export const asyncGenerator = (length: number): Floor =>
  loop(
    `async generator of ${length}`,
    `\`for await\` over an asynchronous generator of ${length}`,
    length,
    async function* (count) {
      for (let i = 0; i < count; i++) yield i;
    },
  );

/** One synchronous generator for every `length` items. */
export const syncGenerator = (length: number): Floor =>
  loop(`generator of ${length}`, `\`for await\` over a synchronous generator of ${length}`, length, function* (count) {
    for (let i = 0; i < count; i++) yield i;
  });

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
