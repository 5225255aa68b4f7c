import { createSystem } from "envoi";
import { allocationOfEach, slopes } from "../../../benchmarks/harness/heap";
import { type Charted, Completion, type Readings } from "../../../benchmarks/harness/suite";
import { Sink } from "../../../benchmarks/subjects/echo";

// What the tests of memory run in a process of its own.

const MESSAGES = 500_000;

/** An actor that keeps an empty object of one message in so many. */
export const keepsOneIn = (share: number): Promise<Charted> => {
  const system = createSystem();
  const completion = new Completion();
  const kept = new Map<number, object>();
  let taken = 0;
  const sink = system.spawn("sink", Sink, () => ({
    take() {
      if (++taken % share === 0) kept.set(taken, {});
      completion.arrive();
    },
  }));
  return slopes("messages", MESSAGES, async (count) => {
    const done = completion.expect(count);
    for (let i = 0; i < count; i++) sink.tell("take", i);
    await done;
  });
};

let last: object | undefined;

/** Objects of four numbers each, which take 48 bytes: a head of 16, and 8 for each number. */
export const objects = (each: number): Promise<Readings> =>
  allocationOfEach(100_000, async (count) => {
    for (let i = 0; i < count * each; i++) last = { a: i, b: 2, c: 3, d: 4 };
    if (last === undefined) throw new Error("nothing was made");
  });
