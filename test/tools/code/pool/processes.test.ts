import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { systemClock } from "../../../../src/index";
import { createManualClock } from "../../../../src/testing/index";
import { ActiveRun } from "../../../../src/tools/code/pool/active-run";
import type { PoolOptions, ProcessPool } from "../../../../src/tools/code/pool/process-pool";
import { holdingsOf } from "../../../../src/tools/code/pool/resident";
import { type Gone, Seat } from "../../../../src/tools/code/pool/seat";
import { children, Desk, poolOf, programIn, runOf, until, valueFrom, valuesIn } from "./kit";

const MB = 1024 * 1024;
const COUNT = "globalThis.n = (globalThis.n ?? 0) + 1; return globalThis.n";
const HOARD = "globalThis.kept = []; for (;;) globalThis.kept.push(new Uint8Array(4e6).fill(1))";

const KEEP = "(globalThis.kept ??= []).push(new Uint8Array(40e6).fill(1)); await call('')";

let pool: ProcessPool;
let size: number;
function open(options: Partial<PoolOptions> = {}): ProcessPool {
  size = options.size ?? 1;
  pool = poolOf(options);
  return pool;
}
const strike = (pid: number | undefined): void => void process.kill(pid as number, "SIGKILL");
const ready = () => until(() => pool.inspect().idle === size);
afterEach(async () => {
  await pool.dispose();
  expect(children()).toEqual([]);
});

describe("Pool: which processes there are", () => {
  test("one starts alone, so that it is ready sooner, and the others once it is", async () => {
    open({ size: 3 });
    expect(pool.inspect().processes).toBe(1);
    await until(() => pool.inspect().idle === 3);
  });

  test("as many start at once as are waited for", async () => {
    open({ size: 3 });
    const both = ["return 1", "return 2"].map((body) => valueFrom(pool.run(runOf(body))));
    expect(pool.inspect()).toMatchObject({ processes: 2, waiting: 2 });
    expect(await Promise.all(both)).toEqual([1, 2]);
    await until(() => pool.inspect().idle === 3);
  });

  test("rooms that wait are waited for, too, and take nothing from runs without room to wait", async () => {
    open({ size: 2, maxWaiting: 0 });
    const room = pool.open(64 * MB);
    const kept = valueFrom(room.run(runOf("return 0")));
    const all = await Promise.all([1, 2, 3].map((n) => pool.run(runOf(`return ${n}`))));
    expect(all.map(({ kind }) => kind)).toEqual(["value", "value", "busy"]);
    expect(await kept).toBe(0);
    await room.close();
  });

  test("the one that was at work last is taken, since it is the warmest", async () => {
    open({ size: 3 });
    await until(() => pool.inspect().idle === 3);
    const counts: unknown[] = [];
    for (let n = 0; n < 6; n++) counts.push(await valueFrom(pool.run(runOf(COUNT))));
    expect(counts).toEqual([1, 2, 3, 4, 5, 6]);
  });
});

describe("Pool: processes that the host cannot start", () => {
  const { execPath } = process;
  afterEach(() => {
    process.execPath = execPath;
  });

  test("are told to those who wait, without a path of the host, and are started once they can be", async () => {
    process.execPath = "/nowhere/bun";
    open({ size: 2 });
    const room = pool.open(64 * MB);
    const told = await Promise.all([pool.run(runOf("return 1")), room.run(runOf("return 2"))]);
    for (const ended of told) {
      expect(ended).toMatchObject({ kind: "unavailable", message: expect.stringContaining("(ENOENT)") });
      expect(JSON.stringify(ended)).not.toContain("nowhere");
    }
    process.execPath = execPath;
    expect(await valueFrom(pool.run(runOf("return 3")))).toBe(3);
    expect(await valueFrom(room.run(runOf("return 4")))).toBe(4);
    await room.close();
  });

  test("leave the others at work, and are tried again when they are needed", async () => {
    open({ size: 2 });
    await ready();
    process.execPath = "/nowhere/bun";
    const [pid] = children();
    strike(pid);
    await until(() => !children().includes(pid as number));
    for (let n = 0; n < 5; n++) expect(await valueFrom(pool.run(runOf(`return ${n}`)))).toBe(n);
    process.execPath = execPath;
    expect(await Promise.all([1, 2].map((n) => valueFrom(pool.run(runOf(`return ${n}`)))))).toEqual([1, 2]);
    await ready();
  });
});

