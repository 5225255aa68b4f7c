import { afterEach, describe, expect, test } from "bun:test";
import { createManualClock } from "../../../../src/testing/index";
import type { PoolOptions, ProcessPool } from "../../../../src/tools/code/pool/process-pool";
import { children, Desk, poolOf, programIn, programOf, runOf, until, valueFrom, valuesIn } from "./kit";

const MB = 1024 * 1024;
const COUNT = "globalThis.n = (globalThis.n ?? 0) + 1; return globalThis.n";

let pool: ProcessPool;
function open(options: Partial<PoolOptions> = {}): ProcessPool {
  pool = poolOf(options);
  return pool;
}
const strike = (pid: number): void => void process.kill(pid, "SIGKILL");
const idle = () => until(() => pool.inspect().idle === 1);
afterEach(async () => {
  await pool.dispose();
  expect(children()).toEqual([]);
});

describe("Pool: a room", () => {
  test("finds what ran there before it left, and no other room does", async () => {
    open({ size: 2 });
    const [one, other] = [pool.open(64 * MB), pool.open(64 * MB)];
    expect(await valuesIn(one, COUNT, COUNT, COUNT)).toEqual([1, 2, 3]);
    expect(await valuesIn(other, COUNT)).toEqual([1]);
    expect(await valuesIn(one, COUNT)).toEqual([4]);
    expect(await valueFrom(pool.run(runOf(COUNT)))).toBe(1);
  });

  test("runs one after the other, in the order in which they were asked for, and lets no more wait than a pool does", async () => {
    open({ maxWaiting: 2 });
    const room = pool.open(64 * MB);
    const calls = new Desk();
    const order: number[] = [];
    const all = [1, 2, 3, 4].map(async (n) => {
      const { kind } = await room.run(runOf(`await call('${n}'); return ${n}`, { calls }));
      order.push(n);
      return kind;
    });
    expect(await all[3]).toBe("busy");
    for (const n of ["1", "2", "3"]) {
      const made = await calls.next();
      expect([made.request, calls.made.length]).toEqual([n, 0]);
      made.answer("");
    }
    expect(await Promise.all(all)).toEqual(["value", "value", "value", "busy"]);
    expect(order).toEqual([4, 1, 2, 3]);
  });

  test("takes an idle process when it is needed first, and no place in the pool, which is full again", async () => {
    open({ size: 1 });
    await idle();
    const [pid] = children();
    const room = pool.open(64 * MB);
    expect(pool.inspect()).toEqual({ processes: 1, idle: 1, running: 0, waiting: 0 });
    const running = room.run(runOf(COUNT));
    expect(pool.inspect()).toMatchObject({ idle: 0, running: 1 });
    await running;
    expect(children()).toContain(pid as number);
    await until(() => pool.inspect().idle === 1);
    expect(pool.inspect()).toEqual({ processes: 2, idle: 1, running: 0, waiting: 0 });
    expect(await valueFrom(pool.run(runOf("return 1")))).toBe(1);
    expect(await valuesIn(room, COUNT)).toEqual([2]);
    await room.close();
    expect(pool.inspect()).toEqual({ processes: 1, idle: 1, running: 0, waiting: 0 });
    expect(children().length).toBe(1);
  });

  test("comes beside a pool that is full, and is served beside it", async () => {
    open({ size: 1 });
    const calls = new Desk();
    const busy = pool.run(runOf("await call('')", { calls }));
    const made = await calls.next();
    const room = pool.open(64 * MB);
    expect(await valuesIn(room, COUNT, COUNT)).toEqual([1, 2]);
    expect(pool.inspect()).toEqual({ processes: 2, idle: 0, running: 1, waiting: 0 });
    made.answer("");
    await busy;
    await room.close();
    await room.close();
    expect(pool.inspect()).toEqual({ processes: 1, idle: 1, running: 0, waiting: 0 });
  });

  test("says its own memory, and that what is left is kept", async () => {
    open();
    const told = "return [order.memory, order.isKept, order.declares]";
    const program = { ...programOf(told), declares: ["a", "b"] };
    const ended = pool.open(32 * MB).run(runOf("", { program, memory: 5 }));
    expect(await valueFrom(ended)).toEqual([32 * MB, true, ["a", "b"]]);
    expect(await valueFrom(pool.run(runOf(told, { memory: 5 })))).toEqual([5, false, []]);
  });

  test("finds each place of a stack in the program where it is", async () => {
    open();
    const room = pool.open(64 * MB);
    const thrower = programOf("globalThis.f = () => {\n  throw new Error('x');\n}");
    const caller = programOf("\n\n  f();");
    await room.run(runOf("", { program: thrower }));
    const ended = await room.run(runOf("", { program: caller }));
    if (ended.kind !== "runtime-error") throw new Error(ended.kind);
    expect(
      ended.stack?.map(({ program, line }) => [program === thrower ? "thrower" : program === caller && "caller", line]),
    ).toEqual([
      ["thrower", 2],
      ["caller", 3],
    ]);
    expect(await valuesIn(room, "return order.file", "return order.file")).toEqual(["program-2.js", "program-3.js"]);
    await room.run(runOf("", { program: caller }));
    expect(await valuesIn(room, "return order.file")).toEqual(["program-4.js"]);
    const forged =
      "const e = new Error('y'); e.stack = 'at program-77.js:2:1\\nat program.js:3:1\\nat xprogram-1.js:2:1'; throw e";
    const second = await room.run(runOf(forged));
    if (second.kind !== "runtime-error") throw new Error(second.kind);
    expect(second.stack).toEqual([{ program: thrower, line: 2, column: 1 }]);
  });

  test("lives on after a run whose time was up while it waited, or whose asker gave up", async () => {
    open();
    const room = pool.open(64 * MB);
    const [gate, early] = [new AbortController(), new AbortController()];
    const calls = new Desk();
    await valuesIn(room, COUNT);
    expect(await room.run(runOf("await call('')", { calls, timeout: 1_000 }))).toMatchObject({ kind: "timeout" });
    await calls.next();
    const given = room.run(runOf("await call('')", { calls, signal: gate.signal }));
    const queued = room.run(runOf(COUNT, { signal: early.signal }));
    await calls.next();
    early.abort();
    expect(await queued).toMatchObject({ kind: "stopped" });
    gate.abort();
    expect(await given).toMatchObject({ kind: "stopped" });
    expect(await room.run(runOf(COUNT, { signal: AbortSignal.abort() }))).toMatchObject({ kind: "stopped" });
    expect([await valuesIn(room, COUNT), room.isLost]).toEqual([[2], false]);
  });

  test("is lost with its process, and says so to what runs there, waits there, and comes later", async () => {
    open();
    await idle();
    const [pid] = children();
    const room = pool.open(64 * MB);
    const calls = new Desk();
    await valuesIn(room, COUNT);
    const all = [room.run(runOf("await call('')", { calls })), room.run(runOf(COUNT))];
    await calls.next();
    strike(pid as number);
    for (const ended of await Promise.all(all)) {
      expect(ended).toMatchObject({ kind: "crashed", message: expect.stringContaining("is gone") });
    }
    expect(room.isLost).toBe(true);
    expect(await room.run(runOf(COUNT))).toMatchObject({
      kind: "crashed",
      message: expect.stringContaining("is gone"),
    });
    expect(await valuesIn(pool.open(64 * MB), COUNT)).toEqual([1]);
    await room.close();
  });

  test("is lost where its process is killed while nothing runs there", async () => {
    open();
    await idle();
    const [pid] = children();
    const room = pool.open(64 * MB);
    await valuesIn(room, COUNT);
    strike(pid as number);
    const ended = await room.run(runOf(COUNT));
    expect(ended).toMatchObject({ kind: "crashed", message: expect.stringContaining("is gone") });
    expect(room.isLost).toBe(true);
  });

  test("is lost with a run that had to be killed, which is told why", async () => {
    open();
    const room = pool.open(64 * MB);
    expect(await room.run(runOf("for (;;);", { timeout: 5 }))).toMatchObject({ kind: "timeout" });
    expect(await room.run(runOf(COUNT))).toMatchObject({
      kind: "crashed",
      message: expect.stringContaining("is gone"),
    });
    expect(room.isLost).toBe(true);
  });

  test("is not lost where the machine was too busy to let its process end the run in time, and its asker is told in time", async () => {
    const clock = createManualClock();
    open({ clock });
    await idle();
    const [pid = 0] = children();
    const room = pool.open(64 * MB);
    expect(await valuesIn(room, COUNT)).toEqual([1]);
    const waits = room.run(runOf("await new Promise(() => {})", { timeout: 100 }));
    process.kill(pid, "SIGSTOP");
    await clock.advance(100);
    await clock.advance(40);
    expect(await waits).toMatchObject({ kind: "timeout", durationMs: 140 });
    await clock.advance(499);
    process.kill(pid, "SIGCONT");
    expect(await valuesIn(room, COUNT)).toEqual([2]);
    // One that still does not end is ended.
    const busy = room.run(runOf("for (;;);", { timeout: 100 }));
    await clock.advance(100);
    await clock.advance(40);
    expect(await busy).toMatchObject({ kind: "timeout", durationMs: 140 });
    expect(room.isLost).toBe(false);
    await clock.advance(500);
    expect(room.isLost).toBe(true);
  });

  test("where nothing has run yet is not lost with its process", async () => {
    open({ size: 3 });
    for (let round = 0; round < 10; round++) {
      await until(() => pool.inspect().idle === 3);
      await Promise.all([1, 2, 3].map(() => pool.run(runOf(COUNT)))); // Not in the room.
      const room = pool.open(64 * MB);
      for (const pid of children()) strike(pid);
      expect(await valuesIn(room, COUNT, COUNT)).toEqual([1, 2]);
      await room.close();
    }
  });

  test("that is closed ends what runs and waits there, and what comes later", async () => {
    open();
    const room = pool.open(64 * MB);
    const calls = new Desk();
    const all = [room.run(runOf("await call('')", { calls })), room.run(runOf(COUNT))];
    await calls.next();
    const closing = room.close();
    all.push(room.run(runOf(COUNT)));
    for (const ended of await Promise.all(all)) {
      expect(ended).toMatchObject({ kind: "stopped", message: "The session was closed." });
    }
    await closing;
    expect(room.isLost).toBe(false);
    await idle();
    expect(children().length).toBe(1);
  });

  test("may be closed before it ever had a process, or before that is ready", async () => {
    open();
    const unused = pool.open(64 * MB);
    await unused.close();
    expect(await unused.run(runOf(COUNT))).toMatchObject({ kind: "stopped" });
    const room = pool.open(64 * MB);
    const early = room.run(runOf(COUNT));
    await room.close();
    expect(await early).toMatchObject({ kind: "stopped" });
    await idle();
    await until(() => children().length === 1);
    expect(pool.inspect()).toEqual({ processes: 1, idle: 1, running: 0, waiting: 0 });
  });

  test("ends with its pool, and is closed from the start in one that has ended", async () => {
    open();
    const room = pool.open(64 * MB);
    const calls = new Desk();
    const ended = room.run(runOf("await call('')", { calls }));
    await calls.next();
    await pool.dispose();
    expect(await ended).toMatchObject({ kind: "stopped" });
    expect(children()).toEqual([]);
    expect(await pool.open(64 * MB).run(runOf(COUNT))).toMatchObject({ kind: "stopped" });
    expect(pool.inspect()).toEqual({ processes: 0, idle: 0, running: 0, waiting: 0 });
  });

  test("that cannot have a process is told so, and may try again", async () => {
    open({ program: programIn("there-is-none") });
    const room = pool.open(64 * MB);
    expect(await room.run(runOf(COUNT))).toMatchObject({ kind: "unavailable" });
    expect(await room.run(runOf(COUNT))).toMatchObject({ kind: "unavailable" });
    expect(room.isLost).toBe(false);
  });

  test("counts its time by the clock, and leaves no timer", async () => {
    const clock = createManualClock();
    open({ clock });
    const room = pool.open(64 * MB);
    const waits = room.run(runOf("await new Promise(() => {})", { timeout: 100 }));
    await until(() => pool.inspect().running === 1);
    await clock.advance(100);
    expect(await waits).toMatchObject({ kind: "timeout", durationMs: 100 });
    expect(await valuesIn(room, COUNT)).toEqual([1]);
    await idle();
    expect(clock.timers).toBe(0);
  });

  test("keeps no host alive that has nothing else to do", async () => {
    open();
    const host = Bun.spawn({ cmd: [process.execPath, programIn("room")], stdout: "pipe", stderr: "inherit" });
    expect(await new Response(host.stdout).text()).toBe("[1,2]\n");
    expect(await host.exited).toBe(0);
  });
});
