import { describe, expect, test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type AskResult,
  type Attachment,
  address,
  createDeliveryError,
  createMessage,
  defineProtocol,
  type Outgoing,
  publicError,
  receive,
  type SignaturesOf,
  StreamError,
  type Terminated,
  Type,
} from "../../src/index";
import { expectBalance, reasonsOf, type TestOptions, type TestSystem, testSystems } from "./test-system";
import { Wire } from "./wire";

const { createTestSystem } = testSystems();

const Files = defineProtocol("files", {
  read: { payload: Type.String(), reply: Type.String() },
  size: { reply: Type.Number() },
  note: { payload: Type.String() },
  lines: { payload: Type.String(), stream: Type.String() },
});
const at = address("node-7/files");

interface Attached extends TestSystem, Attachment<SignaturesOf<typeof Files>> {
  readonly wire: Wire;
}

function attached(options: TestOptions = {}): Attached {
  const test = createTestSystem(options);
  const wire = new Wire();
  return { ...test, wire, ...test.system.attach(at, Files, wire) };
}

const kindOf = (result: AskResult): string => (result.isOk() ? "ok" : result.error.kind);
const echo = (out: Outgoing): void => out.complete(`${out.type} ${out.payload}`);

/** Reads a stream to its end. */
async function readAll(items: AsyncIterable<unknown>): Promise<{ items: unknown[]; kind: string }> {
  const seen: unknown[] = [];
  try {
    for await (const item of items) seen.push(item);
    return { items: seen, kind: "end" };
  } catch (thrown) {
    return { items: seen, kind: thrown instanceof StreamError ? thrown.kind : String(thrown) };
  }
}

