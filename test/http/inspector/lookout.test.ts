import { describe, expect, test } from "bun:test";
import { LiveView, wantedOf } from "../../../src/http/inspector/live";
import { Lookout } from "../../../src/http/inspector/lookout";
import { type Clock, createSystem } from "../../../src/index";
import { createManualClock } from "../../../src/testing/index";
import { named, spawnBoss } from "./service";

/** A clock on which each reading of the time takes a while, as a look at many actors does. */
function slow(reading: number) {
  const clock = createManualClock();
  let spent = 0;
  const own: Clock = {
    ...clock,
    monotonicTime() {
      spent += reading;
      return clock.monotonicTime() + spent;
    },
  };
  return { clock, own };
}

describe("The next look at the actors", () => {
  test.each([
    [0, 1_000],
    [1, 1_000],
    [10, 9_000], // Two slices and the end of the look: 30 ms.
  ])(
    "comes so much later that looks take a third of a percent of the time (a reading of the time takes %p ms)",
    async (reading, least) => {
      const { clock, own } = slow(reading);
      const system = createSystem({ clock: own });
      spawnBoss(system, "pool", named("worker", 700));
      await clock.settle();
      const lookout = new Lookout(system, 1_000, 10);
      const leave = lookout.watch();
      await clock.settle();
      for (const looks of [2, 3]) {
        await clock.advance(1_000); // The first looks are not counted.
        expect(lookout.looks).toBe(looks);
      }
      await clock.advance(least - 1);
      const looked = lookout.looks;
      await clock.advance(1);
      expect([looked, lookout.looks]).toEqual([3, 4]);
      leave();
      expect(clock.timers).toBe(0);
    },
  );

  test("does not come once all have left, and begins anew with the next who comes", async () => {
    const clock = createManualClock();
    const system = createSystem({ clock });
    spawnBoss(system, "pool", named("worker", 1_200)); // Some turns of the event loop.
    await clock.settle();
    const lookout = new Lookout(system, 1_000, 10);
    const [one, two] = [lookout.watch(), lookout.watch()];
    one();
    one(); // Twice is once.
    expect(lookout.watchers).toBe(1);
    two();
    await clock.advance(10_000);
    expect([lookout.looks, lookout.isLooking, lookout.census]).toEqual([0, false, null]);
    const three = lookout.watch();
    await clock.settle();
    expect([lookout.looks, lookout.totals.actors, lookout.period]).toEqual([1, 1_201, 0]);
    await clock.advance(1_000);
    expect([lookout.looks, lookout.period]).toEqual([2, 1_000]);
    three();
    expect(clock.timers).toBe(0);
  });
});

test("A page that comes in the midst of a look sees nothing until all actors were seen", async () => {
  const clock = createManualClock();
  const held: (() => void)[] = [];
  let isHeld = false;
  const own: Clock = { ...clock, macrotask: (run) => (isHeld ? void held.push(run) : clock.macrotask(run)) };
  const system = createSystem({ clock: own });
  spawnBoss(system, "pool", named("worker", 1_200));
  await clock.settle();
  const lookout = new Lookout(system, 1_000, 10);
  const leave = lookout.watch();
  await clock.settle();
  isHeld = true;
  await clock.advance(1_000);
  expect([lookout.looks, lookout.isLooking]).toEqual([1, true]);
  const wanted = wantedOf("");
  if (typeof wanted === "string") throw new Error(wanted);
  const view = new LiveView({ name: "shop", version: "1.0.0", clock }, lookout, wanted);
  expect([view.last, view.read(0)]).toEqual([0, []]);
  const changed = view.changed(0, new AbortController().signal);
  for (let run = held.shift(); run !== undefined; run = held.shift()) run();
  await changed;
  expect(JSON.parse(view.read(0)[0]?.data ?? "")).toMatchObject({ look: 2, totals: { actors: 1_201 } });
  leave();
});

test("P5: those who look get their frames one by one, each in a turn of the event loop, and then the next look is due", async () => {
  const clock = createManualClock();
  const held: (() => void)[] = [];
  let isHeld = false;
  const own: Clock = { ...clock, macrotask: (run) => (isHeld ? void held.push(run) : clock.macrotask(run)) };
  const lookout = new Lookout(createSystem({ clock: own }), 1_000, 10);
  const leave = lookout.watch();
  await clock.settle();
  const woken: number[] = [];
  for (const page of [1, 2, 3]) void lookout.changed(new AbortController().signal).then(() => woken.push(page));
  isHeld = true;
  await clock.advance(1_000);
  expect(woken).toEqual([1]);
  for (const all of [
    [1, 2],
    [1, 2, 3],
  ]) {
    expect(clock.timers).toBe(0);
    held.shift()?.();
    await clock.settle();
    expect(woken).toEqual(all);
  }
  held.shift()?.();
  expect([clock.timers, held.length]).toEqual([1, 0]);
  leave();
});
