import { expect, test } from "bun:test";
import { trace as api, context, type Span } from "@opentelemetry/api";
import { defineProtocol, spawnPool, Type } from "../../src/index";
import { trace } from "../../src/telemetry/index";
import { type TestOptions, testSystems } from "../actor/test-system";
import { installContextManager, traced } from "./traced";

const { createTestSystem } = testSystems();
installContextManager();

const Work = defineProtocol("work", {
  run: { payload: Type.Number(), reply: Type.Number() },
  count: { payload: Type.Number(), stream: Type.Number() },
  tick: { payload: Type.Number() },
  wait: { payload: Type.Number(), reply: Type.Number() },
});

function start(options: TestOptions = {}) {
  const test = createTestSystem({ askTimeout: Number.POSITIVE_INFINITY, ...options });
  const spans = traced();
  const stop = trace(test.system, { tracer: spans.tracer });
  return { ...test, ...spans, stop };
}

/** As a driver of a database makes its spans: below the active one, a little later. */
async function query({ tracer }: ReturnType<typeof start>, n: number, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await undefined;
  tracer.startSpan(`query ${n}`).end();
}

for (const asyncContext of ["system", "sender"] as const) {
  test(`P16: of 4,000 interleaved handlers, each has its own span active, behind awaits too (asyncContext: "${asyncContext}")`, async () => {
    const all = start({ asyncContext });
    const { system, tracer, spans, settle } = all;
    const handlers = () => ({
      async run(n: number) {
        const own = api.getActiveSpan();
        await query(all, n, n % 7);
        if (api.getActiveSpan() !== own) throw new Error("another span is active");
        return n;
      },
      async *count(n: number) {
        for (let i = 0; i < 2; i++) {
          await query(all, n, n % 5);
          yield i;
        }
      },
      tick(n: number) {
        tracer.startSpan(`query ${n}`).end();
      },
      wait: (n: number) => n,
    });
    const wide = system.spawn("wide", Work, handlers, { concurrency: 64 });
    const narrow = system.spawn("narrow", Work, handlers);
    const pool = spawnPool(system, "pool", Work, handlers, { size: 4, concurrency: 8 });
    const done: Promise<unknown>[] = [];
    const parents = new Map<number, string>();
    for (let n = 0; n < 4_000; n++) {
      tracer.startActiveSpan(`request ${n}`, (span: Span) => {
        parents.set(n, span.spanContext().traceId);
        const to = [wide, narrow, pool][n % 3] ?? wide;
        if (n % 4 === 0) to.tell("tick", n);
        else if (n % 4 === 1) done.push(Array.fromAsync(to.stream("count", n)));
        else done.push(to.ask("run", n));
        span.end();
      });
    }
    await settle();
    await Promise.all(done);
    const queries = spans().filter(({ name }) => name.startsWith("query"));
    expect(queries.length).toBe(1_000 + 2_000 + 2_000);
    const wrong = queries.filter((span) => parents.get(Number(span.name.slice(6))) !== span.spanContext().traceId);
    expect(wrong.map(({ name }) => name)).toEqual([]);
    const known = new Map(spans().map((span) => [span.spanContext().spanId, span.name]));
    const below = new Set(queries.map(({ parentSpanContext }) => known.get(parentSpanContext?.spanId ?? "")));
    expect([...below].sort()).toEqual(["process work.count", "process work.run", "process work.tick"]);
    expect(all.open.size).toBe(0);
  });
}

test("P16: a handler's span is active nowhere else: not in who asked, in subscribers, in onAbort, or in the next handler", async () => {
  const all = start();
  const { system, tracer, settle, advance } = all;
  const seen: [string, Span | undefined][] = [];
  const note = (where: string) => seen.push([where, api.getActiveSpan()]);
  system.events.subscribe(() => note("event"));
  const ref = system.spawn("work", Work, (ctx) => ({
    run: (n) => n,
    *count() {
      yield 1;
    },
    tick() {
      ctx.timers.fixedDelay("repeat", 10, () => {
        note("repeating timer");
        ctx.timers.cancel("repeat");
      });
    },
    wait: () =>
      new Promise((_, reject) => {
        ctx.onAbort(() => {
          note("onAbort");
          reject(ctx.signal.reason);
        });
      }),
  }));
  const outer = tracer.startSpan("outer");
  await context.with(api.setSpan(context.active(), outer), async () => {
    await ref.ask("run", 1);
    expect(api.getActiveSpan()).toBe(outer);
    for await (const _ of ref.stream("count", 1)) expect(api.getActiveSpan()).toBe(outer);
    ref.tell("tick", 1);
    await settle();
    await advance(10);
    const reply = ref.ask("wait", 1, { timeout: 5 });
    await settle();
    await advance(5);
    expect((await reply)._unsafeUnwrapErr().kind).toBe("timeout");
    expect(api.getActiveSpan()).toBe(outer);
  });
  await settle();
  await system.stop(ref);
  outer.end();
  expect(new Set(seen.map(([where]) => where))).toEqual(new Set(["repeating timer", "onAbort", "event"]));
  expect(seen.filter(([, span]) => span !== undefined)).toEqual([]);
  expect(api.getActiveSpan()).toBeUndefined();
});

test("P16: a system that was made in a span makes no handler's span below it", async () => {
  const { tracer, spans } = traced();
  const startup = tracer.startSpan("startup");
  const { system } = context.with(api.setSpan(context.active(), startup), () => createTestSystem());
  trace(system, { tracer });
  const ref = system.spawn("work", Work, () => ({ run: (n) => n, *count() {}, tick() {}, wait: (n) => n }));
  await ref.ask("run", 1);
  expect(spans().map(({ name, parentSpanContext }) => [name, parentSpanContext])).toEqual([
    ["process work.run", undefined],
  ]);
  startup.end();
});
