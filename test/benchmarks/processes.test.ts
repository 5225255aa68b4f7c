import { expect, test } from "bun:test";
import { canSeeProcesses, descendants, processorTime, residentBytes } from "../../benchmarks/harness/processes";

test.if(canSeeProcesses)(
  "processes that one started are found, and those that they started; and none once they ended",
  async () => {
    const inner = `Bun.spawn([process.execPath, "-e", "setInterval(() => {}, 1000)"]); setInterval(() => {}, 1000);`;
    const child = Bun.spawn([process.execPath, "-e", inner], { stdio: ["ignore", "ignore", "ignore"] });
    let found: number[] = [];
    while (found.length < 2) {
      await new Promise((resolve) => setImmediate(resolve));
      found = descendants(child.pid).concat(child.pid);
    }
    const [grandchild = 0] = descendants(child.pid);
    expect(descendants(process.pid)).toContain(grandchild);
    expect(residentBytes(process.pid)).toBeGreaterThan(1_000_000);
    for (const pid of [grandchild, child.pid]) process.kill(pid, "SIGKILL");
    await child.exited;
    expect(descendants(process.pid)).not.toContain(child.pid);
    expect(residentBytes(child.pid)).toBe(0);
  },
);

test.if(canSeeProcesses)("the time that a process used is that of its work", () => {
  const before = processorTime(process.pid);
  const start = process.cpuUsage();
  let sum = 0;
  while (process.cpuUsage(start).user < 80_000) for (let i = 0; i < 1e6; i++) sum += i;
  const { user, system } = process.cpuUsage(start);
  const used = processorTime(process.pid) - before;
  expect(sum).toBeGreaterThan(0);
  expect(Math.abs(used - (user + system) / 1_000)).toBeLessThan(40); // The kernel counts in steps of 10 ms, for each of the two.
  expect(processorTime(2 ** 30)).toBe(0);
});