describe("what a transport is handed:", () => {
  test("an ask, with its address, its operation, its payload and what is left of its time", async () => {
    const { ref, wire, advance } = attached();
    const asked = ref.ask("read", "a.txt", { timeout: 500 });
    const out = wire.last;
    expect(out).toMatchObject({ pattern: "ask", to: at, type: "read", payload: "a.txt", credit: 0, from: undefined });
    expect(out.id).toBe(out.id);
    expect(out.timeLeft).toBe(500);
    await advance(200);
    expect(out.timeLeft).toBeCloseTo(300, -1);
    out.complete("text");
    expect((await asked)._unsafeUnwrap()).toBe("text");
  });

  test("who sent it, and the metadata of a message", async () => {
    const { system, router, wire, ref } = attached();
    const Sender = defineProtocol("sender", { go: {} });
    const sender = system.spawn("sender", Sender, (ctx) => ({ go: () => ctx.tell(ref, "note", "x") }));
    await sender.ask("go");
    expect(wire.last).toMatchObject({ pattern: "tell", from: sender.address, timeLeft: Number.POSITIVE_INFINITY });
    router.tell(createMessage(at, "note", "y", { from: address("stranger"), metadata: { trace: 1 } }));
    expect(wire.last).toMatchObject({ payload: "y", from: address("stranger"), metadata: { trace: 1 } });
  });

  test("each sending has an id of its own, also of the same message", () => {
    const { router, wire } = attached();
    const message = createMessage(at, "note", "x");
    router.tell(message);
    router.tell(message);
    expect(new Set(wire.sent.map(({ id }) => id)).size).toBe(2);
  });

  test("metadata and a deadline of any call, and nothing whose deadline is over", async () => {
    const { system, ref, wire, advance, deadLetters, takeLog } = attached();
    ref.tell("note", "x", { metadata: { trace: 1 }, deadline: 40 });
    expect(wire.last).toMatchObject({ metadata: { trace: 1 }, timeLeft: 40 });
    void ref.offer("note", "x", { timeout: 30, deadline: 40 });
    expect(wire.last.timeLeft).toBe(30);
    wire.last.complete();
    await advance(10);
    expect(wire.sent[0]?.timeLeft).toBe(30);
    const Slow = defineProtocol("slow", { note: { payload: Type.String() } });
    const slow = system.spawn("slow", Slow, (ctx) => ({
      async note() {
        await new Promise<void>((resolve) => void ctx.clock.setTimer(resolve, 50));
        ctx.forward(ref);
      },
    }));
    slow.tell("note", "y", { deadline: 20 });
    await advance(50);
    expect(wire.sent.length).toBe(2);
    expect(reasonsOf(deadLetters)).toEqual(["timeout"]);
    expect(takeLog().length).toBe(1);
  });

  test("nothing that its protocol refuses", async () => {
    const { ref, wire, router, takeLog } = attached();
    expect(kindOf(await ref.ask("remove" as "size"))).toBe("unknown-operation");
    expect(kindOf(await ref.ask("lines" as "read", "x"))).toBe("unknown-operation");
    expect((await readAll(ref.stream("read" as "lines", "x"))).kind).toBe("unknown-operation");
    expect(wire.sent).toEqual([]);
    expect(router.audit()).toMatchObject({ accepted: 3, dead: 3 });
    expect(takeLog()).toEqual([]);
  });

  test("P18: what came from outside is validated once, and goes on as it was sent", async () => {
    let parsed = 0;
    const Doubled = Type.Refine(Type.Number(), () => ++parsed > 0);
    const Twice = defineProtocol("twice", { put: { payload: Doubled } });
    const test = createTestSystem();
    const wire = new Wire();
    const { ref } = test.system.attach(address("twice"), Twice, wire);
    expect(kindOf(await receive(ref).ask("put", "two"))).toBe("invalid-payload");
    expect(wire.sent).toEqual([]);
    parsed = 0;
    receive(ref).tell("put", 2);
    expect({ parsed, payload: wire.last.payload }).toEqual({ parsed: 1, payload: 2 });
    ref.tell("put", "from within" as never);
    expect(wire.sent.length).toBe(2);
  });

  test("with validate: always, what comes from within is checked too", async () => {
    const { ref, wire } = attached({ validate: "always" });
    expect(kindOf(await ref.ask("read", 1 as never))).toBe("invalid-payload");
    expect(wire.sent).toEqual([]);
    const lines = readAll(ref.stream("lines", "x"));
    wire.last.produce(["a", 2]);
    expect(await lines).toEqual({ items: ["a"], kind: "handler-failed" });
  });

  test("P16: it is called in the context in which the system was made", () => {
    const storage = new AsyncLocalStorage<string>();
    const { wire, ref } = attached();
    const seen: unknown[] = [];
    wire.answer = () => seen.push(storage.getStore());
    storage.run("request", () => ref.tell("note", "x"));
    expect(seen).toEqual([undefined]);
  });
});

