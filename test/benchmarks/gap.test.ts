import { expect, test } from "bun:test";
import { GAP, gapBeside, WORST_GAP } from "../../benchmarks/harness/timer";

/** Keeps this thread at work for so long, in milliseconds of its processor. */
function work(milliseconds: number): void {
  const start = process.threadCpuUsage();
  for (let spent = 0; spent < milliseconds * 1_000; ) {
    const { user, system } = process.threadCpuUsage(start);
    spent = user + system;
  }
}

test("a gap is what the thread was at work between two ticks of the timer, and no more in pieces", async () => {
  let prepared = 0;
  const atOnce = await gapBeside(
    () => prepared++,
    async () => work(40),
  );
  expect(prepared).toBe(6); // Once to warm up.
  expect(atOnce[GAP]).toBeGreaterThanOrEqual(39);
  expect(atOnce[WORST_GAP]).toBeGreaterThanOrEqual(atOnce[GAP] ?? Number.POSITIVE_INFINITY);
  const inPieces = await gapBeside(
    () => {},
    async () => {
      for (let i = 0; i < 40; i++) {
        work(1);
        await new Promise(setImmediate);
      }
    },
  );
  expect(inPieces[GAP]).toBeLessThan(39);
});

test("work that was not done is no gap of 0", async () => {
  const failed = gapBeside(
    () => {},
    () => Promise.reject(new Error("not done")),
  );
  expect(await failed.catch((error) => error.message)).toBe("not done");
});
