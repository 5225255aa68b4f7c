import { describe, expect, test } from "bun:test";
import { type ActorStream, defineProtocol, type RefTo, StreamError, Type } from "../../src/index";
import { type TestSystem, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Source = defineProtocol("source", {
  endless: { stream: Type.Number() },
  heeding: { stream: Type.Number() },
  deaf: { stream: Type.Number() },
  hold: {},
  ping: { reply: Type.String() },
});

interface Stage extends TestSystem {
  readonly source: RefTo<typeof Source>;
  readonly begun: () => number;
  readonly ended: () => number;
  /** Lets `deaf` and `hold` go on. */
  readonly release: () => void;
}

function setUp(): Stage {
  const made = createTestSystem();
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  let ended = 0;
  async function* ending(rest: () => AsyncIterable<number>): AsyncGenerator<number> {
    begun++;
    try {
      yield* rest();
    } finally {
      ended++;
    }
  }
  const source = made.system.spawn("source", Source, (ctx) => ({
    endless: () =>
      ending(async function* () {
        for (let i = 1; ; i++) yield i;
      }),
    heeding: () =>
      ending(async function* () {
        yield 1;
        await new Promise((_, reject) => {
          ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason));
        });
      }),
    deaf: () =>
      ending(async function* () {
        yield 1;
        await gate.promise;
        yield 2;
      }),
    hold: () => gate.promise,
    ping: () => "pong",
  }));
  return { ...made, source, begun: () => begun, ended: () => ended, release: gate.resolve };
}

/** What a read came to: its item, `done`, the kind of its error, or the error that is not the stream's. */
const outcomeOf = (read: Promise<IteratorResult<number, undefined>>): Promise<unknown> =>
  read.then(
    (step) => (step.done === true ? "done" : step.value),
    (thrown) => (thrown instanceof StreamError ? thrown.kind : thrown),
  );

const own = new Error("the loop's own");

/** Where the producer is when the end comes. `heard` tells whether it ends without being released. */
const states = [
  { state: "waits for credit", operation: "endless", heard: true },
  { state: "waits for something else, and heeds its signal", operation: "heeding", heard: true },
  { state: "waits for something else, and heeds nothing", operation: "deaf", heard: false },
] as const;

/** How it ends. What the loop comes to is `outcome`. */
const ends: readonly {
  end: string;
  outcome: unknown;
  perform: (stage: Stage, stream: ActorStream<number>, controller: AbortController) => Promise<unknown>;
}[] = [
  {
    end: "break",
    outcome: "left",
    perform: async ({ clock }, stream) => {
      for await (const _ of stream) {
        await clock.settle();
        break;
      }
      return "left";
    },
  },
  {
    end: "return",
    outcome: "done",
    perform: async ({ clock }, stream) => {
      await stream.next();
      await clock.settle();
      return outcomeOf(stream.return());
    },
  },
  {
    end: "throw in the loop",
    outcome: own,
    perform: async ({ clock }, stream) => {
      try {
        for await (const _ of stream) {
          await clock.settle();
          throw own;
        }
      } catch (thrown) {
        return thrown;
      }
      return "no item came";
    },
  },
  {
    end: "throw of the iterator",
    outcome: own,
    perform: async ({ clock }, stream) => {
      await stream.next();
      await clock.settle();
      return outcomeOf(stream.throw(own));
    },
  },
  {
    end: "abort",
    outcome: "cancelled",
    perform: async ({ clock }, stream, controller) => {
      await stream.next();
      await clock.settle();
      controller.abort("enough");
      return outcomeOf(stream.next());
    },
  },
  {
    end: "stop of the actor",
    outcome: "stopped",
    perform: async ({ clock, system, source }, stream) => {
      await stream.next();
      await clock.settle();
      void system.stop(source);
      // What was yielded before may still be read.
      for (;;) {
        const outcome = await outcomeOf(stream.next());
        if (typeof outcome !== "number") return outcome;
      }
    },
  },
];

