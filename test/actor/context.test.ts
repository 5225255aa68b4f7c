import { expect, test } from "bun:test";
import {
  type AnyRef,
  address,
  type Context,
  createMessage,
  defineProtocol,
  type Message,
  type RefTo,
  Type,
} from "../../src/index";
import { testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Talk = defineProtocol("talk", {
  say: { payload: Type.String(), reply: Type.String() },
  note: { payload: Type.String() },
});
const Start = defineProtocol("start", { start: { payload: Type.String(), reply: Type.String() }, heard: {} });

/** An actor that notes each message and its sender. */
function spawnListener({ system }: ReturnType<typeof createTestSystem>) {
  const messages: Message[] = [];
  const senders: (AnyRef | undefined)[] = [];
  const note = (ctx: Context<never>): void => {
    messages.push(ctx.message);
    senders.push(ctx.sender);
  };
  const ref = system.spawn("listener", Talk, (ctx) => ({
    async say(text) {
      await undefined;
      note(ctx as unknown as Context<never>);
      return `${text}!`;
    },
    note: () => note(ctx as unknown as Context<never>),
  }));
  return { ref, messages, senders };
}

test("P1: ctx.message is the message that is handled, with the time of the system's clock", async () => {
  const systems = createTestSystem();
  const { ref, messages } = spawnListener(systems);
  await systems.clock.advance(1_234);
  ref.tell("note", "told");
  void ref.ask("say", "asked");
  await systems.clock.settle();
  expect(messages[0]).toMatchObject({
    pattern: "tell",
    to: address("listener"),
    from: undefined,
    type: "note",
    payload: "told",
    correlationId: undefined,
    timestamp: 1_234,
  });
  expect(messages[1]).toMatchObject({ pattern: "ask", type: "say", payload: "asked", timestamp: 1_234 });
  expect(messages[1]?.correlationId).toBeString();
  expect(messages[0]?.id).toBeString();
  expect(messages[0]?.id).not.toBe(messages[1]?.id as string);
});

test("P1: ctx.message is the very one that was sent through the router, as an ask where it is asked", async () => {
  const systems = createTestSystem();
  const { ref, messages } = spawnListener(systems);
  const message = createMessage(ref.address, "say", "hi", { timestamp: 5, metadata: { trace: "t1" } });
  systems.router.tell(message);
  await systems.router.ask(message);
  expect(messages[0]).toBe(message);
  expect(messages[1]).toMatchObject({ id: message.id, pattern: "ask", timestamp: 5, metadata: { trace: "t1" } });
  expect(messages[1]?.correlationId).toBeString();
  const ask = createMessage(ref.address, "say", "hi", { pattern: "ask", correlationId: "c1" });
  await systems.router.ask(ask);
  expect(messages[2]).toBe(ask);
});

test("P1: ctx.message reads the same at each reading of one message, and is not there without one", async () => {
  const { system } = createTestSystem();
  let outside: unknown;
  const read: Message[] = [];
  const ref = system.spawn("talk", Talk, (ctx) => {
    try {
      outside = ctx.message;
    } catch (thrown) {
      outside = thrown;
    }
    return {
      async say(text) {
        read.push(ctx.message);
        await undefined;
        read.push(ctx.message);
        return text;
      },
      note() {},
    };
  });
  await ref.ask("say", "a");
  expect(read[0]).toBe(read[1] as Message);
  expect(outside).toBeInstanceOf(Error);
  expect(String(outside)).toContain("@(talk) handles no message now");
});

test("P2: ctx.sender is the actor that sent by ctx.tell or ctx.ask, also after an await", async () => {
  const systems = createTestSystem();
  const { ref, senders, messages } = spawnListener(systems);
  const starter = systems.system.spawn("starter", Start, (ctx) => ({
    async start(text) {
      ctx.tell(ref, "note", text);
      return (await ctx.ask(ref, "say", text)).unwrapOr("failed");
    },
    heard() {},
  }));
  expect((await starter.ask("start", "hi"))._unsafeUnwrap()).toBe("hi!");
  expect(senders).toEqual([starter, starter]);
  expect(messages.map((message) => message.from)).toEqual([starter.address, starter.address]);
});

test("P2: there is no sender where nobody said who it is, and none between messages", async () => {
  const systems = createTestSystem();
  const { ref, senders } = spawnListener(systems);
  let inFactory: AnyRef | undefined | "unread" = "unread";
  systems.system.spawn("starter", Start, (ctx) => {
    inFactory = ctx.sender;
    return { start: (text) => text, heard() {} };
  });
  await ref.ask("say", "hi");
  await systems.router.ask(createMessage(ref.address, "say", "hi", { from: address("gone") }));
  expect(senders).toEqual([undefined, undefined]);
  expect(inFactory).toBeUndefined();
});

test("P2: the sender of a routed message is whoever is at its `from`", async () => {
  const systems = createTestSystem();
  const { ref, senders } = spawnListener(systems);
  const starter = systems.system.spawn("starter", Start, () => ({ start: (text) => text, heard() {} }));
  await systems.router.ask(createMessage(ref.address, "say", "hi", { from: starter.address }));
  expect(senders[0]).toBe(starter);
});

test("P2: a handler answers its sender through ctx.sender", async () => {
  const { system, clock } = createTestSystem();
  const heard: string[] = [];
  const starter = system.spawn("starter", Start, (ctx) => ({
    start(text) {
      ctx.tell(answering, "note", text);
      return text;
    },
    heard: () => void heard.push(`heard from ${ctx.sender?.address}`),
  }));
  const answering = system.spawn("answering", Talk, (ctx) => ({
    say: (text) => text,
    note() {
      if (ctx.sender !== undefined) ctx.tell(ctx.sender, "heard");
    },
  }));
  await starter.ask("start", "hi");
  await clock.settle();
  expect(heard).toEqual(["heard from @(answering)"]);
});

test("P6: ctx.ask takes the options of an ask", async () => {
  const { system, clock } = createTestSystem();
  const stuck = system.spawn("stuck", Talk, () => ({ say: () => new Promise<string>(() => {}), note() {} }));
  const starter = system.spawn("starter", Start, (ctx) => ({
    async start(text) {
      const answer = await ctx.ask(stuck, "say", text, { timeout: 10 });
      return answer.isOk() ? "ok" : answer.error.kind;
    },
    heard() {},
  }));
  const asked = starter.ask("start", "hi");
  await clock.advance(10);
  expect((await asked)._unsafeUnwrap()).toBe("timeout");
});

test("P2: a context speaks for its actor also after a handler has ended", async () => {
  const systems = createTestSystem();
  const { ref, senders } = spawnListener(systems);
  const contexts: Context<{ start(text: string): string; heard(): void }>[] = [];
  const starter = systems.system.spawn("starter", Start, (ctx) => {
    contexts.push(ctx);
    return { start: (text) => text, heard() {} };
  });
  await starter.ask("start", "hi");
  contexts[0]?.tell(ref, "note", "later");
  await systems.clock.settle();
  expect(senders).toEqual([starter]);
});

test("P14: what is no reference cannot be told or asked through a context", async () => {
  const { system } = createTestSystem();
  const starter = system.spawn("starter", Start, (ctx) => ({
    start(text) {
      ctx.tell({ address: address("listener") } as AnyRef as RefTo<typeof Talk>, "note", text);
      return text;
    },
    heard() {},
  }));
  const error = (await starter.ask("start", "hi"))._unsafeUnwrapErr();
  expect(error.message).toContain("no reference to an actor");
});

test("P13: ctx.spawn makes a child under its parent's address, whose context is its own", async () => {
  const systems = createTestSystem();
  const { ref, senders } = spawnListener(systems);
  const parent = systems.system.spawn("parent", Start, (ctx) => ({
    async start(text) {
      const child = ctx.spawn("child", Start, (own) => ({
        start(inner) {
          own.tell(ref, "note", inner);
          return own.self.address;
        },
        heard() {},
      }));
      return (await ctx.ask(child, "start", text)).unwrapOr("failed");
    },
    heard() {},
  }));
  expect((await parent.ask("start", "hi"))._unsafeUnwrap()).toBe(address("parent/child"));
  await systems.clock.settle();
  expect(senders.map((sender) => sender?.address)).toEqual([address("parent/child")]);
});

test("P12: ctx.stream streams with this actor as the sender, with and without a payload", async () => {
  const { system } = createTestSystem();
  const Source = defineProtocol("source", {
    count: { payload: Type.Number(), stream: Type.Number() },
    pair: { stream: Type.String() },
  });
  const senders: (AnyRef | undefined)[] = [];
  const source = system.spawn("source", Source, (ctx) => ({
    *count(n) {
      senders.push(ctx.sender);
      for (let i = 0; i < n; i++) yield i;
    },
    *pair() {
      yield* ["a", "b"];
    },
  }));
  const Reader = defineProtocol("reader", { read: { reply: Type.Array(Type.Unknown()) } });
  const reader = system.spawn("reader", Reader, (ctx) => ({
    async read() {
      const items: unknown[] = [];
      for await (const item of ctx.stream(source, "count", 3, { credit: 1 })) items.push(item);
      for await (const item of ctx.stream(source, "pair", { credit: 2 })) items.push(item);
      return items;
    },
  }));
  expect((await reader.ask("read"))._unsafeUnwrap()).toEqual([0, 1, 2, "a", "b"]);
  expect(senders).toEqual([reader]);
});

test("P15: ctx.clock is the system's own, in handlers and before the first message", async () => {
  const { system, clock } = createTestSystem();
  const seen: unknown[] = [];
  const listener = system.spawn("listener", Talk, (ctx) => {
    seen.push(ctx.clock);
    return { say: (text) => `${text} at ${ctx.clock.monotonicTime()}`, note: () => void seen.push(ctx.clock) };
  });
  listener.tell("note", "now");
  await clock.advance(250);
  expect((await listener.ask("say", "tea"))._unsafeUnwrap()).toBe("tea at 250");
  expect(seen).toEqual([clock, clock]);
});
