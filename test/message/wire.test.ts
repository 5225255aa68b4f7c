import { describe, expect, test } from "bun:test";
import { address, type FormatError } from "../../src/message/address";
import { createMessage, inPattern, isReceived, type Message } from "../../src/message/message";
import { createErrorResponse, createResponse } from "../../src/message/response";
import { MAX_DEPTH, parseMessage, parseResponse, serializeMessage, writeJson } from "../../src/message/wire";

const echo = address("echo");
const asked = createMessage(
  echo,
  "say",
  { text: "hi" },
  { pattern: "ask", from: address("me"), metadata: { trace: 1 } },
);
const told = createMessage(echo, "say", "hi");

const hostile = (): never => {
  throw new Error("hostile");
};
/** What comes out at the other end, as plain fields. */
const fields = (message: Message): object => Object.fromEntries(Object.entries(message));
const carried = (payload: unknown): unknown => parseMessage(wire(payload))._unsafeUnwrap().payload;
const wire = (payload: unknown): string => serializeMessage(createMessage(echo, "say", payload))._unsafeUnwrap();
const refused = (payload: unknown): FormatError =>
  serializeMessage(createMessage(echo, "say", payload))._unsafeUnwrapErr();
/** A value inside so many arrays. */
const nested = (depth: number, inner: unknown = 0): unknown => {
  let value = inner;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
};

describe("a message that leaves and comes in again", () => {
  test.each([
    ["an ask", asked],
    ["a tell", told],
    ["a stream", createMessage(echo, "tokens", [1, null, "x"], { pattern: "stream" })],
    ["a message without payload", createMessage(echo, "ping", undefined)],
  ])("is the same: %s", (_, message) => {
    expect(fields(parseMessage(JSON.stringify(message))._unsafeUnwrap())).toEqual(fields(message));
    expect(serializeMessage(message)._unsafeUnwrap()).toBe(JSON.stringify(message));
  });

  test("has the same fields in the same order as one that was made here", () => {
    expect(Object.keys(parseMessage(JSON.stringify(told))._unsafeUnwrap())).toEqual(Object.keys(told));
  });

  test("may come as what JSON.parse made of it", () => {
    expect(fields(parseMessage(JSON.parse(JSON.stringify(asked)))._unsafeUnwrap())).toEqual(fields(asked));
  });

  test("may have null where an optional field is left out", () => {
    const message = parseMessage({ ...told, from: null, correlationId: null, metadata: null })._unsafeUnwrap();
    expect(message).toMatchObject({ from: undefined, correlationId: undefined, metadata: undefined });
  });

  test("is known as received, also when it is spread or sent in another pattern", () => {
    const received = parseMessage(JSON.stringify(told))._unsafeUnwrap();
    expect(isReceived(received)).toBe(true);
    expect(isReceived({ ...received })).toBe(true);
    expect(isReceived(inPattern(received, "ask"))).toBe(true);
    expect(isReceived(told)).toBe(false);
    expect(isReceived(inPattern(told, "ask"))).toBe(false);
  });

  test("does not carry the mark of being received to the next process, where it is made anew", () => {
    const received = parseMessage(JSON.stringify(told))._unsafeUnwrap();
    expect(JSON.parse(serializeMessage(received)._unsafeUnwrap())).toEqual(JSON.parse(JSON.stringify(told)));
  });

  test("cannot say of itself that it was not received", () => {
    const text = JSON.stringify({ ...told, "envoi.received": false, received: false });
    expect(isReceived(parseMessage(text)._unsafeUnwrap())).toBe(true);
  });
});