describe("an ask:", () => {
  test("P6: it settles once, whatever the transport answers", async () => {
    const { ref, wire, deadLetters } = attached();
    const asked = ref.ask("read", "x");
    wire.last.complete("one");
    wire.last.complete("two");
    wire.last.fail("stopped");
    expect((await asked)._unsafeUnwrap()).toBe("one");
    expect({ deadLetters, cancelled: wire.cancelled }).toEqual({ deadLetters: [], cancelled: [] });
  });

  test("P7: a timeout and a signal are told to the transport, and a late reply is a dead letter", async () => {
    const { ref, wire, advance, deadLetters, takeLog, router } = attached();
    const controller = new AbortController();
    const late = ref.ask("read", "x", { timeout: 10 });
    const cancelled = ref.ask("read", "y", { signal: controller.signal });
    const [first, second] = wire.sent;
    controller.abort();
    await advance(10);
    expect([kindOf(await late), kindOf(await cancelled)]).toEqual(["timeout", "cancelled"]);
    expect(wire.cancelled).toEqual([second, first] as Outgoing[]);
    first?.complete("late");
    first?.complete("later");
    second?.fail("stopped");
    expect(reasonsOf(deadLetters)).toEqual(["late-reply"]);
    expect(takeLog()).toEqual([]); // It may have crossed with the cancellation.
    expect(router.audit()).toMatchObject({ accepted: 3, sent: 2, dead: 1 });
  });

  test("what is left of its time is 0 once nobody waits: its transport is told", async () => {
    const { ref, wire, advance } = attached();
    const left: number[] = [];
    wire.cancel = (out) => void left.push(out.timeLeft);
    const controller = new AbortController();
    const given = [ref.ask("read", "x", { timeout: 500 }), ref.offer("note", "x", { timeout: 400 })];
    void ref.ask("read", "y", { signal: controller.signal });
    controller.abort();
    await advance(500);
    await Promise.all<unknown>(given);
    expect(left).toEqual([0, 0, 0]);
  });

  test("each kind of failure comes back with its detail", async () => {
    const { ref, wire } = attached();
    const cause = new Error("no such file");
    const errors = async (kind: Parameters<Outgoing["fail"]>[0], detail?: unknown) => {
      wire.answer = (out) => out.fail(kind, detail);
      return (await ref.ask("read", "x"))._unsafeUnwrapErr();
    };
    expect(await errors("handler-failed", cause)).toMatchObject({ kind: "handler-failed", cause });
    expect(await errors("mailbox-full", 5)).toMatchObject({ kind: "mailbox-full", capacity: 5 });
    expect(await errors("timeout")).toMatchObject({ kind: "timeout", timeout: 5_000 });
    expect(await errors("invalid-payload", [{ path: "/a", message: "must be" }, 1])).toMatchObject({
      issues: [{ path: "/a", message: "must be" }],
    });
    expect(await errors("stopped", "nonsense")).toMatchObject({
      kind: "stopped",
      message: expect.stringContaining("has stopped"),
    });
    expect(await errors("ask-cycle", "nonsense")).toMatchObject({ kind: "ask-cycle", path: [] });
    expect(await errors("gone" as "stopped")).toMatchObject({ kind: "handler-failed" });
  });

  test("P9: a lost connection has its cause, and nothing without a limit is said to have had one", async () => {
    const { ref, wire } = attached();
    const cable = new Error("cable");
    wire.answer = (out) => out.fail("timeout", cable);
    const lost = (await ref.ask("read", "x", { timeout: 500 }))._unsafeUnwrapErr();
    expect(lost).toMatchObject({ kind: "timeout", timeout: 500, cause: cable, retryable: true });
    expect(lost.message).toContain("the connection was lost (cable); nobody knows whether it was handled");
    expect(publicError(lost).message).not.toContain("cable");
    const read = await ref
      .stream("lines", "x")
      .next()
      .catch((thrown: unknown) => thrown);
    expect(read).toMatchObject({ kind: "timeout", cause: cable });
    wire.answer = (out) => out.fail("timeout");
    const unlimited = (await ref.ask("read", "x", { timeout: Number.POSITIVE_INFINITY }))._unsafeUnwrapErr();
    expect(unlimited).toMatchObject({ kind: "timeout", timeout: Number.POSITIVE_INFINITY });
    expect(unlimited.message).toContain("got no reply, and nobody knows whether it was handled");
    expect(publicError(unlimited).message).not.toMatch(/\d ms|Infinity/);
    const offered = (await ref.offer("note", "x", { timeout: 70 }))._unsafeUnwrapErr();
    expect(offered).toMatchObject({ kind: "timeout", timeout: 70 });
    wire.answer = (out) => out.fail("timeout", 41.6);
    expect((await ref.ask("read", "x"))._unsafeUnwrapErr().message).toContain("within 42 ms");
    wire.answer = (out) => out.fail("timeout", 0.2);
    expect((await ref.ask("read", "x"))._unsafeUnwrapErr().message).toContain("within 1 ms");
  });

  test("P9: a detail that is not what the kind has still gives a sentence", async () => {
    const { ref, wire } = attached();
    const sentence = async (kind: Parameters<Outgoing["fail"]>[0], detail?: unknown) => {
      wire.answer = (out) => out.fail(kind, detail);
      return (await ref.ask("read", "x"))._unsafeUnwrapErr().message;
    };
    expect(await sentence("invalid-payload")).toMatch(/refuses: the payload does not fit, and it is not known why$/);
    expect(await sentence("invalid-payload", [])).toMatch(/the payload does not fit, and it is not known why$/);
    expect(await sentence("invalid-payload", new TypeError("has a bigint"))).toMatch(
      /the payload TypeError: has a bigint$/,
    );
    expect(await sentence("handler-failed", { code: 7 })).toContain('failed in its handler: {"code":7}');
  });

  test("P18: a reply that does not fit its protocol is a failure", async () => {
    const { ref, wire } = attached();
    const asked = ref.ask("size");
    wire.last.complete("large");
    expect((await asked)._unsafeUnwrapErr()).toMatchObject({
      kind: "handler-failed",
      message: expect.stringContaining("its reply does not fit"),
    });
    wire.answer = (out) => out.complete("ignored");
    expect((await ref.ask("note", "x"))._unsafeUnwrap()).toBeUndefined();
  });
});

