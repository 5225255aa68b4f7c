import { expect, test } from "bun:test";
import fc from "fast-check";
import { FairDispatcher, type Runnable } from "../../src/runtime/dispatcher";
import { HandClock } from "../runtime/hand-clock";
import { runs } from "./runs";

const MOST = 32;

test("P5: whatever the actors have to do, each is served, no turn is long, and nobody's row is over 32", () => {
  // Exact in binary.
  const cost = fc.constantFrom(0, 1 / 1024, 1 / 64, 1 / 8, 1 / 2);
  const actors = fc.array(fc.record({ messages: fc.integer({ min: 1, max: 300 }), cost }), {
    minLength: 1,
    maxLength: 8,
    size: "max",
  });
  fc.assert(
    fc.property(actors, (list) => {
      const clock = new HandClock();
      const dispatcher = new FairDispatcher(clock, () => undefined);
      const handled: number[] = [];
      const left = list.map(({ messages }) => messages);
      list.forEach((actor, index) => {
        const runnable: Runnable = {
          nextReady: null,
          run(limit) {
            expect(limit).toBeGreaterThanOrEqual(1);
            expect(limit).toBeLessThanOrEqual(MOST);
            const count = Math.min(limit, left[index] ?? 0);
            left[index] = (left[index] ?? 0) - count;
            clock.now += actor.cost * count;
            for (let i = 0; i < count; i++) handled.push(index);
            if ((left[index] ?? 0) > 0) dispatcher.schedule(runnable);
            return count;
          },
        };
        dispatcher.schedule(runnable);
      });
      // Between two looks at the clock, 32 messages of the slowest at most.
      const slowest = Math.max(...list.map((actor) => actor.cost));
      clock.runMicrotasks();
      while (!clock.isIdle) {
        const start = clock.now;
        clock.turn();
        expect(clock.now - start).toBeLessThanOrEqual(1 + MOST * slowest);
      }
      expect(left.every((it) => it === 0)).toBe(true);
      const remaining = list.map(({ messages }) => messages);
      let row = 0;
      handled.forEach((index, i) => {
        remaining[index] = (remaining[index] ?? 0) - 1;
        row = index === handled[i - 1] ? row + 1 : 1;
        const othersWait = remaining.some((it, other) => other !== index && it > 0);
        if (othersWait) expect(row).toBeLessThanOrEqual(MOST);
      });
      expect(remaining.every((it) => it === 0)).toBe(true);
    }),
    runs(200),
  );
});
