import { expect, test } from "bun:test";
import { type Context, context, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import { SamplingDecision } from "@opentelemetry/sdk-trace";
import { defineProtocol, Type } from "../../src/index";
import { trace } from "../../src/telemetry/index";
import { type TestOptions, testSystems } from "../actor/test-system";
import { installContextManager, traced } from "./traced";

const { createTestSystem } = testSystems();
installContextManager();

const Work = defineProtocol("work", {
  run: { payload: Type.String(), reply: Type.String() },
  count: { payload: Type.Number(), stream: Type.Number() },
  wait: { reply: Type.String() },
});

class CardRefused extends Error {}

function start(options: TestOptions = {}, more: object = {}) {
  const test = createTestSystem(options);
  const spans = traced();
  const stop = trace(test.system, { tracer: spans.tracer, ...more });
  let release = (_: string): void => undefined;
  const ref = test.system.spawn("work", Work, (ctx) => ({
    run(text) {
      if (text === "card") throw new CardRefused("4111 1111 1111 1111");
      if (text === "name") throw Object.assign(new Error("no"), { name: "the secret of Ada" });
      if (text === "value") throw "a secret";
      if (text === "ask") return ctx.ask(ctx.self, "run", text).then((reply) => reply.unwrapOr("none"));
      return text;
    },
    async *count(to) {
      for (let i = 0; i < to; i++) yield i;
    },
    wait: () =>
      new Promise((resolve) => {
        release = resolve;
      }),
  }));
  return { ...test, ...spans, stop, ref, release: (text: string) => release(text) };
}

test("a failed handler's span has the kind of its error, and no text of it", async () => {
  const { ref, spans } = start();
  for (const text of ["card", "name", "value"]) await ref.ask("run", text);
  expect(
    spans().map(({ status, attributes }) => [status, attributes["error.type"], attributes["messaging.envoi.outcome"]]),
  ).toEqual(
    ["CardRefused", "Error", "_OTHER"].map((kind) => [{ code: SpanStatusCode.ERROR, message: kind }, kind, "failed"]),
  );
  for (const span of spans())
    expect(JSON.stringify([span.attributes, span.events, span.name, span.status])).not.toMatch(/4111|secret/);
});

test("a span ends once, however its handler ends: left early, given up, abandoned by a shutdown", async () => {
  const all = start();
  const { ref, span, settle, advance, system, open, takeLog } = all;
  for await (const _ of ref.stream("count", 1_000)) break;
  await settle();
  expect(open.size).toBe(0);
  expect(span("process work.count").status.code).toBe(SpanStatusCode.UNSET);
  const waiting = ref.ask("wait", { timeout: 10 });
  await advance(10);
  expect((await waiting).isErr()).toBe(true);
  expect(open.size).toBe(1); // Its handler runs on.
  const closing = system.shutdown({ timeout: 10 });
  await advance(10);
  await closing;
  expect(open.size).toBe(0);
  const { attributes, status } = span("process work.wait");
  expect([attributes["messaging.envoi.outcome"], attributes["error.type"], status.code]).toEqual([
    "abandoned",
    "abandoned",
    SpanStatusCode.ERROR,
  ]);
  all.release("late");
  await settle();
  expect(takeLog().map(({ message }) => message)).toEqual([
    "envoi: An actor did not stop within 10 ms, abandoned: @(work)",
  ]);
});

test("items of a stream are events of its span, and hooks and timers are spans, where that is wanted", async () => {
  const { ref, system, span, tree, advance } = start({}, { items: true, signals: true });
  expect(await Array.fromAsync(ref.stream("count", 3))).toEqual([0, 1, 2]);
  expect(span("process work.count").events.map(({ name }) => name)).toEqual(Array(3).fill("messaging.envoi.item"));
  const hooked = system.spawn("hooked", Work, (ctx) => ({
    onStart() {
      ctx.timers.once("order 4711", 5, () => ctx.tell(ref, "run" as never, "x" as never));
    },
    run: (text) => text,
    *count() {},
    wait: () => "",
  }));
  await advance(5);
  await system.stop(hooked);
  expect(tree()).toEqual(["process work.count", "onStart work", "  timer work", "    process work.run"]);
});

test("a span ends when a restart waits for its handler no longer", async () => {
  const test = createTestSystem({ supervision: { decide: () => "restart" }, hookTimeout: 10 });
  const { tracer, span, tree, open } = traced();
  trace(test.system, { tracer });
  const handlers = { *count() {}, wait: () => new Promise<string>(() => undefined) };
  const run = (text: string): string => {
    throw new CardRefused(text);
  };
  const ref = test.system.spawn("work", Work, () => ({ ...handlers, run }), { concurrency: 2 });
  const waiting = ref.ask("wait");
  await test.settle();
  await ref.ask("run", "card");
  await test.advance(10);
  expect((await waiting).isErr()).toBe(true);
  expect(span("process work.wait").attributes["messaging.envoi.outcome"]).toBe("abandoned");
  expect(tree().toSorted()).toEqual(["process work.run: CardRefused", "process work.wait: abandoned"]); // They began in one millisecond.
  expect(open.size).toBe(0);
  test.takeLog();
  test.takeFailures();
});

for (const sampleByAttributes of [false, true]) {
  test(`a sampler sees ${sampleByAttributes ? "the attributes of a message where that is wanted" : "no attributes"}`, async () => {
    const { system } = createTestSystem();
    const seen: object[] = [];
    const { tracer, span } = traced({
      shouldSample(_context, _trace, _name, _kind, attributes) {
        seen.push({ ...attributes });
        return { decision: SamplingDecision.RECORD_AND_SAMPLED };
      },
      toString: () => "seeing",
    });
    trace(system, { tracer, sampleByAttributes });
    const handlers = { *count() {}, wait: () => "", run: (text: string) => text };
    await system.spawn("work", Work, () => handlers).ask("run", "x");
    const known = {
      "messaging.system": "envoi",
      "messaging.operation.type": "process",
      "messaging.operation.name": "process",
      "messaging.destination.name": "@(work)",
      "messaging.destination.template": "work",
      "messaging.envoi.operation": "run",
    };
    expect(seen).toEqual([sampleByAttributes ? known : {}]);
    expect(span("process work.run").attributes).toMatchObject(known);
  });
}

test("a tracer that is removed ends what is open, and what comes later has no span", async () => {
  const { ref, spans, span, open, settle, stop, release } = start();
  const reply = ref.ask("wait");
  await settle();
  stop();
  expect(open.size).toBe(0);
  expect(span("process work.wait").attributes["messaging.envoi.outcome"]).toBe("open");
  release("done");
  expect((await reply).unwrapOr("")).toBe("done");
  await ref.ask("run", "x");
  expect(spans()).toHaveLength(1);
  stop(); // Does nothing.
});

test("a system has one tracer at a time, since each message would have two spans otherwise; another one may follow it", async () => {
  const { system, ref, spans, stop } = start();
  const other = traced();
  expect(() => trace(system, { tracer: other.tracer })).toThrow("trace() has been called for this system");
  await ref.ask("run", "x");
  expect([spans().length, other.spans().length]).toEqual([1, 0]);
  stop();
  trace(system, { tracer: other.tracer });
  stop(); // Does not free the system of the other one.
  expect(() => trace(system, { tracer: other.tracer })).toThrow(Error);
  await ref.ask("run", "x");
  expect([spans().length, other.spans().length]).toEqual([1, 1]);
});

test("two systems share a trace", async () => {
  const { tracer, tree, open } = traced();
  const one = createTestSystem();
  const other = createTestSystem();
  trace(one.system, { tracer });
  trace(other.system, { tracer });
  const far = other.system.spawn("far", Work, () => ({ run: (text) => text, *count() {}, wait: () => "" }));
  const near = one.system.spawn("near", Work, (ctx) => ({
    async run(text) {
      await undefined;
      return (await ctx.ask(far, "run", text)).unwrapOr("");
    },
    *count() {},
    wait: () => "",
  }));
  expect((await near.ask("run", "x")).unwrapOr("")).toBe("x");
  expect(tree()).toEqual(["process work.run", "  process work.run"]);
  expect(open.size).toBe(0);
});

test("a tracer that throws fails no handler, and is logged", async () => {
  for (const method of ["startSpan", "setAttribute", "end", "isRecording", "spanContext"]) {
    const { system, takeLog } = createTestSystem();
    const { tracer } = traced();
    const fail = (): never => {
      throw new Error("broken");
    };
    const broken: Tracer = {
      startSpan(...args: [string, object?, Context?]) {
        if (method === "startSpan") return fail();
        const span = tracer.startSpan(...args);
        return Object.assign(span, { [method]: fail });
      },
      startActiveSpan: fail,
    };
    trace(system, { tracer: broken });
    const ref = system.spawn("work", Work, (ctx) => ({
      async run(text) {
        await undefined;
        ctx.tell(ctx.self, "wait" as never);
        return text;
      },
      *count() {},
      wait: () => "",
    }));
    expect([method, (await ref.ask("run", "x")).unwrapOr("")]).toEqual([method, "x"]);
    await Bun.sleep(0);
    expect(
      takeLog()
        .map(({ message }) => message)
        .join("\n"),
    ).toContain("threw");
  }
});

test("spans that throw when the tracer is removed: the others end, and the system goes on", async () => {
  const { system, takeLog } = createTestSystem();
  const { tracer, spans } = traced();
  const fail = (): never => {
    throw new Error("no");
  };
  let made = 0;
  const broken: Tracer = {
    startSpan: (...args) => Object.assign(tracer.startSpan(...args), made++ === 0 && { end: fail }),
    startActiveSpan: fail,
  };
  const stop = trace(system, { tracer: broken });
  const gate = Promise.withResolvers<string>();
  const ref = system.spawn("work", Work, () => ({ run: () => gate.promise, *count() {}, wait: () => "" }), {
    concurrency: 2,
  });
  const asked = [ref.ask("run", "a"), ref.ask("run", "b")];
  await Bun.sleep(0);
  stop();
  expect(spans().length).toBe(1);
  gate.resolve("x");
  expect((await Promise.all(asked)).map((reply) => reply.unwrapOr(""))).toEqual(["x", "x"]);
  expect(takeLog()[0]?.message).toContain("threw");
});

test("without a context manager, a trace goes through handlers all the same, and one line says what is missing", async () => {
  context.disable();
  try {
    const { system, takeLog } = createTestSystem();
    const { tracer, tree } = traced();
    trace(system, { tracer });
    const back = system.spawn("back", Work, () => ({ run: (text) => text, *count() {}, wait: () => "" }));
    const front = system.spawn("front", Work, (ctx) => ({
      async run(text) {
        ctx.tell(back, "run" as never, text as never);
        await undefined;
        return (await ctx.ask(back, "run", text)).unwrapOr("");
      },
      *count() {},
      wait: () => "",
    }));
    await front.ask("run", "x");
    expect(tree()).toEqual(["process work.run", "  process work.run", "  process work.run"]);
    expect(takeLog().map(({ level, message }) => [level, message])).toEqual([
      ["warn", expect.stringContaining("setGlobalContextManager(new AsyncLocalStorageContextManager().enable())")],
    ]);
  } finally {
    installContextManager();
  }
  const { system, takeLog } = createTestSystem();
  trace(system, { tracer: traced().tracer });
  expect(takeLog()).toEqual([]);
});

test("options that are none are refused", () => {
  const { system } = createTestSystem();
  const { tracer } = traced();
  const cases: readonly unknown[] = [undefined, {}, { tracer: {} }, { tracer, items: 1 }, { tracer, hooks: true }];
  for (const options of cases) expect(() => trace(system, options as never)).toThrow(TypeError);
});
