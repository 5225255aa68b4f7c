import { describe, expect, test } from "bun:test";
import { address, createSystem, defineProtocol, Type } from "envoi";
import { drop, mask, redact, replace } from "../../src/record/transforms/transform";
import { Opaque, readValue } from "../../src/record/values/read-value";
import { ValueWriter, type ValueWriterOptions } from "../../src/record/values/value-writer";

const PLACE = { address: "@(users/7)", operation: "login", part: "payload" } as const;
const REDACTED = /^redacted:[\w-]{22}$/;

function written(value: unknown, options: ValueWriterOptions = {}, place: Partial<typeof PLACE> | object = {}): string {
  return new ValueWriter({ key: "k", ...options }).text(value, { ...PLACE, ...place });
}
const read = (value: unknown, options?: ValueWriterOptions): unknown => readValue(JSON.parse(written(value, options)));

describe("values come back", () => {
  test.each([
    [{ name: "Ada", list: [1, 2.5, -3, true, null], at: "12:30", note: 'a "b" \\ \n \u2028 \ud800' }],
    [{ a: undefined, b: [undefined, 1] }],
    [12n],
    [Number.NaN],
    [{ n: [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0] }],
    [new Date(1_700_000_000_000)],
    [new Map<unknown, unknown>([["a", 1], [{ b: 2 }, new Map([["c", 3n]])]])], // biome-ignore format: one line
    [new Set(["a", 1, new Date(0)])],
    [{ $undefined: true, $x: { $$y: 1 }, $map: [] }],
    [JSON.parse('{"__proto__":{"a":1},"b":2}')],
    [JSON.parse('{"__proto__":{"__proto__":3}}')],
    [
      {
        tokens: 12,
        maxTokens: 4096,
        usage: { tokens: { input: 1 } },
        progressToken: "p-1",
        nextPageToken: "eyJpZCI6MX0",
      },
    ],
    [{ required: ["password", "email"], type: "object" }],
    [{ password: true, token: null, secret: "", apiKey: undefined }],
    [{ text: "the token count is 12; see https://example.com/a?b=c#d", credentials: "include" }],
    [{ code: "function login(password: string, token = getToken()) { return process.env.SECRET; }" }],
    [
      {
        id: "0192c3a4-7b10-7cc3-98c5-1b2a3c4d5e6f",
        sha: "d41d8cd98f00b204e9800998ecf8427e",
        nano: "V1StGXR8_Z5jdHi6B-myT",
      },
    ],
    [{ error: "Basic usage: a bearer of news, tasks-force-majeure-something" }],
  ])("%#", (value) => {
    expect(read(value)).toEqual(value as never);
    expect(read([{ value }])).toEqual([{ value }] as never);
  });

  test("errors come back with their fields and causes", () => {
    const error = Object.assign(new TypeError("broken", { cause: new Error("inner") }), { code: "E1" });
    const again = read({ error }) as { error: Error & { code: string } };
    expect(again.error).toBeInstanceOf(Error);
    expect([again.error.name, again.error.message, again.error.code]).toEqual(["TypeError", "broken", "E1"]);
    expect((again.error.cause as Error).message).toBe("inner");
  });

  test("the error of a handler is an object with a message", () => {
    const error = (thrown: unknown, options?: ValueWriterOptions): unknown =>
      JSON.parse(written(thrown, options, { part: "error" }));
    expect(error(new TypeError("broken"))).toEqual({ message: "broken", name: "TypeError", stack: expect.any(String) });
    expect(error("broken")).toEqual({ message: "broken" });
    expect(error({ password: "hunter2" })).toEqual({
      message: "Something else than an error was thrown: object.",
      value: { password: expect.stringMatching(REDACTED) },
    });
    expect(error(undefined)).toMatchObject({ message: "Something else than an error was thrown: undefined." });
    const transforms = [drop("error.stack"), replace("error.message", 7)];
    expect(error(new Error("broken"), { transforms })).toEqual({ message: "7", name: "Error" });
    expect(error(new Error("broken"), { transforms: [redact("error")] })).toEqual({
      message: expect.stringMatching(REDACTED),
    });
    expect(error(new Error("broken"), { transforms: [drop("error")] })).toEqual({ message: "" });
  });

  test("a reference is its address", async () => {
    await using system = createSystem();
    const Counter = defineProtocol("counter", { add: { payload: Type.Number() } });
    const ref = system.spawn("counter", Counter, () => ({ add() {} }));
    expect(written({ ref })).toBe(`{"ref":{"$ref":"${ref.address}"}}`);
    expect(read({ ref })).toEqual({ ref: address("counter") });
  });

  test("what JSON cannot hold is told by its kind, size and hash", () => {
    const values = read([
      () => 1,
      Symbol("a"),
      new Uint8Array(3),
      "x".repeat(70_000),
      new Blob(["abc"]),
      Promise.resolve(),
    ]);
    expect((values as Opaque[]).map(({ kind, type, bytes }) => [kind, type, bytes])).toEqual([
      ["unwritable", "function", undefined],
      ["unwritable", "symbol", undefined],
      ["binary", "Uint8Array", 3],
      ["large", "text", 70_000],
      ["binary", "Blob", 3],
      ["unwritable", "Promise", undefined],
    ]);
  });

  test("a value that is too large as a whole is told by size and hash", () => {
    const list = Array.from({ length: 100 }, () => "y".repeat(100));
    const text = written({ list }, { limits: { value: 1_000 } });
    expect(JSON.parse(text)).toEqual({ $large: { bytes: 10_310, sha256: expect.any(String), type: "object" } });
    expect(readValue(JSON.parse(text))).toBeInstanceOf(Opaque);
  });

  test("a long list is told by size and hash, also beside transforms that find nothing in it", () => {
    const list = Array.from({ length: 1_000 }, (_, index) => ({ id: index, note: "y".repeat(20) }));
    const text = written(list, { limits: { value: 20_000 } });
    const { $large } = JSON.parse(text);
    expect($large).toEqual({ bytes: JSON.stringify(list).length, sha256: expect.any(String), type: "list" });
    expect(written(list, { limits: { value: 20_000 }, transforms: [redact("**.email")] })).toBe(text);
  });

  test.each([
    ["dropped", drop("payload[*].note")],
    ["replaced inside of a text of JSON", replace("payload[*].note.a", "")],
    ["masked", mask("**.note", { keep: 0 })],
  ])("a long list is written where it is short once a part of each item is %s", (_, transform) => {
    const note = JSON.stringify({ a: "y".repeat(40) });
    const list = Array.from({ length: 1_000 }, (_, index) => ({ id: index, note }));
    const text = written(list, { limits: { value: 32_000 }, transforms: [transform] });
    expect(JSON.parse(text)).toHaveLength(1_000);
    expect(text).not.toContain("yy");
  });

  test("a long list is written where it is long by texts alone that are told by their hashes", () => {
    const list = Array.from({ length: 100 }, (_, index) => (index < 64 ? "y".repeat(500) : "z".repeat(1_100)));
    const text = written(list, { limits: { value: 45_000, text: 1_000 } });
    expect(JSON.parse(text)).toHaveLength(100);
  });
});

