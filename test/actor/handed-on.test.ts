import { describe, expect, test } from "bun:test";
import {
  address,
  type Context,
  createPool,
  createTopic,
  defineProtocol,
  inheritedBy,
  type Metadata,
  receive,
  type SignaturesOf,
  type Supervision,
  serializeMessage,
  spawnPool,
  Type,
} from "../../src/index";
import { type TestSystem, testSystems } from "./test-system";
import { Wire } from "./wire";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", {
  run: { payload: Type.String() },
  say: { payload: Type.String(), reply: Type.String() },
});
const Sink = defineProtocol("sink", { note: { payload: Type.String() } });

const TRACE = { traceparent: "00-1-2-01", baggage: "user=ada" };
/** What a message carries: a part that is handed on, and one that is not. */
const CARRIED: Metadata = { ...TRACE, user: "Ada" };

/** An actor that keeps what comes with each message. */
function spawnSink({ system }: Pick<TestSystem, "system">, name = "sink") {
  const seen: [string, Metadata][] = [];
  const ref = system.spawn(name, Sink, (ctx) => ({ note: (text) => void seen.push([text, ctx.metadata]) }));
  return { ref, seen };
}

describe("a handler hands on its trace context to what it begins:", () => {
  test("a timer that is set once, and what that sets or sends; nothing else, and no deadline", async () => {
    const test = createTestSystem();
    const { ref, seen } = spawnSink(test);
    const own: [Metadata, number][] = [];
    const worker = test.system.spawn("worker", Work, (ctx) => {
      const note = (text: string): void => {
        own.push([ctx.metadata, ctx.deadline]);
        ctx.tell(ref, "note", text);
      };
      return {
        run() {
          ctx.timers.once("first", 10, () => {
            note("first");
            ctx.timers.once("second", 10, () => note("second"));
          });
        },
        say: (text) => text,
      };
    });
    worker.tell("run", "go", { metadata: CARRIED, deadline: 15 });
    await test.advance(20);
    expect(seen).toEqual([
      ["first", TRACE],
      ["second", TRACE],
    ]);
    expect(own).toEqual(new Array(2).fill([TRACE, Number.POSITIVE_INFINITY]));
  });

  test("each timer has that of the handler that set it, also where several messages are handled at once", async () => {
    const test = createTestSystem();
    const { ref, seen } = spawnSink(test);
    const worker = test.system.spawn(
      "worker",
      Work,
      (ctx) => ({
        async run(text) {
          await undefined;
          ctx.timers.once(text, 10, () => ctx.tell(ref, "note", text));
        },
        say: (text) => text,
      }),
      { concurrency: 4 },
    );
    for (const text of ["a", "b", "c"]) worker.tell("run", text, { metadata: { traceparent: text } });
    worker.tell("run", "none");
    await test.advance(10);
    expect(seen).toEqual([
      ["a", { traceparent: "a" }],
      ["b", { traceparent: "b" }],
      ["c", { traceparent: "c" }],
      ["none", {}],
    ]);
  });

  test("a watch, whose callback comes once", async () => {
    const test = createTestSystem();
    const { ref, seen } = spawnSink(test);
    const watched = test.system.spawn("watched", Sink, () => ({ note() {} }));
    const worker = test.system.spawn("worker", Work, (ctx) => ({
      run: () => void ctx.watch(watched, () => ctx.tell(ref, "note", "gone")),
      say: (text) => text,
    }));
    worker.tell("run", "go", { metadata: CARRIED });
    await test.settle();
    await test.system.stop(watched);
    await test.settle();
    expect(seen).toEqual([["gone", TRACE]]);
  });

  test("a timer that comes again and again has no end, and hands on nothing", async () => {
    const test = createTestSystem();
    const { ref, seen } = spawnSink(test);
    const worker = test.system.spawn("worker", Work, (ctx) => ({
      run() {
        ctx.timers.fixedDelay("delay", 10, () => ctx.tell(ref, "note", "delay"));
        ctx.timers.fixedRate("rate", 11, () => ctx.tell(ref, "note", "rate"));
        ctx.timers.receiveTimeout(9, () => ctx.tell(ref, "note", "idle"));
      },
      say: (text) => text,
    }));
    worker.tell("run", "go", { metadata: CARRIED });
    await test.advance(12);
    expect(seen).toEqual([
      ["idle", {}],
      ["delay", {}],
      ["rate", {}],
    ]);
    await test.system.stop(worker);
  });

  const restarting: Supervision = { decide: () => "restart" };

  test("the hooks of a restart, of the instance that ends and of the next one; the hooks of others hand on nothing", async () => {
    const test = createTestSystem({ supervision: restarting });
    const { ref, seen } = spawnSink(test);
    const own: [string, Metadata][] = [];
    const worker = test.system.spawn("worker", Work, (ctx) => {
      const hook = (name: string) => () => {
        own.push([name, ctx.metadata]);
        ctx.tell(ref, "note", name);
      };
      return {
        onStart: hook("onStart"),
        onRestart: hook("onRestart"),
        onStop: hook("onStop"),
        run(text) {
          throw new Error(text);
        },
        say: (text) => text,
      };
    });
    worker.tell("run", "broken", { metadata: CARRIED });
    await test.settle();
    await test.system.stop(worker);
    await test.settle();
    const expected: [string, Metadata][] = [
      ["onStart", {}],
      ["onStop", TRACE],
      ["onStart", TRACE],
      ["onRestart", TRACE],
      ["onStop", {}],
    ];
    const inOrder = (list: [string, Metadata][]) => list.toSorted(([a], [b]) => a.localeCompare(b));
    expect(inOrder(own)).toEqual(inOrder(expected));
    expect(seen).toEqual(own);
    await test.expectFailure(worker, "broken");
    test.takeLog();
  });

  test("a restart that another failure causes: of a hook, of a factory, and of a sibling", async () => {
    const supervision: Supervision = { decide: () => "restart", strategy: "one-for-all" };
    const test = createTestSystem({ supervision });
    const { ref, seen } = spawnSink(test);
    let made = 0;
    let started = 0;
    const worker = test.system.spawn("worker", Work, (ctx) => {
      if (++made === 2) throw new Error("not made");
      return {
        onRestart() {
          if (++started === 1) throw new Error("not started");
          ctx.tell(ref, "note", "worker");
        },
        run(text) {
          throw new Error(text);
        },
        say: (text) => text,
      };
    });
    test.system.spawn("sibling", Work, (ctx) => ({
      onRestart: () => ctx.tell(ref, "note", "sibling"),
      run() {},
      say: (text) => text,
    }));
    worker.tell("run", "broken", { metadata: CARRIED });
    await test.settle();
    expect(new Set(seen.map(([name]) => name))).toEqual(new Set(["worker", "sibling"]));
    expect(seen.map(([, metadata]) => metadata)).toEqual(new Array(seen.length).fill(TRACE));
    test.takeLog();
    test.takeFailures();
  });
});

