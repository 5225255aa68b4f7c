import { describe, expect, test } from "bun:test";
import {
  address,
  type Context,
  createMessage,
  createTopic,
  defineProtocol,
  type Metadata,
  parseMessage,
  type Ref,
  receive,
  type SignaturesOf,
  serializeMessage,
  spawnPool,
  Type,
} from "../../src/index";
import { type TestOptions, type TestSystem, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Sink = defineProtocol("sink", {
  note: { payload: Type.String(), reply: Type.String() },
  count: { reply: Type.Number() },
  items: { payload: Type.String(), stream: Type.String() },
});
type SinkRef = Ref<SignaturesOf<typeof Sink>>;

/** An actor that keeps the metadata of each message. */
function spawnSink({ system }: Pick<TestSystem, "system">, name = "sink") {
  const seen: Metadata[] = [];
  const ref = system.spawn(name, Sink, (ctx) => {
    const note = (): void => void seen.push(ctx.metadata);
    return {
      note(text) {
        note();
        return text;
      },
      count() {
        note();
        return seen.length;
      },
      *items(text) {
        note();
        yield text;
      },
    };
  });
  return { ref, seen };
}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items) {
    // It is the message that matters.
  }
}

const ADA: Metadata = { user: "Ada" };

test("metadata comes to the handler with a tell, an ask, an offer and a stream", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnSink(test);
  ref.tell("note", "a", { metadata: ADA });
  await ref.ask("note", "a", { metadata: ADA });
  await ref.offer("note", "a", { metadata: ADA });
  await drain(ref.stream("items", "a", { metadata: ADA }));
  await test.settle();
  expect(seen).toEqual([ADA, ADA, ADA, ADA]);
});

test("an operation without a payload may be given its options first, also in a row of the same tells", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnSink(test);
  await ref.ask("count", { metadata: ADA });
  await ref.offer("count", { metadata: ADA });
  for (let i = 0; i < 40; i++) ref.tell("count"); // Such a row goes into the mailbox without envelopes.
  ref.tell("count", { metadata: ADA });
  await test.settle();
  expect(seen.map((metadata) => metadata["user"])).toEqual(["Ada", "Ada", ...new Array(40).fill(undefined), "Ada"]);
});

test("options are never taken for a payload", async () => {
  const test = createTestSystem();
  const Box = defineProtocol("box", {
    put: { payload: Type.Unknown() },
    maybe: { payload: Type.Optional(Type.Any()) },
  });
  const seen: unknown[] = [];
  const box = test.system.spawn("box", Box, (ctx) => ({
    put: (what) => void seen.push(what, ctx.metadata),
    maybe: (what: unknown) => void seen.push(what, ctx.metadata),
  }));
  box.tell("put", { metadata: ADA });
  box.tell("put", undefined, { metadata: ADA });
  box.tell("maybe", { metadata: ADA });
  await test.settle();
  expect(seen).toEqual([{ metadata: ADA }, {}, undefined, ADA, { metadata: ADA }, {}]);
});

test("metadata is frozen, and does not change with the sender's object", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnSink(test);
  const own = { user: "Ada", roles: ["reader"] };
  ref.tell("note", "a", { metadata: own });
  const items = ref.stream("items", "a", { metadata: own });
  own.user = "Mallory";
  await drain(items); // The call counts, and not the first read.
  expect(seen).toMatchObject([{ user: "Ada" }, { user: "Ada" }]);
  expect(Object.isFrozen(seen[0])).toBe(true);
  expect(seen[0]?.["roles"]).toBe(own.roles); // The values are as they were sent.
});

test("frozen metadata is copied at the call as well: a getter in it does not run again", async () => {
  const test = createTestSystem({ inheritedMetadata: ["reading"] });
  const { ref, seen } = spawnSink(test);
  let readings = 0;
  const given: Metadata = Object.freeze({
    get reading() {
      return ++readings;
    },
  });
  ref.tell("note", "a", { metadata: given });
  const before = readings;
  await test.settle();
  expect([seen[0]?.["reading"], seen[0]?.["reading"], readings]).toEqual([before, before, before]);
});

