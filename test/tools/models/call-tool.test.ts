import { describe, expect, test } from "bun:test";
import { Volume } from "memfs";
import { createSystem, defineProtocol, expose, Type } from "../../../src";
import { spawnFileSystem, toolsFor } from "../../../src/tools";

const Shop = defineProtocol("shop", {
  price: {
    payload: Type.Object({ name: Type.String(), count: Type.Optional(Type.Integer({ minimum: 1 })) }),
    reply: Type.Number(),
  },
  text: { payload: Type.String({ maxLength: 5 }), reply: Type.String() },
  maybe: { payload: Type.Union([Type.Object({ a: Type.Integer() }), Type.Undefined()]), reply: Type.Unknown() },
  note: { payload: Type.Object({ text: Type.String() }) },
  fail: { payload: Type.Object({ told: Type.Boolean() }), reply: Type.String() },
  who: { reply: Type.Unknown() },
  wait: { reply: Type.String() },
  count: { payload: Type.Object({ to: Type.Integer() }), stream: Type.Integer() },
  texts: { payload: Type.Object({ length: Type.Integer() }), stream: Type.String() },
  many: { payload: Type.Object({ list: Type.Array(Type.Integer()) }), reply: Type.String() },
});

/** The number of times that an operation's schema checked a payload. */
let validated = 0;
const counted = defineProtocol("counted", {
  take: {
    payload: Type.Refine(
      Type.Object({ a: Type.Integer() }),
      () => ++validated > 0,
      () => "is counted",
    ),
    reply: Type.Integer(),
  },
});

function shop(options = {}) {
  const system = createSystem({ logger: { warn() {}, error() {} } });
  const notes: string[] = [];
  const ref = system.spawn("shop", Shop, (ctx) => ({
    price: ({ name, count = 1 }) => name.length * count,
    text: (text) => text.toUpperCase(),
    maybe: (given) => given ?? "nothing",
    note: ({ text }) => void notes.push(text),
    fail({ told }) {
      const error = new Error("the secret of /home/owner");
      throw told ? expose(new Error("There is no such city.")) : error;
    },
    who: () => ctx.metadata,
    wait: () => new Promise<never>(() => {}),
    *count({ to }) {
      for (let at = 1; at <= to; at++) yield at;
    },
    *texts({ length }) {
      for (;;) yield "a".repeat(length);
    },
    many: () => "",
  }));
  return { notes, ...toolsFor({ shop: ref }, { format: "openai", ...options }) };
}

/** The value of a call, or its error. */
const of = async (called: ReturnType<ReturnType<typeof shop>["callTool"]>): Promise<unknown> => {
  const result = await called;
  return result.isOk() ? { value: result.value } : result.error;
};

