import { createSystem, type RefTo } from "envoi";
import { Completion } from "../harness/completion";
import { watchTimer } from "../harness/fairness";
import { growth, heapOfEach } from "../harness/heap";
import type { Readings } from "../harness/suite";
import { Echo, Sink } from "./echo";

// What the probes run in a process of its own.

/** Heap of an idle actor: spawned under a name, with a handler of its own. */
export const idleHeap = (count: number): Promise<Readings> =>
  heapOfEach(count, (many) => {
    const system = createSystem();
    for (let i = 0; i < many; i++) system.spawn(`idle-${i}`, Echo, () => ({ say: (payload) => payload }));
    return system;
  });

/** Two actors volley beside a timer. */
export const fairness = (milliseconds: number): Promise<Readings> =>
  watchTimer(milliseconds, async (isOver) => {
    const system = createSystem();
    let hops = 0;
    let finish = () => {};
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const ping: RefTo<typeof Sink> = system.spawn("ping", Sink, () => ({
      take(ball) {
        hops++;
        if (isOver()) finish();
        else pong.tell("take", ball);
      },
    }));
    const pong = system.spawn("pong", Sink, () => ({
      take(ball) {
        hops++;
        ping.tell("take", ball);
      },
    }));
    pong.tell("take", 1);
    await done;
    return hops;
  });

/** Memory of messages told to one actor, all of them handled. */
export const messageGrowth = (messages: number): Promise<Readings> => {
  const system = createSystem();
  const completion = new Completion();
  const sink = system.spawn("sink", Sink, () => ({
    take() {
      completion.arrive();
    },
  }));
  return growth(messages, async (count) => {
    const done = completion.expect(count);
    for (let i = 0; i < count; i++) sink.tell("take", i);
    await done;
  });
};