test("without metadata, and outside of handlers, it is an empty object", async () => {
  const test = createTestSystem();
  const seen: unknown[] = [];
  const Tick = defineProtocol("tick", { tick: {} });
  const ref = test.system.spawn("tick", Tick, (ctx) => {
    seen.push(ctx.metadata, ctx.deadline);
    return {
      tick() {
        seen.push(ctx.metadata);
        ctx.timers.once("later", 1, () => seen.push(ctx.metadata, ctx.deadline));
      },
    };
  });
  ref.tell("tick", { metadata: {} });
  ref.tell("tick");
  await test.advance(1);
  expect(seen).toEqual([{}, Number.POSITIVE_INFINITY, {}, {}, {}, Number.POSITIVE_INFINITY]);
});

test("what is no plain object of data is refused at the call, with a sentence, and nothing is sent", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnSink(test);
  const wrong: unknown[] = [[1], "Ada", 7, null, new Map(), new Date(0), { call() {} }, { mark: Symbol("x") }];
  for (const metadata of wrong as Metadata[]) {
    const sentence = /^The metadata of .* is (a plain object of data, such as|data; )/;
    expect(() => ref.tell("note", "a", { metadata })).toThrow(sentence);
    expect(() => ref.ask("note", "a", { metadata })).toThrow(sentence);
    expect(() => ref.offer("note", "a", { metadata })).toThrow(sentence);
    expect(() => ref.stream("items", "a", { metadata })).toThrow(sentence);
    expect(() => receive(ref, { metadata })).toThrow(sentence);
    expect(() => receive(ref).tell("note", "a", { metadata })).toThrow(sentence);
  }
  expect(() => ref.tell("note", "a", 7 as never)).toThrow(/^The options of a tell are an object/);
  expect(() => ref.tell("count", 7 as never)).toThrow(/^The options of a tell are an object/);
  expect(() => receive(ref).tell("", "a", { metadata: [] as never })).toThrow(TypeError);
  await test.settle();
  expect([seen, test.router.audit().accepted]).toEqual([[], 0]);
});

describe("metadata in messages", () => {
  test("ctx.message has what was sent beside the payload by reference, and ctx.metadata what a message has", async () => {
    const test = createTestSystem();
    const messages: unknown[] = [];
    const ref = test.router.register(address("echo"), (message, ctx) => {
      messages.push(message.metadata, ctx.metadata, ctx.message.metadata);
    });
    ref.tell("say", "a", { metadata: ADA });
    test.router.tell(createMessage(ref.address, "say", "a", { metadata: ADA }));
    test.router.tell(createMessage(ref.address, "say", "a"));
    await test.settle();
    expect(messages).toEqual([ADA, ADA, ADA, ADA, ADA, ADA, undefined, {}, undefined]);
  });

  test("P18: a message from outside has its metadata, and a stranger's object is not handed on as it is", async () => {
    const test = createTestSystem();
    const { ref, seen } = spawnSink(test);
    const text = serializeMessage(createMessage(ref.address, "note", "a", { metadata: ADA }))._unsafeUnwrap();
    const message = parseMessage(text)._unsafeUnwrap();
    test.router.tell(message);
    test.router.tell({ ...message, payload: 7 });
    await test.settle();
    expect(seen).toEqual([ADA]);
    expect(Object.isFrozen(seen[0])).toBe(true);
    expect(test.deadLetters.map(({ reason, message: { metadata } }) => [reason, metadata])).toEqual([
      ["invalid-payload", ADA],
    ]);
    test.takeLog();
  });

  test("metadata in the options of a router's call are added to those of the message, and interceptors see them", async () => {
    const test = createTestSystem();
    const { ref, seen } = spawnSink(test);
    const intercepted: unknown[] = [];
    const send = async (): Promise<void> => {
      const message = createMessage(ref.address, "note", "a", { metadata: { user: "Ada", team: 1 } });
      const stream = createMessage(ref.address, "items", "a", { metadata: { user: "Ada", team: 1 } });
      await test.router.ask(message, { metadata: { team: 2 } });
      await test.router.offer(message, { metadata: { team: 2 } });
      await drain(test.router.stream(stream, { metadata: { team: 2 } }));
      expect(message.metadata).toEqual({ user: "Ada", team: 1 });
    };
    await send();
    test.router.use((message, next) => {
      intercepted.push(message.metadata);
      return next({ ...message, metadata: { ...message.metadata, seen: true } });
    });
    await send();
    await test.settle();
    const both = { user: "Ada", team: 2 };
    expect(intercepted).toEqual([both, both, both]);
    expect(seen).toEqual([both, both, both, ...new Array(3).fill({ ...both, seen: true })]);
  });
});

