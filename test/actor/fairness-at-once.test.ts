import { expect, test } from "bun:test";
import {
  address,
  type Clock,
  type Context,
  createMessage,
  createSystem,
  defineProtocol,
  drop,
  type Interceptor,
  type Outgoing,
  ok,
  type PoolOptions,
  type RefTo,
  receive,
  type SignaturesOf,
  type System,
  spawnPool,
  type Transport,
  Type,
} from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { expectBalance } from "./test-system";

// What settles without a handler is spent from the turn: a loop that awaits it again and again lets the event loop and other
// mailboxes in. Each row is such a loop.

const Worker = defineProtocol("worker", {
  work: { payload: Type.Number(), reply: Type.Number() },
  read: { payload: Type.Object({ size: Type.Number() }), reply: Type.Number() },
  items: { payload: Type.Number(), stream: Type.Number() },
  wait: { reply: Type.Number() },
});
const Looper = defineProtocol("looper", { loop: { reply: Type.Number() } });

type WorkerRef = RefTo<typeof Worker>;
type Loop = () => Promise<unknown>;

/** Steps of a loop without a yield until it has starved the others; more than fit into a turn of the clock below. */
const STEPS = 20_000;

/** A system whose time goes on by each look at it, so that a turn is over after the same number of messages on any machine. */
class World {
  readonly system: System;
  readonly idle: WorkerRef;
  readonly busy: WorkerRef;
  readonly stopped: WorkerRef;
  ctx!: Context<SignaturesOf<typeof Looper>>;
  isStarving = true;
  readonly #end = Promise.withResolvers<number>();
  readonly #quiet: RefTo<typeof Looper>;

  constructor() {
    let now = 0;
    const clock: Clock = {
      ...createManualClock(),
      monotonicTime: () => {
        now += 0.01;
        return now;
      },
      macrotask: (callback) => void setImmediate(callback),
    };
    this.system = createSystem({ clock, logger: { warn() {}, error() {} }, askTimeout: Number.POSITIVE_INFINITY });
    this.idle = this.spawn("idle");
    this.busy = this.spawn("busy");
    this.stopped = this.spawn("stopped");
    this.#quiet = this.system.spawn("quiet", Looper, () => ({
      loop: () => {
        this.isStarving = false;
        return 0;
      },
    }));
    void this.busy.ask("wait");
    void this.system.stop(this.stopped);
  }

  spawn(name: string, options: Parameters<System["spawn"]>[3] = {}): WorkerRef {
    return this.system.spawn(name, Worker, () => this.handlers(), options);
  }

  /** One whose handler waits, and whose mailbox is full. */
  spawnFull(overflow: "reject" | "drop-newest" | "drop-oldest"): WorkerRef {
    const ref = this.spawn("full", { capacity: 1, overflow });
    void ref.ask("wait");
    void this.settle().then(() => ref.tell("work", 0));
    return ref;
  }

  /** One elsewhere, whose transport answers within send(). */
  attach(answer: (out: Outgoing) => void, credit: Transport["credit"] = () => {}): WorkerRef {
    const transport: Transport = { send: answer, cancel() {}, credit, close() {} };
    return this.system.attach(address("node-7/worker"), Worker, transport).ref;
  }

  pool(routing: PoolOptions["routing"] & string, options: Partial<PoolOptions> = {}): WorkerRef {
    return spawnPool(this.system, "pool", Worker, () => this.handlers(), { size: 2, routing, ...options });
  }

  handlers() {
    return {
      work: (n: number) => n,
      read: ({ size }: { size: number }) => size,
      items: (n: number) => [n],
      wait: () => this.#end.promise,
    };
  }

  use(interceptor: Interceptor): void {
    this.system.router.use(interceptor);
  }

  settle(): Promise<void> {
    return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  }

  /** Steps until the event loop and another actor have had their turn; how many steps that took. */
  async run(step: Loop): Promise<number> {
    setImmediate(() => this.#quiet.tell("loop" as never));
    let steps = 0;
    while (this.isStarving && steps < STEPS) {
      steps++;
      await step();
    }
    return steps;
  }

  async end(): Promise<void> {
    this.#end.resolve(0);
    await this.settle();
    expectBalance(this.system.router.audit());
    await this.system.shutdown();
  }
}

