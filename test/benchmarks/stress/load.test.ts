import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { residentBytes } from "../../../benchmarks/harness/processes";
import { FAULTS, measureFault } from "../../../benchmarks/stress/faults";
import { startLoad } from "../../../benchmarks/stress/load";
import { isLong } from "../../property/runs";

const TIMEOUT = 60_000;
const { signal } = new AbortController();
const narrow = { subject: new URL("subjects/narrow.ts", import.meta.url), signal };

const wrongOf = (errors: Readonly<Record<string, number>>) =>
  Object.values(errors).reduce((sum, each) => sum + each, 0);
const isGone = (pid: number) => residentBytes(pid) === 0;

test(
  "a window has the requests that were due in it, each answered by the process under load, with one outcome",
  async () => {
    await using load = await startLoad({ ...narrow, patience: 20_000 });
    load.change(100, { take: 1 });
    const { due, ok, errors, p50, operations } = await load.window(1_000);
    const { accepted, queued, running } = await load.rest();
    expect(due).toBeGreaterThan(50);
    expect(ok + wrongOf(errors)).toBe(due);
    expect(p50).toBeGreaterThan(2);
    expect(Object.keys(operations)).toEqual(["take"]);
    expect(accepted).toBeGreaterThanOrEqual(ok);
    expect(queued + running).toBe(0);
  },
  TIMEOUT,
);

test(
  "a wrong answer, a throw and an unknown operation are told as that, and are not work done; so is an unknown command",
  async () => {
    await using load = await startLoad(narrow);
    load.change(400, { lie: 1, fall: 1, fly: 1, bare: 1 });
    const { due, ok, errors } = await load.window(400);
    expect(Object.keys(errors).toSorted()).toEqual(["fall thrown: Error: fell", "fly unknown-operation", "lie wrong"]);
    expect(ok).toBe(due - wrongOf(errors));
    await expect(load.call("fly")).rejects.toThrow("There is no command fly.");
  },
  TIMEOUT,
);

describe("nothing is left", () => {
  test(
    "after an abort in the middle of a window, which rejects; and no load begins with a signal that is aborted",
    async () => {
      const aborting = new AbortController();
      await using load = await startLoad({ ...narrow, signal: aborting.signal });
      const [pid, folder] = await load.call<[number, string]>("where");
      const seen = load.window(60_000).catch((error: Error) => error.message);
      aborting.abort();
      expect(await seen).toContain("ended");
      while (!isGone(pid) || existsSync(folder)) await Bun.sleep(10); // Until the test's own time is over.
      await expect(startLoad({ ...narrow, signal: aborting.signal })).rejects.toThrow("abort");
    },
    TIMEOUT,
  );

  test(
    "when the subject cannot be opened, which is told in its words",
    async () => await expect(startLoad({ ...narrow, name: "broken" })).rejects.toThrow("the disk is full of bees"),
    TIMEOUT,
  );

  test(
    "when the process that began it is killed",
    async () => {
      const program = `import { startLoad } from ${JSON.stringify(import.meta.resolve("../../../benchmarks/stress/load"))};
        const { signal } = new AbortController();
        const load = await startLoad({ subject: new URL(${JSON.stringify(narrow.subject.href)}), signal });
        console.log(JSON.stringify(await load.call("where")));`;
      const parent = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe" });
      const { value } = await parent.stdout.getReader().read();
      const [pid, folder]: [number, string] = JSON.parse(new TextDecoder().decode(value));
      expect([isGone(pid), existsSync(folder)]).toEqual([false, true]);
      parent.kill("SIGKILL");
      while (!isGone(pid) || existsSync(folder)) await Bun.sleep(10); // Until the test's own time is over.
    },
    TIMEOUT,
  );
});

/** The quickest, which starts no processes and touches no files; the long form takes all. */
const SHORT = ["actors that crash"];

describe.each(FAULTS.filter(({ name }) => isLong || SHORT.includes(name)))("$name, under load:", (plan) => {
  test("only what may come of it does, each request is settled once, and the audit balances", async () => {
    const window = plan.name === "a slow disk, and mailboxes full" ? 1_000 : 300; // Its mailboxes have to fill.
    const { before, during, after, failed, audit } = await measureFault(plan, window, signal);
    // How soon all is as before depends on what else the machine does.
    expect(failed.filter((sentence) => !/^(After it, the p95|It was not as before)/.test(sentence))).toEqual([]);
    for (const { due, ok, errors } of [before, ...during, after]) expect(ok + wrongOf(errors)).toBe(due);
    expect(audit.accepted).toBeGreaterThan(before.due);
    if (!isLong || plan.name !== "actors that crash") return;
    const other = await measureFault({ ...plan, mix: { ...plan.mix, fly: 1 } }, 300, signal);
    expect(other.failed).toContainEqual(expect.stringMatching(/^\d+ × fly unknown-operation\.$/));
  }, 240_000);
});
