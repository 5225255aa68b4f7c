import { expect, test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
import {
  address,
  createMessage,
  createTopic,
  defineProtocol,
  type ObservedSending,
  type OnSend,
  receive,
  spawnPool,
  Type,
} from "../../src/index";
import { testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", {
  note: { payload: Type.Number() },
  say: { payload: Type.String(), reply: Type.String() },
  count: { payload: Type.Number(), stream: Type.Number() },
  pass: { payload: Type.String(), reply: Type.String() },
});

const plain = () => ({
  note() {},
  say: (text: string) => text,
  *count(to: number) {
    for (let i = 0; i < to; i++) yield i;
  },
  pass: (text: string) => text,
});

const shown = ({
  pattern,
  operation,
  address,
  sender,
  handling,
  isForwarded,
  isFromOutside,
}: ObservedSending): string =>
  [
    `${pattern} ${operation} to ${address}`,
    ...(sender === undefined ? [] : [`from ${sender.address}`]),
    ...(handling === undefined ? [] : [`in ${handling.operation}`]),
    ...(isForwarded ? ["forwarded"] : []),
    ...(isFromOutside ? ["from outside"] : []),
  ].join(", ");

test("an observer sees each message before it is sent, once, whichever way it goes", async () => {
  const { system, router, settle } = createTestSystem();
  const target = system.spawn("target", Work, plain);
  const pool = spawnPool(system, "pool", Work, plain, { size: 2, routing: "broadcast" });
  const other = system.ref(address("target"), Work);
  const sender = system.spawn("sender", Work, (ctx) => ({
    ...plain(),
    async note(n) {
      ctx.tell(target, "note", n);
      await ctx.offer(target, "note", n);
      await ctx.ask(target, "say", "hi");
      for await (const _ of ctx.stream(target, "count", 1));
      await ctx.ask(pool, "say", "all");
    },
    pass: () => ctx.forward(target),
  }));
  const topic = createTopic<number>("topic");
  topic.subscribe(target, "note");
  const seen: string[] = [];
  system.around((_, run) => run());
  const remove = system.onSend((sending) => void seen.push(shown(sending)));
  const sentBy = async (send: () => unknown): Promise<string[]> => {
    await send();
    await settle();
    return seen.splice(0);
  };
  expect(await sentBy(() => target.tell("note", 1))).toEqual(["tell note to @(target)"]);
  expect(await sentBy(() => target.ask("say", "hi"))).toEqual(["ask say to @(target)"]);
  expect(await sentBy(() => target.offer("note", 1))).toEqual(["tell note to @(target)"]);
  expect(await sentBy(() => Array.fromAsync(target.stream("count", 1)))).toEqual(["stream count to @(target)"]);
  expect(await sentBy(() => pool.tell("note", 1))).toEqual(["tell note to @(pool)"]);
  expect(await sentBy(() => router.ask(createMessage(address("target"), "say", "hi")))).toEqual([
    "ask say to @(target)",
  ]);
  expect(await sentBy(() => other.ask("say", "hi"))).toEqual(["ask say to @(target)"]);
  expect(await sentBy(() => receive(target).ask("say", "hi"))).toEqual(["ask say to @(target), from outside"]);
  expect(await sentBy(() => topic.publish(1))).toEqual(["tell note to @(target)"]);
  expect(await sentBy(() => sender.ask("pass", "hi"))).toEqual([
    "ask pass to @(sender)",
    "ask pass to @(target), in pass, forwarded",
  ]);
  const own = ", from @(sender), in note";
  expect(await sentBy(() => sender.tell("note", 1))).toEqual([
    "tell note to @(sender)",
    `tell note to @(target)${own}`,
    `tell note to @(target)${own}`,
    `ask say to @(target)${own}`,
    `stream count to @(target)${own}`,
    `ask say to @(pool)${own}`,
  ]);
  remove();
  expect(await sentBy(() => target.tell("note", 1))).toEqual([]);
});

test("an observer that comes while tells wait in rows sees the next one", async () => {
  const { system, settle } = createTestSystem();
  const ref = system.spawn("target", Work, plain);
  for (let i = 0; i < 200; i++) ref.tell("note", i);
  const seen: unknown[] = [];
  const remove = system.onSend(({ payload }) => void seen.push(payload));
  for (let i = 200; i < 300; i++) ref.tell("note", i);
  remove();
  for (let i = 300; i < 400; i++) ref.tell("note", i);
  await settle();
  expect(seen).toEqual(Array.from({ length: 100 }, (_, i) => 200 + i));
});

