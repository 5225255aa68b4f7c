import { describe, expect, test } from "bun:test";
import { Volume } from "memfs";
import { defineProtocol, type StandardSchemaV1, Type } from "../../src/index";
import { serveMcp } from "../../src/mcp/index";
import { outcomeSchema, spawnFileSystem } from "../../src/tools/index";
import { testSystems } from "../actor/test-system";
import { aborted, call, createDesk, Desk, eventsIn, refused, requestOf, SECRET, send, serveDesk, settle } from "./desk";

const { createTestSystem } = testSystems();

/** Lets a time pass, and what it brings go on. */
async function pass(clock: { advance(time: number): Promise<void> }, time: number): Promise<void> {
  for (let passed = 0; passed < time; passed += 50) {
    await settle();
    await clock.advance(50);
  }
}

const text = (said: string) => [{ type: "text", text: said }];

describe("a call of a tool", () => {
  test("gives the reply as JSON text and as structured content", async () => {
    const mcp = await serveDesk(createTestSystem().system);
    expect(await call(mcp, "desk_add", { a: 2, b: 3 })).toMatchObject({
      content: text('{"sum":5}'),
      structuredContent: { sum: 5 },
    });
    expect(await call(mcp, "desk_total")).toMatchObject({ content: text("5"), structuredContent: { value: 5 } });
  });

  test("takes and gives what is no object as value, and a text as it is", async () => {
    const mcp = await serveDesk(createTestSystem().system);
    expect(await call(mcp, "desk_double", { value: 4 })).toMatchObject({ structuredContent: { value: 8 } });
    expect(await call(mcp, "desk_shout", { value: "tea" })).toMatchObject({
      content: text("tea!"),
      structuredContent: { value: "tea!" },
    });
    expect(await call(mcp, "desk_shout")).toMatchObject({ content: text("hey!") });
    expect(await call(mcp, "desk_shout", {})).toMatchObject({ content: text("hey!") });
  });

  test("of an operation without a reply says that it is done", async () => {
    const mcp = await serveDesk(createTestSystem().system);
    const result = await call(mcp, "desk_reset");
    expect([result.content, result.structuredContent, result.isError]).toEqual([text("done"), undefined, undefined]);
  });

  test("gives parts for a model as they are", async () => {
    const mcp = await serveDesk(createTestSystem().system);
    const { content, structuredContent } = await call(mcp, "desk_picture");
    expect(content).toMatchObject([{ type: "text" }, { type: "image", data: "aGVsbG8=", mimeType: "image/png" }]);
    expect(structuredContent).toBeUndefined();
  });

  test("gives the value of a good outcome, and the error of a bad one as an error", async () => {
    const mcp = await serveDesk(createTestSystem().system);
    expect(await call(mcp, "desk_find", { id: 7 })).toMatchObject({ structuredContent: { found: "seven" } });
    expect(await refused(mcp, "desk_find", { name: "eight" })).toBe(
      '{"kind":"missing","message":"There is no such thing."}',
    );
  });

  test("reads a stream, up to a number of items", async () => {
    const mcp = await serveDesk(createTestSystem().system, { limits: { items: 3 } });
    expect(await call(mcp, "desk_count", { to: 3 })).toMatchObject({
      structuredContent: { items: [1, 2, 3], isComplete: true },
    });
    expect(await call(mcp, "desk_count", { to: 1_000_000 })).toMatchObject({
      structuredContent: { items: [1, 2, 3], isComplete: false },
    });
    expect(await refused(mcp, "desk_lines")).toBe('{"message":"The paper is out."}');
  });

  test("P18: is validated once", async () => {
    const { system } = createTestSystem();
    let looked = 0;
    const schema: StandardSchemaV1<{ n: number }> = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value) => {
          looked++;
          return { value: value as { n: number } };
        },
      },
    };
    const Counted = defineProtocol("counted", {
      take: { payload: schema, reply: Type.Number(), schema: { payload: { type: "object" } } },
    });
    const ref = system.spawn("counted", Counted, () => ({ take: ({ n }) => n }));
    const mcp = await serveMcp(system, { name: "c", version: "1", expose: { counted: { ref, operations: ["take"] } } });
    looked = 0;
    expect(await call(mcp, "counted_take", { n: 3 })).toMatchObject({ structuredContent: { value: 3 } });
    expect(looked).toBe(1);
  });
});

