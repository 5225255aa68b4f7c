import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Clock } from "../../src/runtime/clock";
import { Timeout, TimerWheel } from "../../src/runtime/timer-wheel";
import { createManualClock } from "../../src/testing/manual-clock";
import { HandClock } from "../runtime/hand-clock";
import { runs } from "./runs";

const DAY = 86_400_000;

/** What the wheel is to be like: a list of timers that wait, with the time at which each is due. */
class Model {
  readonly wheel: TimerWheel;
  readonly waiting = new Map<Timeout, number>();
  readonly all: Timeout[] = [];
  readonly fired: { readonly due: number; readonly at: number }[] = [];
  readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
    this.wheel = new TimerWheel(clock);
  }

  add(delay: number): void {
    const timer = new Timeout(delay, () => {
      const due = this.waiting.get(timer);
      if (due === undefined) throw new Error("A timer fired that was removed, or had fired.");
      this.waiting.delete(timer);
      this.fired.push({ due, at: this.clock.monotonicTime() });
    });
    this.waiting.set(timer, this.clock.monotonicTime() + delay);
    this.all.push(timer);
    this.wheel.add(timer);
  }

  remove(index: number): void {
    const timer = this.all[index % this.all.length];
    if (timer === undefined) return;
    this.waiting.delete(timer);
    this.wheel.remove(timer);
  }

  check(): void {
    const now = this.clock.monotonicTime();
    expect(this.wheel.size).toBe(this.waiting.size);
    expect([...this.waiting.values()].filter((due) => due < now - 1)).toEqual([]);
    expect(this.fired.filter(({ due, at }) => at < due)).toEqual([]);
    // Timers that are due within the same tick, of 1 ms, may fire in any order.
    expect(this.fired.filter(({ due }, i) => due < (this.fired[i - 1]?.due ?? due) - 1)).toEqual([]);
  }
}

// Quarters of a millisecond are exact in binary: no rounding can hide a timer that is early by a hair.
const quarters = (milliseconds: number): fc.Arbitrary<number> =>
  fc.integer({ min: 0, max: milliseconds * 4 }).map((count) => count / 4);
const delay = fc.oneof(
  quarters(5).map((it) => it + 0.5),
  quarters(200),
  quarters(10_000),
  quarters(30 * DAY),
  // Around the edges of the wheel's levels.
  fc
    .tuple(fc.constantFrom(64, 64 ** 2, 64 ** 3, 64 ** 4, 64 ** 5), fc.integer({ min: -8, max: 8 }))
    .map(([edge, by]) => edge + by / 4),
);
type Command = readonly ["add" | "advance", number] | readonly ["remove", number] | readonly ["settle"];
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: delay.map((it) => ["add", it] as const) },
  { weight: 2, arbitrary: fc.nat(1_000).map((it) => ["remove", it] as const) },
  { weight: 2, arbitrary: delay.map((it) => ["advance", it] as const) },
  { weight: 1, arbitrary: fc.constant(["settle"] as const) },
);
const commands = fc.array(command, { maxLength: 60, size: "max" });

test("P15: on a clock that is on time, a timer fires once, in order, never early and at most 1 ms late", async () => {
  await fc.assert(
    fc.asyncProperty(quarters(1_000), commands, async (start, list) => {
      const clock = createManualClock();
      await clock.advance(start);
      const model = new Model(clock);
      for (const [name, value] of list) {
        if (name === "add") model.add(value);
        else if (name === "remove") model.remove(value);
        else if (name === "advance") await clock.advance(value);
        else await clock.settle();
        model.check();
        if (name === "settle") expect(clock.timers).toBe(model.waiting.size === 0 ? 0 : 1);
      }
      const added = model.all.length;
      const removed = added - model.fired.length - model.waiting.size;
      await clock.advance(70 * 365 * DAY);
      model.check();
      expect(model.fired.filter(({ due, at }) => at - due > 1)).toEqual([]);
      expect([model.fired.length, model.waiting.size, clock.timers]).toEqual([added - removed, 0, 0]);
    }),
    runs(150),
  );
});

test("P15: on a clock that leaps, and cuts long delays, a timer fires once, in order, at the end of the leap", () => {
  const cut = fc.constantFrom(50, 5_000, 2 ** 31 - 1, Number.POSITIVE_INFINITY);
  fc.assert(
    fc.property(quarters(1_000), cut, commands, (start, longestDelay, list) => {
      const clock = new HandClock(start, longestDelay);
      const model = new Model(clock);
      for (const [name, value] of list) {
        if (name === "add") model.add(value);
        else if (name === "remove") model.remove(value);
        else if (name === "advance") clock.leap(value);
        else clock.settle();
        model.check();
        if (name === "settle") expect(clock.alarms.size).toBe(model.waiting.size === 0 ? 0 : 1);
      }
      clock.leap(70 * 365 * DAY);
      model.check();
      expect([model.waiting.size, model.wheel.size, clock.alarms.size]).toEqual([0, 0, 0]);
    }),
    runs(300),
  );
});

test("what an expiry adds, removes or starts anew keeps to the same rules", () => {
  const deed = fc.record({ delay, does: fc.constantFrom("add", "remove", "restart"), index: fc.nat(20), next: delay });
  fc.assert(
    fc.property(
      fc.array(deed, { minLength: 1, maxLength: 20, size: "max" }),
      fc.array(quarters(DAY), { maxLength: 20, size: "max" }),
      (deeds, leaps) => {
        const clock = new HandClock();
        const wheel = new TimerWheel(clock);
        const due = new Map<Timeout, number>();
        const start = (timer: Timeout): void => {
          due.set(timer, clock.now + timer.delay);
          wheel.add(timer);
        };
        const stop = (timer: Timeout): void => {
          due.delete(timer);
          wheel.remove(timer);
        };
        let restarts = 40;
        const timers: Timeout[] = deeds.map(
          (deed, index) =>
            new Timeout(deed.delay, () => {
              fire(timers[index] as Timeout);
              const other = timers[deed.index % timers.length] as Timeout;
              if (deed.does === "add") {
                const added: Timeout = new Timeout(deed.next, () => fire(added));
                start(added);
              } else {
                stop(other);
                if (deed.does === "restart" && restarts-- > 0) start(other);
              }
            }),
        );
        const fire = (timer: Timeout): void => {
          expect(due.get(timer)).toBeLessThanOrEqual(clock.now); // Fails too for one that does not wait.
          due.delete(timer);
        };
        for (const timer of timers) start(timer);
        for (const leap of [...leaps, ...Array.from({ length: 100 }, () => 400 * DAY)]) {
          clock.leap(leap);
          expect(wheel.size).toBe(due.size);
          expect([...due.values()].filter((it) => it < clock.now - 1)).toEqual([]);
        }
        expect([due.size, clock.alarms.size]).toEqual([0, 0]);
      },
    ),
    runs(300),
  );
});