type Row = (world: World) => Loop | Promise<Loop>;

const read = (items: AsyncIterator<unknown>): Promise<unknown> => items.next().catch(() => undefined);
const aborted = AbortSignal.abort("not wanted");
const unreadable = {
  get size(): number {
    throw new Error("gone");
  },
};

/** The four ways to ask, offer and stream; `ctx` is that of the actor in whose handler a row runs. */
const WAYS = {
  ref: () => ({
    ask: (to: WorkerRef, operation: string, payload?: unknown, options?: object): Promise<unknown> =>
      to.ask(operation as "work", payload as number, options),
    offer: (to: WorkerRef, operation: string, payload?: unknown, options?: object): Promise<unknown> =>
      to.offer(operation as "work", payload as number, options),
    stream: (to: WorkerRef, operation: string, payload?: unknown, options?: object): AsyncIterator<unknown> =>
      to.stream(operation as "items", payload as number, options),
  }),
  ctx: ({ ctx }: World) => ({
    ask: (to: WorkerRef, operation: string, payload?: unknown, options?: object): Promise<unknown> =>
      ctx.ask(to, operation as "work", payload as number, options),
    offer: (to: WorkerRef, operation: string, payload?: unknown, options?: object): Promise<unknown> =>
      ctx.offer(to, operation as "work", payload as number, options),
    stream: (to: WorkerRef, operation: string, payload?: unknown, options?: object): AsyncIterator<unknown> =>
      ctx.stream(to, operation as "items", payload as number, options),
  }),
  router: ({ system: { router } }: World) => ({
    ask: (to: WorkerRef, operation: string, payload?: unknown, options?: object): Promise<unknown> =>
      router.ask(createMessage(to.address, operation, payload), options),
    offer: (to: WorkerRef, operation: string, payload?: unknown, options?: object): Promise<unknown> =>
      router.offer(createMessage(to.address, operation, payload), options),
    stream: (to: WorkerRef, operation: string, payload?: unknown, options?: object): AsyncIterator<unknown> =>
      router.stream(createMessage(to.address, operation, payload), options),
  }),
  receive: () => ({
    ask: (to: WorkerRef, operation: string, payload?: unknown, options?: object): Promise<unknown> =>
      receive(to).ask(operation, payload, options),
    offer: (to: WorkerRef, operation: string, payload?: unknown, options?: object): Promise<unknown> =>
      receive(to).offer(operation, payload, options),
    stream: (to: WorkerRef, operation: string, payload?: unknown, options?: object): AsyncIterator<unknown> =>
      receive(to).stream(operation, payload, options),
  }),
};
type Way = ReturnType<(typeof WAYS)["ref"]>;