describe("an offer:", () => {
  test("it comes back once the transport says that it was taken", async () => {
    const { ref, wire } = attached();
    const offered = ref.offer("note", "x", { timeout: 50 });
    expect(wire.last).toMatchObject({ pattern: "tell", timeLeft: 50 });
    wire.last.complete();
    expect((await offered).isOk()).toBe(true);
    const refused = ref.offer("note", "y");
    wire.last.fail("mailbox-full", 3);
    expect((await refused)._unsafeUnwrapErr()).toMatchObject({ kind: "mailbox-full", capacity: 3 });
  });

  test("P7: it times out, and the transport is told", async () => {
    const { ref, wire, advance } = attached();
    const offered = ref.offer("note", "x", { timeout: 50 });
    await advance(50);
    expect((await offered)._unsafeUnwrapErr().kind).toBe("timeout");
    expect(wire.cancelled).toEqual([wire.last]);
  });
});

describe("a stream:", () => {
  test("P12: the transport is granted what the reader has room for, and never more than its credit in all", async () => {
    const { ref, wire, settle } = attached();
    const stream = ref.stream("lines", "x", { credit: 4 });
    const first = stream.next();
    const out = wire.last;
    expect(out.credit).toBe(4);
    out.produce(["a", "b"]);
    expect((await first).value).toBe("a");
    out.produce(["c", "d"]);
    await settle();
    expect(wire.granted.get(out.id)).toBeUndefined(); // "a" was read, and three wait: one place is not told alone.
    expect((await stream.next()).value).toBe("b");
    await settle();
    expect(wire.granted.get(out.id)).toBe(2); // Half of it was read.
    out.produce(["e", "f"]);
    out.end();
    expect(await readAll(stream)).toEqual({ items: ["c", "d", "e", "f"], kind: "end" });
  });

  test.each([2, 3, 16])("P12: a reader that keeps up frees its whole credit of %d for each batch", async (credit) => {
    const { ref, wire, settle } = attached();
    const batches: number[] = [];
    let left = credit * 20;
    const send = (out: Outgoing, count: number): void => {
      batches.push(count);
      left -= count;
      out.produce(Array.from({ length: count }, () => "x"));
      if (left === 0) out.end();
    };
    wire.answer = (out) => queueMicrotask(() => send(out, out.credit));
    wire.credit = (out, count) => queueMicrotask(() => send(out, Math.min(count, left)));
    const read = readAll(ref.stream("lines", "x", { credit }));
    for (let round = 0; round < 100 && left > 0; round++) await settle();
    expect((await read).items.length).toBe(credit * 20);
    expect(batches).toEqual(Array.from({ length: 20 }, () => credit));
  });

  test("P12: what ready() takes is told together with what next() took", async () => {
    const { ref, wire, settle } = attached();
    const stream = ref.stream("lines", "x", { credit: 3 });
    const first = stream.next();
    wire.last.produce(["a", "b", "c"]);
    await first;
    expect(stream.ready()).toEqual(["b", "c"]);
    await settle();
    expect(wire.granted.get(wire.last.id)).toBe(3);
    await stream.return();
  });

  test("an item beyond the credit ends it, with what to do, and the transport is told", async () => {
    const { ref, wire } = attached();
    const read = readAll(ref.stream("lines", "x", { credit: 2 }));
    const out = wire.last;
    out.produce(["a", "b", "c", "d", "e"]);
    out.produce(["f"]);
    const { kind } = await read;
    expect(kind).toBe("handler-failed");
    expect(wire.cancelled).toEqual([out]);
  });

  test("P18: an item that does not fit ends it", async () => {
    const { ref, wire } = attached();
    const read = readAll(ref.stream("lines", "x"));
    wire.last.produce(["a", 1, "b"]);
    expect(await read).toEqual({ items: ["a"], kind: "handler-failed" });
    expect(wire.cancelled).toEqual([wire.last]);
  });

  test("P12: leaving the loop cancels it, and so does a reader that reads nothing any more", async () => {
    const { ref, wire, advance, settle } = attached();
    for await (const line of (() => {
      const stream = ref.stream("lines", "x");
      wire.answer = (out) => out.produce(["a", "b"]);
      return stream;
    })()) {
      expect(line).toBe("a");
      break;
    }
    expect(wire.cancelled).toEqual([wire.last]);
    wire.answer = null;
    const idle = ref.stream("lines", "y", { credit: 1, abandonedAfter: 1_000 });
    const first = idle.next();
    wire.last.produce(["a"]);
    await first;
    wire.last.produce(["b"]);
    await settle();
    await advance(1_250);
    expect(wire.cancelled).toEqual(wire.sent);
    expect((await readAll(idle)).kind).toBe("cancelled");
  });

  test("P6: a failure ends it once, and what came before is read first", async () => {
    const { ref, wire } = attached();
    const stream = ref.stream("lines", "x");
    const first = stream.next();
    wire.last.produce(["a", "b"]);
    wire.last.fail("stopped");
    wire.last.produce(["c"]);
    wire.last.end();
    expect((await first).value).toBe("a");
    expect(await readAll(stream)).toEqual({ items: ["b"], kind: "stopped" });
  });
});

