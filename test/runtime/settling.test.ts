import { expect, test } from "bun:test";
import { FairDispatcher, type Runnable } from "../../src/runtime/dispatcher";
import { Settling } from "../../src/runtime/settling";
import { HandClock } from "./hand-clock";

/** One whose turn is over. */
function settlingLate() {
  const clock = new HandClock();
  const dispatcher = new FairDispatcher(clock, () => undefined);
  const settling = new Settling(dispatcher);
  const seen: number[] = [];
  const note = (n: number): void => void seen.push(n);
  settling.settle(note, 0);
  expect(seen).toEqual([0]); // At once, while the turn lasts.
  clock.now = 2;
  for (let n = 1; !clock.isIdle && seen.length === n; n++) settling.settle(note, n);
  seen.length = 0;
  return { clock, dispatcher, settling, seen, note };
}

test("P5: what comes behind a turn that is over settles in a macrotask, in order", () => {
  const { clock, settling, seen, note } = settlingLate();
  for (let n = 100; n < 200; n++) settling.settle(note, n);
  clock.runMicrotasks();
  expect(seen).toEqual([]);
  clock.settle();
  expect(seen.slice(-100)).toEqual(Array.from({ length: 100 }, (_, i) => 100 + i));
});

test("P5: nothing overtakes what waits to settle, also in the turn after", () => {
  const { clock, settling, seen, note } = settlingLate();
  settling.settle(() => {
    note(1);
    settling.settle(note, 3); // In the turn that settles them.
  }, 0);
  settling.settle(note, 2);
  clock.settle();
  expect(seen.slice(-3)).toEqual([1, 2, 3]);
});

test("P5: many that wait to settle let an actor in between", () => {
  const { clock, dispatcher, settling, seen, note } = settlingLate();
  for (let n = 0; n < 10_000; n++) settling.settle(note, n);
  let at = -1;
  const actor: Runnable = {
    nextReady: null,
    run() {
      at = seen.length;
      return 1;
    },
  };
  dispatcher.schedule(actor);
  clock.settle();
  expect(at).toBeWithin(0, 100);
  expect(seen.slice(-10_000)).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
});
