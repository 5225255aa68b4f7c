import { describe, expect, test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
import {
  address,
  createMessage,
  defineProtocol,
  type HandlingOutcome,
  type ObservedHandling,
  type Outgoing,
  receive,
  StreamError,
  type System,
  Type,
} from "../../src/index";
import { type TestOptions, testSystems } from "../actor/test-system";
import { Wire } from "../actor/wire";

const { createTestSystem } = testSystems();

const Files = defineProtocol("files", {
  read: { payload: Type.String(), reply: Type.String() },
  note: { payload: Type.String() },
  lines: { payload: Type.String(), stream: Type.String() },
});
const at = address("node-7/files");

function attached(options: TestOptions = {}) {
  const test = createTestSystem(options);
  const wire = new Wire();
  const attachment = test.system.attach(at, Files, wire);
  return { ...test, wire, attachment, ref: attachment.ref, seen: watch(test.system) };
}

const shown = (outcome: HandlingOutcome): string => {
  if (outcome.kind === "handled") return `handled ${JSON.stringify(outcome.result)}`;
  if (outcome.kind !== "failed") return outcome.kind;
  const { error } = outcome;
  return `failed ${typeof error === "object" && error !== null && "kind" in error ? error.kind : String(error)}`;
};

/** Writes down what is observed, and how it ends. */
function watch(system: System): string[] {
  const seen: string[] = [];
  system.around(({ kind, address, operation, pattern, payload }, run) => {
    seen.push(`${kind} ${pattern} ${operation} ${payload} at ${address}`);
    run((outcome) => seen.push(`${kind} ${operation}: ${shown(outcome)}`));
  });
  return seen;
}

async function readAll(items: AsyncIterable<unknown>): Promise<unknown[]> {
  const seen: unknown[] = [];
  try {
    for await (const item of items) seen.push(item);
  } catch (thrown) {
    seen.push(thrown instanceof StreamError ? thrown.kind : thrown);
  }
  return seen;
}

const begins = (pattern: string, operation: string, payload: string): string =>
  `relay ${pattern} ${operation} ${payload} at ${at}`;

describe("an observer sees a message that a transport carries:", () => {
  test("an ask, which ends with its reply, whenever that comes", async () => {
    const { ref, wire, seen, settle } = attached();
    const asked = ref.ask("read", "a.txt");
    expect(wire.sent).toHaveLength(1);
    await settle();
    expect(seen).toEqual([begins("ask", "read", "a.txt")]);
    wire.last.complete("text");
    expect((await asked)._unsafeUnwrap()).toBe("text");
    expect(seen).toEqual([begins("ask", "read", "a.txt"), 'relay read: handled "text"']);
    wire.answer = (out) => out.complete("at once");
    expect((await ref.ask("read", "b.txt"))._unsafeUnwrap()).toBe("at once");
    expect(seen.slice(2)).toEqual([begins("ask", "read", "b.txt"), 'relay read: handled "at once"']);
  });

  test("a tell and an offer, which are sent", async () => {
    const { ref, wire, seen } = attached();
    ref.tell("note", "x");
    expect(seen).toEqual([begins("tell", "note", "x"), "relay note: sent"]);
    const offered = ref.offer("note", "y");
    expect(seen).toHaveLength(3);
    wire.last.complete();
    expect((await offered).isOk()).toBe(true);
    expect(seen.slice(2)).toEqual([begins("tell", "note", "y"), "relay note: sent"]);
  });

  test("one that failed there, or that its sender waits for no longer, with the error that its sender gets", async () => {
    const { ref, wire, seen, advance, takeLog } = attached();
    const asked = ref.ask("read", "a.txt");
    wire.last.fail("handler-failed", new Error("broken"));
    const late = ref.ask("read", "b.txt", { timeout: 10 });
    await advance(10);
    wire.last.complete("too late");
    const given = new AbortController();
    const cancelled = ref.ask("read", "c.txt", { signal: given.signal });
    given.abort("enough");
    const replies = await Promise.all([asked, late, cancelled]);
    expect(replies.map((reply) => reply._unsafeUnwrapErr().kind)).toEqual(["handler-failed", "timeout", "cancelled"]);
    expect(seen.filter((line) => line.startsWith("relay read:"))).toEqual([
      "relay read: failed handler-failed",
      "relay read: failed timeout",
      "relay read: failed cancelled",
    ]);
    takeLog();
  });

  test("one that did not go out, because its transport threw or its attachment has ended", async () => {
    const { ref, wire, seen, attachment, takeLog } = attached();
    wire.answer = () => {
      throw new Error("unplugged");
    };
    ref.tell("note", "x");
    expect((await ref.ask("read", "a.txt"))._unsafeUnwrapErr().kind).toBe("unreachable");
    wire.answer = null;
    const asked = ref.ask("read", "b.txt");
    attachment.end("unreachable");
    expect((await asked)._unsafeUnwrapErr().kind).toBe("unreachable");
    expect((await ref.ask("read", "c.txt"))._unsafeUnwrapErr().kind).toBe("unreachable"); // No transport has it: no relay.
    expect(seen).toEqual([
      begins("tell", "note", "x"),
      "relay note: failed unreachable",
      begins("ask", "read", "a.txt"),
      "relay read: failed unreachable",
      begins("ask", "read", "b.txt"),
      "relay read: failed unreachable",
    ]);
    takeLog();
  });

  test("a stream, each of its items with its value, and its end", async () => {
    const { ref, wire, seen, settle } = attached();
    const read = readAll(ref.stream("lines", "a.txt"));
    await settle();
    wire.last.produce(["one", "two"]);
    wire.last.end();
    expect(await read).toEqual(["one", "two"]);
    expect(seen).toEqual([
      begins("stream", "lines", "a.txt"),
      `pull stream lines a.txt at ${at}`,
      'pull lines: handled {"value":"one","done":false}',
      `pull stream lines a.txt at ${at}`,
      'pull lines: handled {"value":"two","done":false}',
      "relay lines: handled undefined",
    ]);
  });

  test("a stream whose reader leaves is handled, and one that fails has failed", async () => {
    const { ref, wire, seen, settle } = attached();
    const items = ref.stream("lines", "a.txt");
    const first = items.next();
    await settle();
    wire.last.produce(["one"]);
    expect((await first).value).toBe("one");
    await items.return();
    const failing = readAll(ref.stream("lines", "b.txt"));
    await settle();
    wire.last.fail("handler-failed", new Error("dry"));
    expect(await failing).toEqual(["handler-failed"]);
    const outcomes = seen.filter((line) => line.startsWith("relay lines:"));
    expect(outcomes).toEqual(["relay lines: handled undefined", "relay lines: failed handler-failed"]);
  });
});

test("what an observer assigns as metadata before it calls run goes to the transport", async () => {
  const { system, ref, wire } = attached();
  const before: unknown[] = [];
  system.around((handling, run) => {
    if (handling.kind === "relay") {
      before.push(handling.metadata);
      handling.metadata = { ...handling.metadata, traceparent: "assigned" };
    }
    run();
  });
  wire.answer = (out) => out.complete("text");
  await ref.ask("read", "a.txt", { metadata: { user: "Ada" } });
  expect(before).toEqual([{ user: "Ada" }]);
  expect(wire.last.metadata).toEqual({ user: "Ada", traceparent: "assigned" });
});

test("a relay says who sent its message, by which reference it goes, and whether it came from outside", async () => {
  const { system, router, ref, wire } = attached();
  const seen: unknown[] = [];
  system.around(({ kind, ref, protocol, sender, queueTime, id, payload, isFromOutside }, run) => {
    if (kind === "relay") seen.push([ref, protocol, sender?.address, queueTime, id, payload, isFromOutside]);
    run();
  });
  wire.answer = (out) => out.complete("text");
  const Asker = defineProtocol("asker", { go: { reply: Type.Boolean() } });
  const asker = system.spawn("asker", Asker, (ctx) => ({ go: async () => (await ctx.ask(ref, "read", "a")).isOk() }));
  expect((await asker.ask("go"))._unsafeUnwrap()).toBe(true);
  const message = createMessage(at, "read", "b");
  await router.ask(message);
  await receive(ref).ask("read", "c");
  expect(seen).toEqual([
    [ref, "files", asker.address, undefined, undefined, "a", false],
    [ref, "files", undefined, undefined, message.id, "b", false],
    [ref, "files", undefined, undefined, undefined, "c", true],
  ]);
});

test("P16: a transport, and each item of it, is inside of what its observer enters, and outside of its sender's context", async () => {
  const spans = new AsyncLocalStorage<string>();
  const { system, ref, wire, settle } = attached();
  const seen: string[] = [];
  const note = (where: string): void => void seen.push(`${where}: ${spans.getStore()}`);
  system.around(({ kind }, run) => {
    note(kind);
    if (kind === "pull") run(() => note("pull ends"));
    else spans.run("span", run, () => note("end"));
  });
  wire.answer = () => note("send");
  await spans.run("the sender's own", async () => {
    const asked = ref.ask("read", "a.txt");
    wire.last.complete("text");
    await asked;
  });
  const read = readAll(ref.stream("lines", "a.txt"));
  await settle();
  spans.run("the transport's own", () => wire.last.produce(["one"]));
  wire.last.end();
  expect(await read).toEqual(["one"]);
  expect(seen).toEqual([
    ...["relay: undefined", "send: span", "end: undefined"],
    ...["relay: undefined", "send: span", "pull: span", "pull ends: undefined", "end: undefined"],
  ]);
});

test("P1: an observer that throws before it calls run keeps the message back, and one that throws later changes nothing", async () => {
  const { system, router, ref, wire, takeLog } = attached();
  wire.answer = (out) => out.complete("text");
  let remove = system.around(() => {
    throw new Error("refused");
  });
  ref.tell("note", "x");
  const error = (await ref.ask("read", "a.txt"))._unsafeUnwrapErr();
  expect([error.kind, wire.sent]).toEqual(["unreachable", []]);
  remove();
  remove = system.around((_, run) => {
    run();
    throw new Error("late");
  });
  expect((await ref.ask("read", "a.txt"))._unsafeUnwrap()).toBe("text");
  remove();
  expect(router.audit()).toMatchObject({ accepted: 3, dead: 2, sent: 1 });
  expect(takeLog().map(({ message }) => message)).toEqual([
    expect.stringContaining(`An observer of ${at} threw: Error: refused`),
    expect.stringContaining("could not leave: Error: refused"),
    expect.stringContaining(`An observer of ${at} threw: Error: refused`),
    expect.stringContaining(`An observer of ${at} threw: Error: late`),
  ]);
});

test("an observer that throws at an item ends the stream, and its transport is told", async () => {
  const { system, ref, wire, settle } = attached();
  let pulls = 0;
  system.around(({ kind }, run) => {
    if (kind === "pull" && ++pulls === 2) throw new Error("enough");
    run();
  });
  const read = readAll(ref.stream("lines", "a.txt"));
  await settle();
  wire.last.produce(["one", "two", "three"]);
  expect(await read).toEqual(["one", "handler-failed"]);
  expect([pulls, wire.cancelled]).toEqual([2, [wire.last]]);
});

test("an observer that comes while a stream runs sees its later items, and one that goes sees none", async () => {
  const { system, settle } = createTestSystem();
  const wire = new Wire();
  const { ref } = system.attach(at, Files, wire);
  const read = readAll(ref.stream("lines", "a.txt"));
  await settle();
  const items: unknown[] = [];
  const kinds: ObservedHandling["kind"][] = [];
  wire.last.produce(["one"]);
  const remove = system.around(({ kind }, run) => {
    kinds.push(kind);
    run((outcome) => items.push(outcome.kind === "handled" && outcome.result));
  });
  wire.last.produce(["two"]);
  remove();
  wire.last.produce(["three"]);
  wire.last.end();
  expect(await read).toEqual(["one", "two", "three"]);
  expect([kinds, items]).toEqual([["pull"], [{ value: "two", done: false }]]);
});

test("a message that an actor forwards, or that goes by an address, is relayed once", async () => {
  const { system, ref, wire, seen } = attached();
  wire.answer = (out: Outgoing) => out.complete("text");
  const front = system.spawn("front", Files, (ctx) => ({
    read: () => ctx.forward(ref),
    note() {},
    *lines() {},
  }));
  expect((await front.ask("read", "a"))._unsafeUnwrap()).toBe("text");
  expect((await system.ref(at, Files).ask("read", "b"))._unsafeUnwrap()).toBe("text");
  expect(seen).toEqual([
    "message ask read a at @(front)",
    begins("ask", "read", "a"),
    'relay read: handled "text"',
    "message read: forwarded",
    begins("ask", "read", "b"),
    'relay read: handled "text"',
  ]);
});
