import { expect, test } from "bun:test";
import { SpanKind } from "@opentelemetry/api";
import { address, createMessage, createTopic, defineProtocol, type Metadata, spawnPool, Type } from "../../src/index";
import { trace } from "../../src/telemetry/index";
import { testSystems } from "../actor/test-system";
import { Wire } from "../actor/wire";
import { installContextManager, traced } from "./traced";

const { createTestSystem } = testSystems();
installContextManager();

const Front = defineProtocol("front", { go: { payload: Type.String(), reply: Type.String() } });
const Back = defineProtocol("back", {
  work: { payload: Type.String(), reply: Type.String() },
  note: { payload: Type.String() },
  count: { payload: Type.Number(), stream: Type.Number() },
});

const back = () => ({
  work: (text: string) => text,
  note() {},
  async *count(to: number) {
    for (let i = 1; i <= to; i++) yield i;
  },
});

function start(options: Parameters<typeof createTestSystem>[0] = {}) {
  const test = createTestSystem(options);
  const spans = traced();
  const stop = trace(test.system, { tracer: spans.tracer });
  return { ...test, ...spans, stop };
}

/** Sends from code in an active span, which ends once all is done. */
async function within(
  { tracer }: Pick<ReturnType<typeof start>, "tracer">,
  run: () => unknown,
  settle: () => Promise<unknown>,
) {
  await tracer.startActiveSpan("request", async (request) => {
    await run();
    await settle();
    request.end();
  });
}

test("a trace goes through tells, asks, offers and streams, from code and from handlers", async () => {
  const traced = start();
  const { system, settle, tree } = traced;
  const ref = system.spawn("back", Back, back);
  const front = system.spawn("front", Front, (ctx) => ({
    async go(text) {
      ctx.tell(ref, "note", text);
      await ctx.offer(ref, "note", text, {});
      for await (const _ of ctx.stream(ref, "count", 2)) {
      }
      return (await ctx.ask(ref, "work", text)).unwrapOr("");
    },
  }));
  await within(
    traced,
    async () => {
      ref.tell("note", "1");
      await ref.offer("note", "2", {});
      for await (const _ of ref.stream("count", 2)) {
      }
      await front.ask("go", "x");
    },
    settle,
  );
  expect(tree()).toEqual([
    "request",
    "  process back.note",
    "  process back.note",
    "  process back.count",
    "  process front.go",
    "    process back.note",
    "    process back.note",
    "    process back.count",
    "    process back.work",
  ]);
});

test("a trace goes through forwards, the stash, pools, topics, become and the router", async () => {
  const traced = start();
  const { system, settle, tree } = traced;
  const workers = spawnPool(system, "workers", Back, back, { size: 2 });
  const all = spawnPool(system, "all", Back, back, { size: 2, routing: "broadcast" });
  let isOpen = false;
  const front = system.spawn("front", Front, (ctx) => ({
    async go(text) {
      if (text === "open") {
        isOpen = true;
        ctx.unstash();
        return "opened";
      }
      if (!isOpen) return ctx.stash();
      ctx.become({ go: () => "other" });
      await ctx.ask(all, "work", text);
      return (await ctx.ask(workers, "work", text)).unwrapOr("");
    },
  }));
  const gate = system.spawn("gate", Front, (ctx) => ({ go: () => ctx.forward(front) }));
  const topic = createTopic<string>("news");
  topic.subscribe(workers, "note");
  await within(
    traced,
    async () => {
      const reply = gate.ask("go", "later");
      await settle();
      await system.router.ask(createMessage(front.address, "go", "open"));
      await reply;
      topic.publish("news");
    },
    settle,
  );
  expect(tree()).toEqual([
    "request",
    "  process front.go", // The gate's, which forwards it.
    "    process front.go", // Stashed.
    "    process front.go",
    "      process back.work", // Both of all.
    "      process back.work",
    "      process back.work",
    "  process front.go", // That it is open, by the router.
    "  process back.note",
  ]);
});

