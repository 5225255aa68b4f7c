import { Completion } from "./completion";
import { RawMailbox } from "./raw-mailbox";
import type { Floor } from "./suite";

// What bounds and pools come down to, by hand.

/** A queue with a bound, and senders that wait for room in it. */
export const rawOffers = (capacity: number, senders: number): Floor => ({
  name: `raw offer, ${senders} senders`,
  about: `an array of at most ${capacity}, drained in a microtask; ${senders} senders, each of which awaits a promise while it is full`,
  setup(operations) {
    const completion = new Completion();
    const queue: number[] = [];
    const waiting: (() => void)[] = [];
    let isScheduled = false;
    const drain = () => {
      isScheduled = false;
      while (queue.length > 0) {
        queue.shift();
        completion.arrive();
        waiting.shift()?.();
      }
    };
    const offer = async (payload: number) => {
      while (queue.length >= capacity) await new Promise<void>((resolve) => waiting.push(resolve));
      queue.push(payload);
      if (isScheduled) return;
      isScheduled = true;
      queueMicrotask(drain);
    };
    const send = async () => {
      for (let i = 0; i < operations / senders; i++) await offer(i);
    };
    const run = async () => {
      const done = completion.expect(operations);
      await Promise.all(Array.from({ length: senders }, send));
      await done;
    };
    return { run, completed: completion.completed };
  },
});

/** Asks spread over several raw mailboxes in turn, `width` in flight. */
export const rawPool = (size: number, width: number): Floor => ({
  name: `raw pool of ${size}, ${width} in flight`,
  about: `${size} bare mailboxes in an array, ${width} asks in turn, awaited with \`Promise.all\`, then the next ${width}`,
  setup(operations) {
    const workers = Array.from({ length: size }, () => new RawMailbox<number>((payload) => payload));
    let completed = 0;
    let turn = 0;
    const run = async () => {
      for (let sent = 0; sent < operations; sent += width) {
        const replies: (Promise<unknown> | undefined)[] = [];
        for (let i = 0; i < width; i++) replies.push(workers[turn++ % size]?.ask(i));
        const values = await Promise.all(replies);
        for (let i = 0; i < width; i++) if (values[i] === i) completed++;
      }
    };
    return { run, completed: () => completed };
  },
});

/** An ask of each of several raw mailboxes, until the first has answered, or until all have. */
export const rawAskAll = (size: number, isFirstEnough: boolean): Floor => ({
  name: isFirstEnough ? `raw first answer of ${size}` : `raw broadcast to ${size}`,
  about: `${size} bare mailboxes, each asked, awaited with \`Promise.${isFirstEnough ? "any" : "all"}\`, one after the other`,
  setup(operations) {
    const workers = Array.from({ length: size }, () => new RawMailbox<number>((payload) => payload));
    let completed = 0;
    const run = async () => {
      for (let i = 0; i < operations; i++) {
        const replies = workers.map((worker) => worker.ask(i));
        const reply = isFirstEnough ? await Promise.any(replies) : (await Promise.all(replies))[0];
        if (reply === i) completed++;
      }
    };
    return { run, completed: () => completed };
  },
});