/** Each ending of an ask, an offer or a stream that comes at once, or outside of a turn; for each way. */
const ENDINGS: Record<string, (world: World, way: Way) => Loop> = {
  "asks that are handled":
    ({ idle }, { ask }) =>
    () =>
      ask(idle, "work", 1), // By the turn; the others are as fair as that.
  "asks that a transport answers at once": (world, { ask }) => {
    const ref = world.attach((out) => out.complete(1));
    return () => ask(ref, "work", 1);
  },
  "asks that a transport fails at once": (world, { ask }) => {
    const ref = world.attach((out) => out.fail("handler-failed", "no"));
    return () => ask(ref, "work", 1);
  },
  "asks that a transport cannot send": (world, { ask }) => {
    const ref = world.attach((out) => out.fail("unreachable"));
    return () => ask(ref, "work", 1);
  },
  "offers that a transport takes at once": (world, { offer }) => {
    const ref = world.attach((out) => out.complete());
    return () => offer(ref, "work", 1);
  },
  "streams that a transport ends at once": (world, { stream }) => {
    const ref = world.attach((out) => out.end());
    return () => read(stream(ref, "items", 1));
  },
  "items that a transport produces at once": (world, { stream }) => {
    const produce = (out: Outgoing, count: number): void => out.produce(new Array(count).fill(1));
    const ref = world.attach((out) => produce(out, out.credit), produce);
    const items = stream(ref, "items", 1);
    return () => read(items);
  },
  "asks to a stopped actor":
    ({ stopped }, { ask }) =>
    () =>
      ask(stopped, "work", 1),
  "offers to a stopped actor":
    ({ stopped }, { offer }) =>
    () =>
      offer(stopped, "work", 1),
  "streams of a stopped actor":
    ({ stopped }, { stream }) =>
    () =>
      read(stream(stopped, "items", 1)),
  "asks for an unknown operation":
    ({ idle }, { ask }) =>
    () =>
      ask(idle, "nothing", 1),
  "offers of an unknown operation":
    ({ idle }, { offer }) =>
    () =>
      offer(idle, "nothing", 1),
  "streams of an operation that has none":
    ({ idle }, { stream }) =>
    () =>
      read(stream(idle, "work", 1)),
  "asks to a full mailbox": (world, { ask }) => {
    const full = world.spawnFull("reject");
    return () => ask(full, "work", 1);
  },
  "asks to a full mailbox that drops the newest": (world, { ask }) => {
    const full = world.spawnFull("drop-newest");
    return () => ask(full, "work", 1);
  },
  "asks to a full mailbox that drops the oldest": (world, { ask }) => {
    const full = world.spawnFull("drop-oldest");
    let dropped = Promise.resolve<unknown>(null);
    return () => {
      const oldest = dropped;
      dropped = ask(full, "work", 1);
      return oldest;
    };
  },
  "offers to a full mailbox": (world, { offer }) => {
    const full = world.spawnFull("reject");
    return () => offer(full, "work", 1);
  },
  "offers to a full mailbox that drops the newest": (world, { offer }) => {
    const full = world.spawnFull("drop-newest");
    return () => offer(full, "work", 1);
  },
  "offers to a full mailbox that drops the oldest": (world, { offer }) => {
    const full = world.spawnFull("drop-oldest");
    return () => offer(full, "work", 1);
  },
  "streams of a full mailbox": (world, { stream }) => {
    const full = world.spawnFull("reject");
    return () => read(stream(full, "items", 1));
  },
  "offers to an unbounded mailbox whose actor is busy":
    ({ busy }, { offer }) =>
    () =>
      offer(busy, "work", 1),
  "offers to an idle actor":
    ({ idle }, { offer }) =>
    () =>
      offer(idle, "work", 1),
  "offers to a bounded mailbox with room": (world, { offer }) => {
    const roomy = world.spawn("roomy", { capacity: STEPS * 2, overflow: "wait" });
    void roomy.ask("wait");
    return () => offer(roomy, "work", 1);
  },
  "asks with a payload that does not fit": (world, { ask }) => {
    const strict = world.spawn("strict", { validate: "always" });
    return () => ask(strict, "work", "one");
  },
  "asks with a payload that cannot be read": (world, { ask }) => {
    const strict = world.spawn("strict", { validate: "always" });
    return () => ask(strict, "read", unreadable);
  },
  "offers with a payload that does not fit": (world, { offer }) => {
    const strict = world.spawn("strict", { validate: "always" });
    return () => offer(strict, "work", "one");
  },
  "asks whose signal is aborted":
    ({ idle }, { ask }) =>
    () =>
      ask(idle, "work", 1, { signal: aborted }),
  "offers whose signal is aborted":
    ({ idle }, { offer }) =>
    () =>
      offer(idle, "work", 1, { signal: aborted }),
  "streams whose signal is aborted":
    ({ idle }, { stream }) =>
    () =>
      read(stream(idle, "items", 1, { signal: aborted })),
  "asks to a busy actor that are cancelled then":
    ({ busy }, { ask }) =>
    () => {
      const controller = new AbortController();
      const asked = ask(busy, "work", 1, { signal: controller.signal });
      controller.abort();
      return asked;
    },
  "streams of a busy actor that are cancelled then":
    ({ busy }, { stream }) =>
    () => {
      const controller = new AbortController();
      const step = read(stream(busy, "items", 1, { signal: controller.signal }));
      controller.abort();
      return step;
    },
  "asks to a pool for an unknown operation": (world, { ask }) => {
    const pool = world.pool("round-robin");
    return () => ask(pool, "nothing", 1);
  },
  "asks to a pool whose workers are full": (world, { ask }) => {
    const pool = world.pool("round-robin", { capacity: 1 });
    for (let i = 0; i < 2; i++) void pool.ask("wait");
    void world.settle().then(() => [1, 2].map((n) => pool.tell("work", n)));
    return () => ask(pool, "work", 1);
  },
  "asks to all of a pool whose workers are full": (world, { ask }) => {
    const pool = world.pool("broadcast", { capacity: 1 });
    void pool.ask("wait");
    void world.settle().then(() => pool.tell("work", 1));
    return () => ask(pool, "work", 1);
  },
  "asks to whichever of a pool answers first, where all are full": (world, { ask }) => {
    const pool = world.pool("first-answer", { capacity: 1 });
    void pool.ask("wait");
    void world.settle().then(() => [1, 2].map((n) => pool.tell("work", n)));
    return () => ask(pool, "work", 1);
  },
  "offers to a pool whose workers are busy": (world, { offer }) => {
    const pool = world.pool("least-busy");
    for (let i = 0; i < 2; i++) void pool.ask("wait");
    return () => offer(pool, "work", 1);
  },
  "offers to all of a pool": (world, { offer }) => {
    const pool = world.pool("broadcast");
    void pool.ask("wait");
    return () => offer(pool, "work", 1);
  },
  "reads of a stream that has ended": ({ idle }, { stream }) => {
    const items = stream(idle, "items", 1);
    return () => items.next();
  },
  "reads of a stream that was left": ({ idle }, { stream }) => {
    const items = stream(idle, "items", 1);
    return () => items.return?.().then(() => items.next()) ?? Promise.resolve();
  },
  "streams that are left before they are read":
    ({ idle }, { stream }) =>
    () =>
      stream(idle, "items", 1).return?.() ?? Promise.resolve(),
  "streams that are given an error":
    ({ idle }, { stream }) =>
    () =>
      stream(idle, "items", 1)
        .throw?.("left")
        .catch(() => undefined) ?? Promise.resolve(),
};

