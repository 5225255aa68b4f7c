import { do_not_optimize } from "mitata";
import type { Floor, Prepared } from "./suite";

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
