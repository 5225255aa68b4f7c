import { describe, expect, test } from "bun:test";
import {
  type ActorStream,
  address,
  createMessage,
  createSystem,
  defineProtocol,
  type Router,
  StreamError,
  Type,
} from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { countListeners } from "./kept";

const Source = defineProtocol("source", {
  count: { payload: Type.Number(), stream: Type.Number() },
  endless: { stream: Type.Number() },
  broken: { stream: Type.Number() },
  stuck: { stream: Type.Number() },
  wrong: { stream: Type.Number() },
  ping: { reply: Type.String() },
});

function setUp(options: { validate?: "always" } = {}) {
  const clock = createManualClock();
  const logged: string[] = [];
  const logger = { warn: (text: string) => void logged.push(text), error: (text: string) => void logged.push(text) };
  const system = createSystem({ clock, logger, ...options });
  const seen = { produced: 0, ended: 0 };
  const source = system.spawn("source", Source, (ctx) => ({
    *count(n) {
      for (let i = 0; i < n; i++) yield i;
    },
    async *endless() {
      try {
        for (;;) {
          seen.produced++;
          yield seen.produced;
        }
      } finally {
        seen.ended++;
      }
    },
    async *broken() {
      yield 1;
      throw new RangeError("no more");
    },
    async *stuck() {
      try {
        yield 1;
        await new Promise((_, reject) => {
          ctx.signal.addEventListener("abort", () => reject(new Error("told to end")));
        });
      } finally {
        seen.ended++;
      }
    },
    async *wrong() {
      yield "one" as unknown as number;
    },
    ping: () => "pong",
  }));
  return { clock, logged, system, seen, source };
}

/** A settled system: each message has its outcome, and nothing runs. */
function expectRest(router: Router): void {
  const { accepted, handled, failed, dead, queued, running } = router.audit();
  expect({ queued, running, sum: handled + failed + dead }).toEqual({ queued: 0, running: 0, sum: accepted });
}

async function failureOf(stream: ActorStream<unknown>): Promise<StreamError> {
  try {
    for await (const _ of stream);
  } catch (thrown) {
    if (thrown instanceof StreamError) return thrown;
    throw thrown;
  }
  throw new Error("the stream ended without an error");
}

