import { do_not_optimize } from "mitata";
import { RawMailbox } from "./raw-mailbox";
import { batches, counted } from "./rows";
import type { Floor } from "./suite";

// Floors that several suites have; one of a single row stands beside it.

export const making = (name: string, about: string, make: (index: number) => unknown): Floor => ({
  name,
  about,
  setup(operations) {
    let completed = 0;
    const run = () => {
      for (let i = 0; i < operations; i++) do_not_optimize(make(completed++));
    };
    return { run, completed: () => completed };
  },
});

/** The floor of a message: an object literal of the same nine fields, and one reading of the clock. */
export const literal = making(
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

export const bare = (name: string, about: string, setup: Floor["setup"]): Floor => ({
  name,
  about: `the bare mailbox: ${about}`,
  setup,
});

const inBatches = (operations: number, width: number) =>
  batches(operations, width, (arrive) => {
    const mailbox = new RawMailbox<number>(arrive);
    return () => {
      for (let i = 0; i < width; i++) mailbox.tell(i);
    };
  });

export const rawTell = bare("raw tell", "all tells at once, until the last is handled", (operations) =>
  inBatches(operations, operations),
);

export const rawTells = (width: number): Floor =>
  bare(
    `raw tell, ${width} at once`,
    `${width} tells, until the last is handled, then the next ${width}`,
    (operations) => inBatches(operations, width),
  );

export const rawAsk = bare("raw ask", "asks, each awaited before the next", (operations) => {
  const mailbox = new RawMailbox<number>((payload) => payload);
  return counted(async () => {
    let done = 0;
    for (let i = 0; i < operations; i++) if ((await mailbox.ask(i)) === i) done++;
    return done;
  });
});

export const rawAsks = (width: number): Floor =>
  bare(
    `raw ask, ${width} in flight`,
    `${width} asks at once, awaited with \`Promise.all\`, then the next ${width}`,
    (operations) => {
      const mailbox = new RawMailbox<number>((payload) => payload);
      return counted(async () => {
        let done = 0;
        for (let sent = 0; sent < operations; sent += width) {
          const replies: Promise<unknown>[] = [];
          for (let i = 0; i < width; i++) replies.push(mailbox.ask(i));
          const values = await Promise.all(replies);
          for (let i = 0; i < width; i++) if (values[i] === i) done++;
        }
        return done;
      });
    },
  );

export const rawFanOut = (width: number): Floor =>
  bare(`raw fan-out to ${width}`, `one tells ${width} others, until the last has handled it`, (operations) =>
    batches(operations, width, (arrive) => {
      const leaves = Array.from({ length: width }, () => new RawMailbox<number>(arrive));
      const root = new RawMailbox<number>((payload) => {
        for (const leaf of leaves) leaf.tell(payload);
      });
      return (sent) => root.tell(sent);
    }),
  );
