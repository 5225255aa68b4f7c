import { expect, test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Around,
  address,
  createMessage,
  defineProtocol,
  type HandlingOutcome,
  type ObservedHandling,
  type System,
  Type,
} from "../../src/index";
import { testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", {
  say: { payload: Type.String(), reply: Type.String() },
  later: { payload: Type.String(), reply: Type.String() },
  fail: { payload: Type.String() },
  count: { payload: Type.Number(), stream: Type.Number() },
  note: { payload: Type.Number() },
});

const echo = () => ({
  say: (text: string) => text,
  async later(text: string) {
    await undefined;
    return text;
  },
  fail(text: string): void {
    throw new Error(text);
  },
  *count(to: number) {
    for (let i = 1; i <= to; i++) yield i;
  },
  note() {},
});

const shown = (outcome: HandlingOutcome): string => {
  if (outcome.kind === "handled") return `handled ${JSON.stringify(outcome.result)}`;
  return outcome.kind === "failed" ? `failed ${(outcome.error as Error).message}` : outcome.kind;
};

/** Writes down what is handled and how it ends. */
function watch(system: System): string[] {
  const seen: string[] = [];
  system.around(({ kind, address, operation }, run) => {
    seen.push(`${kind} ${operation} at ${address}`);
    run((outcome) => seen.push(`${operation}: ${shown(outcome)}`));
  });
  return seen;
}

test("an observer sees each handler, and how it ends: at once for a plain one, later for one that waits", async () => {
  const { system, settle } = createTestSystem();
  const seen = watch(system);
  const ref = system.spawn("echo", Work, echo);
  const answers = [ref.ask("say", "hi"), ref.ask("later", "there")];
  expect(seen).toEqual([]); // P4: nothing runs on the sender's stack.
  await settle();
  const error = (await ref.ask("fail", "broken"))._unsafeUnwrapErr();
  expect(seen).toEqual([
    "message say at @(echo)",
    'say: handled "hi"',
    "message later at @(echo)",
    'later: handled "there"',
    "message fail at @(echo)",
    "fail: failed broken",
  ]);
  expect((await Promise.all(answers)).map((answer) => answer._unsafeUnwrap())).toEqual(["hi", "there"]);
  expect(error.kind).toBe("handler-failed");
});

test("inside of an observer, an object is awaited only if it has a then, and one that throws when it is looked at fails", async () => {
  const Odd = defineProtocol("odd", { give: { payload: Type.Number(), reply: Type.Unknown() } });
  const { system, expectFailure } = createTestSystem();
  const seen = watch(system);
  const thenable = (n: number): object => {
    // biome-ignore lint/suspicious/noThenProperty: that is what it is about.
    return { then: (resolve: (value: unknown) => void) => resolve({ n }) };
  };
  const values: readonly unknown[] = [
    { n: 1 },
    thenable(2),
    Object.create(thenable(3)),
    Object.create(null, { n: { value: 4, enumerable: true } }),
    new Proxy(
      {},
      {
        has() {
          throw new Error("unreadable");
        },
      },
    ),
  ];
  const ref = system.spawn("odd", Odd, () => ({ give: (index) => values[index] }));
  const replies = await Promise.all(values.map((_, index) => ref.ask("give", index)));
  expect(replies.map((reply) => (reply.isOk() ? reply.value : reply.error.kind))).toEqual([
    { n: 1 },
    { n: 2 },
    { n: 3 },
    { n: 4 },
    "handler-failed",
  ]);
  expect(seen.filter((line) => line.startsWith("give"))).toEqual([
    'give: handled {"n":1}',
    'give: handled {"n":2}',
    'give: handled {"n":3}',
    'give: handled {"n":4}',
    "give: failed unreadable",
  ]);
  await expectFailure(undefined, "unreadable");
});

test("an observer sees hooks, timers and watches", async () => {
  const { system, settle, advance } = createTestSystem();
  const seen = watch(system);
  const child = system.spawn("child", Work, echo);
  const ref = system.spawn("hooked", Work, (ctx) => ({
    ...echo(),
    onStart() {
      ctx.timers.once("flush", 10, () => "flushed");
      ctx.watch(child, () => "gone");
    },
    async onStop() {},
  }));
  await advance(10);
  await system.stop(child);
  await settle();
  await system.stop(ref);
  expect(seen).toEqual([
    "hook onStart at @(hooked)",
    "onStart: handled undefined",
    "timer timer flush at @(hooked)",
    'timer flush: handled "flushed"',
    "watch terminated at @(hooked)",
    'terminated: handled "gone"',
    "hook onStop at @(hooked)",
    "onStop: handled undefined",
  ]);
});

