import { describe, expect, test } from "bun:test";
import { complaints, FAULTS, measureFault } from "../../../benchmarks/stress/faults/faults";
import type { FaultPlan } from "../../../benchmarks/stress/faults/trouble";
import type { Fault, Outcomes, WindowResult } from "../../../benchmarks/stress/results";
import { stressTargets } from "../../../benchmarks/targets";

const LONG = process.env["ENVOI_LONG"] !== undefined;
/** The quickest, which starts no processes and touches no files; the long form takes all. */
const SHORT = ["actors that crash"];

describe.each(FAULTS.filter(({ name }) => LONG || SHORT.includes(name)))("$name, under load:", (plan) => {
  test("only what may come of it does, each request is settled once, and the audit balances", async () => {
    const fault = await measureFault(plan, { window: 300, signal: new AbortController().signal });
    // How soon all is as before depends on what else the machine does.
    expect(fault.failed.filter((sentence) => !/^(After it, the p95|It was not as before)/.test(sentence))).toEqual([]);
    for (const { all, operations } of [fault.before, fault.during, fault.after]) {
      const wrong = Object.values(all.errors).reduce((sum, times) => sum + times, 0);
      expect(all.ok + wrong).toBe(all.due);
      expect(operations["ask"]?.errors).toEqual({});
    }
    expect(fault.after.all.errors).toEqual({});
    expect(fault.audit.accepted).toBeGreaterThan(fault.before.all.due);
  }, 240_000);
});

test("a fault ends with its signal, and leaves no process", async () => {
  const ending = new AbortController();
  const [plan] = FAULTS.filter(({ name }) => name === "mailboxes full");
  if (plan === undefined) throw new Error("there is no such fault");
  const running = measureFault(plan, { window: 60_000, signal: ending.signal });
  ending.abort(new Error("enough"));
  await expect(running).rejects.toThrow();
});

test("each fault has a target for its recovery", () => {
  const recoveries = stressTargets.filter(({ figure }) => figure === "recovery").map(({ row }) => row);
  for (const { name } of FAULTS) expect(recoveries).toContain(name);
});

describe("of a fault is complained", () => {
  const plan: FaultPlan = {
    name: "a fault",
    about: "",
    rate: 100,
    mix: { ask: 1, frail: 1 },
    allowed: { frail: ["handler-failed"] },
    module: "",
  };
  const outcomes = (errors: Outcomes["errors"] = {}, p95 = 1): Outcomes => {
    const ok = 100 - Object.values(errors).reduce((sum, times) => sum + times, 0);
    return { due: 100, ok, errors, latency: { count: 100, p50: 1, p95, p99: null, p999: null, max: p95 } };
  };
  const window = (frail: Outcomes): WindowResult => ({
    rate: 100,
    milliseconds: 1_000,
    all: frail,
    operations: { frail, ask: outcomes() },
    generator: { lag: 0, processor: 0 },
    subject: { processor: 0, rss: 0 },
  });
  const of = (changes: Partial<Fault> = {}) =>
    complaints(plan, {
      name: "a fault",
      about: "",
      before: window(outcomes()),
      during: window(outcomes({ "handler-failed": 3 })),
      after: window(outcomes()),
      recovery: 200,
      happened: { crashes: 3 },
      audit: { accepted: 300, handled: 297, failed: 3, dead: 0, queued: 0, running: 0 },
      ...changes,
    });

  test("nothing, where all is as it should be", () => {
    expect(of()).toEqual([]);
  });

  test("that nothing happened", () => {
    expect(of({ happened: { crashes: 0 } })).toEqual(["Nothing went wrong, so this was no fault."]);
  });

  test("what may not come of it", () => {
    expect(of({ during: window(outcomes({ "handler-failed": 3, timeout: 2 })) })).toEqual([
      "2 × frail came back as timeout.",
    ]);
    const beside = window(outcomes());
    const during = { ...beside, operations: { ...beside.operations, ask: outcomes({ "handler-failed": 1 }) } };
    expect(of({ during })).toEqual(["1 × ask came back as handler-failed."]);
  });

  test("that something went wrong before it", () => {
    expect(of({ before: window(outcomes({ "handler-failed": 1 })) })).toEqual([
      "Something went wrong before the fault began.",
    ]);
  });

  test("that it is not as before after it", () => {
    expect(of({ after: window(outcomes({}, 30)) })).toEqual([
      "After it, the p95 was 30.0 ms with 0.0 % errors; before it was 1.0 ms.",
    ]);
  });

  test("that messages are lost, or wait for ever", () => {
    const audit = { accepted: 300, handled: 296, failed: 3, dead: 0, queued: 0, running: 0 };
    expect(of({ audit })).toEqual(["The audit does not balance."]);
    expect(of({ audit: { ...audit, queued: 1 } })).toEqual(["1 messages wait or run, though nothing is asked."]);
  });
});