test("a door gives its metadata to all that comes through it, and a call may add to them", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnSink(test);
  const door = receive(ref, { metadata: { door: "http", user: "nobody" } });
  const own = { metadata: ADA };
  door.tell("note", "a");
  door.tell("note", "a", own);
  await door.ask("count", undefined, own);
  await door.offer("note", "a", own);
  await drain(door.stream("items", "a", own));
  expect((await door.ask("note", 7, own))._unsafeUnwrapErr().kind).toBe("invalid-payload");
  const both = { door: "http", user: "Ada" };
  expect(seen).toEqual([{ door: "http", user: "nobody" }, both, both, both, both]);
  test.takeLog();
});

test("a topic's item carries what its publisher gives", async () => {
  const test = createTestSystem();
  const { ref, seen } = spawnSink(test);
  const topic = createTopic<string>("news");
  topic.subscribe(ref, "note");
  topic.publish("a", undefined, { metadata: ADA });
  topic.publish("a", ref, { metadata: ADA });
  expect(() => topic.publish("a", undefined, { metadata: [] as never })).toThrow(TypeError);
  await test.settle();
  expect(seen).toEqual([ADA, ADA]);
});

const TRACE = { traceparent: "00-1-2-01", baggage: "user=ada" };

/** An actor whose handler sends on by `ctx`, in the way that it is told. */
function spawnSender(test: TestSystem, to: SinkRef, options: { readonly metadata?: Metadata } = {}) {
  const Sender = defineProtocol("sender", { send: { payload: Type.String(), reply: Type.Any() } });
  const sends = (ctx: Context<SignaturesOf<typeof Sender>>): Record<string, () => unknown> => ({
    "ctx.tell": () => ctx.tell(to, "note", "a", options),
    "ctx.tell without a payload": () => ctx.tell(to, "count", options),
    "ctx.ask": () => ctx.ask(to, "note", "a", options),
    "ctx.ask without a payload": () => ctx.ask(to, "count", options),
    "ctx.offer": () => ctx.offer(to, "note", "a", options),
    "ctx.stream": () => drain(ctx.stream(to, "items", "a", options)),
  });
  return test.system.spawn("sender", Sender, (ctx) => ({ send: async (how) => void (await sends(ctx)[how]?.()) }));
}
const WAYS = [
  "ctx.tell",
  "ctx.tell without a payload",
  "ctx.ask",
  "ctx.ask without a payload",
  "ctx.offer",
  "ctx.stream",
];