describe("arguments", () => {
  test("are a JSON text, or what was parsed of one", async () => {
    const { callTool } = shop();
    expect(await of(callTool("shop_price", '{"name":"tea","count":2}'))).toEqual({ value: 6 });
    expect(await of(callTool("shop_price", { name: "tea" }))).toEqual({ value: 3 });
    expect(await of(callTool("shop_text", { input: "tea" }))).toEqual({ value: "TEA" });
    expect(await of(callTool("shop_text", '{"input":"tea"}'))).toEqual({ value: "TEA" });
  });

  test("none are an empty text, null, or an empty object", async () => {
    const { callTool } = shop();
    for (const none of ["", " ", "null", "{}", null, undefined, {}]) {
      expect(await of(callTool("shop_who", none))).toEqual({ value: {} });
      expect(await of(callTool("shop_maybe", none))).toEqual({ value: "nothing" });
    }
    expect(await of(callTool("shop_maybe", { a: 1 }))).toEqual({ value: { a: 1 } });
  });

  test("P18: are validated once, and what does not fit is told for a model to read", async () => {
    const { callTool } = shop();
    expect(await of(callTool("shop_price", { name: 7, count: 0 }))).toEqual({
      kind: "invalid-arguments",
      message: expect.stringMatching(/^"price" refuses its arguments: .*\/name .*\/count /),
      issues: [
        { path: "/name", message: expect.any(String) },
        { path: "/count", message: expect.any(String) },
      ],
    });
    expect(await of(callTool("shop_text", { input: "too long" }))).toMatchObject({ issues: [{ path: "/input" }] });
    expect(await of(callTool("shop_text", { text: "a" }))).toMatchObject({ issues: [{ path: "/input" }] });
    const many = await of(callTool("shop_many", { list: Array(1_000).fill("a") }));
    expect((many as { issues: unknown[] }).issues.length).toBe(8);

    const system = createSystem();
    const ref = system.spawn("counted", counted, () => ({ take: ({ a }) => a }));
    const tools = toolsFor({ counted: ref }, { format: "anthropic" });
    const before = validated;
    expect(await of(tools.callTool("counted_take", { a: 1 }))).toEqual({ value: 1 });
    expect(validated).toBe(before + 1);
  });

  test.each([
    ["no JSON", "{name:'tea'}"],
    ["cut off", '{"name":"te'],
    ["a list", "[]"],
    ["a parsed list", []],
    ["a text of JSON", '"tea"'],
    ["a number", 7],
    ["a function", () => 7],
    ["a key __proto__", '{"name":"tea","__proto__":{"isAdmin":true}}'],
    ["a deep key __proto__", '{"name":"tea","more":[{"a":{"__proto__":1}}]}'],
    ["a key __proto__ by an escape", '{"name":"tea","\\u005f_proto__":1}'],
    ["deep nesting", `{"name":"tea","more":${"[".repeat(200)}${"]".repeat(200)}}`],
    ["very deep nesting", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`],
    ["too many letters", JSON.stringify({ name: "a".repeat(1_100_000) })],
    ["too many parsed letters", { name: "tea", more: "a".repeat(1_100_000) }],
    ["too many values", { name: "tea", more: Array(200_000).fill(0) }],
  ])("%s: refused, and not handled", async (_, args) => {
    const { callTool } = shop();
    expect(await of(callTool("shop_price", args))).toMatchObject({ kind: "invalid-arguments" });
  });

  test("a value that leads to itself is refused", async () => {
    const circle: Record<string, unknown> = { name: "tea" };
    circle["more"] = circle;
    expect(await of(shop().callTool("shop_price", circle))).toMatchObject({ kind: "invalid-arguments" });
  });

  test("an input under another name is refused, and not left out in silence", async () => {
    const Shouts = defineProtocol("shouts", {
      shout: { payload: Type.Union([Type.String(), Type.Undefined()]), reply: Type.String() },
    });
    const system = createSystem();
    const ref = system.spawn("shouts", Shouts, () => ({ shout: (text) => `${text ?? "hey"}!` }));
    const { callTool } = toolsFor({ shouts: ref }, { format: "openai" });
    expect(await of(callTool("shouts_shout", '{"inptu":"tea"}'))).toMatchObject({
      kind: "invalid-arguments",
      message: expect.stringContaining('"input"'),
    });
    expect(await of(callTool("shouts_shout", '{"input":"tea"}'))).toEqual({ value: "tea!" });
    expect(await of(callTool("shouts_shout", "{}"))).toEqual({ value: "hey!" });
  });

  test.each(["", "shop", "shop_", "shop_destroy", "price", "constructor", "__proto__", "toString", 7, null, {}])(
    "no tool is named %j",
    async (name) => {
      expect(await of(shop().callTool(name as string, {}))).toMatchObject({
        kind: "unknown-tool",
        message: expect.stringContaining("shop_price"),
      });
    },
  );
});

describe("results", () => {
  test("an operation without a reply gives null", async () => {
    const { callTool, notes } = shop();
    expect(await of(callTool("shop_note", { text: "hello" }))).toEqual({ value: null });
    expect(notes).toEqual(["hello"]);
  });

  test("a handler that throws is told without a word of its inside; what it exposes is told", async () => {
    const { callTool } = shop();
    const failed = await of(callTool("shop_fail", { told: false }));
    expect(failed).toEqual({ kind: "handler-failed", message: expect.any(String) });
    expect(JSON.stringify(failed)).not.toMatch(/secret|home|\.ts/);
    expect(await of(callTool("shop_fail", { told: true }))).toMatchObject({ message: "There is no such city." });
  });

  test("an error of the tool's own is told by its kind and its sentence, and whole", async () => {
    const files = spawnFileSystem(createSystem(), { root: "/", volume: Volume.fromJSON({ "/a.txt": "hello" }, "/") });
    const { callTool } = toolsFor({ files: { ref: files, operations: ["read", "search"] } }, { format: "openai" });
    expect(await of(callTool("files_read", '{"path":"a.txt"}'))).toMatchObject({ value: { content: "hello" } });
    expect(await of(callTool("files_read", '{"path":"../etc/passwd"}'))).toEqual({
      kind: "outside-root",
      message: expect.any(String),
      details: expect.objectContaining({ kind: "outside-root", path: "../etc/passwd" }),
    });
    expect(await of(callTool("files_search", { text: "hello", path: "../etc" }))).toMatchObject({
      kind: "outside-root",
    });
  });

  test("a time that is up, and a call that is given up, are told", async () => {
    const { callTool } = shop();
    expect(await of(callTool("shop_wait", {}, { timeout: 1 }))).toMatchObject({ kind: "timeout" });
    const gone = new AbortController();
    const waiting = of(callTool("shop_wait", {}, { signal: gone.signal }));
    gone.abort(new Error("the secret of the caller"));
    expect(await waiting).toEqual({ kind: "cancelled", message: expect.not.stringContaining("secret") });
  });

  test("metadata of the tools and of a call travels along", async () => {
    const { callTool } = shop({ metadata: { user: "Ada" } });
    expect(await of(callTool("shop_who", {}))).toEqual({ value: { user: "Ada" } });
    expect(await of(callTool("shop_who", {}, { metadata: { turn: 1 } }))).toMatchObject({ value: { turn: 1 } });
  });

  test("an option that cannot be one is the caller's mistake", async () => {
    const { callTool } = shop();
    await expect(callTool("shop_who", {}, { timeout: -1 })).rejects.toThrow("timeout");
    await expect(callTool("shop_count", { to: 1 }, { maxItems: 0 })).rejects.toThrow("maxItems");
  });
});

describe("streams", () => {
  test("give the list of their items", async () => {
    const { callTool } = shop();
    expect(await of(callTool("shop_count", { to: 3 }))).toEqual({ value: { items: [1, 2, 3], isComplete: true } });
    expect(await of(callTool("shop_count", { to: 3 }, { maxItems: 3 }))).toEqual({
      value: { items: [1, 2, 3], isComplete: true },
    });
    expect(await of(callTool("shop_count", { to: "3" }))).toMatchObject({
      kind: "invalid-arguments",
      issues: [{ path: "/to" }],
    });
  });

  test("P18: an item that JSON cannot hold is an error with what to do, and no garbage", async () => {
    const system = createSystem({ logger: { warn() {}, error() {} } });
    const files = spawnFileSystem(system, { root: "/files", volume: Volume.fromJSON({ "/files/a.txt": "one" }) });
    const { callTool } = toolsFor({ files: { ref: files, operations: ["readStream"] } }, { format: "openai" });
    const refused = await of(callTool("files_readStream", { path: "a.txt" }));
    expect(refused).toMatchObject({ kind: "handler-failed", message: expect.stringContaining("such as an encoding") });
    expect(await of(callTool("files_readStream", { path: "a.txt", encoding: "utf8" }))).toEqual({
      value: { items: ["one"], isComplete: true },
    });
    await system.shutdown();
  });

  test("one without an end is cut, in number and in letters", async () => {
    const { callTool } = shop();
    expect(await of(callTool("shop_count", { to: 1e9 }, { maxItems: 2 }))).toEqual({
      value: { items: [1, 2], isComplete: false },
    });
    const texts = await of(callTool("shop_texts", { length: 300_000 }, { maxItems: 1_000_000 }));
    expect(texts).toEqual({ value: { items: Array(3).fill("a".repeat(300_000)), isComplete: false } });
  });
});