describe("writeJson()", () => {
  test("writes what it is given in place of an object that has a toJSON, and asks for nothing else", () => {
    const asked: object[] = [];
    const [ref, date] = [{ toJSON: () => "@(a)" }, new Date(0)];
    const value = { ref, date, plain: { deep: [ref] } };
    const text = writeJson(value, (object) => {
      asked.push(object);
      return object === ref ? "@(i/a)" : object;
    });
    expect(text._unsafeUnwrap()).toBe('{"ref":"@(i/a)","date":"1970-01-01T00:00:00.000Z","plain":{"deep":["@(i/a)"]}}');
    expect(asked).toEqual([ref, date, ref]);
    const failed = writeJson({ ref }, () => {
      throw new RangeError("too many");
    });
    expect(failed._unsafeUnwrapErr().message).toContain("too many");
  });

  const circle: Record<string, unknown> = {};
  circle["self"] = circle;

  test.each([[{ a: [1, "x", null], b: undefined }], ["text"], [null], [new Date(0)]])(
    "writes %p as JSON does",
    (value) => {
      expect(writeJson(value)._unsafeUnwrap()).toBe(JSON.stringify(value));
      expect(writeJson(undefined)._unsafeUnwrap()).toBe("null");
    },
  );

  test.each([
    [new Uint8Array(2), "", "The value is binary data"],
    [{ "a/b": [0, 1n] }, "/a~1b/1", "/a~1b/1 is a bigint"],
    [{ run() {} }, "/run", "a function"],
    [[Number.NaN], "/0", "NaN"],
    [new Map(), "", "a Map"],
    [circle, "/self", "its own parent"],
    [{ toJSON: () => [2n] }, "/0", "a bigint"],
    [Object.defineProperty({}, "a", { enumerable: true, get: hostile }), "", "hostile"],
  ])("says which part of %p JSON would lose", (value, path, sentence) => {
    const error = writeJson(value)._unsafeUnwrapErr();
    expect([error.kind, error.path]).toEqual(["unserializable-payload", path]);
    expect(error.message).toContain(sentence);
  });
});

test("writeJson() writes 512 levels, and no more", () => {
  expect(writeJson(nested(MAX_DEPTH))._unsafeUnwrap()).toBe(JSON.stringify(nested(MAX_DEPTH)));
  expect(writeJson(nested(MAX_DEPTH + 1))._unsafeUnwrapErr().message).toContain("nested over 512 levels");
});

describe("the same message in another pattern", () => {
  test("is the very message where the pattern is its own", () => {
    expect(inPattern(asked, "ask")).toBe(asked);
  });

  test("keeps all but the pattern, and has its id for a correlation id where an answer is awaited", () => {
    const { pattern, correlationId, ...rest } = inPattern(told, "ask");
    const { pattern: _pattern, correlationId: _correlationId, ...original } = told;
    expect(pattern).toBe("ask");
    expect(correlationId).toBe(told.id);
    expect(rest).toEqual(original);
  });

  test("keeps the correlation id that it has", () => {
    expect(inPattern(asked, "stream").correlationId).toBe(asked.correlationId);
    expect(inPattern(asked, "tell").correlationId).toBe(asked.correlationId);
  });

  test("needs none as a tell", () => {
    expect(inPattern({ ...asked, correlationId: undefined }, "tell").correlationId).toBeUndefined();
  });
});

describe("parseMessage() names the field that is wrong", () => {
  const texts = [undefined, null, "", 7, true, {}, []];
  const cases: readonly (readonly [field: string, bad: readonly unknown[], kind: FormatError["kind"]])[] = [
    ["id", texts, "invalid-message"],
    ["pattern", [...texts, "reply", "Tell", "constructor"], "invalid-message"],
    ["to", [...texts, "echo", "@()", "@(a b)", "@(a)/"], "invalid-address"],
    ["from", ["", 7, {}, "me", "@()"], "invalid-address"],
    ["type", texts, "invalid-message"],
    ["correlationId", ["", 7, false, {}], "invalid-message"],
    ["timestamp", [undefined, null, "0", "2026-01-01", Number.NaN, Infinity, {}, 1n], "invalid-message"],
    ["metadata", ["", 7, [], "trace"], "invalid-message"],
  ];

  test.each(cases.flatMap(([field, bad, kind]) => bad.map((value) => [field, value, kind] as const)))(
    "/%s as %p",
    (field, value, kind) => {
      const error = parseMessage({ ...asked, [field]: value })._unsafeUnwrapErr();
      expect(error).toMatchObject({ kind, path: `/${field}`, retryable: false });
      expect(error.message).toStartWith(`/${field} is `);
      if (value === undefined) expect(error.message).toContain("missing");
    },
  );

  test("and quotes no more than the start of a long one", () => {
    const { message } = parseMessage({ ...asked, to: "x".repeat(100_000) })._unsafeUnwrapErr();
    expect(message.length).toBeLessThan(300);
  });
});

