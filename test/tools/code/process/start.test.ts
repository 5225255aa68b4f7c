import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { until } from "../sandbox/kit";
import { isOffered, processes, workers } from "./kit";

describe.if(isOffered)("Process: where the kernel cannot hold it", () => {
  for (const [what, number, sentence] of [
    ["Landlock", 444, "landlock"],
    ["a filter of system calls", 317, "seccomp"],
    ["its capabilities given up", 126, "no-capabilities"],
  ] as const) {
    test(`without ${what}, nothing runs, and each run is told what it needs`, async () => {
      const host = Bun.spawn([process.execPath, join(import.meta.dir, "programs/without.ts"), String(number)], {
        stdout: "pipe",
      });
      const ended = JSON.parse(await host.stdout.text()) as { kind: string; message: string }[];
      expect(ended.map(({ kind }) => kind)).toEqual(["unavailable", "unavailable"]);
      expect(ended[0]?.message).toContain("Linux 5.13");
      expect(ended[0]?.message).toContain(sentence);
    });
  }

  test("a call that it does not need, code runs", async () => {
    const host = Bun.spawn([process.execPath, join(import.meta.dir, "programs/without.ts"), "169"], { stdout: "pipe" });
    expect(JSON.parse(await host.stdout.text())).toMatchObject([{ value: "1" }, { value: "1" }]);
  });
});

describe.if(isOffered)("Process: the processes of a tier", () => {
  test("are ended after their run, and none is left when it is disposed of", async () => {
    const { tier, run } = processes({ size: 2 });
    const pids = new Set<number>();
    for (let i = 0; i < 4; i++) {
      const ended = await run("return (await import('node:process')).pid");
      pids.add(ended.kind === "value" ? Number(ended.value) : 0);
    }
    expect(pids.size).toBe(4);
    await until(() => tier.inspect().idle === 2 && [...pids].every((pid) => !isThere(pid)));
    const idle = workers();
    await tier.dispose();
    expect(tier.inspect()).toEqual({ processes: 0, idle: 0, running: 0, waiting: 0 });
    expect(workers().filter((pid) => idle.includes(pid))).toEqual([]);
  });

  test("give each of 100 runs at once its own value and logs", async () => {
    const { tier, run } = processes({ size: 4 });
    const runs = Array.from({ length: 100 }, (_, i) =>
      run("console.log(input); await 1; return input", { input: String(i) }),
    );
    for (const [i, ended] of (await Promise.all(runs)).entries()) {
      expect(ended).toMatchObject({ kind: "value", value: String(i), logs: [{ text: String(i) }] });
    }
    await tier.dispose();
  });

  test("end when their host is killed", async () => {
    const program = join(import.meta.dir, "programs/busy.ts");
    const host = Bun.spawn([process.execPath, program], { stdout: "pipe" });
    const { value = new Uint8Array() } = await host.stdout.getReader().read();
    const pids = JSON.parse(Buffer.from(value).toString()) as number[];
    expect(pids).toHaveLength(2);
    host.kill("SIGKILL");
    await host.exited;
    await until(() => pids.every((pid) => !isThere(pid)));
  });
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
