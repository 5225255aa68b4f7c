import { describe, expect, test } from "bun:test";
import {
  address,
  createMessage,
  defineProtocol,
  type PoolOptions,
  type Ref,
  type Routing,
  type SignaturesOf,
  type System,
  spawnPool,
  Type,
} from "../../src/index";
import { expectBalance, testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

const Worker = defineProtocol("worker", {
  who: { payload: Type.String(), reply: Type.String() },
  note: { payload: Type.String() },
  wait: { payload: Type.Number(), reply: Type.String() },
  fail: { payload: Type.String(), reply: Type.String() },
  again: { reply: Type.String() },
  items: { payload: Type.Number(), stream: Type.String() },
});

interface Pool {
  readonly ref: Ref<SignaturesOf<typeof Worker>>;
  readonly notes: string[];
  /** Lets the handler of `wait` end, in the worker of this number. */
  readonly release: Map<string, () => void>;
  readonly aborted: string[];
  made: number;
}

function spawnWorkers(system: System, options: Partial<PoolOptions> = {}): Pool {
  const pool: Omit<Pool, "ref"> & { ref?: Pool["ref"] } = { notes: [], release: new Map(), aborted: [], made: 0 };
  pool.ref = spawnPool(
    system,
    "pool",
    Worker,
    (ctx) => {
      pool.made++;
      const name = ctx.self.address.slice(7, -1);
      return {
        who: (text) => `${name}:${text}`,
        note: (text) => void pool.notes.push(`${name}:${text}`),
        wait() {
          ctx.signal.addEventListener("abort", () => pool.aborted.push(name));
          return new Promise((resolve) => pool.release.set(name, () => resolve(name)));
        },
        fail(which) {
          if (which === "all" || which.includes(name)) throw new Error(`${name} failed`);
          return name;
        },
        async again() {
          const again = await ctx.ask(pool.ref as Pool["ref"], "again");
          return again.match(
            (path) => path,
            (error) => (error.kind === "ask-cycle" ? error.path.join(" ") : error.kind),
          );
        },
        *items(count) {
          for (let i = 0; i < count; i++) yield name;
        },
      };
    },
    { size: 3, ...options },
  );
  return pool as Pool;
}

const keyed: Partial<PoolOptions> = { routing: "consistent-hash", key: (_operation, payload) => String(payload) };
const ALL: readonly Partial<PoolOptions>[] = [
  ...(["round-robin", "least-busy", "broadcast", "first-answer"] satisfies Routing[]).map((routing) => ({ routing })),
  keyed,
];

const who = async ({ ref }: Pool, texts: readonly string[]): Promise<string[]> =>
  Promise.all(texts.map(async (text) => (await ref.ask("who", text))._unsafeUnwrap()));

describe("which worker gets a message", () => {
  test("round-robin: each in turn, whoever sends, by whatever way", async () => {
    const { system } = createTestSystem();
    const pool = spawnWorkers(system);
    expect(await who(pool, ["a", "b", "c", "d"])).toEqual(["2:a", "3:b", "1:c", "2:d"]);
    const message = createMessage(address("pool"), "who", "e");
    expect((await system.router.ask(message))._unsafeUnwrap()).toBe("3:e");
    expect((await pool.ref.offer("note", "f")).isOk()).toBe(true);
    const items: string[] = [];
    for await (const item of pool.ref.stream("items", 2)) items.push(item);
    expect([pool.notes, items]).toEqual([["1:f"], ["2", "2"]]);
  });

  test("least-busy: the one with the fewest that wait or run", async () => {
    const { system, clock } = createTestSystem();
    const pool = spawnWorkers(system, { routing: "least-busy" });
    const waits = [pool.ref.ask("wait", 0), pool.ref.ask("wait", 0)];
    await clock.settle();
    const busy = [...pool.release.keys()];
    const free = ["1", "2", "3"].find((name) => !busy.includes(name));
    expect(busy).toHaveLength(2);
    for (let i = 0; i < 5; i++) expect(await who(pool, ["x"])).toEqual([`${free}:x`]);
    for (const release of pool.release.values()) release();
    await Promise.all(waits);
  });

  test("least-busy: what waits in a mailbox counts, and equal ones are taken in turn", async () => {
    const { system, clock } = createTestSystem();
    const pool = spawnWorkers(system, { routing: "least-busy" });
    for (let i = 0; i < 9; i++) pool.ref.tell("note", "x");
    await clock.settle();
    expect(["1:x", "2:x", "3:x"].map((note) => pool.notes.filter((other) => other === note).length)).toEqual([3, 3, 3]);
  });

  test("consistent-hash: the same key has the same worker, and all workers have some", async () => {
    const { system } = createTestSystem();
    const pool = spawnWorkers(system, { ...keyed, size: 5 });
    const keys = Array.from({ length: 500 }, (_, i) => `key-${i}`);
    const first = await who(pool, keys);
    expect(await who(pool, keys)).toEqual(first);
    const loads = ["1", "2", "3", "4", "5"].map((name) => first.filter((reply) => reply.startsWith(name)).length);
    for (const load of loads) expect(load).toBeGreaterThan(60); // 100 each, if hashing were perfect.
  });

  test("consistent-hash: when a worker is gone its keys move, and no others", async () => {
    const { system, clock } = createTestSystem({ supervision: { decide: () => "stop" } });
    const pool = spawnWorkers(system, keyed);
    const keys = Array.from({ length: 100 }, (_, i) => `key-${i}`);
    const before = await who(pool, keys);
    await system.router.unregister(address("pool/2"));
    const after = await who(pool, keys);
    expect(before.some((reply) => reply.startsWith("2"))).toBe(true);
    for (const [index, reply] of before.entries()) {
      if (reply.startsWith("2")) expect(after[index]).not.toStartWith("2");
      else expect(after[index]).toBe(reply);
    }
    await clock.settle();
  });

  test("consistent-hash: P4: a key that throws is logged, and nobody's tell throws", async () => {
    const { system, clock, takeLog } = createTestSystem();
    const key = () => {
      throw new Error("no key");
    };
    const pool = spawnWorkers(system, { routing: "consistent-hash", key });
    pool.ref.tell("note", "x");
    await clock.settle();
    expect(pool.notes).toHaveLength(1);
    expect(takeLog().map(({ message }) => message)).toEqual([
      'envoi: The key of "note" to the pool @(pool) could not be told (Error: no key); it goes where an empty one goes.',
    ]);
  });

  test("consistent-hash: P9, P18: of keys that throw, ten a second are logged, short and on one line, and the others counted", async () => {
    const { system, clock, takeLog } = createTestSystem();
    const key = (_operation: string, payload: unknown) => {
      throw new Error(`no key in ${payload}`);
    };
    const pool = spawnWorkers(system, { routing: "consistent-hash", key });
    for (let i = 0; i < 30; i++) pool.ref.tell("note", i === 0 ? `a line\n${"x".repeat(1_000)}` : "a line");
    await clock.settle();
    expect(pool.notes).toHaveLength(30);
    const logged = takeLog();
    expect(logged).toHaveLength(10);
    for (const { message } of logged) {
      expect(message).toContain("no key in a line");
      expect(message.length).toBeLessThan(250);
      expect(message).not.toContain("\n");
    }
    await clock.advance(1_000);
    expect(takeLog().map(({ message }) => message)).toEqual(["envoi: 20 more errors of these kinds in this second."]);
    for (let i = 0; i < 11; i++) pool.ref.tell("note", "again");
    await clock.settle();
    expect(takeLog()).toHaveLength(10);
    await system.shutdown();
    expect(takeLog().map(({ message }) => message)).toEqual(["envoi: 1 more errors of these kinds in this second."]);
  });

  test("broadcast: a tell goes to all, an ask comes back when all have answered", async () => {
    const { system, clock } = createTestSystem();
    const pool = spawnWorkers(system, { routing: "broadcast" });
    pool.ref.tell("note", "x");
    let isBack = false;
    const answer = pool.ref.ask("wait", 0).then((result) => {
      isBack = true;
      return result;
    });
    await clock.settle();
    expect(pool.notes).toEqual(["1:x", "2:x", "3:x"]);
    for (const name of ["3", "1"]) pool.release.get(name)?.();
    await clock.settle();
    expect(isBack).toBe(false);
    pool.release.get("2")?.();
    expect((await answer)._unsafeUnwrap()).toBe("1");
  });

  test("broadcast: the first error comes back at once, and the others handle it all the same", async () => {
    const { system, clock } = createTestSystem();
    const pool = spawnWorkers(system, { routing: "broadcast" });
    expect((await pool.ref.ask("fail", "2"))._unsafeUnwrapErr()).toMatchObject({
      kind: "handler-failed",
      address: "@(pool/2)",
    });
    const waiting = pool.ref.ask("wait", 0);
    await clock.settle();
    const broken = pool.ref.ask("fail", "1"); // Behind the handlers that wait.
    pool.release.get("1")?.();
    expect((await broken)._unsafeUnwrapErr().address).toBe(address("pool/1"));
    for (const release of pool.release.values()) release();
    await waiting;
    await clock.settle();
    const reports = system.inspect()[0]?.children ?? [];
    expect(reports.map(({ handled, failed }) => handled + failed)).toEqual([3, 3, 3]);
    expectBalance(system.router.audit());
  });

  test("P13: a pool stops with its last worker, and tells who watches it", async () => {
    const { system, clock, createProbe, takeLog } = createTestSystem({ supervision: { decide: () => "stop" } });
    const pool = spawnWorkers(system, { size: 2 });
    const probe = createProbe();
    await probe.watch(pool.ref);
    expect((await pool.ref.ask("fail", "all"))._unsafeUnwrapErr().kind).toBe("handler-failed");
    expect((await pool.ref.ask("who", "x")).isOk()).toBe(true); // By the one that is left.
    expect((await pool.ref.ask("fail", "all"))._unsafeUnwrapErr().kind).toBe("handler-failed");
    await clock.settle();
    await probe.expectTerminated(pool.ref);
    expect(system.router.has(address("pool"))).toBe(false);
    expect(takeLog()).toHaveLength(2);
  });

  test("first-answer: the first Ok wins, and the others are given up, which is not logged", async () => {
    const { system, clock } = createTestSystem();
    const pool = spawnWorkers(system, { routing: "first-answer" });
    const answer = pool.ref.ask("wait", 0);
    await clock.settle();
    pool.release.get("2")?.();
    expect((await answer)._unsafeUnwrap()).toBe("2");
    expect(pool.aborted).toEqual(["1", "3"]);
    for (const release of pool.release.values()) release(); // Late: dead letters that were planned.
    await clock.settle();
  });

  test("first-answer: those that fail do not win; when all have failed, the first worker's error comes back", async () => {
    const { system } = createTestSystem();
    const pool = spawnWorkers(system, { routing: "first-answer" });
    expect((await pool.ref.ask("fail", "1 2"))._unsafeUnwrap()).toBe("3");
    expect((await pool.ref.ask("fail", "all"))._unsafeUnwrapErr().address).toBe("@(pool/1)" as never);
  });
});

describe.each(ALL.map((options) => [options.routing, options] as const))("a pool, %s", (_routing, options) => {
  test("P6, P7: an ask times out once, its handlers are told, and nothing is left", async () => {
    const { system, clock, takeLog } = createTestSystem();
    const pool = spawnWorkers(system, options);
    const answer = pool.ref.ask("wait", 0, { timeout: 100 });
    await clock.advance(100);
    expect((await answer)._unsafeUnwrapErr().kind).toBe("timeout");
    expect(pool.aborted.length).toBe(pool.release.size);
    expect(pool.aborted.length).toBeGreaterThan(0);
    for (const release of pool.release.values()) release();
    await clock.settle();
    expect(takeLog()).toHaveLength(pool.aborted.length); // Late replies.
    expectBalance(system.router.audit());
  });

  test("P7: an ask that is cancelled ends its handlers", async () => {
    const { system, clock, takeLog } = createTestSystem();
    const pool = spawnWorkers(system, options);
    const controller = new AbortController();
    const answer = pool.ref.ask("wait", 0, { signal: controller.signal });
    await clock.settle();
    controller.abort(new Error("enough"));
    expect((await answer)._unsafeUnwrapErr().kind).toBe("cancelled");
    expect(pool.aborted.length).toBe(pool.release.size);
    await Promise.all([system.shutdown({ timeout: 1 }), clock.advance(1)]);
    expect(takeLog()).toHaveLength(1); // Who did not stop in time.
  });

  test("P10: a worker that fails restarts, and the pool goes on", async () => {
    const { system, clock, takeLog } = createTestSystem({ supervision: {} });
    const pool = spawnWorkers(system, options);
    expect(pool.made).toBe(3);
    pool.ref.tell("fail", "all");
    await clock.settle();
    expect(pool.made).toBeGreaterThan(3);
    expect((await pool.ref.ask("who", "x")).isOk()).toBe(true);
    for (const { message } of takeLog()) expect(message).toEndWith("; it restarts.");
  });

  test("P9, P10: a worker that fails too often takes the pool with it, which begins anew and loses no message", async () => {
    const { system, clock, takeLog } = createTestSystem({ supervision: { limit: 1 } });
    const pool = spawnWorkers(system, { ...options, size: 1 });
    for (let i = 0; i < 2; i++) pool.ref.tell("fail", "all");
    for (let i = 0; i < 3; i++) pool.ref.tell("note", String(i));
    const answer = pool.ref.ask("who", "x");
    await clock.settle();
    expect(pool.made).toBe(3); // At first, by its own restart, and by the pool's.
    expect(takeLog().length).toBeGreaterThan(1);
    // What the worker that was given up had in its mailbox is dead-lettered; the pool takes messages again.
    await answer;
    expect((await pool.ref.ask("who", "y"))._unsafeUnwrap()).toBe("1:y");
    expectBalance(system.router.audit());
  });

  test("P13: a pool stops with its workers, and refuses what comes after", async () => {
    const { system } = createTestSystem();
    const pool = spawnWorkers(system, options);
    await system.stop(pool.ref);
    expect(system.inspect()).toEqual([]);
    expect((await pool.ref.ask("who", "x"))._unsafeUnwrapErr().kind).toBe("stopped");
    expect((await pool.ref.offer("note", "x"))._unsafeUnwrapErr().kind).toBe("stopped");
  });

  test("P1: what it does not know is refused, and the audit balances", async () => {
    const { system } = createTestSystem();
    spawnWorkers(system, options);
    const reply = await system.router.ask(createMessage(address("pool"), "nothing", "x"));
    expect(reply._unsafeUnwrapErr().kind).toBe("unknown-operation");
    expectBalance(system.router.audit());
  });

  test("P11: an offer waits for room in the mailbox of its worker", async () => {
    const { system, clock } = createTestSystem();
    const pool = spawnWorkers(system, { ...options, size: 1, capacity: 1, overflow: "wait" });
    const waiting = pool.ref.ask("wait", 0);
    await clock.settle();
    const settled: number[] = [];
    for (let i = 0; i < 3; i++) void pool.ref.offer("note", String(i)).then(() => settled.push(i));
    await clock.settle();
    expect(settled).toEqual([0]);
    pool.release.get("1")?.();
    await waiting;
    await clock.settle();
    expect(pool.notes).toEqual(["1:0", "1:1", "1:2"]);
    expectBalance(system.router.audit());
  });
});

describe("P8: circles through a pool", () => {
  test.each([[{}], [{ routing: "least-busy" }], [keyed], [{ routing: "broadcast" }]] as const)(
    "%o",
    async (options) => {
      const { system, clock } = createTestSystem();
      const pool = spawnWorkers(system, options);
      const asked = pool.ref.ask("again");
      await clock.settle(); // The ask that closes the circle is refused at the end of the turn.
      const path = (await asked)._unsafeUnwrap().split(" ");
      expect(path.length).toBeGreaterThan(1);
      expect(path[0]).toBe(path.at(-1) as string);
      for (const at of path) expect(at).toStartWith("@(pool/");
    },
  );
});

describe("P15: what cannot be a pool is refused at once", () => {
  test.each([
    [{ size: 0 }, "a whole number from 1"],
    [{ size: 1.5 }, "a whole number from 1"],
    [{ size: 2, routing: "anything" as Routing }, "one of round-robin"],
    [{ size: 2, routing: "consistent-hash" as Routing }, "has a key"],
    [{ size: 2, key: () => "" }, "has a key"],
    [{ size: 2, capacity: 0 }, 'The capacity of the pool "pool"'],
    [
      { size: 2, sise: 3 },
      'There is no option "sise" for the pool "pool"; write one of size, routing, key, capacity, concurrency, ' +
        "stashCapacity, overflow, priority, validate, supervision, phase.",
    ],
  ])("%o", (options, sentence) => {
    const { system } = createTestSystem();
    expect(() => spawnWorkers(system, options)).toThrow(sentence);
    expect(system.inspect()).toEqual([]);
  });
});
