import { describe, expect, test } from "bun:test";
import { cellOf } from "../../src/actor/cell/cell";
import {
  type AskResult,
  address,
  type Context,
  createPool,
  defineProtocol,
  type Outgoing,
  type Pool,
  type Ref,
  type RefPoolOptions,
  type Routing,
  receive,
  type SignaturesOf,
  type System,
  spawnPool,
  Type,
} from "../../src/index";
import { expectBalance, reasonsOf, testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

const Worker = defineProtocol("worker", {
  who: { payload: Type.String(), reply: Type.String() },
  note: { payload: Type.String() },
  wait: { payload: Type.Number(), reply: Type.String() },
  back: { payload: Type.String(), reply: Type.String() },
  items: { payload: Type.Number(), stream: Type.String() },
});
type WorkerRef = Ref<SignaturesOf<typeof Worker>>;
type WorkerContext = Context<SignaturesOf<typeof Worker>>;

const FOR_EVER = { timeout: Number.POSITIVE_INFINITY };
const said = (result: AskResult<string>): string => (result.isOk() ? result.value : result.error.kind);

/** Workers that no pool has made; `gate` lets their `wait` end. */
function spawnWorkers(
  system: System,
  names: readonly string[],
  back: (ctx: WorkerContext) => unknown = () => "",
  capacity?: number,
) {
  const notes: string[] = [];
  const gate = Promise.withResolvers<void>();
  const refs = names.map((name) =>
    system.spawn(
      name,
      Worker,
      (ctx) => ({
        who: (text) => `${name}:${text}`,
        note: (text) => void notes.push(`${name}:${text}`),
        wait: async () => {
          await gate.promise;
          return name;
        },
        back: () => back(ctx) as Promise<string>, // Each test returns a text, or a promise of one.
        *items(count) {
          for (let i = 0; i < count; i++) yield name;
        },
      }),
      capacity === undefined ? {} : { capacity, overflow: "wait" },
    ),
  );
  return { refs, notes, gate };
}

const ask = async (ref: WorkerRef, ...texts: string[]): Promise<string[]> =>
  Promise.all(texts.map(async (text) => said(await ref.ask("who", text))));

const keyed: RefPoolOptions = { routing: "consistent-hash", key: (_operation, payload) => String(payload) };
const ALL: readonly RefPoolOptions[] = [
  ...(["round-robin", "least-busy", "broadcast", "first-answer"] satisfies Routing[]).map((routing) => ({ routing })),
  keyed,
];

for (const options of ALL) {
  describe(`a pool of references, ${options.routing}:`, () => {
    test("P1: spreads tells, asks, offers and streams over actors that are not its children", async () => {
      const { system, clock, router } = createTestSystem();
      const { refs, notes } = spawnWorkers(system, ["a", "b", "c"]);
      const pool = createPool(system, "pool", Worker, refs, options);
      for (let i = 0; i < 12; i++) pool.ref.tell("note", `${i}`);
      expect((await pool.ref.offer("note", "offered")).isOk()).toBe(true);
      await clock.settle();
      const isAll = options.routing === "broadcast";
      expect(notes).toHaveLength(isAll ? 39 : 13);
      expect(new Set(notes.map((note) => note[0])).size).toBe(3);
      for (const text of ["x", "y"]) expect((await ask(pool.ref, text))[0]).toMatch(/^[abc]:[xy]$/);
      expect(await Array.fromAsync(pool.ref.stream("items", 2))).toHaveLength(2);
      expect(pool.ref.address as string).toBe("@(pool)");
      expect(refs.map(({ address }) => address as string)).toEqual(["@(a)", "@(b)", "@(c)"]);
      expect(system.inspect().flatMap(({ children }) => children)).toEqual([]);
      await system.stop(pool.ref);
      expect(await ask(refs[0] as WorkerRef, "x")).toEqual(["a:x"]); // A pool's stop is its own.
      expect(await ask(pool.ref, "x")).toEqual(["stopped"]);
      expectBalance(router.audit());
    });

    test("a worker that stops leaves the pool, which answers no-recipient without any and goes on with another one", async () => {
      const { system, clock, deadLetters, takeLog } = createTestSystem();
      const { refs } = spawnWorkers(system, ["a", "b", "c"]);
      const [a, b, c] = refs as [WorkerRef, WorkerRef, WorkerRef];
      const pool = createPool(system, "pool", Worker, [a, b, a], options);
      expect(pool.size).toBe(2);
      await system.stop(a);
      expect(await ask(pool.ref, "1", "2", "3")).toEqual(["b:1", "b:2", "b:3"]);
      await clock.settle();
      expect(pool.size).toBe(1);
      await system.stop(b);
      await clock.settle();
      expect(pool.size).toBe(0);
      const refused = await pool.ref.ask("who", "4");
      expect(refused.isErr() && refused.error.message).toBe(
        '"who" to @(pool) found no worker in this pool; add one, and send it again then.',
      );
      pool.ref.tell("note", "5");
      expect(reasonsOf(deadLetters)).toEqual(["no-recipient", "no-recipient"]);
      pool.add(a); // It has stopped.
      expect(pool.size).toBe(0);
      pool.add(c);
      pool.add(c);
      expect(pool.size).toBe(1);
      expect(await ask(pool.ref, "6")).toEqual(["c:6"]);
      pool.remove(c);
      pool.remove(a);
      expect(pool.size).toBe(0);
      expect(await ask(pool.ref, "7")).toEqual(["no-recipient"]);
      expect(await ask(c, "8")).toEqual(["c:8"]);
      takeLog();
    });

    test("P8: a worker that asks back an actor that waits for the pool closes a circle", async () => {
      const { system, clock } = createTestSystem();
      const heard: string[] = [];
      const { refs } = spawnWorkers(system, ["a", "b"], async (ctx) => {
        const answer = said(await ctx.ask(asker, "who", "asker", FOR_EVER));
        heard.push(answer);
        return answer;
      });
      const pool = createPool(system, "pool", Worker, refs, options);
      const asker: WorkerRef = spawnWorkers(system, ["asker"], async (ctx) =>
        said(await ctx.ask(pool.ref, "back", "", FOR_EVER)),
      ).refs[0] as WorkerRef;
      const reply = asker.ask("back", "", FOR_EVER);
      await clock.settle(); // No time passes.
      expect(said(await reply)).toMatch(/ask-cycle/);
      // Once one has answered, the other one is given up with the ask of it.
      expect(heard.toSorted().slice(0, 1)).toEqual(["ask-cycle"]);
    });

    test("P11: a worker's bound is its own: an offer waits for room in it", async () => {
      const { system, clock } = createTestSystem();
      const { refs, gate } = spawnWorkers(system, ["a"], undefined, 1);
      const pool = createPool(system, "pool", Worker, refs, options);
      const replies = [pool.ref.ask("wait", 1, FOR_EVER), pool.ref.ask("wait", 2, FOR_EVER)];
      await clock.settle();
      const offered = pool.ref.offer("note", "x", FOR_EVER);
      let isIn = false;
      void offered.then(() => {
        isIn = true;
      });
      await clock.settle();
      expect(isIn).toBe(false);
      gate.resolve();
      expect((await offered).isOk()).toBe(true);
      expect((await Promise.all(replies)).map(said)).toEqual(["a", "a"]);
    });
  });
}

test("a worker in two pools, and a pool in a pool, are workers like any", async () => {
  const { system, clock, router } = createTestSystem();
  const { refs, notes } = spawnWorkers(system, ["a", "b", "c"]);
  const [a, b, c] = refs as [WorkerRef, WorkerRef, WorkerRef];
  const one = createPool(system, "one", Worker, [a, b]);
  const two = createPool(system, "two", Worker, [b, one.ref, c], { routing: "broadcast" });
  two.ref.tell("note", "1");
  two.ref.tell("note", "2");
  await clock.settle();
  expect(notes.toSorted()).toEqual(["a:2", "b:1", "b:1", "b:2", "c:1", "c:2"]);
  expect((await two.ref.ask("who", "3")).isOk()).toBe(true);
  await system.stop(one.ref);
  await clock.settle();
  expect(two.size).toBe(2);
  expectBalance(router.audit());
});

for (const routing of ["round-robin", "broadcast"] as const) {
  test(`P8: the search for circles goes through a pool in a pool, ${routing}`, async () => {
    const { system, clock } = createTestSystem();
    const { refs } = spawnWorkers(system, ["a"], async (ctx) => said(await ctx.ask(asker, "who", "", FOR_EVER)));
    const inner = createPool(system, "inner", Worker, refs);
    const outer = createPool(system, "outer", Worker, [inner.ref], { routing });
    const asker: WorkerRef = spawnWorkers(system, ["asker"], async (ctx) =>
      said(await ctx.ask(outer.ref, "back", "", FOR_EVER)),
    ).refs[0] as WorkerRef;
    const reply = asker.ask("back", "", FOR_EVER);
    await clock.settle();
    expect(said(await reply)).toBe("ask-cycle");
    // And where the worker waits for the asker before the pool is asked.
    const second = (refs[0] as WorkerRef).ask("back", "", FOR_EVER);
    const third = asker.ask("back", "", FOR_EVER);
    await clock.settle();
    expect([said(await second), said(await third)].sort()).toContain("ask-cycle");
  });
}

for (const routing of ["round-robin", "broadcast"] as const) {
  test(`P8: a pool in a pool may pick the one worker that waits for the asker, ${routing}`, async () => {
    const { system, clock } = createTestSystem();
    const gate = Promise.withResolvers<void>();
    const { refs } = spawnWorkers(system, ["free", "stuck"], async (ctx) =>
      said(await ctx.ask(asker, "who", "", FOR_EVER)),
    );
    const inner = createPool(system, "inner", Worker, refs); // The second one gets the first message.
    const outer = createPool(system, "outer", Worker, [inner.ref], { routing });
    const asker: WorkerRef = spawnWorkers(system, ["asker"], async (ctx) => {
      await gate.promise;
      return said(await ctx.ask(outer.ref, "who", "x", FOR_EVER));
    }).refs[0] as WorkerRef;
    const reply = asker.ask("back", "", FOR_EVER);
    await clock.settle();
    const waiting = refs[1]?.ask("back", "", FOR_EVER);
    await clock.settle();
    gate.resolve();
    await clock.settle();
    // One of the two asks was refused, and the other one answered.
    const replies = await Promise.all([reply, waiting].map((each) => Promise.race([each, null])));
    expect(replies.filter((each) => each?.unwrapOr("") === "ask-cycle")).toHaveLength(1);
    expect(replies).not.toContain(null);
  });
}

test("a worker that is elsewhere is one like any: it is counted by what it has not answered, and leaves when it is unreachable", async () => {
  const { system, clock, router } = createTestSystem();
  const { refs } = spawnWorkers(system, ["here"]);
  const open: Outgoing[] = [];
  const attachment = system.attach(address("there"), Worker, {
    send(out) {
      if (out.type === "wait") open.push(out);
      else out.complete(`there:${String(out.payload)}`);
    },
    cancel() {},
    credit() {},
    close() {},
  });
  const pool = createPool(system, "pool", Worker, [attachment.ref, ...refs], { routing: "least-busy" });
  const waiting = attachment.ref.ask("wait", 1, FOR_EVER);
  for (const text of ["1", "2"]) expect(await ask(pool.ref, text)).toEqual([`here:${text}`]);
  open[0]?.complete("late");
  expect(said(await waiting)).toBe("late");
  const both = [...(await ask(pool.ref, "3")), ...(await ask(pool.ref, "4"))];
  expect(both.map((reply) => reply.replace(/:.*/, "")).sort()).toEqual(["here", "there"]);
  const lost = attachment.ref.ask("wait", 1, FOR_EVER);
  attachment.end("unreachable", new Error("cut"));
  expect(await ask(pool.ref, "5", "6")).toEqual(["here:5", "here:6"]);
  await clock.settle();
  expect(said(await lost)).toBe("unreachable");
  expect(pool.size).toBe(1);
  expectBalance(router.audit());
});

test("a worker whose side is gone for now stays, and leaves when it has stopped", async () => {
  const { system, clock } = createTestSystem();
  const transport = {
    send: (out: Outgoing) => out.complete(String(out.payload)),
    cancel() {},
    credit() {},
    close() {},
  };
  const attachment = system.attach(address("there"), Worker, transport);
  const pool = createPool(system, "pool", Worker, [attachment.ref]);
  for (const cause of ["once", "twice"]) {
    attachment.interrupt(new Error(cause));
    await clock.settle();
    expect(await ask(pool.ref, cause)).toEqual([cause]);
  }
  attachment.end("stopped");
  await clock.settle();
  expect(pool.size).toBe(0);
});

test("P14: a worker that is removed keeps nothing of the pool", async () => {
  const { system } = createTestSystem();
  const { refs } = spawnWorkers(system, ["a"]);
  const pool = createPool(system, "pool", Worker, refs);
  expect(cellOf(refs[0] as WorkerRef).extras?.watchers).not.toBeNull();
  pool.remove(refs[0] as WorkerRef);
  expect(cellOf(refs[0] as WorkerRef).extras?.watchers).toBeNull();
});

test("least-busy: the load of a pool is that of its workers", async () => {
  const { system, clock } = createTestSystem();
  const busy = spawnWorkers(system, ["busy"]);
  const idle = spawnWorkers(system, ["idle"]);
  const inner = createPool(system, "inner", Worker, busy.refs, { routing: "least-busy" });
  const outer = createPool(system, "outer", Worker, [inner.ref, ...idle.refs], { routing: "least-busy" });
  const waits = [1, 2].map((i) => inner.ref.ask("wait", i, FOR_EVER));
  await clock.settle();
  expect(await ask(outer.ref, "1", "2")).toEqual(["idle:1", "idle:2"]);
  busy.gate.resolve();
  await Promise.all(waits);
});

test("P5: a worker that forwards to the pool which hands its messages to several does not multiply them", async () => {
  const { system, clock, deadLetters, takeLog } = createTestSystem();
  const refs: WorkerRef[] = ["a", "b", "c"].map((name) =>
    system.spawn(name, Worker, (ctx) => ({
      who: () => "",
      note: () => ctx.forward(pool.ref),
      wait: () => "",
      back: () => "",
      *items() {},
    })),
  );
  const pool: Pool<SignaturesOf<typeof Worker>> = createPool(system, "pool", Worker, refs, { routing: "broadcast" });
  pool.ref.tell("note", "x");
  await clock.settle();
  expect(reasonsOf(deadLetters)).toEqual(["no-recipient", "no-recipient", "no-recipient"]);
  expect(deadLetters[0]?.description).toContain("every round would multiply it");
  refs[0]?.tell("note", "x"); // It did not come through the pool: that it comes there once is no circle.
  await clock.settle();
  expect(deadLetters).toHaveLength(6);
  takeLog();
});

test("least-busy: counts what a worker has already when it is added, in its mailbox and in its handler", async () => {
  const { system, clock } = createTestSystem();
  const { refs, notes, gate } = spawnWorkers(system, ["a", "b"]);
  const [a, b] = refs as [WorkerRef, WorkerRef];
  const waits = [1, 2, 3, 4, 5, 6].map((i) => a.ask("wait", i, FOR_EVER));
  const later = b.ask("wait", 0, FOR_EVER);
  await clock.settle();
  const pool = createPool(system, "pool", Worker, [a], { routing: "least-busy" });
  pool.add(b);
  for (let i = 0; i < 4; i++) pool.ref.tell("note", `${i}`);
  gate.resolve();
  await Promise.all([...waits, later]);
  await clock.settle();
  expect(notes).toEqual(["b:0", "b:1", "b:2", "b:3"]);
  for (let i = 0; i < 100; i++) expect(said(await pool.ref.ask("who", "x"))).toMatch(/^[ab]:x$/);
  expect(system.inspect().map(({ queued }) => queued)).toEqual([0, 0, 0]);
});

test("least-busy: a signal that waits in the mailbox of a worker is no message of it", async () => {
  const { system, clock } = createTestSystem();
  const { refs } = spawnWorkers(system, ["other", "watched"]);
  const [other, watched] = refs as [WorkerRef, WorkerRef];
  const gate = Promise.withResolvers<string>();
  const watcher: WorkerRef = system.spawn("watcher", Worker, (ctx) => {
    ctx.watch(watched, () => undefined);
    return { who: () => "watcher", note() {}, wait: () => gate.promise, back: () => "", *items() {} };
  });
  const waiting = watcher.ask("wait", 1, FOR_EVER);
  await system.stop(watched);
  await clock.settle();
  const pool = createPool(system, "pool", Worker, [other, watcher], { routing: "least-busy" });
  gate.resolve("");
  await waiting;
  await clock.settle();
  const replies: string[] = [];
  for (let i = 0; i < 4; i++) replies.push(...(await ask(pool.ref, "x")));
  expect(replies.filter((reply) => reply === "watcher")).toHaveLength(2);
});

test("least-busy: an actor that adds itself within a row of its messages is counted right from then on", async () => {
  const { system, clock } = createTestSystem();
  const { refs } = spawnWorkers(system, ["other"]);
  const pool = createPool(system, "pool", Worker, refs, { routing: "least-busy" });
  const notes: string[] = [];
  const self: WorkerRef = system.spawn("self", Worker, () => ({
    who: () => "self",
    note(text) {
      notes.push(text);
      if (text === "5") pool.add(self);
    },
    wait: () => "",
    back: () => "",
    *items() {},
  }));
  for (let i = 0; i < 200; i++) self.tell("note", `${i}`);
  await clock.settle();
  expect(notes).toHaveLength(200);
  const idle = [];
  for (let i = 0; i < 4; i++) idle.push(said(await pool.ref.ask("who", "x")));
  expect(idle.filter((each) => each === "self")).toHaveLength(2); // It is taken for as idle as the other one.
});

test("P10: a pool that restarts keeps its workers, and is told of their ends as before", async () => {
  const { system, clock, takeLog } = createTestSystem({ supervision: { strategy: "one-for-all" } });
  const { refs } = spawnWorkers(system, ["a", "b"]);
  const Parent = defineProtocol("parent", { fail: {} });
  let pool!: Pool<SignaturesOf<typeof Worker>>; // By the factory of its parent.
  const parent = system.spawn(
    "parent",
    Parent,
    (ctx) => {
      pool = createPool(ctx, "pool", Worker, refs);
      return {
        fail() {
          throw new Error("as it was told to");
        },
      };
    },
    { supervision: {} },
  );
  parent.tell("fail");
  await clock.advance(10_000);
  expect(pool.size).toBe(2);
  await system.stop(refs[0] as WorkerRef);
  await clock.settle();
  expect(pool.size).toBe(1);
  expect(await ask(pool.ref, "x")).toEqual(["b:x"]);
  takeLog();
});

test("P18: a message from outside is validated once, before it goes to a worker", async () => {
  const { system, takeLog } = createTestSystem();
  const { refs } = spawnWorkers(system, ["a"]);
  const pool = createPool(system, "pool", Worker, refs);
  const door = receive(pool.ref);
  expect(await door.ask("who", "x")).toMatchObject({ value: "a:x" });
  const wrong = await door.ask("who", 1);
  expect(wrong.isErr() && wrong.error.kind).toBe("invalid-payload");
  takeLog();
});

test("refuses what cannot be a pool of references, and makes nothing then", async () => {
  const { system } = createTestSystem();
  const { refs } = spawnWorkers(system, ["a"]);
  const [a] = refs as [WorkerRef];
  const Other = defineProtocol("other", { who: { stream: Type.String() } });
  const other = system.spawn("other", Other, () => ({ *who() {} }));
  const make = (workers: unknown, options: unknown = {}) =>
    createPool(system, "pool", Worker, workers as WorkerRef[], options as RefPoolOptions);
  expect(() => make(a)).toThrow('The workers of the pool "pool" are a list of references');
  expect(() => make([{ address: "@(a)" }])).toThrow("no reference to an actor");
  expect(() => make([a, other])).toThrow('@(other) has no operation "who" as the pool "pool" has it');
  expect(() => make([a], { size: 3 })).toThrow('There is no option "size" for the pool');
  expect(() => make([a], { routing: "consistent-hash" })).toThrow("has a key where it is routed by one");
  expect(() => make([a], null)).toThrow("are an object");
  const pool = make([a]);
  expect(() => make([a])).toThrow("@(pool) is in use");
  expect(() => pool.add(pool.ref)).toThrow("hands its messages to the pool @(pool), and cannot be its worker");
  const around = createPool(system, "around", Worker, [pool.ref]);
  expect(() => pool.add(around.ref)).toThrow("@(around) hands its messages to the pool @(pool)");
  const spawned = spawnPool(
    system,
    "spawned",
    Worker,
    () => ({
      who: () => "spawned",
      note() {},
      wait: () => "",
      back: () => "",
      *items() {},
    }),
    { size: 1 },
  );
  pool.add(spawned);
  expect(await ask(pool.ref, "1", "2")).toEqual(["spawned", "a:2"]);
  await system.shutdown();
  pool.add(a);
  pool.remove(a);
});
