import { afterEach, describe, expect, test } from "bun:test";
import { createManualClock, type ManualClock } from "../../../../src/testing/index";
import type { PoolOptions, ProcessPool } from "../../../../src/tools/code/pool/process-pool";
import { children, Desk, poolOf, runOf, until, valueFrom } from "./kit";

const GRACE = 40;
const BUSY = "for (;;);";
const IDLE = "await new Promise(() => {})";

let clock: ManualClock;
let pool: ProcessPool;
/** A pool of one process that is ready, whose time is the test's. */
async function open(options: Partial<PoolOptions> = {}): Promise<void> {
  clock = createManualClock();
  pool = poolOf({ clock, ...options });
  await until(() => pool.inspect().idle === pool.inspect().processes);
}
afterEach(async () => {
  await pool.dispose();
  expect(children()).toEqual([]);
  expect(clock.timers).toBe(0);
});
/** While a run is under way there is a timer, but where its clock stands still. */
const standsStill = () => until(() => clock.timers === 0);

describe("Pool: the time of a run", () => {
  test("ends one that only waits as timeout, and spares its process", async () => {
    await open();
    const before = children();
    const ended = pool.run(runOf(IDLE, { timeout: 1_000 }));
    await clock.advance(999);
    expect(pool.inspect().running).toBe(1);
    await clock.advance(1);
    expect(await ended).toMatchObject({ kind: "timeout", durationMs: 1_000 });
    expect(await valueFrom(pool.run(runOf("return 1")))).toBe(1);
    expect(children()).toEqual(before);
  });

  test("ends one that does not listen as timeout a little later, with its process", async () => {
    await open();
    const before = children();
    const ended = pool.run(runOf(BUSY, { timeout: 1_000 }));
    await clock.advance(1_000 + GRACE - 1);
    expect(pool.inspect().running).toBe(1);
    await clock.advance(1);
    expect(await ended).toMatchObject({ kind: "timeout", durationMs: 1_040 });
    await until(() => !children().some((pid) => before.includes(pid)));
  });

  test("ends one that does not listen as soon after its time, though the timer of that came late itself", async () => {
    clock = createManualClock();
    const LATE = 15;
    pool = poolOf({ clock: { ...clock, setTimer: (callback, delay) => clock.setTimer(callback, delay + LATE) } });
    await until(() => pool.inspect().idle === 1);
    const ended = pool.run(runOf(BUSY, { timeout: 1_000 }));
    await clock.advance(1_000 + GRACE + LATE - 1);
    expect(pool.inspect().running).toBe(1);
    await clock.advance(1);
    expect(await ended).toMatchObject({ kind: "timeout", durationMs: 1_055 });
  });

  test("one whose asker gave up is told so at once, and its process is spared where it listens", async () => {
    await open();
    const before = children();
    const gate = new AbortController();
    const calls = new Desk();
    const ended = pool.run(runOf("await call('')", { signal: gate.signal, calls }));
    await calls.next();
    const next = valueFrom(pool.run(runOf("return 2")));
    gate.abort();
    expect(await ended).toMatchObject({ kind: "stopped" });
    expect(pool.inspect()).toMatchObject({ running: 0, waiting: 1 });
    expect(await next).toBe(2);
    expect(children()).toEqual(before);
  });

  test("one whose asker gave up and that does not listen ends a little later, with its process", async () => {
    await open();
    const before = children();
    const gate = new AbortController();
    const ended = pool.run(runOf(BUSY, { signal: gate.signal }));
    const next = valueFrom(pool.run(runOf("return 2")));
    gate.abort();
    expect(await ended).toMatchObject({ kind: "stopped" });
    await clock.advance(GRACE);
    expect(await next).toBe(2);
    expect(children()).not.toEqual(before);
  });

  test("stands still while code waits for a call that has stopped it, and the code is told for how long", async () => {
    await open();
    const calls = new Desk();
    const body = "const a = await call('a'), b = await call('b'); return [a.paused, b.paused]";
    const ended = pool.run(runOf(body, { calls, timeout: 1_000 }));
    const a = await calls.next();
    await clock.advance(100);
    a.clock.stop();
    await standsStill();
    await clock.advance(60_000);
    a.clock.start();
    expect(clock.timers).toBe(1);
    await clock.advance(100);
    a.answer("");
    const b = await calls.next();
    b.clock.stop();
    await standsStill();
    await clock.advance(5_000);
    b.answer("");
    expect(await ended).toMatchObject({ kind: "value", value: "[60000,65000]", durationMs: 200 });
  });

  test("goes on with what it had left", async () => {
    await open();
    const calls = new Desk();
    const ended = pool.run(runOf("await call('')", { calls, timeout: 1_000 }));
    const { clock: stopwatch } = await calls.next();
    await clock.advance(600);
    stopwatch.stop();
    await standsStill();
    await clock.advance(3_600_000);
    stopwatch.start();
    await clock.advance(399);
    expect(pool.inspect().running).toBe(1);
    await clock.advance(1);
    expect(await ended).toMatchObject({ kind: "timeout", durationMs: 1_000 });
  });

  test("stands still until it was started as often as it was stopped, by each call", async () => {
    await open();
    const calls = new Desk();
    const ended = pool.run(runOf("await Promise.all([call('a'), call('b')])", { calls, timeout: 1_000 }));
    const [a, b] = [await calls.next(), await calls.next()];
    a.clock.start(); // Of no effect: it was not stopped.
    a.clock.stop();
    a.clock.stop();
    b.clock.stop();
    await standsStill();
    a.clock.start();
    b.clock.start();
    b.clock.start();
    await clock.advance(10_000);
    expect(clock.timers).toBe(0);
    a.clock.start();
    expect(clock.timers).toBe(1);
    a.answer("");
    b.answer("");
    expect(await ended).toMatchObject({ kind: "value", durationMs: 0 });
  });

  test("goes on while code has something to do, whatever stopped it", async () => {
    await open();
    const calls = new Desk();
    const ended = pool.run(runOf("call('asked'); for (;;);", { calls, timeout: 1_000 }));
    const { clock: stopwatch } = await calls.next();
    stopwatch.stop();
    await clock.advance(1_000 + GRACE);
    expect(await ended).toMatchObject({ kind: "timeout", durationMs: 1_040 });
  });

  test("goes on from an answer until the code waits again, and what a call forgot to start goes on with its answer", async () => {
    await open();
    const calls = new Desk();
    const ended = pool.run(runOf("const b = call('b'); await call('a'); for (;;);", { calls, timeout: 1_000 }));
    const [b, a] = [await calls.next(), await calls.next()];
    a.clock.stop();
    b.clock.stop();
    await standsStill();
    await clock.advance(10_000);
    a.answer("");
    await until(() => clock.timers === 1);
    a.clock.stop(); // Too late.
    await clock.advance(1_000 + GRACE);
    expect(await ended).toMatchObject({ kind: "timeout", durationMs: 1_040 });
  });

  test("goes on while code waits for what did not stop it, though another call forgot to start it", async () => {
    await open();
    const calls = new Desk();
    const ended = pool.run(runOf("await call('a'); await call('b')", { calls, timeout: 1_000 }));
    const a = await calls.next();
    a.clock.stop();
    await standsStill();
    a.answer("");
    await calls.next();
    await clock.advance(1_000);
    expect(await ended).toMatchObject({ kind: "timeout", durationMs: 1_000 });
  });

  test("leaves nothing behind where it stood still when the process died", async () => {
    await open();
    const calls = new Desk();
    const ended = pool.run(runOf("await call('')", { calls }));
    const made = await calls.next();
    made.clock.stop();
    await standsStill();
    for (const pid of children()) process.kill(pid, "SIGKILL");
    expect(await ended).toMatchObject({ kind: "crashed" });
    made.clock.start();
    made.answer("");
    await clock.settle();
    expect(await valueFrom(pool.run(runOf("return 1")))).toBe(1);
  });
});
