import { watchTimer } from "./fairness";
import { growth, heapOfEach } from "./heap";
import { RawMailbox } from "./raw-mailbox";
import type { Readings } from "./suite";

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
export const messageGrowth = (messages: number): Promise<Readings> => {
  let handled = 0;
  const mailbox = new RawMailbox<number>(() => {
    handled++;
  });
  return growth(messages, async (count) => {
    const before = handled;
    for (let i = 0; i < count; i++) mailbox.tell(i);
    await mailbox.ask(0);
    if (handled !== before + count + 1) throw new Error(`${handled - before - 1} of ${count} messages were handled`);
  });
};