test("a timer that was cancelled while it was due is not observed", async () => {
  const { system, advance } = createTestSystem();
  const seen = watch(system);
  system.spawn("twice", Work, (ctx) => {
    ctx.timers.once("first", 10, () => void ctx.timers.cancel("second"));
    ctx.timers.once("second", 10, () => undefined);
    return echo();
  });
  await advance(20);
  expect(seen).toEqual(["timer timer first at @(twice)", "timer first: handled undefined"]);
});

test("an observer sees each item that a reader pulls, and the end of the stream", async () => {
  const { system } = createTestSystem();
  const ref = system.spawn("counter", Work, echo);
  const seen = watch(system);
  const items: number[] = [];
  for await (const item of ref.stream("count", 2)) items.push(item);
  expect(items).toEqual([1, 2]);
  expect(seen).toEqual([
    "message count at @(counter)",
    "pull count at @(counter)",
    'count: handled {"value":1,"done":false}',
    "pull count at @(counter)",
    'count: handled {"value":2,"done":false}',
    "pull count at @(counter)",
    'count: handled {"done":true}',
    "count: handled undefined",
  ]);
});

test("an observer of an asynchronous producer learns of each item when it is there, and of what it throws", async () => {
  const { system } = createTestSystem();
  const ref = system.spawn("counter", Work, () => ({
    ...echo(),
    async *count() {
      await undefined;
      yield 1;
      throw new Error("dry");
    },
  }));
  const seen = watch(system);
  const read = async (): Promise<void> => {
    for await (const item of ref.stream("count", 2)) expect(item).toBe(1);
  };
  expect(await read().then(String, (error) => error.kind)).toBe("handler-failed");
  expect(seen.filter((line) => !line.includes(" at "))).toEqual([
    'count: handled {"value":1,"done":false}',
    "count: failed dry",
    "count: failed dry",
  ]);
});

test("an observer knows the message: its payload, pattern, id and sender", async () => {
  const { system, router, settle } = createTestSystem();
  const seen: unknown[] = [];
  system.around(({ ref, payload, pattern, id, sender, queueTime }, run) => {
    seen.push([ref.address, payload, pattern, id, sender?.address, queueTime]);
    run();
  });
  const ref = system.spawn("echo", Work, echo);
  const asker = system.spawn("asker", Work, (ctx) => ({ ...echo(), note: (n) => ctx.tell(ref, "note", n + 1) }));
  asker.tell("note", 1);
  await settle();
  const message = createMessage(address("echo"), "say", "hi");
  expect((await router.ask(message))._unsafeUnwrap()).toBe("hi");
  expect(seen).toEqual([
    ["@(asker)", 1, "tell", undefined, undefined, undefined],
    ["@(echo)", 2, "tell", undefined, "@(asker)", undefined],
    ["@(echo)", "hi", "ask", message.id, undefined, undefined],
  ]);
});

test("P16: a handler runs inside what its observer enters, behind its awaits and in each of its items, and none sees another's", async () => {
  const spans = new AsyncLocalStorage<string>();
  const { system, settle } = createTestSystem();
  const seen: string[] = [];
  const note = (where: string): void => void seen.push(`${where}: ${spans.getStore()}`);
  const make = () => ({
    ...echo(),
    say: (text: string) => {
      note(`say ${text}`);
      return text;
    },
    async later(text: string) {
      note(`later ${text}`);
      await undefined;
      note(`later ${text} awaited`);
      return text;
    },
    async *count(to: number) {
      for (let i = 1; i <= to; i++) {
        note(`item ${i}`);
        await undefined;
        note(`item ${i} awaited`);
        yield i;
      }
    },
  });
  const one = system.spawn("one", Work, make);
  const many = system.spawn("many", Work, make, { concurrency: 4 });
  let spansMade = 0;
  system.around(({ kind }, run) => {
    note("observer");
    if (kind === "pull") run();
    else spans.run(`span ${++spansMade}`, run, () => note("end"));
  });
  await spans.run("the test's own", async () => {
    one.ask("later", "a");
    one.ask("say", "b");
    await settle();
    many.ask("later", "c");
    many.ask("later", "d");
    await settle();
    for await (const _ of one.stream("count", 1));
  });
  expect(seen).toEqual([
    "observer: undefined",
    "later a: span 1",
    "later a awaited: span 1",
    "end: undefined",
    "observer: undefined",
    "say b: span 2",
    "end: undefined",
    "observer: undefined",
    "later c: span 3",
    "observer: undefined",
    "later d: span 4",
    "later c awaited: span 3",
    "later d awaited: span 4",
    "end: undefined",
    "end: undefined",
    "observer: undefined",
    "observer: span 5",
    "item 1: span 5",
    "item 1 awaited: span 5",
    "observer: span 5",
    "end: undefined",
  ]);
});