describe("P1: what is sent is counted as sent, and what never got there as dead:", () => {
  test("a send that throws is unreachable, logged, and no other message's matter", async () => {
    const { ref, wire, router, deadLetters, takeLog } = attached();
    wire.answer = () => {
      throw new Error("socket closed");
    };
    const asked = await ref.ask("read", "x");
    ref.tell("note", "x");
    expect(asked._unsafeUnwrapErr()).toMatchObject({ kind: "unreachable", cause: new Error("socket closed") });
    expect(reasonsOf(deadLetters)).toEqual(["unreachable", "unreachable"]);
    expect(router.audit()).toMatchObject({ accepted: 2, dead: 2 });
    expect(takeLog().map(({ message }) => message)).toEqual([
      expect.stringContaining("The transport of @(node-7/files) threw in send()"),
      expect.stringContaining("The transport of @(node-7/files) threw in send()"),
      expect.stringContaining("dead letter (unreachable)"),
    ]);
    wire.answer = echo;
    expect((await ref.ask("read", "x"))._unsafeUnwrap()).toBe("read x");
    expect(router.audit()).toMatchObject({ accepted: 3, dead: 2, sent: 1 });
  });

  test("a promise of send() that rejects is the same", async () => {
    const { ref, wire, settle, takeLog } = attached();
    wire.send = (async () => {
      throw new Error("no route");
    }) as Wire["send"];
    const asked = ref.ask("read", "x");
    await settle();
    expect(kindOf(await asked)).toBe("unreachable");
    expect(takeLog().length).toBe(1);
  });

  test("a tell that its transport fails later is a dead letter with that reason", () => {
    const { ref, wire, router, deadLetters, takeLog } = attached();
    ref.tell("note", "x");
    expect(router.audit()).toMatchObject({ accepted: 1, sent: 1 });
    wire.last.fail("payload-too-large", 10);
    wire.last.fail("unreachable");
    expect(reasonsOf(deadLetters)).toEqual(["payload-too-large"]);
    expect(router.audit()).toEqual(expect.not.objectContaining({ sent: expect.anything() }));
    expect(takeLog().length).toBe(1);
  });

  test("what the other system refused is counted there", async () => {
    const { ref, wire, router, deadLetters } = attached();
    wire.answer = (out) => out.fail("no-recipient");
    expect(kindOf(await ref.ask("read", "x"))).toBe("no-recipient");
    expect(router.audit()).toMatchObject({ accepted: 1, sent: 1, dead: 0 });
    expect(deadLetters).toEqual([]);
  });

  test("a system that sends nothing lists none", () => {
    const { router } = createTestSystem();
    expect(Object.keys(router.audit())).toEqual(["accepted", "handled", "failed", "dead", "queued", "running"]);
  });
});