describe("inheritance", () => {
  for (const how of WAYS) {
    const run = async (
      metadata: Metadata,
      own?: Metadata,
      options: TestOptions = {},
    ): Promise<Metadata | undefined> => {
      const test = createTestSystem(options);
      const { ref, seen } = spawnSink(test);
      const sender = spawnSender(test, ref, own === undefined ? {} : { metadata: own });
      sender.tell("send", how, { metadata });
      await test.settle();
      return seen[0];
    };

    test(`${how} hands on the trace context of the message that is handled, and nothing else`, async () => {
      expect(await run({ ...TRACE, user: "Ada" })).toEqual(TRACE);
      expect(await run(TRACE)).toEqual(TRACE);
      expect(await run(ADA)).toEqual({});
    });

    test(`${how} sets what the call sets, and hands on the rest`, async () => {
      const own = { traceparent: "00-1-3-01", user: "Bob" };
      expect(await run({ ...TRACE, user: "Ada" }, own)).toEqual({ baggage: "user=ada", ...own });
      expect((await run(TRACE, { traceparent: undefined }))?.["traceparent"]).toBeUndefined();
      expect(await run({}, own)).toEqual(own);
    });

    test(`${how} hands on what the system names`, async () => {
      expect(await run({ ...TRACE, user: "Ada" }, undefined, { inheritedMetadata: ["user"] })).toEqual(ADA);
      expect(await run({ ...TRACE, user: "Ada" }, undefined, { inheritedMetadata: [] })).toEqual({});
    });
  }

  test("it goes on from actor to actor, through pools, and by an ask through the router", async () => {
    const test = createTestSystem();
    const { ref, seen } = spawnSink(test);
    for (const routing of ["round-robin", "broadcast", "first-answer"] as const) {
      const name = `pool-${routing}`;
      const pool = spawnPool(
        test.system,
        name,
        Sink,
        (ctx) => ({
          note: async (text) => (await ctx.ask(ref, "note", text)).unwrapOr(""),
          count: () => 0,
          *items() {},
        }),
        { size: 2, routing },
      );
      const front = test.router.register(address(`front-${routing}`), (_, ctx) => ctx.ask(pool, "note", "a"));
      await test.router.ask(createMessage(front.address, "go", null, { metadata: TRACE }));
    }
    expect(seen).toEqual(new Array(seen.length).fill(TRACE));
    expect(seen.length).toBeGreaterThanOrEqual(5);
  });

  test("forward keeps all of it, and a stashed message has it when it comes again", async () => {
    const test = createTestSystem();
    const { ref, seen } = spawnSink(test);
    let isOpen = false;
    const front = test.system.spawn("front", Sink, (ctx) => ({
      note() {
        if (isOpen) return ctx.forward(ref);
        isOpen = true;
        ctx.timers.once("open", 1, () => ctx.unstash());
        return ctx.stash();
      },
      count: () => ctx.forward(ref),
      items: () => ctx.forward(ref),
    }));
    const metadata = { ...TRACE, user: "Ada" };
    front.tell("note", "a", { metadata });
    await test.advance(1);
    await front.ask("note", "a", { metadata });
    await front.ask("count", { metadata });
    await drain(front.stream("items", "a", { metadata }));
    expect(seen).toEqual([metadata, metadata, metadata, metadata]);
  });

  test("what is sent by reference, by a repeated timer or by another handler of the actor inherits nothing", async () => {
    const test = createTestSystem();
    const { ref, seen } = spawnSink(test);
    const Sender = defineProtocol("sender", { send: {}, other: {} });
    const sender = test.system.spawn("sender", Sender, (ctx) => ({
      send() {
        ref.tell("note", "by reference");
        ctx.timers.fixedRate("later", 1, () => ctx.tell(ref, "note", "by a timer"));
      },
      other: () => ctx.tell(ref, "note", "by another"),
    }));
    sender.tell("send", { metadata: TRACE });
    sender.tell("other");
    await test.advance(1);
    expect(seen).toEqual([{}, {}, {}]);
    await test.system.stop(sender);
  });

  test("of messages that are handled side by side, each hands on its own", async () => {
    const test = createTestSystem();
    const { ref, seen } = spawnSink(test);
    const Sender = defineProtocol("sender", { send: { payload: Type.Number() } });
    const sender = test.system.spawn(
      "sender",
      Sender,
      (ctx) => ({
        async send(delay) {
          await new Promise<void>((resolve) => ctx.clock.setTimer(resolve, delay));
          ctx.tell(ref, "note", "a");
          await ctx.ask(ref, "count");
        },
      }),
      { concurrency: 3 },
    );
    for (const delay of [30, 10, 20]) sender.tell("send", delay, { metadata: { traceparent: `${delay}` } });
    await test.advance(30);
    expect(seen.map(({ traceparent }) => traceparent)).toEqual(["10", "10", "20", "20", "30", "30"]);
  });
});

test("inheritedMetadata is an array of names", () => {
  for (const inheritedMetadata of ["traceparent", [7], {}, null]) {
    expect(() => createTestSystem({ inheritedMetadata: inheritedMetadata as never })).toThrow(
      /^The inheritedMetadata of a system is an array/,
    );
  }
});