test("P16: with asyncContext sender, an observer and its handler run in the sender's context", async () => {
  const requests = new AsyncLocalStorage<string>();
  const { system } = createTestSystem({ asyncContext: "sender" });
  const seen: (string | undefined)[] = [];
  system.around((_, run) => {
    seen.push(requests.getStore());
    run();
  });
  const ref = system.spawn("echo", Work, () => ({ ...echo(), say: () => requests.getStore() ?? "none" }));
  const reply = await requests.run("request 1", () => ref.ask("say", "hi"));
  expect([reply._unsafeUnwrap(), ...seen]).toEqual(["request 1", "request 1"]);
});

test("an error that an observer throws before it calls run is the handler's, and the handler does not run", async () => {
  const { system, expectFailure } = createTestSystem();
  let calls = 0;
  const ref = system.spawn("echo", Work, () => ({ ...echo(), say: (text) => `${text} ${++calls}` }));
  const remove = system.around(() => {
    throw new Error("injected");
  });
  const error = (await ref.ask("say", "hi"))._unsafeUnwrapErr();
  expect([error.kind, error.kind === "handler-failed" && (error.cause as Error).message]).toEqual([
    "handler-failed",
    "injected",
  ]);
  await expectFailure(ref, "injected");
  remove();
  expect((await ref.ask("say", "hi"))._unsafeUnwrap()).toBe("hi 1");
});

test("an observer that does not call run, or not before it returns, makes the handler fail and is told so", async () => {
  const { system, settle, takeLog, expectFailure } = createTestSystem();
  const ref = system.spawn("echo", Work, echo);
  let remove = system.around(() => undefined);
  const sentence = 'An observer of "say" at @(echo) did not call run(): call run() once, before it returns.';
  expect((await ref.ask("say", "hi"))._unsafeUnwrapErr().message).toContain(sentence);
  await expectFailure(ref, sentence);
  remove();
  remove = system.around(async (_, run) => {
    await undefined;
    run();
  });
  expect((await ref.ask("say", "hi"))._unsafeUnwrapErr().message).toContain(sentence);
  await expectFailure(ref, sentence);
  await settle();
  expect(takeLog().map(({ message }) => message)).toEqual([
    expect.stringContaining("called run() a second time, or after it had returned"),
  ]);
  remove();
});

test("an observer that throws once the handler has run is logged, and changes nothing: calling run twice, at its end, as a promise", async () => {
  const { system, settle, takeLog } = createTestSystem();
  const ref = system.spawn("echo", Work, echo);
  const late = new Error("late");
  const observers: Around[] = [
    (_, run) => {
      run();
      run();
    },
    (_, run) => {
      run();
      throw late;
    },
    (_, run) =>
      run(() => {
        throw late;
      }),
    async (_, run) => {
      run();
      throw late;
    },
    (_, run) => run("no function" as unknown as () => void),
  ];
  for (const observer of observers) {
    const remove = system.around(observer);
    expect((await ref.ask("say", "hi"))._unsafeUnwrap()).toBe("hi");
    remove();
  }
  await settle();
  expect(takeLog().map(({ message }) => message)).toEqual([
    expect.stringContaining('threw: Error: An observer of "say" at @(echo) called run() a second time'),
    expect.stringContaining("An observer of @(echo) threw: Error: late"),
    expect.stringContaining("An observer of @(echo) threw: Error: late"),
    expect.stringContaining("An observer of @(echo) threw: Error: late"),
    expect.stringContaining('run() takes a function that learns the outcome; got "no function".'),
  ]);
});

