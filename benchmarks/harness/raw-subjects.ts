import { allocationOfEach, growth, heapOfEach, type Work } from "./heap";
import { RawMailbox } from "./raw-mailbox";
import type { Readings } from "./suite";
import { watchTimer } from "./timer";

/** Heap of an idle raw mailbox: in a map by its name, with a handler of its own. */
export const idleHeap = (count: number): Promise<Readings> =>
  heapOfEach(count, (many) => {
    const directory = new Map<string, RawMailbox<number>>();
    for (let i = 0; i < many; i++) directory.set(`idle-${i}`, new RawMailbox((payload) => payload));
    return directory;
  });

/** Two raw mailboxes volley beside a timer. */
export const fairness = (milliseconds: number): Promise<Readings> =>
  watchTimer(milliseconds, async (isOver) => {
    let hops = 0;
    let finish = () => {};
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const ping: RawMailbox<number> = new RawMailbox((ball) => {
      hops++;
      if (isOver()) finish();
      else pong.tell(ball);
    });
    const pong: RawMailbox<number> = new RawMailbox((ball) => {
      hops++;
      ping.tell(ball);
    });
    pong.tell(1);
    await done;
    return hops;
  });

/** Memory of messages through one raw mailbox. */
export const messageGrowth = (messages: number): Promise<Readings> => growth(messages, told());

/** What a tell of a raw mailbox allocates. */
export const tellAllocation = (messages: number): Promise<Readings> => allocationOfEach(messages, told());

/** What an ask of a raw mailbox allocates, and the wait for its reply. */
export const askAllocation = (asks: number): Promise<Readings> => {
  const mailbox = new RawMailbox<number>((payload) => payload);
  return allocationOfEach(asks, async (count) => {
    for (let i = 0; i < count; i++) if ((await mailbox.ask(i)) !== i) throw new Error("a reply was wrong");
  });
};

/** Messages told to one raw mailbox, a hundred at once. */
function told(): Work {
  let handled = 0;
  const mailbox = new RawMailbox<number>(() => {
    handled++;
  });
  return async (count) => {
    const before = handled;
    for (let i = 1; i <= count; i++) {
      mailbox.tell(i);
      if (i % 100 === 0) await undefined;
    }
    await undefined;
    if (handled !== before + count) throw new Error(`${handled - before} of ${count} messages were handled`);
  };
}
