import { afterEach, expect, test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
import {
  address,
  type Context,
  createMessage,
  createSystem,
  createTopic,
  defineProtocol,
  type Factory,
  type Ref,
  receive,
  type SignaturesOf,
  spawnPool,
  Type,
} from "../../src/index";
import { simulate } from "../../src/testing/index";
import { type TestOptions, type TestSystem, testSystems } from "./test-system";

const { createTestSystem, createTestRouter } = testSystems();

/** Who a request is of. */
const user = new AsyncLocalStorage<string>();
const who = (): string => user.getStore() ?? "nobody";
afterEach(() => user.enterWith(undefined as unknown as string));

/** A system that was made while "owner" was served. */
const owned = (options?: TestOptions): TestSystem => user.run("owner", () => createTestSystem(options));

const Echo = defineProtocol("echo", {
  who: { reply: Type.String() },
  later: { reply: Type.String() },
  enter: { payload: Type.String(), reply: Type.String() },
  told: {},
  items: { payload: Type.Integer(), stream: Type.String() },
  asyncItems: { payload: Type.Integer(), stream: Type.String() },
});
type Signatures = SignaturesOf<typeof Echo>;

/** Handlers that tell in which context they run. */
const handlersWith = (seen: string[]) => ({
  who,
  async later() {
    const before = who();
    await Promise.resolve();
    return before === who() ? before : `${before}, then ${who()}`;
  },
  enter(name: string) {
    const before = who();
    user.enterWith(name);
    return before;
  },
  told: () => void seen.push(who()),
  *items(n: number) {
    for (let i = 0; i < n; i++) yield who();
  },
  async *asyncItems(n: number) {
    for (let i = 0; i < n; i++) {
      yield who();
      if (i % 2 === 0) await Promise.resolve();
    }
  },
});

const echo =
  (seen: string[] = []): Factory<Signatures> =>
  () =>
    handlersWith(seen);

/** What each read of a stream gives, each in a context of its own. */
async function readAs(names: readonly string[], items: AsyncIterator<string, unknown>): Promise<unknown[]> {
  const read: unknown[] = [];
  for (const name of names) {
    const { value } = await user.run(name, () => items.next());
    read.push(value);
  }
  return read;
}

const USERS = ["alice", "bob", "carol"];

test("P16: a handler sees the context of its system, whoever's message woke the dispatcher", async () => {
  const { system, router } = owned();
  const seen: string[] = [];
  const ref = system.spawn("echo", Echo, echo(seen));
  const routed = router.register(address("routed"), async () => {
    await null;
    return who();
  });
  const replies = await Promise.all(
    USERS.flatMap((name) =>
      user.run(name, () => {
        ref.tell("told");
        return [
          ref.ask("who"),
          ref.ask("later"),
          receive(ref).ask("who", undefined),
          router.ask(createMessage(ref.address, "who", undefined)),
          routed.ask("any"),
        ];
      }),
    ),
  );
  expect(replies.map((reply) => reply.unwrapOr("failed"))).toEqual(new Array(15).fill("owner"));
  expect(seen).toEqual(["owner", "owner", "owner"]);
});

test("P16: a router of its own, and a system made outside of any request, have a context of their own", async () => {
  const { router } = createTestRouter();
  const ref = router.register(address("echo"), () => who());
  const replies = await Promise.all(USERS.map((name) => user.run(name, () => ref.ask("who"))));
  expect(replies.map((reply) => reply.unwrapOr("failed"))).toEqual(["nobody", "nobody", "nobody"]);
});

test("P16: who asks, reads or offers goes on in its own context", async () => {
  const { system } = owned();
  const ref = system.spawn("echo", Echo, echo());
  await Promise.all(
    USERS.map((name) =>
      user.run(name, async () => {
        await ref.ask("enter", "mallory");
        expect(who()).toBe(name);
        await ref.ask("later");
        expect(who()).toBe(name);
        await ref.offer("told");
        expect(who()).toBe(name);
        for await (const _ of ref.stream("asyncItems", 3)) expect(who()).toBe(name);
        expect(who()).toBe(name);
      }),
    ),
  );
});

for (const [how, options] of [
  ["one at a time", {}],
  ["with a capacity", { capacity: 200 }],
  ["by priority", { priority: () => 0 }],
  ["several at once", { concurrency: 4 }],
] as const) {
  test(`P16: the context that a handler enters is not that of the next message of its turn, ${how}`, async () => {
    const { system } = owned();
    const seen: string[] = [];
    const ref = system.spawn("echo", Echo, echo(seen), options);
    const other = system.spawn("other", Echo, echo(seen));
    const asks = [
      ref.ask("enter", "mallory"),
      ref.ask("enter", "oscar"),
      ref.ask("who"),
      ref.ask("later"),
      other.ask("who"),
    ];
    for (let i = 0; i < 100; i++) ref.tell("told"); // Enough for the way without envelopes.
    const replies = await Promise.all(asks);
    expect(replies.map((reply) => reply.unwrapOr("failed"))).toEqual(new Array(5).fill("owner"));
    expect(new Set(seen)).toEqual(new Set(["owner"]));
  });
}

test("P16: what a handler enters, and what it runs in a context, is its own until it has replied", async () => {
  const { system } = owned();
  const Work = defineProtocol("work", {
    enter: { payload: Type.String(), reply: Type.String() },
    run: { reply: Type.String() },
  });
  const ref = system.spawn(
    "work",
    Work,
    () => ({
      async enter(name) {
        user.enterWith(name);
        await Promise.resolve();
        return who();
      },
      run: () =>
        user.run("inner", async () => {
          await Promise.resolve();
          return who();
        }),
    }),
    { concurrency: 3 },
  );
  const replies = await Promise.all([ref.ask("enter", "a"), ref.ask("run"), ref.ask("enter", "b"), ref.ask("run")]);
  expect(replies.map((reply) => reply.unwrapOr("failed"))).toEqual(["a", "inner", "b", "inner"]);
});

test("P16: a thenable that a handler returns is awaited in the handler's context", async () => {
  const { system } = owned();
  const Query = defineProtocol("query", { run: { reply: Type.String() } });
  // As queries of some libraries are: they begin when they are awaited.
  // biome-ignore lint/suspicious/noThenProperty: that is what it is about.
  const run = () => ({ then: (resolve: (reply: string) => void) => resolve(who()) }) as Promise<string>;
  for (const concurrency of [1, 2]) {
    const ref = system.spawn(`query-${concurrency}`, Query, () => ({ run }), { concurrency });
    expect((await user.run("alice", () => ref.ask("run")))._unsafeUnwrap()).toBe("owner");
  }
});

for (const [how, operation] of [
  ["a generator", "items"],
  ["an asynchronous generator", "asyncItems"],
] as const) {
  for (const concurrency of [1, 2]) {
    test(`P16: ${how} runs in the context of its system, whoever reads, ${concurrency} at once`, async () => {
      const { system } = owned();
      const ref = system.spawn("echo", Echo, echo(), { concurrency });
      for (const credit of [1, 16]) {
        const items = user.run("alice", () => ref.stream(operation, 100, { credit }));
        const names = Array.from({ length: 100 }, (_, i) => USERS[i % 3] ?? "");
        expect(new Set(await readAs(names, items))).toEqual(new Set(["owner"]));
        await items.return();
      }
    });
  }
}

test("P16: the context that a generator enters is not that of the next message", async () => {
  const { system } = owned();
  const Work = defineProtocol("work", { items: { payload: Type.String(), stream: Type.String() } });
  const ref = system.spawn(
    "work",
    Work,
    () => ({
      *items(name) {
        const before = who();
        user.enterWith(name);
        yield before;
        yield before;
      },
    }),
    { concurrency: 3 },
  );
  const streams = USERS.map((name) => ref.stream("items", name, { credit: 1 }));
  const firsts = await Promise.all(streams.map((items) => items.next()));
  const seconds = await Promise.all(streams.map((items) => items.next()));
  expect([...firsts, ...seconds].map(({ value }) => value)).toEqual(new Array(6).fill("owner"));
  await Promise.all(streams.map((items) => items.return()));
});

for (const asyncContext of ["system", "sender"] as const) {
  test(`P16: factories, hooks, timers, watches and callbacks run in the system's context (asyncContext: "${asyncContext}")`, async () => {
    const seen: [string, string][] = [];
    const note = (what: string) => () => void seen.push([what, who()]);
    const { system, router, advance, settle, takeLog } = owned({
      asyncContext,
      supervision: {
        decide: () => {
          note("decide")();
          return "restart";
        },
      },
    });
    system.events.subscribe(note("event"));
    router.deadLetters.subscribe(note("dead letter"));
    const Work = defineProtocol("work", { begin: {}, fail: {}, wait: { reply: Type.String() }, child: {} });
    const factory: Factory<SignaturesOf<typeof Work>> = (ctx) => {
      note("factory")();
      return {
        onStart: async () => {
          note("onStart")();
          await null;
          note("onStart, later")();
          user.enterWith("mallory");
        },
        onRestart: note("onRestart"),
        onStop: note("onStop"),
        begin() {
          ctx.timers.once("once", 5, note("timer"));
          ctx.timers.fixedRate("rate", 5, note("timer"));
          ctx.timers.receiveTimeout(3, note("receive timeout"));
        },
        child() {
          const child = ctx.spawn("child", Echo, echo());
          ctx.watch(child, note("watch"));
          ctx.stop(child);
        },
        fail() {
          user.enterWith("mallory");
          throw new Error("broken");
        },
        wait() {
          ctx.onAbort(note("onAbort"));
          ctx.signal.addEventListener("abort", note("abort"));
          return new Promise<string>(() => {});
        },
      };
    };
    const ref = user.run("alice", () => system.spawn("work", Work, factory));
    user.run("bob", () => {
      ref.tell("begin");
      ref.tell("child");
    });
    await user.run("bob", () => advance(30));
    user.run("carol", () => ref.tell("fail"));
    await user.run("carol", settle);
    takeLog();
    const giveUp = new AbortController();
    const asked = user.run("dave", () => ref.ask("wait", { signal: giveUp.signal }));
    await settle();
    user.run("erin", () => giveUp.abort());
    expect((await asked).isErr()).toBe(true);
    await user.run("frank", async () => {
      const stopped = system.stop(ref);
      await advance(5_000);
      void stopped;
    });
    user.run("grace", () => ref.tell("begin"));
    await user.run("grace", settle);
    const expected = [
      "factory",
      "onStart",
      "onStart, later",
      "onRestart",
      "onAbort",
      "abort",
      "timer",
      "receive timeout",
    ];
    expect([...new Set(seen.map(([what]) => what))]).toEqual(
      expect.arrayContaining([...expected, "watch", "decide", "event", "dead letter", "onStop"]),
    );
    expect(seen.filter(([, context]) => context !== "owner")).toEqual([]);
    takeLog();
  });
}

test("P16: onAbort calls back in the system's context where the message, the actor or its instance is given up already", async () => {
  for (const options of [{}, { concurrency: 3 }]) {
    const { system, advance, settle, takeLog } = owned({
      asyncContext: "sender",
      supervision: { decide: () => "restart" },
    });
    const seen: string[] = [];
    const Work = defineProtocol("work", { wait: { reply: Type.Void() }, fail: {} });
    const gate = Promise.withResolvers<void>();
    const contexts: Pick<Context<SignaturesOf<typeof Work>>, "onAbort">[] = [];
    const note = () => void seen.push(who());
    const ref = system.spawn(
      "work",
      Work,
      (ctx) => {
        contexts.push(ctx);
        return {
          async wait() {
            await gate.promise;
            expect(who()).toBe("alice");
            ctx.onAbort(note);
          },
          fail() {
            throw new Error("broken");
          },
        };
      },
      options,
    );
    const asked = user.run("alice", () => ref.ask("wait", { timeout: 10 }));
    await advance(10);
    gate.resolve();
    expect((await asked).isErr()).toBe(true);
    await settle();
    expect(seen.splice(0)).toEqual(["owner"]); // The message was given up.
    ref.tell("fail");
    await settle();
    takeLog();
    user.run("bob", () => contexts[0]?.onAbort(note));
    expect(seen.splice(0)).toEqual(["owner"]); // Its instance was replaced.
    await system.stop(ref);
    user.run("carol", () => contexts[1]?.onAbort(note));
    expect(seen).toEqual(["owner"]); // The actor has stopped.
  }
});

test("P16: a logger is called in the system's context", async () => {
  const seen: string[] = [];
  const logger = { warn: () => void seen.push(who()), error: () => void seen.push(who()) };
  const system = user.run("owner", () => createSystem({ logger, supervision: { decide: () => "resume" } }));
  const Work = defineProtocol("work", { fail: {} });
  const ref = system.spawn("work", Work, () => ({
    fail() {
      user.enterWith("mallory");
      throw new Error("broken");
    },
  }));
  await user.run("alice", () => ref.offer("fail"));
  await user.run("alice", () => system.stop(ref));
  user.run("bob", () => ref.tell("fail"));
  await system.shutdown();
  expect(seen).toEqual(["owner", "owner"]);
});

test("P16: interceptors run in the context of who sent, also where they wait for their turn", async () => {
  for (const asyncContext of ["system", "sender"] as const) {
    const { system, router } = owned({ asyncContext });
    const ref = system.spawn("echo", Echo, echo());
    const seen: string[] = [];
    router.use(async (message, next) => {
      seen.push(who());
      await null;
      seen.push(who());
      return next(message);
    });
    router.use((_, next) => {
      seen.push(who());
      return next();
    });
    const replies = await Promise.all(
      USERS.map((name) => user.run(name, () => router.ask(createMessage(ref.address, "who", undefined)))),
    );
    expect(seen).toEqual(USERS.flatMap((name) => [name, name, name]));
    expect(replies.map((reply) => reply.unwrapOr("failed"))).toEqual(
      asyncContext === "sender" ? USERS : ["owner", "owner", "owner"],
    );
  }
});

test('P16: asyncContext: "sender" gives a handler the context of who sent, whichever way it was sent', async () => {
  const { system, router, settle } = owned({ asyncContext: "sender" });
  const seen: string[] = [];
  const ref = system.spawn("echo", Echo, echo(seen));
  const routed = router.register(address("routed"), () => who());
  const message = () => createMessage(ref.address, "who", undefined);
  const topic = createTopic<void>("news");
  const Hears = defineProtocol("hears", { news: { payload: Type.Void() } });
  topic.subscribe(
    system.spawn("hears", Hears, () => ({ news: () => void seen.push(who()) })),
    "news",
  );
  const replies = await Promise.all(
    USERS.map((name) =>
      user.run(name, () =>
        Promise.all([
          ref.ask("who"),
          ref.ask("later"),
          receive(ref).ask("who", undefined),
          router.ask(message()),
          routed.ask("any"),
        ]),
      ),
    ),
  );
  expect(replies.map((all) => all.map((reply) => reply.unwrapOr("failed")))).toEqual(
    USERS.map((name) => new Array(5).fill(name)),
  );
  for (const name of USERS) {
    await user.run(name, async () => {
      for (let i = 0; i < 50; i++) ref.tell("told");
      receive(ref).tell("told", undefined);
      router.tell(createMessage(ref.address, "told", undefined));
      await ref.offer("told");
      topic.publish();
      await settle();
    });
    expect(new Set(seen.splice(0))).toEqual(new Set([name]));
  }
  for (const operation of ["items", "asyncItems"] as const) {
    const items = ref.stream(operation, 3, { credit: 1 });
    expect(await readAs(USERS, items)).toEqual(["alice", "alice", "alice"]); // It is sent by the first read.
    await items.return();
  }
  expect((await ref.ask("who"))._unsafeUnwrap()).toBe("nobody"); // Who has none gives none, not the system's.
});

for (const options of [{}, { concurrency: 3 }, { capacity: 9, overflow: "wait" }, { priority: () => 0 }] as const) {
  test(`P16: with "sender", what is sent by ctx, forwarded, stashed or handed on by a pool keeps it (${JSON.stringify(options)})`, async () => {
    const { system, settle, takeLog } = owned({ asyncContext: "sender" });
    const seen: string[] = [];
    const end = system.spawn("end", Echo, echo(seen), options);
    const asked = async (items: AsyncIterable<string>): Promise<string> => {
      for await (const item of items) return item;
      return "none";
    };
    const Front = defineProtocol("front", {
      ask: { reply: Type.String() },
      stream: { reply: Type.String() },
      who: { reply: Type.String() },
      later: { reply: Type.String() },
      open: {},
      tell: {},
      told: {},
    });
    const frontOf: Factory<SignaturesOf<typeof Front>> = (ctx) => {
      let isOpen = false;
      return {
        ask: async () => (await ctx.ask(end, "later")).unwrapOr("failed"),
        stream: () => asked(ctx.stream(end, "asyncItems", 2)),
        who: () => ctx.forward(end),
        later: () => (isOpen ? who() : ctx.stash()),
        open() {
          isOpen = true;
          ctx.unstash();
        },
        async tell() {
          await null;
          ctx.tell(end, "told");
          await ctx.offer(end, "told");
        },
        told: () => ctx.forward(end),
      };
    };
    const front = system.spawn("front", Front, frontOf);
    for (const routing of ["round-robin", "broadcast", "first-answer"] as const) {
      const pool = spawnPool(system, routing, Front, frontOf, { size: 2, routing });
      for (const ref of [front, pool] as Ref<SignaturesOf<typeof Front>>[]) {
        const replies = await Promise.all(
          USERS.map((name) => user.run(name, () => Promise.all([ref.ask("ask"), ref.ask("stream"), ref.ask("who")]))),
        );
        expect(replies.map((all) => all.map((reply) => reply.unwrapOr("failed")))).toEqual(
          USERS.map((name) => [name, name, name]),
        );
        for (const name of USERS) {
          user.run(name, () => {
            ref.tell("tell");
            ref.tell("told");
          });
          await settle();
          expect(new Set(seen.splice(0))).toEqual(new Set([name]));
        }
      }
    }
    const late = USERS.map((name) => user.run(name, () => front.ask("later")));
    await settle();
    user.run("mallory", () => front.tell("open"));
    expect((await Promise.all(late)).map((reply) => reply.unwrapOr("failed"))).toEqual(USERS);
    takeLog(); // The late replies of the pool whose first answer wins.
  });
}

test("P16: what waits while its actor or its pool restarts keeps its context", async () => {
  for (const asyncContext of ["system", "sender"] as const) {
    const backoff = { initial: 100, jitter: 0 };
    const { system, settle, advance, takeLog } = owned({ asyncContext, supervision: { backoff } });
    const Work = defineProtocol("work", { fail: {}, who: { reply: Type.String() } });
    const make = () => ({
      fail() {
        throw new Error("broken");
      },
      who,
    });
    const one = system.spawn("one", Work, make);
    const pool = spawnPool(system, "pool", Work, make, { size: 1, supervision: { limit: 0 } });
    for (const ref of [one, pool]) {
      user.run("mallory", () => ref.tell("fail"));
      await settle();
      const asks = USERS.map((name) => user.run(name, () => ref.ask("who")));
      await user.run("mallory", () => advance(100));
      const replies = (await Promise.all(asks)).map((reply) => reply.unwrapOr("failed"));
      expect(replies).toEqual(asyncContext === "sender" ? USERS : ["owner", "owner", "owner"]);
    }
    takeLog();
  }
});

test("P16: simulate holds it in each order of turns", async () => {
  for (const asyncContext of ["system", "sender"] as const) {
    const { failures } = await simulate(
      async ({ system }) => {
        const ref = system.spawn("echo", Echo, echo());
        const other = system.spawn("other", Echo, (ctx) => ({
          ...handlersWith([]),
          later: async () => (await ctx.ask(ref, "later")).unwrapOr("failed"),
        }));
        await Promise.all(
          USERS.map((name) =>
            user.run(name, async () => {
              const wanted = asyncContext === "sender" ? name : "nobody";
              for (const to of [ref, other]) {
                for (const operation of ["who", "later"] as const) {
                  const reply = (await to.ask(operation)).unwrapOr("failed");
                  if (reply !== wanted || who() !== name) throw new Error(`${name}: ${operation} ran as ${reply}`);
                }
                await to.ask("enter", "mallory");
              }
            }),
          ),
        );
      },
      { seeds: 50, system: { asyncContext } },
    ).then(
      () => ({ failures: 0 }),
      (thrown: unknown) => ({ failures: thrown }),
    );
    expect(failures).toBe(0);
  }
});

test("an asyncContext that is none is refused", () => {
  expect(() => createSystem({ asyncContext: "mine" as never })).toThrow(
    'The asyncContext of a system is "system" or "sender"; got "mine".',
  );
});