test("several observers wrap each other, the first one outermost; the inner ones learn the outcome first", async () => {
  const { system } = createTestSystem();
  const ref = system.spawn("echo", Work, echo);
  const seen: string[] = [];
  const wrap =
    (name: string, error?: Error): Around =>
    (_, run) => {
      seen.push(`${name} begins`);
      if (error !== undefined) throw error;
      run((outcome) => seen.push(`${name}: ${shown(outcome)}`));
      seen.push(`${name} returns`);
    };
  system.around(wrap("outer"));
  const remove = system.around(wrap("inner"));
  await ref.ask("say", "hi");
  remove();
  system.around(wrap("failing", new Error("injected")));
  await ref.ask("say", "hi");
  expect(seen).toEqual([
    ...["outer begins", "inner begins", "inner returns", "outer returns"],
    ...['inner: handled "hi"', 'outer: handled "hi"'],
    ...["outer begins", "failing begins", "outer returns", "outer: failed injected"],
  ]);
});

test("an observer that comes or goes while messages wait sees those that are handled from then on", async () => {
  const { system, settle } = createTestSystem();
  const noted: number[] = [];
  const ref = system.spawn("echo", Work, () => ({ ...echo(), note: (n) => void noted.push(n) }));
  const seen: unknown[] = [];
  for (let i = 0; i < 200; i++) ref.tell("note", i); // Most of them wait in bursts, without an envelope.
  const remove = system.around(({ payload }, run) => {
    seen.push(payload);
    run();
  });
  for (let i = 200; i < 300; i++) ref.tell("note", i);
  await settle();
  const all = Array.from({ length: 300 }, (_, i) => i);
  expect(seen).toEqual(all);
  remove();
  ref.tell("note", 300);
  await settle();
  expect(seen).toEqual(all);
  expect(noted).toEqual([...all, 300]);
});

test("P1: a message that is forwarded, stashed or abandoned is observed with that outcome, once for each handling", async () => {
  const { system, settle, advance, takeLog } = createTestSystem({ hookTimeout: 50 });
  const seen = watch(system);
  const to = system.spawn("to", Work, echo);
  let isStashing = true;
  const ref = system.spawn("from", Work, (ctx) => ({
    ...echo(),
    say: () => ctx.forward(to),
    note() {
      if (!isStashing) return;
      isStashing = false;
      ctx.stash();
      ctx.unstash();
    },
    later: () => new Promise<string>(() => undefined),
  }));
  expect((await ref.ask("say", "hi"))._unsafeUnwrap()).toBe("hi");
  ref.tell("note", 1);
  await settle();
  expect(seen.filter((line) => line.startsWith("say:") || line.startsWith("note:"))).toEqual([
    "say: forwarded",
    'say: handled "hi"',
    "note: stashed",
    "note: handled undefined",
  ]);
  const asked = ref.ask("later", "never", { timeout: Number.POSITIVE_INFINITY });
  await settle();
  const over = system.shutdown({ timeout: 10 });
  await advance(10);
  await over;
  expect((await asked)._unsafeUnwrapErr().kind).toBe("stopped");
  expect(seen.at(-1)).toBe("later: abandoned");
  takeLog();
});

test("P1: an item that its producer still makes when its stream is abandoned has that outcome too, once", async () => {
  const { system, settle, advance, takeLog } = createTestSystem({ hookTimeout: 50 });
  const seen: string[] = [];
  system.around(({ kind }, run) => run((outcome) => seen.push(`${kind}: ${outcome.kind}`)));
  const late = Promise.withResolvers<void>();
  const ref = system.spawn("echo", Work, () => ({
    ...echo(),
    async *count() {
      yield 1;
      await late.promise; // Longer than anybody waits.
      yield 2;
    },
  }));
  const items = ref.stream("count", 2);
  expect((await items.next()).value).toBe(1);
  const last = items.next().catch(() => undefined);
  const over = system.shutdown({ timeout: 10 });
  await advance(10);
  await Promise.all([over, last]);
  expect(seen).toEqual(["pull: handled", "pull: abandoned", "message: abandoned"]);
  late.resolve();
  await settle();
  expect(seen).toHaveLength(3);
  takeLog();
});