describe("streams", () => {
  test("P12: every item arrives once, in order, from sync and async generators, at any credit", async () => {
    for (const credit of [1, 2, 16, 256]) {
      const { source, system } = setUp();
      const items: number[] = [];
      for await (const item of source.stream("count", 1_000, { credit })) items.push(item);
      expect(items).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
      expect(await source.ask("ping")).toMatchObject({ value: "pong" });
      expectRest(system.router);
    }
  });

  test("P12: a producer runs at most its credit ahead of the reader", async () => {
    for (const credit of [1, 4, 16]) {
      const { source, seen, clock } = setUp();
      const stream = source.stream("endless", { credit });
      for (let read = 1; read <= 5; read++) {
        expect((await stream.next()).value).toBe(read);
        await clock.settle();
        expect(seen.produced - read).toBeLessThanOrEqual(credit);
      }
      await stream.return?.();
    }
  });

  test("P12: leaving the loop early ends the producer, runs its finally, and frees the actor", async () => {
    const { source, seen, system, clock } = setUp();
    for await (const item of source.stream("endless")) if (item === 3) break;
    await clock.settle();
    expect(seen.ended).toBe(1);
    expect(await source.ask("ping")).toMatchObject({ value: "pong" });
    expectRest(system.router);
    expect(clock.timers).toBe(0);
  });

  test("P12: a loop that throws ends the producer too, and the error stays the loop's own", async () => {
    const { source, seen, clock } = setUp();
    const own = new Error("mine");
    const loop = async () => {
      for await (const _ of source.stream("endless")) throw own;
    };
    expect(await loop().catch((thrown) => thrown)).toBe(own);
    await clock.settle();
    expect(seen.ended).toBe(1);
  });

  test("P7: a reader that leaves aborts the signal of a producer that waits", async () => {
    const { source, seen, system, clock } = setUp();
    for await (const _ of source.stream("stuck")) break;
    await clock.settle();
    expect(seen.ended).toBe(1);
    expectRest(system.router);
  });

  test("P9: a producer that throws gives the items before, then handler-failed with its cause", async () => {
    const { source, system } = setUp();
    const items: number[] = [];
    const stream = source.stream("broken");
    let failure: unknown;
    try {
      for await (const item of stream) items.push(item);
    } catch (thrown) {
      failure = thrown;
    }
    expect(items).toEqual([1]);
    expect(failure).toBeInstanceOf(StreamError);
    expect(failure).toMatchObject({ kind: "handler-failed", cause: new RangeError("no more") });
    expect(await stream.next()).toEqual({ value: undefined, done: true });
    expect(system.router.audit()).toMatchObject({ accepted: 1, failed: 1 });
  });

  test("P9: a failure that comes between two reads is told once, behind the items before it; then comes the end", async () => {
    const { source, clock } = setUp();
    const stream = source.stream("broken");
    expect(await stream.next()).toEqual({ value: 1, done: false });
    await clock.settle(); // The producer has thrown by now, and nobody was reading.
    expect(await stream.next().catch((thrown) => thrown)).toMatchObject({ kind: "handler-failed" });
    expect(await stream.next()).toEqual({ value: undefined, done: true });
    expect(await stream.next()).toEqual({ value: undefined, done: true });
  });

  test("P6: a stream that is over listens to its signal no more, however it ended", async () => {
    const { source, clock } = setUp();
    const { signal } = new AbortController();
    const listeners = countListeners(signal);
    for await (const _ of source.stream("count", 3, { signal })) expect(listeners()).toBe(1);
    expect(listeners()).toBe(0);
    for await (const _ of source.stream("endless", { signal })) break;
    expect(listeners()).toBe(0);
    await failureOf(source.stream("broken", { signal }));
    await clock.settle();
    expect(listeners()).toBe(0);
  });

  test("an aborted signal ends the loop with cancelled, and the producer", async () => {
    const { source, seen, clock } = setUp();
    const controller = new AbortController();
    const stream = source.stream("stuck", { signal: controller.signal });
    expect((await stream.next()).value).toBe(1);
    const next = stream.next().catch((thrown) => thrown);
    controller.abort(new Error("enough"));
    expect(await next).toMatchObject({ kind: "cancelled", error: { reason: new Error("enough") } });
    await clock.settle();
    expect(seen.ended).toBe(1);
  });

  test("a signal that was aborted before sends nothing", async () => {
    const { source, system } = setUp();
    expect((await failureOf(source.stream("endless", { signal: AbortSignal.abort("no") }))).kind).toBe("cancelled");
    expect(system.router.audit().accepted).toBe(0);
  });

  test("P15: a timeout counts the wait for each item, on the system's clock", async () => {
    const { source, clock, seen } = setUp();
    const stream = source.stream("stuck", { timeout: 1_000 });
    expect((await stream.next()).value).toBe(1);
    await clock.advance(10_000); // Between reads no time counts.
    const next = stream.next().catch((thrown) => thrown);
    await clock.advance(1_000);
    expect(await next).toMatchObject({ kind: "timeout", error: { timeout: 1_000 } });
    await clock.settle();
    expect(seen.ended).toBe(1);
    expect(clock.timers).toBe(0);
  });

  test("P13: stopping the actor ends its stream with stopped, and runs the producer's finally", async () => {
    const { source, seen, system } = setUp();
    const stream = source.stream("stuck");
    expect((await stream.next()).value).toBe(1);
    const next = stream.next().catch((thrown) => thrown);
    await system.stop(source);
    expect(await next).toMatchObject({ kind: "stopped" });
    expect(seen.ended).toBe(1);
    expect((await failureOf(source.stream("endless"))).kind).toBe("stopped");
    expectRest(system.router);
  });

  test("P3: a stream occupies its actor; what is sent meanwhile waits for its end", async () => {
    const { source, clock } = setUp();
    const stream = source.stream("endless");
    await stream.next();
    let isAnswered = false;
    const reply = source.ask("ping").then((result) => {
      isAnswered = true;
      return result;
    });
    await clock.settle();
    expect(isAnswered).toBe(false);
    await stream.return?.();
    expect(await reply).toMatchObject({ value: "pong" });
  });

  test("P1: a stream that is left while it waits in the queue is never produced, but dead-lettered", async () => {
    const { source, system, seen, clock } = setUp();
    const first = source.stream("endless");
    await first.next();
    const second = source.stream("endless");
    const read = second.next();
    await second.return?.();
    expect(await read).toEqual({ value: undefined, done: true });
    const before = seen.produced;
    await first.return?.();
    await clock.settle();
    expect(seen.ended).toBe(1);
    expect(seen.produced).toBeLessThanOrEqual(before + 16);
    expect(system.router.audit()).toMatchObject({ accepted: 2, handled: 1, dead: 1, running: 0 });
  });

  test("nothing is sent before the first read, nor by a reader that leaves before it", async () => {
    const { source, system } = setUp();
    const stream = source.stream("endless");
    expect(system.router.audit().accepted).toBe(0);
    await stream.return?.();
    expect(await stream.next()).toEqual({ value: undefined, done: true });
    expect(system.router.audit().accepted).toBe(0);
  });

  test("an ask or a tell of a stream is unknown-operation, and a stream of an ask is", async () => {
    const { source, system, clock } = setUp();
    const ask = await source.ask("count" as never, 1 as never);
    expect(ask).toMatchObject({ error: { kind: "unknown-operation" } });
    expect((await failureOf(source.stream("ping" as never))).kind).toBe("unknown-operation");
    await clock.settle();
    expectRest(system.router);
  });

  test("validate always holds each item against the schema, and ends the producer at the first that does not fit", async () => {
    const { source } = setUp({ validate: "always" });
    const failure = await failureOf(source.stream("wrong"));
    expect(failure.kind).toBe("handler-failed");
    expect(failure.message).toContain("an item of its stream does not fit the schema");
  });

  test("a router streams from any handler that returns an iterable", async () => {
    const { system } = setUp();
    const words = address("words");
    system.router.register(words, (message) => String(message.payload).split(" "));
    const items: unknown[] = [];
    for await (const word of system.router.stream(createMessage(words, "split", "to be or not"))) items.push(word);
    expect(items).toEqual(["to", "be", "or", "not"]);
    const nobody = system.router.stream(createMessage(address("nobody"), "split", ""));
    expect((await failureOf(nobody)).kind).toBe("no-recipient");
    expect(await nobody.next()).toEqual({ value: undefined, done: true });
    system.router.register(address("number"), () => 7);
    const failure = await failureOf(system.router.stream(createMessage(address("number"), "give", "")));
    expect(failure.message).toContain("returns an iterable");
    expectRest(system.router);
  });

  test("P5: an endless stream between actor and reader leaves timers their turn", async () => {
    const system = createSystem();
    const source = system.spawn("source", Source, () => ({
      *count() {},
      *endless() {
        for (let i = 0; ; i++) yield i;
      },
      *broken() {},
      *stuck() {},
      *wrong() {},
      ping: () => "pong",
    }));
    let isOver = false;
    setTimeout(() => {
      isOver = true;
    }, 1);
    let items = 0;
    for await (const _ of source.stream("endless")) {
      items++;
      if (isOver || items > 20_000_000) break;
    }
    expect(isOver).toBe(true);
    await system.shutdown();
  });

  test("options that cannot be ones throw at once, with what to write", () => {
    const { source } = setUp();
    expect(() => source.stream("endless", { credit: 0 })).toThrow("from 1");
    expect(() => source.stream("endless", { credit: 1.5 })).toThrow("whole number");
    expect(() => source.stream("endless", { timeout: -1 })).toThrow("above 0");
    expect(() => source.stream("endless", { signal: {} as AbortSignal })).toThrow("AbortSignal");
  });
});
