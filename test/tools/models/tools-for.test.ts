import { describe, expect, test } from "bun:test";
import { Volume } from "memfs";
import { z } from "zod";
import { createSystem, defineProtocol, type JsonSchema, Type } from "../../../src";
import { spawnFileSystem, type ToolsForOptions, toolsFor } from "../../../src/tools";

const Item = Type.Object({ name: Type.String({ description: "Its name." }), count: Type.Optional(Type.Integer()) });
const Tree = Type.Cyclic({ Node: Type.Object({ children: Type.Array(Type.Ref("Node")) }) }, "Node");
const Odd = defineProtocol("odd", {
  object: { description: "Takes an object.", payload: Item, reply: Type.String() },
  text: { payload: Type.String({ description: "A text." }), reply: Type.String() },
  maybe: { payload: Type.Union([Type.Integer(), Type.Undefined()]), reply: Type.String() },
  either: { payload: Type.Union([Item, Type.Object({ id: Type.Integer() })]), reply: Type.String() },
  tree: { payload: Tree, reply: Type.String() },
  open: { payload: Type.Object({}), reply: Type.String() },
  none: { reply: Type.String() },
  tell: { payload: Item },
  count: { payload: Type.Integer(), stream: Type.Integer() },
  zod: { payload: z.object({ a: z.string() }), reply: z.string() },
  "odd name.ü": { reply: Type.String() },
  "odd name.ö": { reply: Type.String() },
});

function spawnOdd() {
  const system = createSystem();
  const answer = () => "";
  const ref = system.spawn("odd", Odd, () => ({
    object: answer,
    text: answer,
    maybe: answer,
    either: answer,
    tree: answer,
    open: answer,
    none: answer,
    tell() {},
    *count() {},
    zod: answer,
    "odd name.ü": answer,
    "odd name.ö": answer,
  }));
  return { system, odd: ref };
}

const { odd } = spawnOdd();
const declared = toolsFor({ odd }, { format: "anthropic" }).declarations;
const schemaOf = (name: string): JsonSchema | undefined => declared.find((each) => each.name === name)?.input_schema;

