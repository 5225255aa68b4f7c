import { createSystem, type RefTo } from "envoi";
import type { Readings } from "../harness/suite";
import { watchTimer } from "../harness/timer";
import { Sink } from "./echo";

// What the probe about fairness runs in a process of its own.

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