describe("a symbol as a key of metadata", () => {
  const MARK = Symbol("mark");
  const marked = (metadata: Metadata): unknown => Reflect.get(metadata, MARK);
  const entry = { entry: 1 };
  const both: Metadata = { ...TRACE, [MARK]: entry };

  test("comes to the handler, also through a pool, a forward, a stash, a become, a restart and a topic", async () => {
    const test = createTestSystem({ supervision: { decide: () => "restart" } });
    const { ref, seen } = spawnSink(test);
    const options = { metadata: both };
    const make = (ctx: { readonly metadata: Metadata }) => ({
      note: (text: string) => void seen.push([text, ctx.metadata]),
    });
    for (const routing of ["round-robin", "broadcast", "first-answer"] as const) {
      spawnPool(test.system, routing, Sink, make, { size: 1, routing }).tell("note", routing, options);
    }
    createPool(test.system, "of-refs", Sink, [ref]).ref.tell("note", "of refs", options);
    const front = test.system.spawn("front", Sink, (ctx) => ({ note: () => ctx.forward(ref) }));
    front.tell("note", "forwarded", options);
    let isOpen = false;
    const stashing = test.system.spawn("stashing", Sink, (ctx) => ({
      note(text) {
        if (isOpen) return void seen.push([text, ctx.metadata]);
        isOpen = true;
        ctx.become({ note: (after) => void seen.push([after, ctx.metadata]) });
        const kept = ctx.stash();
        ctx.unstash();
        return kept;
      },
    }));
    stashing.tell("note", "stashed", options);
    stashing.tell("note", "became", options);
    const failing = test.system.spawn("failing", Sink, (ctx) => ({
      note(text) {
        if (text === "broken") throw new Error(text);
        seen.push([text, ctx.metadata]);
      },
    }));
    failing.tell("note", "broken");
    failing.tell("note", "restarted", options);
    const topic = createTopic<string>("news");
    topic.subscribe(ref, "note");
    topic.publish("published", undefined, options);
    receive(ref, { metadata: both }).tell("note", "through a door");
    await test.settle();
    expect(seen.map(([text, metadata]) => [text, marked(metadata)]).toSorted()).toEqual(
      [
        ...["round-robin", "broadcast", "first-answer", "of refs", "forwarded", "stashed", "became", "restarted"],
        ...["published", "through a door"],
      ]
        .map((text) => [text, entry])
        .toSorted(),
    );
    test.takeLog();
    test.takeFailures();
  });

  test("is for that message alone: no handler, timer or hook hands it on, whatever comes with it", async () => {
    const test = createTestSystem({ supervision: { decide: () => "restart" } });
    const { ref, seen } = spawnSink(test);
    const worker = test.system.spawn("worker", Work, (ctx) => ({
      onRestart: () => ctx.tell(ref, "note", "restarted"),
      run(text) {
        ctx.tell(ref, "note", "told");
        ctx.timers.once("later", 10, () => ctx.tell(ref, "note", "later"));
        ctx.timers.once("now", 1, () => ctx.tell(ref, "note", "now"));
        if (text === "broken") throw new Error(text);
      },
      say: (text) => text,
    }));
    worker.tell("run", "fine", { metadata: both });
    await test.advance(10);
    worker.tell("run", "broken", { metadata: both });
    await test.advance(10);
    expect(seen.map(([text]) => text)).toEqual(["told", "now", "later", "told", "restarted"]);
    expect(seen.map(([, metadata]) => [metadata, marked(metadata)])).toEqual(seen.map(() => [{ ...TRACE }, undefined]));
    test.takeLog();
    test.takeFailures();
  });

  test("is not in the JSON of a message; a transport that writes something else leaves it out itself", async () => {
    const test = createTestSystem();
    const wire = new Wire();
    const { ref } = test.system.attach(address("node-7/files"), Work, wire);
    ref.tell("run", "go", { metadata: both });
    expect(marked(wire.last.metadata ?? {})).toBe(entry);
    expect(JSON.parse(JSON.stringify(wire.last.metadata))).toEqual(TRACE);
    const texts: string[] = [];
    const worker = test.system.spawn("worker", Work, (ctx) => ({
      run: () => void texts.push(serializeMessage(ctx.message).unwrapOr("")),
      say: (text) => text,
    }));
    worker.tell("run", "go", { metadata: both });
    await test.settle();
    expect(JSON.parse(texts[0] ?? "").metadata).toEqual(TRACE);
  });
});