test("what timers that are set once and watches begin is below the span of the handler that set them", async () => {
  const { system, tracer, tree, advance, settle } = start();
  const ref = system.spawn("back", Back, back);
  const other = system.spawn("other", Back, back);
  const front = system.spawn("front", Front, (ctx) => ({
    go(text) {
      ctx.timers.once("first", 10, () => {
        ctx.tell(ref, "note", "first");
        ctx.timers.once("second", 10, () => ctx.tell(ref, "note", "second"));
      });
      ctx.watch(ref, () => ctx.tell(other, "note", "gone"));
      return text;
    },
  }));
  await tracer.startActiveSpan("set", async (span) => {
    await front.ask("go", "set");
    span.end();
  });
  await advance(20);
  await system.stop(ref);
  await settle();
  expect(tree()).toEqual([
    "set",
    "  process front.go",
    "    process back.note",
    "    process back.note",
    "    process back.note",
  ]);
});

for (const how of ["at once", "behind an await"]) {
  test(`the hooks of a restart are below the span of the handler that fails ${how}`, async () => {
    const test = start({ supervision: { decide: () => "restart" } });
    const { system, tree, settle, open } = test;
    const ref = system.spawn("back", Back, back);
    const front = system.spawn("front", Front, (ctx) => ({
      go(text) {
        if (how === "at once") throw new Error(text);
        return Promise.resolve().then(() => {
          throw new Error(text);
        });
      },
      onRestart: () => ctx.tell(ref, "note", "again"),
    }));
    await front.ask("go", "broken");
    await settle();
    expect(tree()).toEqual(["process front.go: Error", "  process back.note"]);
    expect(open.size).toBe(0);
    test.takeLog();
    test.takeFailures();
  });
}

test("what code sends in a span that a handler has made is below that span", async () => {
  const { system, tracer, tree, settle } = start();
  const ref = system.spawn("back", Back, back);
  const front = system.spawn("front", Front, (ctx) => ({
    async go(text) {
      ctx.tell(ref, "note", text);
      await tracer.startActiveSpan("query", async (query) => {
        ctx.tell(ref, "note", text);
        await undefined;
        ctx.tell(ref, "note", text);
        query.end();
      });
      return text;
    },
  }));
  await front.ask("go", "x");
  await settle();
  expect(tree()).toEqual([
    "process front.go",
    "  process back.note",
    "  query",
    "    process back.note",
    "    process back.note",
  ]);
});

const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test("a message keeps the parent that its sender gave it, and a trace that is not sampled stays so", async () => {
  const { system, spans, tracer, settle } = start();
  const seen: Metadata[] = [];
  const ref = system.spawn("back", Back, (ctx) => ({
    ...back(),
    note: () => void seen.push(ctx.metadata),
    work(text) {
      ctx.tell(ref, "note", text, { metadata: { traceparent: PARENT } });
      ctx.tell(ref, "note", text, { metadata: { ...ctx.metadata, mark: 1 } });
      return text;
    },
  }));
  await tracer.startActiveSpan("request", async (span) => {
    await ref.ask("work", "x");
    span.end();
  });
  await settle();
  const work = spans()
    .find(({ name }) => name === "process back.work")
    ?.spanContext();
  expect(seen.map(({ traceparent, mark }) => ({ traceparent, mark }))).toEqual([
    { traceparent: PARENT, mark: undefined },
    { traceparent: `00-${work?.traceId}-${work?.spanId}-01`, mark: 1 },
  ]);
  const count = spans().length;
  const unsampled = PARENT.replace(/01$/, "00");
  seen.length = 0;
  const relay = system.spawn("relay", Front, (ctx) => ({
    async go(text) {
      await undefined;
      ctx.tell(ref, "note", text);
      tracer.startActiveSpan("query", (span) => span.end());
      return text;
    },
  }));
  await relay.ask("go", "x", { metadata: { traceparent: unsampled } });
  await settle();
  expect(seen.map(({ traceparent }) => traceparent)).toEqual([unsampled]);
  expect(spans()).toHaveLength(count);
});

test("a message that a transport carries is a span of its own, whose traceparent goes on the wire", async () => {
  const traced = start();
  const { system, settle, tree, span } = traced;
  const wire = new Wire();
  const { ref } = system.attach(address("node-7/back"), Back, wire);
  await within(
    traced,
    async () => {
      ref.tell("note", "x");
      const reply = ref.ask("work", "x");
      await settle();
      wire.sent[1]?.complete("done");
      await reply;
    },
    settle,
  );
  expect(tree()).toEqual(["request", "  send back.note", "  send back.work"]);
  const { traceId, spanId } = span("send back.work").spanContext();
  expect(wire.last.metadata?.["traceparent"]).toBe(`00-${traceId}-${spanId}-01`);
  expect(span("send back.work").kind).toBe(SpanKind.PRODUCER);
});
