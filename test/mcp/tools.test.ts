import { describe, expect, test } from "bun:test";
import { createRouter, createSystem, defineProtocol, type JsonSchema, Type } from "../../src/index";
import { type McpExposing, serveMcp } from "../../src/mcp/index";
import { testSystems } from "../actor/test-system";
import { createDesk, Desk, send, serveDesk } from "./desk";

const { createTestSystem } = testSystems();

interface Listed {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations: object;
}

async function listOf(more: Parameters<typeof serveDesk>[1] = {}): Promise<ReadonlyMap<string, Listed>> {
  const mcp = await serveDesk(createTestSystem().system, more);
  const { result } = await send(mcp, "tools/list");
  const tools = result?.["tools"] as readonly Listed[]; // The tests look at the parts.
  return new Map(tools.map((tool) => [tool.name, tool]));
}

describe("the list of tools", () => {
  test("has what was listed, in order, and nothing else", async () => {
    const { system } = createTestSystem();
    const mcp = await serveDesk(system);
    const { result } = await send(mcp, "tools/list");
    const listed = result?.["tools"] as Listed[]; // The next line throws if it has none.
    const names = listed.map(({ name }) => name);
    expect(names).toEqual([...mcp.tools]);
    expect(names.slice(0, 3)).toEqual(["desk_add", "desk_double", "desk_shout"]);
    expect(names).not.toContain("desk_secret");
  });

  test("has titles, descriptions and hints of the protocol", async () => {
    const { add, reset } = Object.fromEntries([...(await listOf())].map(([name, tool]) => [name.slice(5), tool]));
    expect(add).toMatchObject({
      title: "Desk: add",
      description: "Adds two numbers.",
      annotations: { title: "Desk: add", readOnlyHint: true, idempotentHint: true },
    });
    expect(reset).toMatchObject({ description: "Desk: reset", annotations: { destructiveHint: true } });
  });

  test("takes names, titles and descriptions of its owner in their place", async () => {
    const { system } = createTestSystem();
    const ref = system.spawn("desk", Desk, createDesk);
    const add = { name: "sum", title: "Sum", description: "Sums up." };
    const mcp = await serveMcp(system, {
      name: "d",
      version: "1",
      expose: { "my.desk": { ref, operations: { add, total: true } } },
    });
    expect(mcp.tools).toEqual(["sum", "my_desk_total"]);
    const { result } = await send(mcp, "tools/list");
    expect(result).toMatchObject({ tools: [add, { title: "My desk: total" }] });
  });

  test("has schemas whose roots are objects: what is none stands in one as value", async () => {
    const list = await listOf();
    for (const { inputSchema, outputSchema } of list.values()) {
      expect([inputSchema["type"], outputSchema?.["type"] ?? "object"]).toEqual(["object", "object"]);
      expect([inputSchema["$schema"], outputSchema?.["$schema"]]).toEqual([undefined, undefined]);
    }
    const number = { type: "number" };
    expect(list.get("desk_add")?.inputSchema).toEqual({
      type: "object",
      properties: { a: number, b: number },
      required: ["a", "b"],
    });
    expect(list.get("desk_double")).toMatchObject({
      inputSchema: { properties: { value: number }, required: ["value"], additionalProperties: false },
      outputSchema: { properties: { value: number }, required: ["value"] },
    });
    expect(list.get("desk_shout")?.inputSchema["required"]).toBeUndefined();
    expect(list.get("desk_total")?.inputSchema).toEqual({
      type: "object",
      properties: {},
      additionalProperties: false,
    });
    expect(list.get("desk_reset")?.outputSchema).toBeUndefined();
    expect(list.get("desk_picture")?.outputSchema).toBeUndefined();
  });

  test("keeps a union of objects as it is, and takes the value of an outcome for what is given", async () => {
    const find = (await listOf()).get("desk_find");
    expect(find?.inputSchema).toMatchObject({ type: "object", anyOf: [{ required: ["id"] }, { required: ["name"] }] });
    expect(find?.outputSchema).toMatchObject({ type: "object", required: ["found"] });
    expect(JSON.stringify(find)).not.toContain("missing");
  });

  test("has the items of a stream, and whether there may be more", async () => {
    const list = await listOf();
    expect(list.get("desk_count")?.outputSchema).toMatchObject({
      properties: { items: { type: "array", items: { type: "integer" } }, isComplete: { type: "boolean" } },
      required: ["items", "isComplete"],
    });
    expect(list.get("desk_lines")?.outputSchema).toMatchObject({
      properties: { items: { items: { type: "string" } } },
    });
  });

  test("has references that lead to where the schemas stand", async () => {
    const { system } = createTestSystem();
    const list = { type: "array", items: { $ref: "#" } };
    const Lists = defineProtocol("lists", {
      nest: { payload: Type.Unsafe<unknown>({ type: "array" }), schema: { payload: list } },
    });
    const ref = system.spawn("lists", Lists, () => ({ nest() {} }));
    const mcp = await serveMcp(system, { name: "d", version: "1", expose: { lists: { ref, operations: ["nest"] } } });
    const { result } = await send(mcp, "tools/list");
    expect(result).toMatchObject({
      tools: [{ inputSchema: { properties: { value: { type: "array", items: { $ref: "#/properties/value" } } } } }],
    });
  });

  test("is one page, made once", async () => {
    const mcp = await serveDesk(createTestSystem().system);
    const { error } = await send(mcp, "tools/list", { cursor: "1" });
    expect(error?.code).toBe(-32_602);
    const [first, second] = [await send(mcp, "tools/list"), await send(mcp, "tools/list")];
    expect(first).toEqual(second);
    expect(first.result).toMatchObject({ ttlMs: 60_000, cacheScope: "public" });
  });

  test("is not there for a server without tools", async () => {
    const mcp = await serveMcp(createTestSystem().system, { name: "none", version: "1" });
    expect((await send(mcp, "tools/list")).error?.code).toBe(-32_601);
  });
});