describe("P18: a call that comes to nothing", () => {
  test("of a tool that was not listed, or of a name that each object has, is no tool", async () => {
    const mcp = await serveDesk(createTestSystem().system);
    for (const name of ["desk_secret", "secret", "constructor", "__proto__", "toString", "", "desk_add "]) {
      const { error } = await send(mcp, "tools/call", { name, arguments: {} }, { headers: { "mcp-name": name } });
      expect([name, error?.code]).toEqual([name, name.trim() === name && name !== "" ? -32_602 : expect.any(Number)]);
    }
  });

  test.each([
    ["desk_add", { a: 1 }, /^invalid-payload: "add" has a payload that is refused: \/b is required/],
    ["desk_add", { a: 1, b: "2" }, /\/b must be a number/],
    ["desk_double", {}, /^invalid-payload/],
    ["desk_double", { value: "4" }, /must be a number/],
    ["desk_double", { value: 4, more: 5 }, /takes one argument, named value/],
    ["desk_total", { a: 1 }, /takes no arguments/],
    ["desk_tree", { name: "a", below: [{ name: 1, below: [] }] }, /\/below\/0\/name/],
  ])("with arguments that do not fit (%s %j) tells the model how to mend it", async (name, args, sentence) => {
    const mcp = await serveDesk(createTestSystem().system);
    expect(await refused(mcp, name, args)).toMatch(sentence);
  });

  test("with arguments that are no object is refused by the protocol", async () => {
    const mcp = await serveDesk(createTestSystem().system);
    for (const args of [[1], "text", 3, null]) {
      expect((await send(mcp, "tools/call", { name: "desk_add", arguments: args })).error?.code).toBe(-32_602);
    }
  });

  test("tells nothing of what a handler threw, and the log has it", async () => {
    const test = createTestSystem();
    const mcp = await serveDesk(test.system);
    expect(await refused(mcp, "desk_fail")).toBe('handler-failed: "fail" failed in its handler.');
    expect(JSON.stringify(test.takeLog().map(({ message }) => message))).toContain(SECRET);
  });

  test("ends by its limit of time", async () => {
    const { system, clock } = createTestSystem();
    const mcp = await serveDesk(system, { limits: { time: 500 } });
    const late = refused(mcp, "desk_never");
    await settle();
    await clock.advance(500);
    expect(await late).toMatch(/^timeout: "never" got no reply within 500 ms/);
  });

  test("gives a result that JSON cannot write as a failure", async () => {
    const test = createTestSystem();
    const mcp = await serveDesk(test.system);
    expect(await refused(mcp, "desk_odd")).toMatch(/^handler-failed: The result cannot be written as JSON/);
    expect(test.takeLog()).toHaveLength(1);
  });

  const circle: unknown[] = [];
  circle.push(circle);
  test.each([
    ["bytes", new Uint8Array([104, 105])],
    ["bytes within", { content: new Uint8Array(2) }],
    ["a bigint", [10n]],
    ["a circle", circle],
    ["a function", { run() {} }],
    ["a map", new Map([[1, 2]])],
    ["no number", { n: Number.NaN }],
  ])("gives a reply, an error and an item with %s as a failure, and the log says which part", async (_, value) => {
    const Odd = defineProtocol("odd", {
      reply: { reply: Type.Unknown() },
      error: { reply: outcomeSchema(Type.String(), Type.Unknown()) },
      items: { stream: Type.Unknown() },
    });
    const test = createTestSystem();
    const ref = test.system.spawn("odd", Odd, () => ({
      reply: () => value,
      error: () => ({ ok: false, error: value }),
      async *items() {
        yield 1;
        yield value;
      },
    }));
    const operations = Object.keys(Odd.operations);
    const mcp = await serveMcp(test.system, { name: "odd", version: "1", expose: { odd: { ref, operations } } });
    for (const operation of operations) {
      expect(await refused(mcp, `odd_${operation}`)).toMatch(/^handler-failed: The result cannot be written as JSON/);
      expect(test.takeLog()).toMatchObject([
        { details: { cause: { message: expect.stringContaining("JSON cannot") } } },
      ]);
    }
  });

  test("of a stream of bytes says what to do, and gives text to one that names an encoding", async () => {
    const test = createTestSystem();
    const volume = Volume.fromJSON({ "/files/a.txt": "one\ntwo" });
    const files = spawnFileSystem(test.system, { root: "/files", volume });
    const expose = { files: { ref: files, operations: ["readStream"] } };
    const mcp = await serveMcp(test.system, { name: "files", version: "1", expose });
    expect(await refused(mcp, "files_readStream", { path: "a.txt" })).toContain("such as an encoding, name that");
    expect(test.takeLog()).toHaveLength(1);
    expect(await call(mcp, "files_readStream", { path: "a.txt", encoding: "base64" })).toMatchObject({
      structuredContent: { items: [btoa("one\ntwo")], isComplete: true },
    });
  });

  test("is told to come back while too many run", async () => {
    const { system, clock } = createTestSystem();
    const mcp = await serveDesk(system, { limits: { calls: 2, time: 500 } });
    const running = [refused(mcp, "desk_never"), refused(mcp, "desk_never")];
    await settle();
    expect(await refused(mcp, "desk_total")).toMatch(/runs 2 calls already/);
    await clock.advance(500);
    await Promise.all(running);
    expect(await call(mcp, "desk_total")).toMatchObject({ structuredContent: { value: 0 } });
  });
});

