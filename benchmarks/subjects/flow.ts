import { createSystem, createTopic, type PoolOptions, spawnPool } from "envoi";
import { Completion, type Prepared } from "../harness/suite";
import { prepareAsks } from "./asks";
import { Echo, Sink } from "./echo";

/** Senders that offer to one actor with a bounded mailbox, which is mostly full; an operation is a message handled. */
export function offers(operations: number, capacity: number, senders: number): Prepared {
  const system = createSystem();
  const completion = new Completion();
  const take = () => {
    completion.arrive();
  };
  const sink = system.spawn("sink", Sink, () => ({ take }), { capacity, overflow: "wait" });
  const send = async () => {
    for (let i = 0; i < operations / senders; i++) {
      const offered = await sink.offer("take", i);
      if (offered.isErr()) throw new Error(offered.error.message);
    }
  };
  const run = async () => {
    const done = completion.expect(operations);
    await Promise.all(Array.from({ length: senders }, send));
    await done;
  };
  return { run, completed: completion.completed, teardown: () => system.shutdown() };
}

/** A topic with `width` subscribers; an operation is an item that one of them handled. */
export function topic(operations: number, width: number): Prepared {
  const system = createSystem();
  const completion = new Completion();
  const take = () => {
    completion.arrive();
  };
  const news = createTopic<number>("news");
  for (let i = 0; i < width; i++)
    news.subscribe(
      system.spawn(`reader-${i}`, Sink, () => ({ take })),
      "take",
    );
  const run = async () => {
    for (let sent = 0; sent < operations; sent += width) {
      const done = completion.expect(width);
      news.publish(sent);
      await done;
    }
  };
  return { run, completed: completion.completed, teardown: () => system.shutdown() };
}

/** Asks through a pool, `width` in flight; an operation is one of them. */
export function pool(operations: number, width: number, options: PoolOptions): Prepared {
  const system = createSystem();
  const echo = spawnPool(system, "echo", Echo, () => ({ say: (payload) => payload }), options);
  const ask = (index: number) => echo.ask("say", index);
  return prepareAsks({ operations, width, ask, reply: (index) => index, teardown: () => system.shutdown() });
}
