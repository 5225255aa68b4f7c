import { afterEach, describe, expect, test } from "bun:test";
import { createManualClock } from "../../../../src/testing/index";
import { children, type Kit, sandbox, until } from "./kit";

let kits: Kit[] = [];
function open(options?: Parameters<typeof sandbox>[0]): Kit {
  const kit = sandbox(options);
  kits.push(kit);
  return kit;
}
afterEach(async () => {
  await Promise.all(kits.map(({ tier }) => tier.dispose()));
  kits = [];
  expect(children()).toEqual([]);
});

const ENDLESS = "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)";

describe("Sandbox: the pool", () => {
  test("starts before it is needed, and tells what it does", async () => {
    const { tier, run } = open({ size: 2 });
    expect(tier.inspect()).toEqual({ processes: 1, idle: 0, running: 0, waiting: 0 });
    await until(() => tier.inspect().idle === 2);
    const first = run("return 1");
    expect(tier.inspect()).toEqual({ processes: 2, idle: 1, running: 1, waiting: 0 });
    await first;
    expect(tier.inspect()).toEqual({ processes: 2, idle: 2, running: 0, waiting: 0 });
  });

  test("lets so many wait, and refuses more as busy", async () => {
    const { tier, run } = open({ size: 1, maxWaiting: 1 });
    await run("return 0");
    const gate = new AbortController();
    const [running, waiting, refused] = [run(ENDLESS, { signal: gate.signal }), run("return 2"), run("return 3")];
    expect(await refused).toMatchObject({ kind: "busy", logs: [] });
    expect(tier.inspect()).toMatchObject({ running: 1, waiting: 1 });
    gate.abort();
    expect((await running).kind).toBe("stopped");
    expect(await waiting).toMatchObject({ kind: "value", value: "2" });
  });

  test("without room to wait serves as many as it has processes, also while they start", async () => {
    const { run } = open({ size: 2, maxWaiting: 0 });
    const all = await Promise.all([run("return 1"), run("return 2"), run("return 3")]);
    expect(all.map(({ kind }) => kind)).toEqual(["value", "value", "busy"]);
  });

  test("counts a run's time by the clock, from when it began, and replaces what it had to kill", async () => {
    const clock = createManualClock();
    const { tier, run } = open({ clock });
    await run("return 0");
    const before = children();
    const endless = run(ENDLESS, { timeout: 1_000 });
    const next = run("return 1", { timeout: 1_000 });
    await clock.advance(1_000);
    expect(tier.inspect()).toMatchObject({ running: 1, waiting: 1 });
    await clock.advance(40);
    expect(await endless).toMatchObject({ kind: "timeout", durationMs: 1_040 });
    expect(await next).toMatchObject({ kind: "value", value: "1" });
    expect(children()).not.toEqual(before);
  });

  test("does not replace what ended in time by itself", async () => {
    const { run } = open({ clock: createManualClock() }); // The process's own does go.
    await run("return 0");
    const before = children();
    expect(await run("for (;;);", { timeout: 20 })).toMatchObject({ kind: "timeout" });
    expect(await run("const f = () => Promise.resolve().then(f); return f()", { timeout: 20 })).toMatchObject({
      kind: "timeout",
    });
    expect(await run("const a = []; for (;;) a.push([1])")).toMatchObject({ kind: "out-of-memory" });
    expect(await run("for (;;) console.log('x')", { maxOutput: 10_000 })).toMatchObject({ kind: "output-limit" });
    expect(await run("return 1")).toMatchObject({ kind: "value" });
    expect(children()).toEqual(before);
  });

  test("ends a run whose asker gives up: before, while it waits, and in its midst", async () => {
    const { tier, run } = open();
    expect(await run("return 1", { signal: AbortSignal.abort() })).toMatchObject({ kind: "stopped" });
    await run("return 0");
    const gates = [new AbortController(), new AbortController()] as const;
    const [running, waiting] = [
      run(ENDLESS, { signal: gates[0].signal }),
      run("return 2", { signal: gates[1].signal }),
    ];
    gates[1].abort();
    expect(await waiting).toMatchObject({ kind: "stopped" });
    expect(tier.inspect()).toMatchObject({ running: 1, waiting: 0 });
    gates[0].abort();
    expect(await running).toMatchObject({ kind: "stopped" });
    expect(tier.inspect()).toMatchObject({ running: 0 });
  });

  test("ends what runs and waits when it is disposed, and refuses what comes later", async () => {
    const { tier, run } = open();
    await run("return 0");
    const all = [run(ENDLESS), run("return 1")];
    await tier.dispose();
    expect(children()).toEqual([]);
    all.push(run("return 2"));
    expect((await Promise.all(all)).map(({ kind }) => kind)).toEqual(["stopped", "stopped", "stopped"]);
    expect(tier.inspect()).toEqual({ processes: 0, idle: 0, running: 0, waiting: 0 });
    await tier.dispose();
  });

  test("can be disposed before a process is ready", async () => {
    const { tier, run } = open({ size: 2 });
    const early = run("return 1");
    await tier.dispose();
    expect((await early).kind).toBe("stopped");
  });
});