const INTERCEPTORS: Record<string, Interceptor> = {
  answers: () => ok([1]),
  "answers late": async () => ok([1]),
  drops: () => drop("nobody may"),
  "drops late": async () => drop("nobody may"),
  throws: () => {
    throw new Error("broken");
  },
};

const nowhere = address("nowhere");

const OTHERS: Record<string, Row> = {
  "asks to nobody":
    ({ system: { router } }) =>
    () =>
      router.ask(createMessage(nowhere, "work", 1)),
  "offers to nobody":
    ({ system: { router } }) =>
    () =>
      router.offer(createMessage(nowhere, "work", 1)),
  "streams of nobody":
    ({ system: { router } }) =>
    () =>
      read(router.stream(createMessage(nowhere, "items", 1))),
  "offers to a busy actor through an interceptor that hands them on": (world) => {
    world.use((_, next) => next());
    return () => WAYS.router(world).offer(world.busy, "work", 1);
  },
  "asks through an interceptor that hands them on, and answers meanwhile": (world) => {
    world.use((_, next) => {
      void next();
      return ok(1);
    });
    return () => WAYS.router(world).ask(world.busy, "work", 1);
  },
  "asks to a busy actor through an interceptor, cancelled then": (world) => {
    world.use((_, next) => next());
    return () => {
      const controller = new AbortController();
      const asked = WAYS.router(world).ask(world.busy, "work", 1, { signal: controller.signal });
      controller.abort();
      return asked;
    };
  },
  "reads of items without end that an interceptor makes": (world) => {
    world.use(() =>
      ok(
        (function* () {
          for (;;) yield 1;
        })(),
      ),
    );
    const items = WAYS.router(world).stream(world.idle, "items", 1);
    return () => items.next();
  },
  "reads of an intercepted stream that has ended": (world) => {
    world.use(() => ok([]));
    const items = WAYS.router(world).stream(world.idle, "items", 1);
    return () => items.next();
  },
  "intercepted streams that are left before they are read": (world) => {
    world.use((_, next) => next());
    return () => WAYS.router(world).stream(world.idle, "items", 1).return?.() ?? Promise.resolve();
  },
  "intercepted streams that are left again": (world) => {
    world.use((_, next) => next());
    const items = WAYS.router(world).stream(world.idle, "items", 1);
    return () => items.return?.() ?? Promise.resolve();
  },
  "asks from outside for what is no name":
    ({ idle }) =>
    () =>
      receive(idle).ask("", 1),
  "asks of an actor to itself":
    ({ ctx }) =>
    () =>
      ctx.ask(ctx.self, "loop"),
  "stops of an actor that has stopped":
    ({ system, stopped }) =>
    () =>
      system.stop(stopped),
  "actors spawned and stopped": (world) => {
    let count = 0;
    return () => world.system.stop(world.spawn(`one-${++count}`));
  },
  "children spawned and stopped": ({ ctx, system }) => {
    let count = 0;
    return () => system.stop(ctx.spawn(`one-${++count}`, Looper, () => ({ loop: () => 0 })));
  },
  "unregistrations of nobody":
    ({ system: { router } }) =>
    () =>
      router.unregister(nowhere),
  "handlers registered and unregistered":
    ({ system: { router } }) =>
    () => {
      router.register(nowhere, () => 0);
      return router.unregister(nowhere);
    },
  "dead letters that cause the next one": ({ system: { router }, stopped }) => {
    const letters = router.deadLetters[Symbol.asyncIterator]();
    return () => {
      stopped.tell("work", 1);
      return letters.next();
    };
  },
  "dead letters that were waited for": ({ system: { router }, stopped }) => {
    const letters = router.deadLetters[Symbol.asyncIterator]();
    return () => {
      const letter = letters.next();
      stopped.tell("work", 1);
      return letter;
    };
  },
  "reads of events that were left": async ({ system: { events } }) => {
    const left = events[Symbol.asyncIterator]();
    await left.return?.();
    return () => left.next();
  },
  "events that are left":
    ({ system: { events } }) =>
    () =>
      events[Symbol.asyncIterator]().return?.() ?? Promise.resolve(),
};