describe("parseMessage()", () => {
  test("leaves out what a message does not have", () => {
    const text = JSON.stringify({ ...told, extra: 1, nextReady: null, toJSON: "x", constructor: "y" });
    expect(fields(parseMessage(text)._unsafeUnwrap())).toEqual(fields(told));
  });

  test("takes no field from a __proto__ in the text", () => {
    const { id, ...rest } = JSON.parse(JSON.stringify(told));
    const text = `{"__proto__":{"id":"forged"},${JSON.stringify(rest).slice(1)}`;
    expect(parseMessage(text)._unsafeUnwrapErr().path).toBe("/id");
    expect(id).toBe(told.id);
  });

  test("carries __proto__ in a payload or metadata as a plain key, which changes no prototype", () => {
    const text = JSON.stringify(asked)
      .replace('{"text":"hi"}', '{"__proto__":{"admin":true}}')
      .replace('{"trace":1}', '{"__proto__":{"admin":true}}');
    const { payload, metadata } = parseMessage(text)._unsafeUnwrap();
    for (const value of [payload, metadata]) {
      expect(Object.keys(value as object)).toEqual(["__proto__"]);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect((value as { admin?: boolean }).admin).toBeUndefined();
    }
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test.each([
    ["an array", "[]", "A message is a JSON object; got an array."],
    ["null", "null", "A message is a JSON object; got null."],
    ["a number", "7", "A message is a JSON object; got 7."],
    ["a text", '"say"', 'A message is a JSON object; got "say".'],
    ["true", "true", "A message is a JSON object; got true."],
  ])("refuses %s, as text and as a value", (_, text, message) => {
    expect(parseMessage(text)._unsafeUnwrapErr()).toEqual({
      kind: "invalid-message",
      path: "",
      message,
      retryable: false,
    });
    if (text !== '"say"') expect(parseMessage(JSON.parse(text))._unsafeUnwrapErr().message).toBe(message);
  });

  test.each([
    ["nothing", ""],
    ["half an object", '{"id":'],
    ["two objects", "{}{}"],
    ["plain words", "hello there"],
    ["a byte order mark", "\ufeff{}"],
    ["100,000 opened arrays", "[".repeat(100_000)],
    ["100,000 nested arrays", "[".repeat(100_000) + "]".repeat(100_000)],
  ])("refuses %s", (_, text) => {
    expect(parseMessage(text)._unsafeUnwrapErr()).toMatchObject({ kind: "invalid-message", path: "" });
  });

  test.each([undefined, 7n, Symbol("say"), hostile, new Uint8Array([123, 125])])("refuses the value %p", (value) => {
    expect(parseMessage(value).isErr()).toBe(true);
  });

  test("refuses, and does not throw, whatever a getter or a proxy throws", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const values: object[] = [
      proxy,
      Object.defineProperty({ ...told }, "id", { get: hostile }),
      new Proxy({ ...told }, { get: hostile }),
      Object.defineProperty({ ...told }, "id", {
        get() {
          throw proxy;
        },
      }),
    ];
    for (const value of values) {
      expect(parseMessage(value)._unsafeUnwrapErr()).toMatchObject({ kind: "invalid-message", path: "" });
    }
  });
});

describe("a response that leaves and comes in again", () => {
  test.each([
    ["a reply", createResponse(asked, { total: 3 })],
    ["a reply to nobody", createResponse(told, [1, 2])],
    ["a failure", createErrorResponse(asked, new Error("boom"))],
  ])("is the same: %s", (_, response) => {
    const text = serializeMessage(response)._unsafeUnwrap();
    expect(text).toBe(JSON.stringify(response));
    expect(parseResponse(text)._unsafeUnwrap()).toEqual(response);
  });

  test("keeps neither fields that a response does not have, nor those of its other outcome", () => {
    const error = { kind: "timeout", message: "late", retryable: true };
    const reply = { ...createResponse(asked, 1), error, extra: 1 };
    const failure = { ...createErrorResponse(asked, "no"), error: { ...error, stack: "at x" }, payload: 1 };
    expect(parseResponse(reply)._unsafeUnwrap()).not.toContainAnyKeys(["error", "extra"]);
    expect(parseResponse(failure)._unsafeUnwrap()).not.toContainKey("payload");
    expect(parseResponse(failure)._unsafeUnwrap()).toHaveProperty("error", error);
  });

  const failure = createErrorResponse(asked, "no");
  const withError = (change: object) => ({ error: { ...failure.error, ...change } });
  test.each([
    ["/id", { id: "" }, "invalid-message"],
    ["/pattern", { pattern: "tell" }, "invalid-message"],
    ["/to", { to: "me" }, "invalid-address"],
    ["/from", { from: undefined }, "invalid-address"],
    ["/type", { type: 7 }, "invalid-message"],
    ["/correlationId", { correlationId: undefined }, "invalid-message"],
    ["/timestamp", { timestamp: "now" }, "invalid-message"],
    ["/ok", { ok: undefined }, "invalid-message"],
    ["/ok", { ok: "true" }, "invalid-message"],
    ["/ok", { ok: 0 }, "invalid-message"],
    ["/error", { error: undefined }, "invalid-message"],
    ["/error", { error: "boom" }, "invalid-message"],
    ["/error", { error: [] }, "invalid-message"],
    ["/error/kind", withError({ kind: undefined }), "invalid-message"],
    ["/error/message", withError({ message: 7 }), "invalid-message"],
    ["/error/retryable", withError({ retryable: undefined }), "invalid-message"],
    ["/error/retryable", withError({ retryable: "yes" }), "invalid-message"],
  ])("names %s where that is wrong: %j", (path, change, kind) => {
    const error = parseResponse({ ...failure, ...change })._unsafeUnwrapErr();
    expect(error).toMatchObject({ path, kind: kind as FormatError["kind"] });
    expect(error.message).toStartWith(`${path} is `);
  });

  test.each([["[]"], ["null"], ["7"], ["{"], [""]])("is refused where the text is %j", (text) => {
    expect(parseResponse(text)._unsafeUnwrapErr()).toMatchObject({ kind: "invalid-message", path: "" });
    expect(parseResponse(text)._unsafeUnwrapErr().message).toStartWith("A response is ");
  });
});

describe("serializeMessage() says which value JSON would lose", () => {
  class Named extends Map {
    readonly o = 1;
    override get [Symbol.toStringTag](): string {
      return "Named";
    }
  }
  class Tree {
    readonly kind = "tree";
  }
  test.each([
    ["a bigint", 1n],
    ["a function", hostile],
    ["a symbol", Symbol("x")],
    ["NaN", Number.NaN],
    ["Infinity", Infinity],
    ["-Infinity", -Infinity],
    ["a Map", new Map([["a", 1]])],
    ["a Set", new Set([1])],
    ["a WeakMap", new WeakMap()],
    ["a WeakSet", new WeakSet()],
    ["a Promise", Promise.resolve(1)],
    ["a RegExp", /x/],
    ["an Error", new RangeError("boom")],
    ["an Error", new DOMException("boom")],
    ["an invalid Date", new Date(Number.NaN)],
    ["an ArrayBuffer", new ArrayBuffer(8)],
    ["a SharedArrayBuffer", new SharedArrayBuffer(8)],
    ["a Blob", new Blob(["text"])],
    ["a Blob", Object.assign(new Blob(["text"]), { name: "upload" })],
    ["a Response", new Response("text")],
    ["a Request", new Request("http://localhost/")],
    ["a ReadableStream", new ReadableStream()],
    ["a WeakRef", new WeakRef({})],
    ["a Generator", (function* () {})()],
    ["an Array Iterator", [1].values()],
    ["an AbortSignal", new AbortController().signal],
    ["an Intl.NumberFormat", new Intl.NumberFormat()],
    ["a Map", new Proxy(new Map([["a", 1]]), {})],
    ["a Map", Object.assign(new Map([["a", 1]]), { name: "index" })],
    ["a RegExp", new Proxy(/x/, {})],
    ["a Proxy", new Proxy(new Number(5), {})],
    ["a Proxy", new Proxy(new String("a"), {})],
    ["a Map", new Named()],
    ["NaN", new Number(Number.NaN)],
    ["Infinity", new Number(Infinity)],
    ["a bigint", Object(1n)],
    ["a symbol", Object(Symbol("x"))],
    ["binary data", new Uint8Array(8)],
    ["binary data", new DataView(new ArrayBuffer(8))],
  ])("%s, at its place", (what, value) => {
    for (const [payload, path] of [
      [value, "/payload"],
      [{ list: [0, { value }] }, "/payload/list/1/value"],
      [[[value]], "/payload/0/0"],
    ] as const) {
      const error = refused(payload);
      expect(error).toMatchObject({ kind: "unserializable-payload", path, retryable: false });
      expect(error.message).toStartWith(`${path} is ${what}, which JSON cannot carry; send `);
    }
  });

  test("in the metadata too", () => {
    const message = createMessage(echo, "say", 1, { metadata: { trace: { id: 1n } } });
    expect(serializeMessage(message)._unsafeUnwrapErr().path).toBe("/metadata/trace/id");
  });

  test("in a reply too", () => {
    expect(serializeMessage(createResponse(asked, [1n]))._unsafeUnwrapErr().path).toBe("/payload/0");
  });

  test.each([
    ["a key", { [`${"x".repeat(100_000)}`]: 1n }],
    ["many keys", { ["a\u202eb\nc"]: { ["y".repeat(100_000)]: 1n } }],
    ["a class", { [Symbol.toStringTag]: `a\nb${"x".repeat(100_000)}` }],
    [
      "an error",
      {
        toJSON() {
          throw new Error(`a\nb${"x".repeat(100_000)}`);
        },
      },
    ],
  ])("P18: and tells what comes from %s short and on one line", (_, payload) => {
    const { path, message } = refused({ payload });
    expect(path.length).toBeLessThanOrEqual(250);
    expect(message.length).toBeLessThanOrEqual(400);
    expect(path + message).not.toMatch(/[\n\u202e]/);
  });

  test("and escapes ~ and / in its path, as RFC 6901 has it", () => {
    expect(refused({ "a/b": { "m~n": { "~1": 1n } } }).path).toBe("/payload/a~1b/m~0n/~01");
    expect(refused({ "": { " ": 1n } }).path).toBe("/payload// ");
  });

  test("as a cycle, wherever it closes", () => {
    const self: unknown[] = [];
    self.push(self);
    const parent = { child: { list: [] as unknown[] } };
    parent.child.list.push(1, parent);
    expect(refused(self)).toMatchObject({ path: "/payload/0" });
    expect(refused(parent).path).toBe("/payload/child/list/1");
    expect(refused(parent).message).toContain("a reference to its own parent");
  });

  test("but takes a value that is referred to twice without a cycle", () => {
    const shared = { x: 1 };
    expect(carried({ a: shared, b: [shared, shared] })).toEqual({ a: { x: 1 }, b: [{ x: 1 }, { x: 1 }] });
  });

  test("as nesting over 512 levels, and carries 512", () => {
    expect(wire(nested(MAX_DEPTH))).toContain("[".repeat(512));
    expect(refused(nested(MAX_DEPTH + 1)).message).toContain("is nested over 512 levels deep");
  });

  test("as nesting, without overflowing the stack, 100,000 levels deep", () => {
    expect(refused(nested(100_000)).message).toContain("is nested over 512 levels deep");
    let object = {};
    for (let i = 0; i < 100_000; i++) object = { object };
    expect(refused(object).path).toStartWith(`/payload${"/object".repeat(20)}`);
  });

  test("and carries what JSON has, instances of classes by their own fields", () => {
    const payload = { a: null, b: true, c: "é\ud83e\udd8a\u0000", d: [0, 1.5, -1e300], e: {}, tree: new Tree() };
    expect(carried(payload)).toEqual({ ...payload, tree: { kind: "tree" } });
  });

  test("and carries what JSON unwraps, and what says how it is written", () => {
    const payload = [
      new Number(1.5),
      new String("a"),
      new Boolean(false),
      new URLSearchParams("a=1"),
      Buffer.from("a"),
    ];
    expect(carried(payload)).toEqual([1.5, "a", false, { a: "1" }, { type: "Buffer", data: [97] }]);
  });

  test("and lets undefined be left out, as JSON does", () => {
    expect(carried({ a: undefined, b: 1 })).toEqual({ b: 1 });
    expect(carried(undefined)).toBeUndefined();
  });
});

describe("serializeMessage() reads toJSON as JSON.stringify does", () => {
  test("so that a date is carried as its text", () => {
    expect(carried({ at: new Date(0), url: new URL("https://example.org") })).toEqual({
      at: "1970-01-01T00:00:00.000Z",
      url: "https://example.org/",
    });
  });

  test("so that an Error or Map with a toJSON of its own is carried", () => {
    const error = Object.assign(new Error("boom"), { toJSON: () => ({ text: "boom" }) });
    const map = Object.assign(new Map([["a", 1]]), { toJSON: () => [["a", 1]] });
    expect(carried([error, map])).toEqual([{ text: "boom" }, [["a", 1]]]);
  });

  test("and refuses what it throws, with what it said", () => {
    const error = refused({ value: { toJSON: hostile } });
    expect(error.kind).toBe("unserializable-payload");
    expect(error.message).toBe("The message cannot be written: Error: hostile");
  });

  test.each([
    ["a bigint", () => 1n, "/payload/value"],
    ["a function", () => hostile, "/payload/value"],
    ["NaN", () => Number.NaN, "/payload/value"],
    ["a Map", () => new Map(), "/payload/value"],
    ["a bigint within", () => ({ deep: [1n] }), "/payload/value/deep/0"],
  ])("and refuses %s that it returns", (what, toJSON, path) => {
    expect(refused({ value: { toJSON } })).toMatchObject({ path });
    expect(refused({ value: { toJSON } }).message).toContain(`is ${what.replace(" within", "")}, which`);
  });

  test("and refuses its own parent that it returns", () => {
    const parent: Record<string, unknown> = {};
    parent["value"] = { toJSON: () => parent };
    expect(refused(parent).message).toContain("a reference to its own parent");
  });

  test("and refuses the value itself within what its toJSON returns", () => {
    const self: object = { toJSON: () => ({ deep: [self] }) };
    expect(refused({ value: self })).toMatchObject({ path: "/payload/value/deep/0" });
    expect(refused({ value: self }).message).toContain("a reference to its own parent");
  });

  test("and refuses one that goes on for ever", () => {
    const endless = (): object => ({ toJSON: () => ({ next: endless() }) });
    expect(refused(endless()).message).toContain("is nested over 512 levels deep");
  });

  test("and looks into a value whose toJSON returns itself", () => {
    class Point {
      constructor(readonly x: number) {}
      toJSON(): this {
        return this;
      }
    }
    expect(carried(new Point(1))).toEqual({ x: 1 });
    expect(refused(new Point(Number.NaN)).path).toBe("/payload/x");
  });

  test("and asks it once, not what it returned: a date from toJSON would be written as {}", () => {
    expect(refused({ value: { toJSON: () => new Date(0) } }).path).toBe("/payload/value");
    class Late {
      readonly x = 1;
      toJSON(): string {
        return "never asked";
      }
    }
    expect(carried({ toJSON: () => new Late() })).toEqual({ x: 1 });
  });

  test("and survives getters and proxies that throw", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const getter = Object.defineProperty({}, "x", { enumerable: true, get: hostile });
    for (const payload of [getter, proxy, new Proxy({}, { ownKeys: hostile }), new Proxy({}, { has: hostile })]) {
      expect(refused(payload)).toMatchObject({ kind: "unserializable-payload", path: "" });
    }
  });
});
