import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { descendants, residentBytes } from "../../../benchmarks/harness/processes";
import { type Load, type LoadOptions, startLoad } from "../../../benchmarks/stress/load";
import { overload } from "../../../benchmarks/stress/overload";
import { judge } from "../../../benchmarks/stress/steps";

const NARROW = new URL("subjects/narrow.ts", import.meta.url);
const TIMEOUT = 60_000;

let load: Load | undefined;
afterEach(async () => {
  await load?.stop();
  load = undefined;
});

async function start(options: Partial<LoadOptions> = {}): Promise<Load> {
  load = await startLoad({ rate: 0, mix: { take: 1 }, subject: NARROW, ...options });
  return load;
}

// A place of its own for what loads keep, since other tests keep theirs at the same time.
const TMPDIR = process.env["TMPDIR"];
beforeAll(() => {
  process.env["TMPDIR"] = mkdtempSync(join(tmpdir(), "envoi-load-"));
});
afterAll(() => {
  rmSync(tmpdir(), { recursive: true });
  if (TMPDIR === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = TMPDIR;
});

test(
  "a window has the requests that were due in it, each answered by the process under load",
  async () => {
    const { window, look } = await start({ rate: 100, arrivals: "constant", patience: 20_000 });
    const { all, operations, milliseconds } = await window(1_000);
    // One more or less where it begins and ends, and what a busy machine adds at its end.
    expect(all.due).toBeGreaterThanOrEqual(99);
    expect(all.due).toBeLessThanOrEqual(Math.ceil(milliseconds / 10) + 1);
    expect(all.ok + (all.errors["mailbox-full"] ?? 0) + (all.errors["timeout"] ?? 0)).toBe(all.due);
    expect(all.latency.count).toBe(all.due);
    expect(operations["take"]).toEqual(all);
    expect(all.latency.p50).toBeGreaterThan(2);
    expect((await look()).audit.accepted).toBeGreaterThanOrEqual(all.ok);
  },
  TIMEOUT,
);

test(
  "what is answered wrongly, thrown or unknown is told as that, and is not work done",
  async () => {
    const { window, change, rest } = await start();
    const errorsOf = async (operation: string) => {
      await change({ rate: 200, mix: { [operation]: 1 } });
      const { all } = await window(200);
      await rest();
      expect(all.ok).toBe(0);
      return Object.keys(all.errors).map((kind) => kind.replace(/\d+/, "N"));
    };
    expect(await errorsOf("lie")).toEqual(["wrong"]);
    expect(new Set(await errorsOf("fall"))).toEqual(new Set(["thrown: Error: fell at N"]));
    expect(await errorsOf("fly")).toEqual(["unknown-operation"]);
  },
  TIMEOUT,
);

test(
  "a generator that is held up says so, and its requests count from when they were due",
  async () => {
    const before = descendants(process.pid);
    const { pid, window } = await start({ rate: 500, mix: { bare: 1 } });
    const generator = descendants(process.pid).find((each) => each !== pid && !before.includes(each)) ?? 0;
    const seeing = window(1_000);
    await Bun.sleep(300);
    process.kill(generator, "SIGSTOP");
    await Bun.sleep(300);
    process.kill(generator, "SIGCONT");
    const seen = await seeing;
    expect(seen.generator.lag).toBeGreaterThan(200);
    expect(seen.all.latency.p95).toBeGreaterThan(200);
    expect(judge(seen)).toMatchObject({ kind: "void" });
  },
  TIMEOUT,
);

// Six seconds of it; what it complains of is tested beside.
test.if(process.env["ENVOI_LONG"] !== undefined)(
  "past the break a bounded mailbox refuses, and after it the figures return to where they were",
  async () => {
    const { before, during, after, recovery, audit, failed } = await overload(await start(), {
      held: 200,
      broke: 1_000,
      window: 1_000,
    });
    for (const { all } of during) expect(all.errors["mailbox-full"]).toBeGreaterThan(all.due / 10);
    expect(recovery).toBeGreaterThan(0);
    expect(before.rate).toBe(after.rate);
    expect(audit.accepted).toBe(audit.handled + audit.failed + audit.dead);
    expect(audit.dead).toBeGreaterThan(100);
    // A stretch was as before, or there were no recovery; in the longer window after it, a busy machine may falter.
    expect(failed.filter((sentence) => !sentence.startsWith("After the load fell"))).toEqual([]);
  },
  TIMEOUT,
);

test(
  "commands reach the process under load, and what it says of one that there is not",
  async () => {
    const { command, pid } = await start();
    expect(pid).not.toBe(process.pid);
    expect([await command("add", 3), await command("add", 4)]).toEqual([3, 7]);
    await expect(command("fly")).rejects.toThrow("There is no command fly.");
  },
  TIMEOUT,
);

describe("nothing is left:", () => {
  const expectNothing = (before: readonly number[]) => {
    expect(descendants(process.pid).filter((pid) => !before.includes(pid))).toEqual([]);
    expect(readdirSync(tmpdir())).toEqual([]);
  };

  test(
    "after a stop in the middle of a window, which rejects",
    async () => {
      const before = descendants(process.pid);
      const { window, stop } = await start({ rate: 100 });
      const seen = window(60_000).catch((error: Error) => error.message);
      await stop();
      expect(await seen).toContain("ended");
      expectNothing(before);
    },
    TIMEOUT,
  );

  test(
    "after an abort",
    async () => {
      const before = descendants(process.pid);
      const aborting = new AbortController();
      const { stop, window } = await start({ rate: 100, signal: aborting.signal });
      const seen = window(60_000).catch((error: Error) => error.message);
      aborting.abort();
      expect(await seen).toContain("ended");
      await stop();
      expectNothing(before);
    },
    TIMEOUT,
  );

  test(
    "when what should be under load cannot be opened, which is told in its words",
    async () => {
      const before = descendants(process.pid);
      const subject = new URL("subjects/broken.ts", import.meta.url);
      await expect(startLoad({ rate: 0, mix: { ask: 1 }, subject })).rejects.toThrow("the disk is full of bees");
      expectNothing(before);
    },
    TIMEOUT,
  );

  test(
    "when the process that began it is killed",
    async () => {
      const parent = Bun.spawn([process.execPath, join(import.meta.dir, "orphan.ts")], { stdout: "pipe" });
      const reader = parent.stdout.getReader();
      const pids: number[] = JSON.parse(new TextDecoder().decode((await reader.read()).value));
      expect(pids).toHaveLength(2);
      parent.kill("SIGKILL");
      await parent.exited;
      while (pids.some((pid) => residentBytes(pid) > 0)) await Bun.sleep(10); // Until the test's own time is over.
      expectNothing(descendants(process.pid));
    },
    TIMEOUT,
  );
});