test("what a handler hands on is known to code that sends in another way, by the names of its system", async () => {
  const { system } = createTestSystem({ inheritedMetadata: ["user"] });
  const { ref } = spawnSink({ system });
  expect(inheritedBy(ref, CARRIED)).toEqual({ user: "Ada" });
  expect(inheritedBy(ref, { ...TRACE, [Symbol("mark")]: 1 })).toBeUndefined();
  expect(inheritedBy(spawnSink(createTestSystem()).ref, CARRIED)).toEqual(TRACE);
  expect(() => inheritedBy({} as never, CARRIED)).toThrow(TypeError);
});

describe("an observer may give a handling something else to hand on:", () => {
  const GIVEN: Metadata = Object.freeze({ traceparent: "00-9-9-01", [Symbol("span")]: 9 });
  const broken = (text: string): void => {
    if (text === "broken") throw new Error(text);
  };

  for (const how of ["at once", "behind an await"]) {
    test(`what it sends ${how}, its timers, watches and restarts have it, and its own message has not`, async () => {
      const test = createTestSystem({ supervision: { decide: () => "restart" } });
      const { ref, seen } = spawnSink(test);
      const watched = test.system.spawn("watched", Sink, () => ({ note() {} }));
      const own: Metadata[] = [];
      let reads = 0;
      test.system.around((handling, run) => {
        if (handling.operation === "run") {
          handling.handsOn = {
            get metadata() {
              reads++;
              return GIVEN;
            },
          };
        }
        run();
      });
      const begin = (ctx: Context<SignaturesOf<typeof Work>>, text: string): void => {
        own.push(ctx.metadata);
        if (text === "idle") return;
        ctx.tell(ref, "note", "told");
        ctx.tell(ref, "note", "with more", { metadata: { user: "Eve" } });
        ctx.timers.once("later", 10, () => ctx.tell(ref, "note", "later"));
        if (text === "go") ctx.watch(watched, () => ctx.tell(ref, "note", "gone"));
        broken(text);
      };
      const worker = test.system.spawn("worker", Work, (ctx) => ({
        onRestart: () => ctx.tell(ref, "note", "restarted"),
        run: (text) => (how === "at once" ? begin(ctx, text) : Promise.resolve().then(() => begin(ctx, text))),
        say: (text) => text,
      }));
      worker.tell("run", "idle");
      await test.settle();
      expect(reads).toBe(0);
      worker.tell("run", "go", { metadata: CARRIED });
      await test.advance(10);
      await test.system.stop(watched);
      worker.tell("run", "broken");
      await test.settle();
      const handed = { traceparent: "00-9-9-01" };
      expect(seen.map(([text, metadata]) => [text, JSON.parse(JSON.stringify(metadata))])).toEqual([
        ["told", handed],
        ["with more", { ...handed, user: "Eve" }],
        ["later", handed],
        ["gone", handed],
        ["told", handed],
        ["with more", { ...handed, user: "Eve" }],
        ["restarted", handed],
      ]);
      expect(seen[0]?.[1]).toBe(GIVEN); // Frozen: not copied.
      expect(own).toEqual([{}, CARRIED, {}]);
      test.takeLog();
      test.takeFailures();
    });
  }

  test("the items of its stream as well; what throws is logged, and what is not frozen is copied", async () => {
    const test = createTestSystem();
    const { ref, seen } = spawnSink(test);
    const Numbers = defineProtocol("numbers", { count: { payload: Type.String(), stream: Type.Number() } });
    const given = { traceparent: "mine" };
    test.system.around((handling, run) => {
      if (handling.kind === "message" && handling.payload === "plain") handling.handsOn = { metadata: given };
      if (handling.kind === "message" && handling.payload === "wrong") handling.handsOn = { metadata: 7 as never };
      if (handling.kind === "message" && handling.payload === "throws") {
        handling.handsOn = {
          get metadata(): never {
            throw new Error("no metadata");
          },
        };
      }
      run();
    });
    const numbers = test.system.spawn("numbers", Numbers, (ctx) => ({
      *count(text) {
        ctx.tell(ref, "note", text);
        yield 1;
      },
    }));
    for (const text of ["plain", "wrong", "throws"])
      await Array.fromAsync(numbers.stream("count", text, { metadata: TRACE }));
    given.traceparent = "changed";
    expect(seen).toEqual([
      ["plain", { traceparent: "mine" }],
      ["wrong", TRACE],
      ["throws", TRACE],
    ]);
    expect(test.takeLog().map(({ message }) => message)).toEqual([
      expect.stringContaining("envoi: What an observer gave @(numbers) to hand on could not be read: TypeError: "),
      "envoi: What an observer gave @(numbers) to hand on could not be read: Error: no metadata",
    ]);
  });
});