describe("P18: what cannot be served is refused at the start", () => {
  const serve = (expose: unknown, system = createTestSystem().system) =>
    serveMcp(system, { name: "d", version: "1", expose: expose as McpExposing }); // Written by people without a compiler.

  test("two tools of one name", async () => {
    const { system } = createTestSystem();
    const [a, b] = ["a", "b"].map((name) => system.spawn(name, Desk, createDesk));
    const expose = { "my.desk": { ref: a, operations: ["add"] }, "my-desk": { ref: b, operations: ["add"] } };
    expect(
      await serve({ ...expose, "my~desk": { ref: b, operations: ["total"] } }, system).then((m) => m.tools),
    ).toEqual(["my_desk_add", "my-desk_add", "my_desk_total"]);
    expect(serve({ ...expose, "my~desk": { ref: b, operations: ["add"] } }, system)).rejects.toThrow(
      'Two tools would be named "my_desk_add"',
    );
  });

  test.each([
    ["an operation that there is not", { desk: { operations: ["ad"] } }, /no operation "ad" to expose/],
    ["an operation twice", { desk: { operations: ["add", "add"] } }, /exposes "add" twice/],
    ["a name that no model takes", { desk: { operations: { add: { name: "a b" } } } }, /1 to 64 letters/],
    ["a name that is too long", { ["d".repeat(64)]: { operations: ["add"] } }, /more than 64 characters/],
    ["a misspelt option", { desk: { operations: { add: { titel: "x" } } } }, /no option "titel"/],
    ["a name of an actor that is none", { "a b": { operations: ["add"] } }, /No actor can be exposed/],
    ["operations that are none", { desk: { operations: 3 } }, /are an array of names/],
  ])("%s", (_, expose, sentence) => {
    const { system } = createTestSystem();
    const ref = system.spawn("desk", Desk, createDesk);
    const given = Object.fromEntries(Object.entries(expose).map(([name, entry]) => [name, { ref, ...entry }]));
    expect(serve(given, system)).rejects.toThrow(sentence);
  });

  test("a payload whose arguments go into headers, too: nothing would hold those to each other", async () => {
    const { system } = createTestSystem();
    const payload = Type.Object({ region: Type.String({ "x-mcp-header": "Region" }) });
    const ref = system.spawn("far", defineProtocol("far", { look: { payload } }), () => ({ look() {} }));
    expect(serve({ far: { ref, operations: ["look"] } }, system)).rejects.toThrow("has x-mcp-header");
  });

  test("a value that is no reference, and an actor without a protocol", async () => {
    expect(serve({ desk: { ref: {}, operations: ["add"] } })).rejects.toThrow("is no reference");
    expect(serve([])).rejects.toThrow("expose says what becomes tools");
    const router = createRouter();
    const { system } = createTestSystem();
    expect(typeof router.tell).toBe("function");
    expect(serveMcp({} as typeof system, { name: "d", version: "1" })).rejects.toThrow("belongs to a system"); // By mistake.
  });

  test.each([
    [{ version: "1" }, /The name of an MCP server is a text/],
    [{ name: "d" }, /The version of an MCP server is a text/],
    [{ name: "d", version: "1", expos: {} }, /no option "expos"/],
    [{ name: "d", version: "1", limits: { body: 0 } }, /The body of the limits of an MCP server/],
    [{ name: "d", version: "1", limits: { depth: 2 } }, /from 4 to 512/],
    [{ name: "d", version: "1", hosts: ["http://a"] }, /names without a port or a path/],
    [{ name: "d", version: "1", authenticate: true }, /is a function/],
  ])("options such as %j", async (options, sentence) => {
    const system = createSystem();
    expect(serveMcp(system, options as never)).rejects.toThrow(sentence); // Written by people without a compiler.
    await system.shutdown();
  });
});
