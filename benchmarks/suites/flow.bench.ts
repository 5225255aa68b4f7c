import { createSystem, createTopic, type PoolOptions, spawnPool } from "envoi";
import { rawFanOut } from "../harness/floors";
import { RawMailbox } from "../harness/raw-mailbox";
import { counted, type Most, suiteOf, timed } from "../harness/rows";
import { Completion, type Floor, type Prepared } from "../harness/suite";
import { asks, batchesIn, Echo, Sink } from "../subjects/echo";

/** So many senders, each of which awaits the offer before; an operation is a message handled. */
function offered(
  operations: number,
  senders: number,
  open: (arrive: () => boolean) => (payload: number) => Promise<void>,
  teardown?: () => unknown,
): Prepared {
  const completion = new Completion();
  const offer = open(completion.arrive);
  const send = async () => {
    for (let i = 0; i < operations / senders; i++) await offer(i);
  };
  const run = async () => {
    const done = completion.expect(operations);
    await Promise.all(Array.from({ length: senders }, send));
    await done;
  };
  return { run, completed: completion.completed, ...(teardown && { teardown }) };
}

function offers(operations: number, capacity: number, senders: number): Prepared {
  const system = createSystem();
  const open = (arrive: () => boolean) => {
    const take = () => void arrive();
    const sink = system.spawn("sink", Sink, () => ({ take }), { capacity, overflow: "wait" });
    return async (payload: number) => {
      const offered = await sink.offer("take", payload);
      if (offered.isErr()) throw new Error(offered.error.message);
    };
  };
  return offered(operations, senders, open, () => system.shutdown());
}

const rawOffers = (capacity: number, senders: number): Floor => ({
  name: `raw offer, ${senders} senders`,
  about: `an array of at most ${capacity}, drained in a microtask; ${senders} senders, each of which awaits a promise while it is full`,
  setup: (operations) =>
    offered(operations, senders, (arrive) => {
      const queue: number[] = [];
      const waiting: (() => void)[] = [];
      let isScheduled = false;
      const drain = () => {
        isScheduled = false;
        while (queue.length > 0) {
          queue.shift();
          arrive();
          waiting.shift()?.();
        }
      };
      return async (payload) => {
        while (queue.length >= capacity) await new Promise<void>((resolve) => waiting.push(resolve));
        queue.push(payload);
        if (isScheduled) return;
        isScheduled = true;
        queueMicrotask(drain);
      };
    }),
});

const topic = (operations: number, width: number): Prepared =>
  batchesIn(operations, width, (arrive, system) => {
    const take = () => void arrive();
    const news = createTopic<number>("news");
    for (let i = 0; i < width; i++) {
      const reader = system.spawn(`reader-${i}`, Sink, () => ({ take }));
      news.subscribe(reader, "take");
    }
    return (first) => void news.publish(first);
  });

function pool(operations: number, width: number, options: PoolOptions): Prepared {
  const system = createSystem();
  const echo = spawnPool(system, "echo", Echo, () => ({ say: (payload) => payload }), options);
  return asks(operations, width, system, echo);
}

const workersOf = (size: number) => Array.from({ length: size }, () => new RawMailbox<number>((payload) => payload));

const rawPool = (size: number, width: number): Floor => ({
  name: `raw pool of ${size}, ${width} in flight`,
  about: `${size} bare mailboxes in an array, ${width} asks in turn, awaited with \`Promise.all\`, then the next ${width}`,
  setup(operations) {
    const workers = workersOf(size);
    let turn = 0;
    return counted(async () => {
      let done = 0;
      for (let sent = 0; sent < operations; sent += width) {
        const replies: (Promise<unknown> | undefined)[] = [];
        for (let i = 0; i < width; i++) replies.push(workers[turn++ % size]?.ask(i));
        const values = await Promise.all(replies);
        for (let i = 0; i < width; i++) if (values[i] === i) done++;
      }
      return done;
    });
  },
});

const OFFER: Most = [4.6, 2, "an offer has a deadline, an order among those that wait, and an answer of its own"];
const TOPIC = "a delivery is a tell, and publishing needs no mailbox of its own";
const POOL = "a pool is looked through, not hopped over: an ask and a choice";
const key = (_operation: string, payload: unknown) => Number(payload) % 16;

type Routing = NonNullable<PoolOptions["routing"]>;

/** Asks through four workers, 100 in flight. */
const pooled = (routing: Routing, most: number, aim: number, options: Pick<PoolOptions, "key"> = {}) =>
  timed(
    `pool: ${routing}, 100 asks in flight`,
    rawPool(4, 100),
    (operations) => pool(operations, 100, { size: 4, routing, ...options }),
    [most, aim, POOL],
  );

export const suite = suiteOf("flow", "Warm: senders that wait for room, topics, and pools of four workers.", [
  timed("offer: 8 senders wait for room among 16, a message", rawOffers(16, 8), (all) => offers(all, 16, 8), OFFER),
  timed("topic: an item to 10 subscribers, each", rawFanOut(10), (all) => topic(all, 10), [1.8, 1, TOPIC]),
  timed("topic: an item to 100 subscribers, each", rawFanOut(100), (all) => topic(all, 100), [2, 1, TOPIC]),
  timed("topic: an item to 1,000 subscribers, each", rawFanOut(1000), (all) => topic(all, 1000), [2, 1, TOPIC]),
  pooled("round-robin", 2.5, 1.8),
  pooled("least-busy", 3.9, 2),
  pooled("consistent-hash", 4.7, 2.5, { key }),
]);
