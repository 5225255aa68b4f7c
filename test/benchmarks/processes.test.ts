import { expect, test } from "bun:test";
import { inFreshProcess } from "../../benchmarks/harness/fresh-process";
import { canSeeProcesses, descendants, residentBytes } from "../../benchmarks/harness/processes";
import { GAP, gapBeside, WORST_GAP } from "../../benchmarks/harness/timer";

/** Keeps this thread at work for so long, in milliseconds of its processor. */
function work(milliseconds: number): void {
  const start = process.threadCpuUsage();
  for (let spent = 0; spent < milliseconds * 1_000; ) {
    const { user, system } = process.threadCpuUsage(start);
    spent = user + system;
  }
}

test.if(canSeeProcesses)(
  "processes that one started are found with theirs, and what they hold; and none once they ended",
  async () => {
    const inner = `Bun.spawn([process.execPath, "-e", "setInterval(() => {}, 1000)"]); setInterval(() => {}, 1000);`;
    const child = Bun.spawn([process.execPath, "-e", inner], { stdio: ["ignore", "ignore", "ignore"] });
    while (descendants(child.pid).length < 1) await new Promise((resolve) => setImmediate(resolve));
    const [grandchild = 0] = descendants(child.pid);
    expect(descendants(process.pid)).toContain(grandchild);
    expect(residentBytes(process.pid) / process.memoryUsage.rss()).toBeWithin(0.5, 2);
    for (const pid of [grandchild, child.pid]) process.kill(pid, "SIGKILL");
    await child.exited;
    expect(descendants(process.pid)).not.toContain(child.pid);
    expect(residentBytes(child.pid)).toBe(0);
  },
);

test("a subject in a process of its own gives what it read, and says in its own words that it failed", async () => {
  const memory = new URL("../../benchmarks/suites/memory.bench.ts", import.meta.url);
  expect((await inFreshProcess(memory, "rawIdleHeap", 1000))["bytes"]).toBeGreaterThan(0);
  await expect(inFreshProcess(memory, "nothing", 1)).rejects.toThrow("exports no function nothing");
});

test("a gap is what the thread was at work between two ticks of a timer; undone work is none", async () => {
  let prepared = 0;
  const atOnce = await gapBeside(
    () => prepared++,
    async () => work(40),
  );
  expect(prepared).toBe(6); // Once to warm up.
  expect(atOnce[GAP]).toBeGreaterThanOrEqual(39);
  expect(atOnce[WORST_GAP]).toBeGreaterThanOrEqual(atOnce[GAP] ?? Number.POSITIVE_INFINITY);
  const undone = gapBeside(
    () => {},
    () => Promise.reject(new Error("not done")),
  );
  expect(await undone.catch((error) => error.message)).toBe("not done");
});