describe("nothing that is hostile throws, runs away or breaks the line", () => {
  const circle: Record<string, unknown> = { a: 1 };
  circle["self"] = circle;
  const deep = (() => {
    let value: unknown = 1;
    for (let depth = 0; depth < 10_000; depth++) value = [value];
    return value;
  })();
  const wide = (() => {
    let value: unknown = ["leaf"];
    for (let depth = 0; depth < 40; depth++) value = [value, value];
    return value;
  })();
  const endless = { toJSON: (): unknown => ({ toJSON: endless.toJSON, next: { toJSON: endless.toJSON } }) };
  const refuses = new Proxy({}, { get: () => { throw new Error("no"); }, ownKeys: () => { throw new Error("no"); }, getPrototypeOf: () => { throw new Error("no"); } }); // biome-ignore format: short
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  const long = new Proxy([], { get: (_, key) => (key === "length" ? 4_294_967_295 : 1) });
  class OddSet extends Set {
    override *[Symbol.iterator](): SetIterator<unknown> {
      for (;;) yield 1;
    }
  }
  test.each([
    ["a circle", circle],
    ["deep nesting", deep],
    ["one list many times", wide],
    ["toJSON without an end", endless],
    ["toJSON that throws", { toJSON: () => { throw 1; } }], // biome-ignore format: short
    ["toJSON that gives itself", new (class { a = 1; toJSON() { return this; } })()], // biome-ignore format: short
    ["a getter that throws", { get a() { throw new Error("no"); }, b: 2 }], // biome-ignore format: short
    ["a proxy that refuses", { a: refuses, b: 1 }],
    ["a revoked proxy", [revoked, 1]],
    ["a proxy that says it is long", long],
    ["a set without an end", new OddSet([1])],
    ["an error whose message throws", Object.defineProperty(new Error("a"), "message", { get() { throw 1; } })], // biome-ignore format: short
    ["an invalid date", new Date(Number.NaN)],
    ["an address that throws", { get address() { throw 1; }, toJSON: 1, __proto__: {} }], // biome-ignore format: short
  ])("%s", (_, value) => {
    for (const part of ["payload", "error"]) {
      const text = written(value, {}, { part });
      if (part === "error") expect(JSON.parse(text).message).toBeString();
      expect(text).not.toInclude("\n");
      expect(JSON.parse(text)).toBeDefined();
      readValue(JSON.parse(text));
      expect(text.length).toBeLessThan(1_100_000);
      expect(JSON.parse(written({ password: value }, { transforms: [redact("payload.x")] })).password).toMatch(
        REDACTED,
      );
    }
  });

  test("a getter that throws leaves the rest readable", () => {
    const value = { get a(): number { throw new Error("no"); }, b: 2 }; // biome-ignore format: short
    expect(JSON.parse(written(value))).toEqual({ a: { $unwritable: "getter" }, b: 2 });
  });
});