describe("P12: both ends end, whatever the producer does at the time:", () => {
  for (const { state, operation, heard } of states) {
    for (const { end, outcome, perform } of ends) {
      test(`${end}, while it ${state}`, async () => {
        const stage = setUp();
        const { clock, system, source } = stage;
        const controller = new AbortController();
        const stream = source.stream(operation, { credit: 2, signal: controller.signal });
        expect(await perform(stage, stream, controller)).toBe(outcome);
        expect(await stream.next()).toEqual({ value: undefined, done: true });
        await clock.settle();
        expect(stage.ended()).toBe(heard ? 1 : 0);
        stage.release();
        await clock.settle();
        expect(stage.ended()).toBe(1);
        expect(system.router.audit()).toMatchObject({ accepted: 1, queued: 0, running: 0 });
        const isStopped = outcome === "stopped";
        expect((await source.ask("ping")).isOk()).toBe(!isStopped);
        if (isStopped) expect(system.router.has(source.address)).toBe(false);
      });
    }
  }

  for (const { state, operation, heard } of states.slice(1)) {
    test(`timeout, while it ${state}`, async () => {
      const stage = setUp();
      const { clock, source } = stage;
      const stream = source.stream(operation, { timeout: 1_000 });
      await stream.next();
      const next = outcomeOf(stream.next());
      await clock.advance(1_000);
      expect(await next).toBe("timeout");
      expect(await stream.next()).toEqual({ value: undefined, done: true });
      expect(stage.ended()).toBe(heard ? 1 : 0);
      stage.release();
      await clock.settle();
      expect(stage.ended()).toBe(1);
      expect((await source.ask("ping")).isOk()).toBe(true);
    });
  }

  const beforeItBegan = [
    { end: "return", outcome: "done", perform: (_: Stage, stream: ActorStream<number>) => void stream.return() },
    {
      end: "throw of the iterator",
      outcome: "done",
      perform: (_: Stage, stream: ActorStream<number>) => void stream.throw(own).catch(() => undefined),
    },
    {
      end: "abort",
      outcome: "cancelled",
      perform: (_: Stage, __: unknown, controller: AbortController) => controller.abort("enough"),
    },
    { end: "stop of the actor", outcome: "stopped", perform: ({ system, source }: Stage) => void system.stop(source) },
    { end: "timeout", outcome: "timeout", perform: ({ clock }: Stage) => clock.advance(1_000) },
  ];
  for (const { end, outcome, perform } of beforeItBegan) {
    test(`${end}, while its message is queued: it never begins, and the message is a dead letter`, async () => {
      const stage = setUp();
      const { clock, system, source, deadLetters } = stage;
      source.tell("hold");
      await clock.settle();
      const controller = new AbortController();
      const stream = source.stream("endless", { timeout: 1_000, signal: controller.signal });
      const next = outcomeOf(stream.next());
      await clock.settle();
      await perform(stage, stream, controller);
      expect(await next).toBe(outcome);
      expect(await stream.next()).toEqual({ value: undefined, done: true });
      stage.release();
      await clock.settle();
      expect(stage.begun()).toBe(0);
      expect(deadLetters).toMatchObject([{ reason: outcome === "done" ? "cancelled" : outcome, asked: true }]);
      expect(system.router.audit()).toMatchObject({ accepted: 2, handled: 1, dead: 1, queued: 0, running: 0 });
    });
  }
});

describe("the two sides of an end", () => {
  test("P6: an abort ends the loop also where the producer is done and its items are not read yet", async () => {
    const { source, system, clock } = setUp();
    const words = system.spawn("words", defineProtocol("words", { all: { stream: Type.Number() } }), () => ({
      all: () => [1, 2, 3],
    }));
    const controller = new AbortController();
    const stream = words.stream("all", { signal: controller.signal });
    expect((await stream.next()).value).toBe(1);
    await clock.settle();
    controller.abort("enough");
    expect(await outcomeOf(stream.next())).toBe("cancelled");
    expect(await outcomeOf(stream.next())).toBe("done");
    expect(system.router.audit()).toMatchObject({ accepted: 1, handled: 1 });
    expect((await source.ask("ping")).isOk()).toBe(true);
  });

  test("a reader that left gets nothing more, also where items had come for it", async () => {
    const { clock, source } = setUp();
    const stream = source.stream("endless", { credit: 4 });
    await stream.next();
    await clock.settle();
    await stream.return();
    expect(await stream.next()).toEqual({ value: undefined, done: true });
  });

  test("return() while several reads wait: all of them come to the end at once", async () => {
    const stage = setUp();
    const stream = stage.source.stream("deaf");
    await stream.next();
    const waiting = [stream.next(), stream.next(), stream.next()].map(outcomeOf);
    await stream.return();
    expect(await Promise.all(waiting)).toEqual(["done", "done", "done"]);
    expect(stage.ended()).toBe(0);
    stage.release();
    await stage.clock.settle();
    expect(stage.ended()).toBe(1);
  });

  test("an error is told to the first read that waits; those called ahead of it come to the end", async () => {
    const { clock, source } = setUp();
    const controller = new AbortController();
    const stream = source.stream("heeding", { signal: controller.signal });
    const reads = [stream.next(), stream.next(), stream.next()].map(outcomeOf);
    await clock.settle();
    controller.abort("enough");
    expect(await Promise.all(reads)).toEqual([1, "cancelled", "done"]);
  });

  test("two loops over one stream share its items, and the end of one is the end of both", async () => {
    const stage = setUp();
    const stream = stage.source.stream("endless", { credit: 1 });
    const seen: number[] = [];
    const loop = async (until: number) => {
      for await (const item of stream) {
        seen.push(item);
        if (item >= until) break;
      }
    };
    await Promise.all([loop(9), loop(Number.POSITIVE_INFINITY)]);
    expect(seen.slice(0, 9)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await stage.clock.settle();
    expect(stage.ended()).toBe(1);
  });

  test("await using leaves the stream at the end of its block", async () => {
    const stage = setUp();
    {
      await using stream = stage.source.stream("endless");
      expect((await stream.next()).value).toBe(1);
    }
    await stage.clock.settle();
    expect(stage.ended()).toBe(1);
  });

  test("yield* over a stream hands on what the generator around it is thrown", async () => {
    const stage = setUp();
    async function* around() {
      yield* stage.source.stream("endless");
    }
    const outer = around();
    expect((await outer.next()).value).toBe(1);
    expect(await outer.throw(own).catch((thrown) => thrown)).toBe(own);
    await stage.clock.settle();
    expect(stage.ended()).toBe(1);
  });
});