test("P18: prompts and files are told to come back, too, while too many calls run; lists are not", async () => {
  const { system, clock } = createTestSystem();
  const greeter = system.spawn("greeter", Desk, createDesk);
  const volume = Volume.fromJSON({ "/notes/tea.md": "# Tea" });
  const mcp = await serveDesk(system, {
    limits: { calls: 1, time: 500 },
    prompts: { greet: { ref: greeter, operation: "greet" } },
    files: { notes: spawnFileSystem(system, { root: "/notes", volume }) },
  });
  const running = refused(mcp, "desk_never");
  await settle();
  const asked = [
    ["prompts/get", { name: "greet", arguments: { who: "Ada" } }],
    ["resources/read", { uri: "files://notes/tea.md" }],
    ["resources/list", {}],
  ] as const;
  for (const [method, params] of asked) {
    expect((await send(mcp, method, params)).error).toMatchObject({
      code: -32_603,
      message: expect.stringContaining("try again later"),
    });
  }
  for (const method of ["tools/list", "prompts/list", "resources/templates/list"]) {
    expect((await send(mcp, method)).error).toBeUndefined();
  }
  await clock.advance(500);
  await running;
  expect((await send(mcp, ...asked[0])).result).toMatchObject({ messages: [{ content: { text: "Hello, Ada" } }] });
});

describe("a call under way", () => {
  test("tells a client that listens how far it is, in numbers that grow", async () => {
    const { system, clock } = createTestSystem();
    const mcp = await serveDesk(system);
    const request = requestOf("tools/call", {
      name: "desk_work",
      arguments: { steps: 3 },
      _meta: { progressToken: "p" },
    });
    const answered = mcp.fetch(request);
    await pass(clock, 500);
    const response = await answered;
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = eventsIn(await response.text()) as { method?: string; params?: { progress: number } }[]; // Or answers.
    const progress = events.flatMap(({ method, params }) => (method === "notifications/progress" ? [params] : []));
    expect(progress).toEqual(
      [0, 1, 2, 3].map((step) => ({ progressToken: "p", progress: step, total: 3, message: `step ${step}` })),
    );
    expect(events.at(-1)).toMatchObject({ result: { content: text("done with it") } });
  });

  test("is silent to a client that does not listen", async () => {
    const { system, clock } = createTestSystem();
    const mcp = await serveDesk(system);
    const answered = call(mcp, "desk_work", { steps: 2 });
    await pass(clock, 500);
    expect(await answered).toMatchObject({ content: text("done with it") });
  });

  test("P7: is given up with its request", async () => {
    const mcp = await serveDesk(createTestSystem().system);
    aborted.length = 0;
    const client = new AbortController();
    const answered = mcp.fetch(requestOf("tools/call", { name: "desk_never" }, { signal: client.signal }));
    await settle();
    client.abort();
    await answered;
    await settle();
    expect(aborted).toEqual(["never"]);
  });

  test("P7: is given up when the server is closed", async () => {
    const mcp = await serveDesk(createTestSystem().system);
    aborted.length = 0;
    const answered = mcp.fetch(requestOf("tools/call", { name: "desk_never" }));
    await settle();
    await mcp.close();
    await answered;
    await settle();
    expect(aborted).toEqual(["never"]);
    expect((await mcp.fetch(requestOf("tools/list"))).status).toBe(503);
  });
});

test("nothing of a call grows with the number of tools: its tool is looked up by name, and the others are not looked at", async () => {
  const { system } = createTestSystem();
  const Many = defineProtocol(
    "many",
    Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`op${n}`, { reply: Type.Number() }])),
  );
  const handlers = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`op${n}`, () => n]));
  const ref = system.spawn("many", Many, () => handlers as never); // One for each operation.
  const mcp = await serveMcp(system, {
    name: "m",
    version: "1",
    expose: { many: { ref, operations: Object.keys(handlers) } },
  });
  expect(mcp.tools).toHaveLength(300);
  const one = await (await mcp.fetch(requestOf("tools/call", { name: "many_op299" }))).text();
  expect(one.length).toBeLessThan(300);
  expect(JSON.parse(one)).toMatchObject({ result: { structuredContent: { value: 299 } } });
});