describe("the end of an attachment:", () => {
  const Watcher = defineProtocol("watcher", { look: {} });
  const watch = async ({ system, ref }: Attached, told: Terminated[]): Promise<void> => {
    const name = `watcher-${crypto.randomUUID()}`;
    const watcher = system.spawn(name, Watcher, (ctx) => ({
      look: () => void ctx.watch(ref, (terminated) => told.push(terminated)),
    }));
    await watcher.ask("look");
  };

  test("P17: unreachable is told to watchers, to all who wait, and to all who send later", async () => {
    const test = attached();
    const { ref, end, wire, settle, router, deadLetters, takeLog } = test;
    const told: Terminated[] = [];
    await watch(test, told);
    const read = readAll(ref.stream("lines", "x"));
    const asked = ref.ask("read", "x");
    const offered = ref.offer("note", "x");
    const cause = new Error("reset by peer");
    end("unreachable", cause);
    end("stopped");
    await settle();
    expect([(await read).kind, kindOf(await asked)]).toEqual(["unreachable", "unreachable"]);
    expect((await offered)._unsafeUnwrapErr()).toMatchObject({ kind: "unreachable", cause });
    expect(told).toEqual([{ address: at, error: cause, reason: "unreachable" }]);
    expect({ closed: wire.closed, cancelled: wire.cancelled }).toEqual({ closed: 1, cancelled: [] });
    expect((await ref.ask("read", "y"))._unsafeUnwrapErr()).toMatchObject({ kind: "unreachable", cause });
    ref.tell("note", "y");
    expect(wire.sent.length).toBe(3);
    expect(reasonsOf(deadLetters)).toEqual(Array.from({ length: 5 }, () => "unreachable"));
    expect(router.audit()).toMatchObject({ dead: 5 });
    await watch(test, told);
    await settle();
    expect(told[1]).toEqual({ address: at, error: cause, reason: "unreachable" });
    expect(takeLog().length).toBe(1);
  });

  test("P17: an actor that is gone with its side is told to watchers once, and the reference lives on", async () => {
    const test = attached();
    const { ref, interrupt, restore, end, wire, settle } = test;
    const told: Terminated[] = [];
    await watch(test, told);
    const cause = new Error("its node has left");
    interrupt(cause);
    await settle();
    expect(told.splice(0)).toEqual([{ address: at, error: cause, reason: "unreachable" }]);
    await watch(test, told); // It begins while nobody is there.
    await settle();
    expect(told.splice(0)).toEqual([{ address: at, error: cause, reason: "unreachable" }]);
    wire.answer = echo;
    expect((await ref.ask("read", "y"))._unsafeUnwrap()).toBe("read y");
    restore();
    await watch(test, told);
    await settle();
    expect(told).toEqual([]);
    end("stopped");
    interrupt(new Error("too late"));
    restore();
    await settle();
    expect(told).toEqual([{ address: at, error: undefined, reason: "stopped" }]);
  });

  test("system.stop ends it as stopped, and closes the transport once", async () => {
    const test = attached();
    const { system, ref, wire, settle, takeLog, router } = test;
    const told: Terminated[] = [];
    await watch(test, told);
    const asked = ref.ask("read", "x");
    await system.stop(ref);
    await system.stop(ref);
    await settle();
    expect((await asked)._unsafeUnwrapErr()).toMatchObject({
      kind: "stopped",
      message: expect.stringContaining("may have had its effects"),
    });
    expect(told).toEqual([{ address: at, error: undefined, reason: "stopped" }]);
    expect(wire.closed).toBe(1);
    ref.tell("note", "x");
    expect(takeLog()[0]?.message).toContain("dead letter (stopped)");
    expect(router.audit()).toMatchObject({ sent: 1, dead: 1 });
    expect(router.has(at)).toBe(false);
  });

  test("P13: a shutdown ends it after the actors, which may still wait for it", async () => {
    const { system, ref, wire } = attached();
    const Reader = defineProtocol("reader", { read: { reply: Type.String() } });
    const reader = system.spawn("reader", Reader, (ctx) => ({
      async read() {
        return (await ctx.ask(ref, "read", "x"))._unsafeUnwrap();
      },
    }));
    const asked = reader.ask("read");
    await Promise.resolve();
    const down = system.shutdown();
    expect(wire.closed).toBe(0);
    wire.last.complete("text");
    expect((await asked)._unsafeUnwrap()).toBe("text");
    await down;
    expect(wire.closed).toBe(1);
  });

  test("its address is free, and a taken one or a closed system says what to do", async () => {
    const { system, end } = attached();
    expect(() => system.attach(at, Files, new Wire())).toThrow("@(node-7/files) is in use; stop that actor first");
    end("stopped");
    const again = system.attach(at, Files, new Wire());
    expect(again.ref.address).toBe(at);
    await system.shutdown();
    expect(() => system.attach(at, Files, new Wire())).toThrow("the system has shut down; create another one");
  });

  test("what is no address, no protocol, no transport and no reason is refused with what to write", () => {
    const { system } = createTestSystem();
    expect(() => system.attach("files" as typeof at, Files, new Wire())).toThrow("is not an address");
    expect(() => system.attach(at, {} as typeof Files, new Wire())).toThrow("what defineProtocol() returned");
    expect(() => system.attach(at, Files, { send() {}, cancel() {} } as never)).toThrow("this one has no credit()");
    expect(() => system.attach(at, Files, new Wire()).end("broken" as "stopped")).toThrow(
      'as "stopped" or "unreachable"',
    );
  });

  test("a transport that throws in cancel, credit or close is logged, and nothing else", async () => {
    const { ref, wire, end, takeLog } = attached();
    const broken = (): never => {
      throw new Error("broken");
    };
    Object.assign(wire, { cancel: broken, credit: broken, close: broken });
    const stream = ref.stream("lines", "x", { credit: 1 });
    const first = stream.next();
    wire.last.produce(["a"]);
    expect((await first).value).toBe("a");
    await stream.return();
    end("stopped");
    expect(takeLog().map(({ message }) => /threw in (\w+)\(\)/.exec(message)?.[1])).toEqual([
      "credit",
      "cancel",
      "close",
    ]);
  });
});

