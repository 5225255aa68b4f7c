import { afterEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { residentBytes } from "../../../benchmarks/harness/processes";
import { FAULTS, measureFault, unexpected } from "../../../benchmarks/stress/faults";
import { Load, type LoadOptions } from "../../../benchmarks/stress/load";
import { trouble } from "../../../benchmarks/stress/trouble";
import { isLong } from "../../property/runs";
import { window } from "./sample";

const TIMEOUT = 60_000;
const NARROW = { subject: new URL("subjects/narrow.ts", import.meta.url), signal: new AbortController().signal };

let load: Load | undefined;
afterEach(async () => {
  await load?.stop();
  load = undefined;
});

async function start(options: Partial<LoadOptions> = {}): Promise<Load> {
  load = await Load.start({ ...NARROW, ...options });
  return load;
}

const wrongOf = (errors: Readonly<Record<string, number>>) =>
  Object.values(errors).reduce((sum, each) => sum + each, 0);

test(
  "a window has the requests that were due in it, each answered by the process under load, with one outcome",
  async () => {
    const { pid } = await start({ patience: 20_000 });
    expect(pid).not.toBe(process.pid);
    load?.change(100, { take: 1 });
    const seen = await load?.window(1_000);
    await load?.rest();
    const { due = 0, ok = 0, errors = {}, p50, operations } = seen ?? {};
    expect(due).toBeGreaterThan(50);
    expect(ok + wrongOf(errors)).toBe(due);
    expect(p50).toBeGreaterThan(2);
    expect(Object.keys(operations ?? {})).toEqual(["take"]);
    expect((await load?.look())?.audit.accepted).toBeGreaterThanOrEqual(ok);
  },
  TIMEOUT,
);

test(
  "a wrong answer, a throw and an unknown operation are told as that, and are not work done",
  async () => {
    const { window: look, ...rest } = await start().then((each) => ({ each, window: each.window.bind(each) }));
    rest.each.change(400, { lie: 1, fall: 1, fly: 1, bare: 1 });
    const { due, ok, errors } = await look(400);
    expect(Object.keys(errors).toSorted()).toEqual(["fall thrown: Error: fell", "fly unknown-operation", "lie wrong"]);
    expect(ok).toBe(due - wrongOf(errors));
    await expect(rest.each.call("fly")).rejects.toThrow("There is no command fly.");
  },
  TIMEOUT,
);

// Seconds of it.
test.if(isLong)(
  "past the break a bounded mailbox refuses, and after it the figures return to where they were",
  async () => {
    const loaded = await start();
    const calm = () => loaded.change(100, { take: 1 });
    calm();
    const past = await trouble(loaded, { window: 1_000, windows: 2, begin: () => loaded.change(2_000), end: calm });
    for (const { due, errors } of past.during) expect(errors["take mailbox-full"]).toBeGreaterThan(due / 10);
    expect(past.recovery).toBeGreaterThan(0);
    expect(past.audit.dead).toBeGreaterThan(100);
    // In windows before and after, a busy machine may falter.
    expect(past.failed.filter((sentence) => !/^(After it|Something went wrong)/.test(sentence))).toEqual([]);
  },
  TIMEOUT,
);

describe("nothing is left", () => {
  const isGone = (pid: number) => residentBytes(pid) === 0;

  test(
    "after an abort in the middle of a window, which rejects; and a load does not begin with a signal that is aborted",
    async () => {
      const aborting = new AbortController();
      const { signal } = aborting;
      const { pid } = await start({ signal });
      const seen = load?.window(60_000).catch((error: Error) => error.message);
      aborting.abort();
      expect(await seen).toContain("ended");
      await load?.stop();
      expect(isGone(pid)).toBe(true);
      await expect(start({ signal })).rejects.toThrow("abort");
    },
    TIMEOUT,
  );

  test(
    "when the subject cannot be opened, which is told in its words",
    async () => await expect(start({ name: "broken" })).rejects.toThrow("the disk is full of bees"),
    TIMEOUT,
  );

  test(
    "when the process that began it is killed",
    async () => {
      const program = `import { Load } from ${JSON.stringify(import.meta.resolve("../../../benchmarks/stress/load"))};
        const signal = new AbortController().signal;
        const load = await Load.start({ subject: new URL(${JSON.stringify(NARROW.subject.href)}), signal });
        console.log(JSON.stringify([load.pid, await load.call("folder")]));`;
      const parent = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe" });
      const { value } = await parent.stdout.getReader().read();
      const [pid, folder]: [number, string] = JSON.parse(new TextDecoder().decode(value));
      expect([isGone(pid), existsSync(folder)]).toEqual([false, true]);
      parent.kill("SIGKILL");
      await parent.exited;
      while (!isGone(pid) || existsSync(folder)) await Bun.sleep(10); // Until the test's own time is over.
    },
    TIMEOUT,
  );
});

/** The quickest, which starts no processes and touches no files; the long form takes all. */
const SHORT = ["actors that crash"];

describe.each(FAULTS.filter(({ name }) => isLong || SHORT.includes(name)))("$name, under load:", (plan) => {
  test("only what may come of it does, each request is settled once, and the audit balances", async () => {
    const { before, during, after, ...fault } = await measureFault(plan, 300, NARROW.signal);
    // How soon all is as before depends on what else the machine does.
    expect(fault.failed.filter((sentence) => !/^(After it, the p95|It was not as before)/.test(sentence))).toEqual([]);
    for (const { due, ok, errors } of [before, ...during, after]) expect(ok + wrongOf(errors)).toBe(due);
    expect(after.errors).toEqual({});
    expect(fault.audit.accepted).toBeGreaterThan(before.due);
  }, 240_000);
});

test("of a fault is complained that nothing happened, and what may not come of it", () => {
  const [, plan] = FAULTS;
  if (plan === undefined) throw new Error("there are more");
  const during = [window(1, { errors: { "frail handler-failed": 3, "frail timeout": 2, "ask timeout": 1 } })];
  expect(unexpected(plan, during, { crashes: 3 })).toEqual(["2 × frail timeout.", "1 × ask timeout."]);
  expect(unexpected(plan, [], { crashes: 0 })).toEqual(["Nothing went wrong, so this was no fault."]);
});