test("P1: in a row of tells, each is observed by itself, and a handling that was kept stays as it was", async () => {
  const { system, router, settle, takeLog, takeFailures } = createTestSystem();
  const kept: ObservedHandling[] = [];
  const outcomes = new Map<ObservedHandling, string[]>();
  system.around((handling, run) => {
    kept.push(handling);
    outcomes.set(handling, []);
    run((outcome) => outcomes.get(handling)?.push(shown(outcome)));
  });
  const ref = system.spawn("echo", Work, echo);
  const kinds = ["say", "later", "say", "fail", "say"] as const;
  const sent = Array.from({ length: 200 }, (_, i) => [kinds[i % kinds.length] ?? "say", `${i}`] as const);
  for (const [kind, text] of sent) ref.tell(kind, text);
  await settle();
  expect(kept.map(({ operation, payload }) => [operation, payload])).toEqual(sent.map(([...each]) => each));
  const ends = sent.map(([kind, text]) => [kind === "fail" ? `failed ${text}` : `handled "${text}"`]);
  expect(kept.map((each) => outcomes.get(each))).toEqual(ends);
  expect(router.audit()).toMatchObject({ accepted: 200, handled: 160, failed: 40, running: 0 });
  takeLog();
  takeFailures();
});

test("an observer that throws at an item closes the producer", async () => {
  const { system } = createTestSystem();
  let isClosed = false;
  const ref = system.spawn("counter", Work, () => ({
    ...echo(),
    *count() {
      try {
        yield 1;
        yield 2;
      } finally {
        isClosed = true;
      }
    },
  }));
  let pulls = 0;
  system.around(({ kind }, run) => {
    if (kind === "pull" && ++pulls === 2) throw new Error("enough");
    run();
  });
  const read = async (): Promise<void> => {
    for await (const _ of ref.stream("count", 2));
  };
  expect(await read().then(String, (error) => error.kind)).toBe("handler-failed");
  expect(isClosed).toBe(true);
});

test("the queue time is measured for an observer that wants it, for each message that came after it", async () => {
  const { system, settle, advance } = createTestSystem();
  let goOn = (): void => undefined;
  const ref = system.spawn("slow", Work, () => ({
    ...echo(),
    later: () => new Promise<string>((resolve) => (goOn = () => resolve("done"))),
  }));
  const seen: unknown[] = [];
  ref.ask("later", "first");
  await settle();
  ref.tell("note", 1); // Sent before the observer came.
  const remove = system.around(
    ({ operation, payload, queueTime }, run) => {
      seen.push([operation, payload, queueTime]);
      run();
    },
    { queueTime: true },
  );
  for (let i = 2; i < 5; i++) {
    ref.tell("note", i);
    await advance(10);
  }
  goOn();
  await settle();
  expect(seen).toEqual([
    ["note", 1, undefined],
    ["note", 2, 30],
    ["note", 3, 20],
    ["note", 4, 10],
  ]);
  remove();
});

test("what cannot be an observer is refused at once", () => {
  const { system } = createTestSystem();
  const refused: [...args: unknown[], sentence: string][] = [
    [undefined, {}, "An observer is a function: system.around((handling, run) => { run(); }); got undefined."],
    [() => 0, 1, "The options of an observer are an object, such as { queueTime: true }; got 1."],
    [() => 0, { queueTime: 1 }, "queueTime is true or false; got 1."],
  ];
  for (const [observer, options, sentence] of refused) {
    expect(() => system.around(observer as Around, options as object)).toThrow(sentence as string);
  }
});

test.each(["fail", "later"] as const)("a failure is told to observers before it is logged: %s", async (operation) => {
  const { system, takeLog } = createTestSystem();
  const logged: number[] = [];
  system.around((_, run) => run((outcome) => void (outcome.kind === "failed" && logged.push(takeLog().length))));
  const work = system.spawn("work", Work, () => ({
    ...echo(),
    async later() {
      await undefined;
      throw new Error("later");
    },
  }));
  work.tell(operation, "now");
  await work.ask("say", "after it");
  expect(logged).toEqual([0]);
  expect(takeLog().length).toBe(1);
});