describe("transforms", () => {
  const user = { user: { email: "a@b.c", card: "4242424242424242", age: 41, tags: [{ t: "x" }, { t: "y" }] } };

  test("redact: a keyed hash, equal for equal values of one key", () => {
    const transforms = [redact("payload.user.email"), redact("payload.user.age")];
    const { email, age } = JSON.parse(written(user, { transforms })).user;
    expect(email).toMatch(REDACTED);
    expect(age).toMatch(REDACTED);
    expect(JSON.parse(written(user, { transforms })).user.email).toBe(email);
    expect(JSON.parse(written(user, { transforms, key: "other" })).user.email).not.toBe(email);
    expect(JSON.parse(written(user, { transforms, key: undefined })).user.email).not.toBe(email);
  });

  test("mask: the last characters, and no more than a quarter", () => {
    const masked = (card: unknown, keep?: number): unknown =>
      JSON.parse(written({ card }, { transforms: [mask("payload.card", keep === undefined ? {} : { keep })] })).card;
    expect(masked("4242424242424242")).toBe("***4242");
    expect(masked("12345678")).toBe("***78");
    expect(masked("123")).toBe("***");
    expect(masked(4242424242424242, 2)).toBe("***42");
    expect(masked("4242424242424242", 100)).toBe("***4242");
    expect(masked({ number: "4242424242424242" })).toMatch(REDACTED);
  });

  test("replace and drop", () => {
    const transforms = [
      replace("payload.user.email", "x@y.z"),
      replace("payload.user.age", (age) => Math.floor(Number(age) / 10) * 10),
      drop("payload.user.tags[0]"),
      drop("payload.user.card"),
    ];
    expect(JSON.parse(written(user, { transforms }))).toEqual({
      user: { email: "x@y.z", age: 40, tags: [{ t: "y" }] },
    });
    expect(written(user, { transforms: [drop("payload")] })).toBe('{"$undefined":true}');
    const throws = replace("**.email", () => { throw new Error("no"); }); // biome-ignore format: short
    expect(JSON.parse(written(user, { transforms: [throws] })).user.email).toMatch(REDACTED);
  });

  test("what replace gives goes through the other transforms and the defaults", () => {
    const value = {
      email: "ada@b.c",
      password: "hunter2",
      headers: { authorization: "Bearer abcdef0hijkl" },
      text: "Bearer abcdef0hijkl",
    };
    const hidden = { email: expect.stringMatching(REDACTED), password: expect.stringMatching(REDACTED) };
    const own = redact("payload.email");
    for (const path of ["payload", "*", "**"]) {
      for (const transforms of [
        [own, replace(path, (each) => each)],
        [own, replace("payload", () => ({ ...value }))],
      ]) {
        const text = written(value, { transforms });
        expect(JSON.parse(text)).toMatchObject({
          ...hidden,
          headers: { authorization: expect.stringMatching(REDACTED) },
        });
        expect(text).not.toMatch(/ada@|hunter2|abcdef0hijkl/);
      }
    }
    const error = written(new Error("hunter2", { cause: { password: "hunter2" } }), { transforms: [replace("error", (each) => each)] }, { part: "error" }); // biome-ignore format: short
    expect(error).toContain("redacted:");
  });

  test("replace decides for a place that its path names, and does not change its own result again", () => {
    const tokens = { transforms: [replace("payload.token", "t-1"), replace("**.name", (name) => ({ name }))] };
    expect(JSON.parse(written({ token: "secret", name: "Ada" }, tokens))).toEqual({
      token: "t-1",
      name: { name: "Ada" },
    });
    const any = { transforms: [replace("payload.*", () => "t-1")] };
    expect(JSON.parse(written({ token: "secret", name: "Ada" }, any))).toEqual({
      token: expect.stringMatching(REDACTED),
      name: "t-1",
    });
  });

  test("of several for one place, the first one counts", () => {
    const first = { transforms: [replace("payload.email", (each) => each), redact("payload.email")] };
    expect(JSON.parse(written({ email: "ada@b.c" }, first))).toEqual({ email: "ada@b.c" });
    const other = { transforms: first.transforms.toReversed() };
    expect(JSON.parse(written({ email: "ada@b.c" }, other))).toEqual({ email: expect.stringMatching(REDACTED) });
  });

  test("paths lead into texts of JSON", () => {
    const inner = { ssn: "078", list: [{ ssn: 7, ok: 1 }], $date: "x", text: JSON.stringify({ ssn: "078" }), gone: 1 };
    const transforms = [redact("**.ssn"), drop("payload.body.gone"), replace("**.ok", 2)];
    const text = written({ body: JSON.stringify(inner), other: "{no json", plain: '{"a":1}' }, { transforms });
    expect(text).not.toContain("078");
    const { body, other, plain } = JSON.parse(text);
    expect({ other, plain }).toEqual({ other: "{no json", plain: '{"a":1}' });
    const hash = expect.stringMatching(REDACTED);
    expect(JSON.parse(body)).toEqual({ ssn: hash, list: [{ ssn: hash, ok: 2 }], $date: "x", text: expect.any(String) });
    expect(JSON.parse(JSON.parse(body).text)).toEqual({ ssn: hash });
    let layers: unknown = { ssn: "078" };
    for (let layer = 0; layer < 6; layer++) layers = JSON.stringify([layers]);
    expect(written(layers, { transforms })).not.toContain("078");
    const failed = written(new Error(JSON.stringify(inner)), { transforms }, { part: "error" });
    expect(failed).not.toContain("078");
    const deep = `${"[".repeat(200)}{"ssn":"078"}${"]".repeat(200)}`;
    expect(JSON.parse(written({ deep }, { transforms })).deep).toMatch(REDACTED);
  });

  test.each<[string, number]>([
    ["payload.user.email", 1],
    ["*.user.email", 1],
    ["reply.user.email", 0],
    ["payload.*.email", 1],
    ["**.email", 1],
    ["*.user.tags[*].t", 2],
    ["*.user.tags.*.t", 2],
    ["*.user.tags[1].t", 1],
    ['payload["user"].ca*', 1],
    ["*.user.**.t", 2],
    ["*.user.**.**.**.t", 2],
    ["*.user.tags[*].x", 0],
  ])("the path %s finds %i values", (path, found) => {
    const seen: string[] = [];
    const note = replace(path, (value) => {
      if (typeof value === "object") return value;
      seen.push("seen");
      return value;
    });
    const text = written(user, { transforms: [note] });
    expect(seen.length).toBe(found);
    expect(readValue(JSON.parse(text))).toEqual(user);
  });

  test("they are limited by actor, operation and part", () => {
    const email = (scope: object, place: object = {}): unknown =>
      JSON.parse(written({ email: "a" }, { transforms: [redact("*.email", scope)] }, place)).email;
    expect(email({ actor: "@(users/*)" })).toMatch(REDACTED);
    expect(email({ actor: "@(others/*)" })).toBe("a");
    expect(email({ operation: "log*" })).toMatch(REDACTED);
    expect(email({ operation: "out" })).toBe("a");
    expect(email({ part: "reply" })).toBe("a");
    expect(email({ actor: "@(pool)" }, { pool: "@(pool)" })).toMatch(REDACTED);
    expect(email({ actor: "@(pool)" }, { pool: "@(others)" })).toBe("a");
    expect(String(redact("*.email", { actor: "@(a)", operation: "b", part: "reply" }))).toBe(
      "redact *.email of @(a) b reply",
    );
    expect(email({ part: "reply" }, { part: "reply" })).toMatch(REDACTED);
  });

  test("keys of maps and header fields are steps of a path", () => {
    const value = { headers: new Headers({ "x-a": "1" }), map: new Map([["a", "1"]]) };
    const text = written(value, { transforms: [redact("*.headers.*"), drop("*.map.a")] });
    expect(JSON.parse(text)).toEqual({
      headers: { $map: [["x-a", expect.stringMatching(REDACTED)]] },
      map: { $map: [] },
    });
  });

  test.each(["", ".a", "a..b", "a[", "a]b", 'a["b]', 7, undefined])("the path %p is refused", (path) => {
    expect(() => redact(path as string)).toThrow("A path of a transform");
  });

  test.each([
    ["payloads.email", 'write "payload.email"'],
    ["replly", 'write "reply"'],
    ["items[*].id", 'write "item[*].id"'],
    ["headers.*", 'write "*.headers.*" or "**.headers.*"'],
    ["x*.a", 'write "*.x*.a" or "**.x*.a"'],
  ])("a path begins with a part: %s is refused", (path, sentence) => {
    expect(() => redact(path)).toThrow("A path of a transform begins with payload, reply,");
    expect(() => redact(path)).toThrow(sentence);
  });

  test("invalid options are refused", () => {
    expect(() => redact("payload.a", { part: "body" as never })).toThrow("The part of");
    expect(() => redact("payload.a", { actor: "" })).toThrow("The actor of");
    expect(() => redact("payload.a", null as never)).toThrow("is limited by { actor, operation, part }; got null");
    for (const keep of [-1, 1.5]) expect(() => mask("payload.a", { keep })).toThrow("The keep of");
    expect(() => redact("payload.a", { operation: 7 as never })).toThrow("The operation of");
    expect(() => new ValueWriter({ limits: { depth: 201 } })).toThrow("is at most 200; got 201");
    expect(() => new ValueWriter({ keep: ["all" as never] })).toThrow("keep names defaults");
    expect(() => new ValueWriter({ key: "" })).toThrow("not empty");
    expect(() => new ValueWriter({ limits: { text: 0 } })).toThrow("The text of the limits of a recording");
  });
});