describe("Pool: processes that were killed while they were idle", () => {
  test("are not seen by those who ask then", async () => {
    open({ size: 3 });
    for (let round = 0; round < 10; round++) {
      await ready();
      for (const pid of children()) strike(pid);
      const all = Array.from({ length: 20 }, (_, n) => valueFrom(pool.run(runOf(`return ${n}`))));
      expect(await Promise.all(all)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    }
  });

  test("are not seen by those who ask one after the other", async () => {
    open({ size: 3 });
    for (let n = 0; n < 30; n++) {
      if (n % 3 === 0) {
        await ready();
        for (const pid of children()) strike(pid);
      }
      expect(await valueFrom(pool.run(runOf(`return ${n}`)))).toBe(n);
    }
  });

  test("give their run's time back no more than once", async () => {
    const clock = createManualClock();
    open({ clock, size: 1 });
    await ready();
    const told = "return order.timeout";
    // One that does not read what comes is killed in its midst, and nothing was heard of it.
    for (const pid of children()) process.kill(pid, "SIGSTOP");
    const ended = pool.run(runOf(told, { timeout: 1_000 }));
    await clock.advance(400);
    for (const pid of children()) strike(pid);
    expect(await ended).toMatchObject({ kind: "value", value: "600", durationMs: 400 });
  });

  test("a run that was heard of is not begun again", async () => {
    open();
    const calls = new Desk();
    const ended = pool.run(runOf("await call('once')", { calls }));
    await calls.next();
    for (const pid of children()) strike(pid);
    expect(await ended).toMatchObject({ kind: "crashed", message: "The process of the run ended before the run did." });
    expect(await valueFrom(pool.run(runOf("return 1")))).toBe(1);
    expect(calls.made).toEqual([]);
  });
});

describe("Pool: a process that ends in the midst of a run of which nothing was heard", () => {
  for (const [body, isUnbegun] of [
    ["kill itself", true],
    ["fault", false],
    ["exit", false],
    ["no JSON", false],
    ["speak and kill itself", false],
  ] as const) {
    test(`${isUnbegun ? "was killed, as far as one can tell" : "did it itself"}: ${body}`, async () => {
      open({ size: 1 });
      const { promise, resolve } = Promise.withResolvers<Gone>();
      const active = new ActiveRun(
        runOf(body),
        systemClock,
        () => {},
        () => {},
      );
      const naming = { file: "program.js", programOf: () => undefined };
      const owner = {
        free: (seat: Seat) => void seat.run(active, naming, false),
        gone: (_: Seat, how: Gone) => resolve(how),
      };
      const seat = new Seat(owner, { program: programIn("hostile"), clock: systemClock });
      seat.hold(true);
      expect((await promise).unbegun).toBe(isUnbegun ? active : undefined);
      await seat.exited;
    });
  }
});

describe("Pool: processes for one use", () => {
  test("run once, and another one stands ready", async () => {
    open({ size: 2, isSingleUse: true });
    await ready();
    const seen = new Set<unknown>();
    for (let round = 0; round < 6; round++) seen.add(await valueFrom(pool.run(runOf("return process.pid"))));
    expect(seen.size).toBe(6);
    await until(() => pool.inspect().idle === 2);
    expect(pool.inspect()).toEqual({ processes: 2, idle: 2, running: 0, waiting: 0 });
    for (const pid of children()) expect(seen.has(pid)).toBe(false);
  });

  test("serve many at once, each in its own", async () => {
    open({ size: 2, isSingleUse: true });
    const all = await Promise.all(Array.from({ length: 20 }, () => valueFrom(pool.run(runOf(COUNT)))));
    expect(all).toEqual(Array.from({ length: 20 }, () => 1));
  });

  test("stay in a room", async () => {
    open({ isSingleUse: true });
    expect(await valuesIn(pool.open(64 * MB), COUNT, COUNT, COUNT)).toEqual([1, 2, 3]);
  });
});

describe("Pool: what has to hold a process", () => {
  test("is asked for, and where it does nothing runs", async () => {
    open({ needs: ["seccomp", "landlock", "no-new-privileges"], remedy: 'ask for "sandbox"' });
    const { kind, message } = (await pool.run(runOf("return 1"))) as { kind: string; message: string };
    expect(kind).toBe("unavailable");
    expect(message).toBe(
      'The tier "sandbox" cannot start: ask for "sandbox". (this machine does not hold its processes by landlock, no-new-privileges)',
    );
    expect(await pool.open(64 * MB).run(runOf("return 1"))).toMatchObject({ kind, message });
  });

  test("is enough where all of it does", async () => {
    open({ needs: ["seccomp", "limits"] });
    expect(await valueFrom(pool.run(runOf("return 1")))).toBe(1);
  });
});

describe("Pool: the memory of a process", () => {
  test("is looked at while code runs, and more than it may have ends it", async () => {
    open({ watchMemory: true });
    expect(await pool.run(runOf(HOARD, { memory: 48 * MB }))).toMatchObject({
      kind: "out-of-memory",
      message: expect.stringContaining(`${48 * MB} bytes`),
    });
    expect(await valueFrom(pool.run(runOf("return 1")))).toBe(1);
  });

  test("that it had before code ran does not count, and what it may have it keeps", async () => {
    const clock = createManualClock();
    open({ watchMemory: true, clock, program: programIn("large") });
    await ready();
    const [pid] = children();
    const calls = new Desk();
    const ended = pool.run(runOf(KEEP, { calls, memory: 56 * MB }));
    const made = await calls.next();
    expect(holdingsOf(pid as number)?.bytes).toBeGreaterThan(80 * MB);
    await clock.advance(30);
    made.answer("");
    expect(await ended).toMatchObject({ kind: "value" });
    expect(clock.timers).toBe(0);
  });

  test("is a room's where it runs in one, over all of its runs", async () => {
    const clock = createManualClock();
    open({ watchMemory: true, clock });
    const room = pool.open(64 * MB);
    const calls = new Desk();
    const first = room.run(runOf(KEEP, { calls, memory: 1 }));
    const made = await calls.next();
    await clock.advance(10);
    made.answer("");
    expect(await first).toMatchObject({ kind: "value" });
    const second = room.run(runOf(KEEP, { calls, memory: 1e9 }));
    await calls.next();
    await clock.advance(10);
    expect([await second, room.isLost]).toMatchObject([{ kind: "out-of-memory" }, true]);
  });

  test("is not looked at otherwise", async () => {
    const clock = createManualClock();
    open({ clock });
    const calls = new Desk();
    const ended = pool.run(runOf(KEEP, { calls, memory: MB }));
    const made = await calls.next();
    await clock.advance(30);
    made.answer("");
    expect(await ended).toMatchObject({ kind: "value" });
  });
});

describe("Pool: descriptors", () => {
  test("are as many after a thousand runs, and fifty processes, as before", async () => {
    open({ size: 2 });
    await ready();
    const descriptors = () => readdirSync("/proc/self/fd").length;
    const before = descriptors();
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 100 }, () => pool.run(runOf("return 1"))));
      await Promise.all([1, 2].map(() => pool.run(runOf("process.exit(1)"))));
      const room = pool.open(64 * MB);
      await valuesIn(room, COUNT);
      await room.close();
    }
    await ready();
    await until(() => descriptors() <= before);
  });
});

test("Pool: a program that says why it cannot work is told of with what to do", async () => {
  open({ program: programIn("unable"), remedy: "install it" });
  expect(await pool.run(runOf("return 1"))).toMatchObject({
    kind: "unavailable",
    message: 'The tier "sandbox" cannot start: install it. (no interpreter)',
  });
});