describe("what code beside the system publishes:", () => {
  test("an event of its own kind", async () => {
    const { system, events, settle } = createTestSystem();
    system.publish({ kind: "nats:connected", address: address("node-7"), detail: 2 });
    await settle();
    expect(events).toEqual([{ kind: "nats:connected", address: address("node-7"), detail: 2 }]);
    expect(() => system.publish({ kind: "started" as "a:b", address: at })).toThrow("has a colon behind its owner");
    expect(() => system.publish({ kind: "a:b", address: "x" as typeof at })).toThrow(
      "has the address that it is about",
    );
  });

  test("P1: a dead letter with its reason, which is counted", () => {
    const { system, router, deadLetters, takeLog } = createTestSystem();
    const message = createMessage(at, "note", "x");
    system.deadLetter(createDeliveryError("payload-too-large", message, 10));
    system.deadLetter(createDeliveryError("unreachable", message), { asked: true });
    expect(deadLetters.map(({ reason, asked, address: to }) => ({ reason, asked, to }))).toEqual([
      { reason: "payload-too-large", asked: false, to: at },
      { reason: "unreachable", asked: true, to: at },
    ]);
    expect(takeLog().length).toBe(1);
    expect(router.audit()).toMatchObject({ accepted: 2, dead: 2 });
    expectBalance(router.audit());
    expect(() => system.deadLetter(new Error("no") as never)).toThrow("createDeliveryError()");
    expect(() => createDeliveryError("gone" as "timeout", message, 1)).toThrow("is no kind of delivery error");
  });
});