test("a trace goes from the sender through each handler to what that sends, by metadata that the observers add", async () => {
  const spans = new AsyncLocalStorage<string>();
  const { system, settle, advance } = createTestSystem();
  const lines: string[] = [];
  let made = 0;
  system.onSend((sending) => {
    const parent = spans.getStore();
    if (parent !== undefined) sending.metadata = { ...sending.metadata, traceparent: parent };
  });
  system.around((handling, run) => {
    const span = `${++made}`;
    lines.push(`${span} ${handling.operation} below ${handling.metadata["traceparent"]}`);
    handling.metadata = { ...handling.metadata, traceparent: span };
    spans.run(span, run);
  });
  const seen: unknown[] = [];
  const end = system.spawn("end", Work, (ctx) => ({
    ...plain(),
    note: () => void seen.push([ctx.metadata["traceparent"], ctx.metadata["user"]]),
  }));
  const middle = system.spawn("middle", Work, (ctx) => {
    ctx.timers.once("tick", 10, () => ctx.tell(end, "note", 2));
    return {
      ...plain(),
      async say(text) {
        await undefined;
        ctx.tell(end, "note", 1);
        return text;
      },
      pass: () => ctx.forward(end),
    };
  });
  await spans.run("request", () => middle.ask("say", "hi", { metadata: { user: "Ada" } }));
  await settle();
  await spans.run("request", () => middle.ask("pass", "hi"));
  await advance(10);
  expect(lines).toEqual([
    "1 say below request",
    "2 note below 1",
    "3 pass below request",
    "4 pass below 3",
    "5 timer tick below undefined",
    "6 note below 5",
  ]);
  expect(seen).toEqual([
    ["2", undefined], // `user` is not inherited.
    ["6", undefined],
  ]);
});

test("P16: what a handler sends hands on what its observer set, though another observer entered no context", async () => {
  const { system, settle } = createTestSystem();
  const seen: unknown[] = [];
  const end = system.spawn("end", Work, (ctx) => ({ ...plain(), note: () => void seen.push(ctx.metadata) }));
  const ref = system.spawn("start", Work, (ctx) => ({ ...plain(), note: (n) => ctx.tell(end, "note", n) }));
  system.around((handling, run) => {
    if (handling.address === "@(start)") handling.metadata = { traceparent: "new", secret: 1 };
    run();
  });
  ref.tell("note", 1, { metadata: { traceparent: "old" } });
  await settle();
  expect(seen).toEqual([{ traceparent: "new" }]);
});

test("P4: an observer that throws, or gives metadata that is none, is logged, and the message is sent", async () => {
  const { system, settle, takeLog } = createTestSystem();
  const ref = system.spawn("target", Work, plain);
  const observers: OnSend[] = [
    () => {
      throw new Error("broken");
    },
    async () => {
      throw new Error("broken later");
    },
    (sending) => {
      sending.metadata = { send: () => 1 };
    },
  ];
  for (const observer of observers) {
    const remove = system.onSend(observer);
    expect((await ref.ask("say", "hi"))._unsafeUnwrap()).toBe("hi");
    remove();
  }
  await settle();
  expect(takeLog().map(({ message }) => message)).toEqual([
    expect.stringContaining("An observer of what is sent to @(target) threw: Error: broken"),
    expect.stringContaining("An observer of what is sent to @(target) threw: Error: broken later"),
    expect.stringContaining('The metadata of a message is data; "send" in it is a function'),
  ]);
  expect(() => system.onSend(1 as unknown as OnSend)).toThrow("An observer is a function: system.onSend(");
});

test("mark() adds a value under a symbol that stays with the message, and beside the metadata that it has", async () => {
  const { system, settle } = createTestSystem();
  const key = Symbol("mark");
  const seen: unknown[] = [];
  const end = system.spawn("end", Work, plain);
  const ref = system.spawn("start", Work, (ctx) => ({
    ...plain(),
    note: (n) => (n === 1 ? ctx.tell(end, "note", n) : ctx.forward(end)),
    say: (text) => text,
  }));
  let sent = 0;
  system.onSend((sending) => sending.mark(key, ++sent));
  system.around((handling, run) => {
    const { traceparent, [key as never]: mark } = handling.metadata;
    seen.push([handling.address, handling.operation, mark, traceparent]);
    run();
  });
  ref.tell("note", 1, { metadata: { traceparent: "given" } });
  await settle();
  await ref.ask("say", "x");
  await system.router.ask(createMessage(ref.address, "say", "x"));
  await receive(ref).ask("say", "x");
  await settle();
  expect(seen).toEqual([
    ["@(start)", "note", 1, "given"],
    ["@(end)", "note", 2, "given"],
    ["@(start)", "say", 3, undefined],
    ["@(start)", "say", 4, undefined],
    ["@(start)", "say", 5, undefined],
  ]);
});