const ROWS = new Map<string, Row>(Object.entries(OTHERS));
for (const way of ["ref", "ctx", "router", "receive"] as const) {
  for (const [name, ending] of Object.entries(ENDINGS)) {
    ROWS.set(`${name}, by ${way}`, (world) => ending(world, WAYS[way](world)));
  }
}
for (const [name, interceptor] of Object.entries(INTERCEPTORS)) {
  for (const verb of ["ask", "offer", "stream"] as const) {
    ROWS.set(`${verb}: an interceptor ${name}`, (world) => {
      world.use(interceptor);
      const way = WAYS.router(world);
      if (verb === "stream") return () => read(way.stream(world.idle, "items", 1));
      return () => way[verb](world.idle, "work", 1);
    });
  }
}

for (const [name, row] of ROWS) {
  test(`P5: the event loop and other actors get their turn among ${name}`, async () => {
    const world = new World();
    const looper = world.system.spawn("looper", Looper, (ctx) => ({
      async loop() {
        world.ctx = ctx;
        const step = await row(world);
        await world.settle();
        return world.run(step);
      },
    }));
    const steps = await looper.ask("loop");
    await world.end();
    expect(steps.unwrapOr(STEPS)).toBeWithin(1, STEPS);
    expect(world.isStarving).toBe(false);
  });
}

test("P5: a handler that was given up and asks again lets the event loop in", async () => {
  const world = new World();
  const controller = new AbortController();
  const steps = Promise.withResolvers<number>();
  const looper = world.system.spawn("looper", Looper, (ctx) => ({
    async loop() {
      controller.abort();
      steps.resolve(await world.run(() => ctx.ask(world.idle, "work", 1)));
      return 0;
    },
  }));
  await looper.ask("loop", { signal: controller.signal });
  expect(await steps.promise).toBeWithin(1, STEPS);
  await world.end();
});

test("P5: a handler that has replied and asks on lets the event loop in", async () => {
  const world = new World();
  const steps = Promise.withResolvers<number>();
  const looper = world.system.spawn("looper", Looper, (ctx) => ({
    loop() {
      steps.resolve(Promise.resolve().then(() => world.run(() => ctx.ask(world.idle, "work", 1))));
      return 0;
    },
  }));
  await looper.ask("loop");
  expect(await steps.promise).toBeWithin(1, STEPS);
  await world.end();
});

test("P5: a system that has shut down lets the event loop in, however often it is asked to", async () => {
  const world = new World();
  await world.end();
  setImmediate(() => {
    world.isStarving = false;
  });
  let steps = 0;
  while (world.isStarving && steps < STEPS) {
    steps++;
    await world.system.shutdown();
  }
  expect(steps).toBeWithin(1, STEPS);
});
