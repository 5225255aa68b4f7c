import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { runs } from "../property/runs";
import { chaos } from "./chaos-tree";

const MESSAGES = 100_000;

/** What is alive after a forced collection. */
function live(): { readonly objects: number; readonly bytes: number } {
  Bun.gc(true);
  const { objectCount, heapSize } = heapStats();
  return { objects: objectCount, bytes: heapSize };
}

test("a minute of chaos among 1,000 actors: nothing is unaccounted for, no ask hangs, no timer is left, and no memory", async () => {
  await chaos(MESSAGES, 0); // What is made once, is made here: shapes, code, the names of 1,000 addresses.
  const before = live();
  for (let seed = 1; seed <= runs(2, 60).numRuns; seed++) {
    const { actors, accepted, asks, replies, errors, crashes, stops, restarts, ...bad } = await chaos(MESSAGES, seed);
    expect({ seed, ...bad }).toEqual({ seed, notOnce: 0, unbalanced: 0, left: 0, unfinished: [], timers: 0 });
    expect(actors).toBe(1_000);
    expect(accepted).toBeGreaterThan(MESSAGES);
    expect(replies + Object.values(errors).reduce((sum, count) => sum + count, 0)).toBe(asks);
    expect(replies).toBeGreaterThan(asks * 0.9); // It lives on: a supervisor, or who watches, mends each of these.
    for (const kind of ["handler-failed", "stopped", "timeout"] as const) expect(errors[kind]).toBeGreaterThan(50);
    expect(crashes).toBeGreaterThan(1_000);
    expect(stops).toBeGreaterThan(400);
    expect(restarts).toBeGreaterThan(crashes);
  }
  // One object kept for each actor that there was would be 5,000 a run or more. What grows instead is the engine's own:
  // compiled code and shapes, 5 kB a run.
  const after = live();
  expect(after.objects - before.objects).toBeLessThan(1_000);
  expect(after.bytes - before.bytes).toBeLessThan(1_000_000);
}, 120_000);