describe("declarations", () => {
  test("names are unique, and of letters that each format takes", () => {
    const names = declared.map(({ name }) => name);
    expect(names.filter((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBe(Object.keys(Odd.operations).length);
    expect(names).toContain("odd_odd_name__");
    expect(names).toContain("odd_odd_name___2");
  });

  test("tools whose names meet are kept apart", () => {
    const system = createSystem();
    const of = (...names: string[]) => Object.fromEntries(names.map((name) => [name, { reply: Type.String() }]));
    const handlers = (...names: string[]) => Object.fromEntries(names.map((name) => [name, () => name]));
    const one = system.spawn("one", defineProtocol("one", of("b_c")), () => handlers("b_c"));
    const two = system.spawn("two", defineProtocol("two", of("c")), () => handlers("c"));
    const tools = toolsFor({ a: one, a_b: two }, { format: "openai" });
    expect(tools.declarations.map((each) => each.function.name)).toEqual(["a_b_c", "a_b_c_2"]);

    const long = [`long-${"x".repeat(100)}`, `long-${"x".repeat(101)}`];
    const three = system.spawn("three", defineProtocol("three", of(...long)), () => handlers(...long));
    const [one64, two64] = toolsFor({ three }, { format: "anthropic" }).declarations;
    expect(one64?.name).toBe("three_long-".padEnd(64, "x"));
    expect(two64?.name).toBe(`${"three_long-".padEnd(62, "x")}_2`);
  });

  test("the root of each schema is an object, without what models' APIs refuse there", () => {
    for (const { input_schema: schema } of declared) {
      expect(schema["type"]).toBe("object");
      expect(schema["properties"]).toBeObject();
      for (const keyword of ["$schema", "$ref", "anyOf", "oneOf", "allOf", "not", "if", "enum", "const"]) {
        expect(schema).not.toHaveProperty([keyword]);
      }
    }
    expect(schemaOf("odd_object")).toEqual({
      type: "object",
      required: ["name"],
      properties: { name: { type: "string", description: "Its name." }, count: { type: "integer" } },
    });
    expect(schemaOf("odd_none")).toEqual({ type: "object", properties: {}, additionalProperties: false });
    expect(schemaOf("odd_zod")).toMatchObject({
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
    });
  });

  test("an input that is no object is a property of one", () => {
    expect(schemaOf("odd_text")).toEqual({
      type: "object",
      properties: { input: { type: "string", description: "A text." } },
      required: ["input"],
      additionalProperties: false,
    });
    expect(schemaOf("odd_maybe")).not.toHaveProperty("required");
    expect(schemaOf("odd_either")).toMatchObject({
      properties: { input: { anyOf: [{ type: "object" }, { type: "object" }] } },
    });
  });

  test("references lead to where they led, also from the new place", () => {
    const schema = schemaOf("odd_tree");
    const pointers = [...JSON.stringify(schema).matchAll(/"\$ref":"#([^"]*)"/g)].map(([, pointer = ""]) => pointer);
    expect(pointers.length).toBeGreaterThan(0);
    for (const pointer of pointers) {
      const found = pointer
        .split("/")
        .slice(1)
        .reduce<unknown>((node, name) => (node as JsonSchema | undefined)?.[decodeURIComponent(name)], schema);
      expect(found).toMatchObject({ type: "object", properties: { children: {} } });
    }
  });

  test("descriptions are those of the operations, or of their payloads, or say at least what is called", () => {
    const texts = Object.fromEntries(declared.map(({ name, description }) => [name, description]));
    expect(texts).toMatchObject({
      odd_object: "Takes an object.",
      odd_text: "A text.",
      odd_none: "Calls none of odd.",
      odd_count: "Calls count of odd. Gives a list of items.",
    });
    const system = createSystem();
    const Long = defineProtocol("long", { say: { description: "😀".repeat(2_000), reply: Type.String() } });
    const long = system.spawn("long", Long, () => ({ say: () => "" }));
    const [tool] = toolsFor({ long }, { format: "openai" }).declarations;
    expect(tool?.function.description.length).toBeLessThanOrEqual(1_024);
    expect(tool?.function.description.isWellFormed()).toBe(true);
  });

  test("both formats declare the same, each in its own form, as data of JSON", () => {
    const files = spawnFileSystem(createSystem(), { root: "/", volume: Volume.fromJSON({ "/.keep": "" }, "/") });
    const tools = { files: { ref: files, operations: ["read", "list"] } } as const;
    const openai = toolsFor(tools, { format: "openai" }).declarations;
    const anthropic = toolsFor(tools, { format: "anthropic" }).declarations;
    expect(openai).toEqual(
      anthropic.map(({ name, description, input_schema }) => ({
        type: "function",
        function: { name, description, parameters: input_schema },
      })),
    );
    expect(openai.map((each) => each.function.name)).toEqual(["files_read", "files_list"]);
    expect(JSON.parse(JSON.stringify(openai))).toEqual(openai as unknown[]);
  });
});

test("a tool or an option that cannot be one is refused at once", () => {
  const { odd } = spawnOdd();
  const wrong = (options: unknown) => () => toolsFor({ odd }, options as ToolsForOptions<"openai">);
  expect(wrong(undefined)).toThrow('{ format: "openai" }');
  expect(wrong({})).toThrow("one of openai, anthropic");
  expect(wrong({ format: "toString" })).toThrow("one of openai, anthropic");
  expect(wrong({ format: "openai", strict: true })).toThrow('no option "strict"');
  expect(wrong({ format: "openai", metadata: 7 })).toThrow("metadata");
  expect(() => toolsFor({ odd: {} } as never, { format: "openai" })).toThrow("no reference");
  expect(() => toolsFor({ odd: { ref: odd, operations: ["nothing"] } } as never, { format: "openai" })).toThrow(
    "nothing",
  );
  const Big = defineProtocol("big", { add: { payload: Type.BigInt() } });
  const big = createSystem().spawn("big", Big, () => ({ add() {} }));
  expect(() => toolsFor({ big }, { format: "openai" })).toThrow("no JSON Schema");
});
