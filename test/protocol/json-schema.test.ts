import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import Type, { type TSchema } from "typebox";
import { Compile } from "typebox/schema";
import * as v from "valibot";
import { z } from "zod";
import {
  defineProtocol,
  type JsonSchema,
  jsonSchemaOf,
  operationsOf,
  outcomeOf,
  type Protocol,
  refSchema,
  type Schema,
} from "../../src/index";
import { createTestSystem } from "../../src/testing";
import { CodeExecution, FileSystem } from "../../src/tools";

const $schema = "https://json-schema.org/draft/2020-12/schema";

/** The JSON Schema of a payload, without its `$schema`. */
function inputOf(payload: Schema): JsonSchema | undefined {
  const { input } = jsonSchemaOf(defineProtocol("p", { o: { payload } })).o;
  return without(input);
}

function outputOf(reply: Schema): JsonSchema | undefined {
  return without(jsonSchemaOf(defineProtocol("p", { o: { reply } })).o.output);
}

function without(schema: JsonSchema | undefined): JsonSchema | undefined {
  if (schema === undefined) return undefined;
  const { $schema: dialect, ...others } = schema;
  expect(dialect).toBe($schema);
  return others;
}

const refusalOf = (payload: Schema): string => {
  try {
    inputOf(payload);
  } catch (thrown) {
    return (thrown as Error).message;
  }
  return "nothing was thrown";
};

describe("the JSON Schema of a protocol", () => {
  test("has each operation with its pattern, description, hints, input, output and items", () => {
    const Counter = defineProtocol("counter", {
      add: { description: "Adds.", hints: { idempotent: false }, payload: Type.Number({ minimum: 0 }) },
      total: { hints: { readOnly: true }, reply: z.number() },
      ticks: { payload: Type.Union([Type.Integer(), Type.Undefined()]), stream: Type.String() },
      reset: {},
    });
    expect(JSON.parse(JSON.stringify(jsonSchemaOf(Counter)))).toEqual({
      add: {
        description: "Adds.",
        hints: { idempotent: false },
        pattern: "tell",
        input: { $schema, type: "number", minimum: 0 },
        isInputRequired: true,
      },
      total: {
        hints: { readOnly: true },
        pattern: "ask",
        isInputRequired: false,
        output: { $schema, type: "number" },
      },
      ticks: {
        pattern: "stream",
        input: { $schema, type: "integer" },
        isInputRequired: false,
        items: { $schema, type: "string" },
      },
      reset: { pattern: "tell", isInputRequired: false },
    });
  });

  test("is of the operations that were asked for, also by a reference; an unknown one throws with the nearest", () => {
    const Mixed = defineProtocol("mixed", { good: { payload: Type.String() }, bad: { payload: Type.BigInt() } });
    expect(Object.keys(jsonSchemaOf(Mixed, ["good"]))).toEqual(["good"]);
    const { system } = createTestSystem();
    const ref = system.spawn("mixed", Mixed, () => ({ good() {}, bad() {} }));
    const protocol = { name: "mixed", operations: operationsOf(ref) ?? {} };
    expect(jsonSchemaOf(protocol, ["good"])["good"]?.input).toEqual({ $schema, type: "string" });
    expect(() => jsonSchemaOf(protocol, ["goood"])).toThrow('Protocol "mixed" has no operation "goood": write good.');
  });

  test("takes a schema of TypeBox as it is, without what is not JSON Schema", () => {
    const schema = Type.Refine(
      Type.Object(
        {
          kind: Type.Enum(["a", "b"]),
          when: Type.Optional(Type.String({ format: "date-time", description: "When." })),
          scores: Type.Record(Type.String(), Type.Number()),
          code: Type.String({ pattern: /^a+$/ as unknown as string }),
        },
        { additionalProperties: false, title: "T", mine: 1, "x-mine": 2, $id: "T", default: { a: 1n } },
      ),
      () => true,
    );
    expect(inputOf(schema)).toEqual({
      type: "object",
      properties: {
        kind: { enum: ["a", "b"] },
        when: { type: "string", format: "date-time", description: "When." },
        scores: { type: "object", patternProperties: { "^.*$": { type: "number" } } },
        code: { type: "string", pattern: "^a+$" },
      },
      required: ["kind", "scores", "code"],
      additionalProperties: false,
      title: "T",
      "x-mine": 2,
    });
  });

  test("says a tuple as draft 2020-12 does", () => {
    expect(inputOf(Type.Tuple([Type.String(), Type.Number()]))).toEqual({
      type: "array",
      prefixItems: [{ type: "string" }, { type: "number" }],
      items: false,
      minItems: 2,
    });
  });

  test("has definitions at its root, wherever they were, with names of their own", () => {
    const tree = (leaf: TSchema) =>
      Type.Cyclic({ Node: Type.Object({ leaf, next: Type.Optional(Type.Ref("Node")) }) }, "Node");
    const schema = inputOf(Type.Object({ a: tree(Type.String()), b: tree(Type.Number()) }));
    expect(schema?.["properties"]).toEqual({ a: { $ref: "#/$defs/Node" }, b: { $ref: "#/$defs/Node-2" } });
    const node = (type: string, name: string) => ({
      type: "object",
      properties: { leaf: { type }, next: { $ref: `#/$defs/${name}` } },
      required: ["leaf"],
    });
    expect(schema?.["$defs"]).toEqual({ Node: node("string", "Node"), "Node-2": node("number", "Node-2") });
  });

  test("refers to a part by its id, and to itself as a whole", () => {
    const user = Type.Object({ friend: Type.Optional(Type.Ref("User")) }, { $id: "User" });
    const written = { type: "object", properties: { friend: { $ref: "#" } } };
    expect(inputOf(user)).toEqual(written);
    const friend = { $ref: "#/$defs/User" };
    const named = { type: "object", properties: { friend } };
    expect(inputOf(Type.Object({ user, other: Type.Ref("User") }))).toMatchObject({
      properties: { user: named, other: friend },
      $defs: { User: named },
    });
  });

  test("has no definition of what it left out", () => {
    const big = Type.Cyclic({ Big: Type.Object({ n: Type.BigInt(), next: Type.Optional(Type.Ref("Big")) }) }, "Big");
    expect(inputOf(Type.Union([Type.String(), big]))).toEqual({ type: "string" });
  });

  test("leaves out what is for askers in this process alone", () => {
    const here = Type.Literal("bytes", { "x-json": false });
    expect(inputOf(Type.Union([Type.Literal("utf8"), here]))).toEqual({ type: "string", const: "utf8" });
    expect(refusalOf(Type.Object({ here }))).toContain("at /here, it is for askers in this process alone");
    // A client of JSON that asked for bytes would get a reply that does not fit the schema.
    const { read, readMany, readStream } = jsonSchemaOf(FileSystem, ["read", "readMany", "readStream"]);
    for (const { input } of [read, readMany, readStream])
      expect(JSON.stringify(input)).not.toContain('"const":"bytes"');
  });

  test("says anything for a refinement without keywords, unless it takes bytes alone", () => {
    const any = Type.Refine(Type.Unknown(), (value) => value !== undefined);
    expect(inputOf(any)).toEqual({});
    expect(jsonSchemaOf(defineProtocol("p", { o: { payload: any } })).o.isInputRequired).toBe(true);
    expect(inputOf(Type.Unsafe<string>({ type: "string", not: { type: "bigint" } }))).toEqual({ type: "string" });
  });

  test("compiles nothing", () => {
    const protocol = defineProtocol("p", { o: { payload: Type.String(), reply: Type.Object({}) } });
    jsonSchemaOf(protocol);
    expect([protocol.operations["o"]?.payload.isCompiled, protocol.operations["o"]?.reply.isCompiled]).toEqual([
      false,
      false,
    ]);
  });

  test("leaves out what JSON cannot hold, where the schema lets it be", () => {
    const bytes = Type.Refine(Type.Unsafe<Uint8Array>({}), (value) => value instanceof Uint8Array);
    expect(inputOf(Type.Union([Type.String(), bytes]))).toEqual({ type: "string" });
    expect(inputOf(Type.Union([Type.String(), Type.BigInt(), Type.Null()]))).toEqual({
      anyOf: [{ type: "string" }, { type: "null" }],
    });
    expect(inputOf(Type.Object({ a: Type.Optional(Type.BigInt()), b: Type.Number() }))).toEqual({
      type: "object",
      properties: { b: { type: "number" } },
      required: ["b"],
    });
    expect(inputOf(Type.Undefined())).toBeUndefined();
    expect(inputOf(Type.Unknown())).toEqual({});
  });

  test("does not require of a reader what JSON leaves out when it is undefined", () => {
    const schema = Type.Object({
      a: Type.Unknown(),
      b: Type.Union([Type.Undefined(), Type.String()]),
      c: Type.Optional(Type.Undefined()),
      d: Type.Number(),
      e: Type.Intersect([Type.Unknown(), Type.Any()]),
      f: Type.Intersect([Type.Unknown(), Type.String()]),
      g: refSchema(),
    });
    expect(outputOf(schema)?.["required"]).toEqual(["d", "f", "g"]);
    expect(inputOf(schema)?.["required"]).toEqual(["a", "b", "d", "e", "f", "g"]);
    const bytes = Type.Refine(Type.Unsafe<Uint8Array>({}), (value) => value instanceof Uint8Array);
    expect(() => outputOf(Type.Object({ bytes }))).toThrow("at /bytes, JSON cannot hold bytes");
  });

  test("has a reference to an actor as its address", () => {
    const Guest = defineProtocol("guest", { seat: {} });
    const address = { type: "string", format: "envoi-address", pattern: "^@\\([^\\s()/]+(/[^\\s()/]+)*\\)$" };
    expect(inputOf(refSchema(Guest))).toEqual(address);
    const schema = inputOf(Type.Object({ guest: Type.Optional(refSchema(Guest)) }));
    expect(schema).toEqual({ type: "object", properties: { guest: address } });
    const described = Object.assign(refSchema(Guest), { description: "Who comes." });
    expect(inputOf(described)).toEqual({ ...address, description: "Who comes." });
    const check = Compile(address);
    expect(["@(a)", "@(node-7/files)"].every((text) => check.Check(text))).toBe(true);
    expect(["a", "@()", "@(a//b)", "@(a b)"].some((text) => check.Check(text))).toBe(false);
  });

  test("of zod is its own, by what goes in and by what comes out", () => {
    const schema = z.object({ id: z.string().transform(Number).pipe(z.number()), note: z.string().default("") });
    expect(inputOf(schema)).toEqual({
      type: "object",
      properties: { id: { type: "string" }, note: { type: "string", default: "" } },
      required: ["id"],
    });
    expect(outputOf(schema)).toMatchObject({ properties: { id: { type: "number" } }, required: ["id", "note"] });
    const { o } = jsonSchemaOf(defineProtocol("p", { o: { payload: z.string().optional() } }));
    expect(o.isInputRequired).toBe(false);
  });

  test("is what the operation's schema says, if it says any", () => {
    const Clock = defineProtocol("clock", {
      at: {
        payload: z.date(),
        reply: v.string(),
        schema: { payload: { type: "string", format: "date-time" }, reply: Type.Tuple([Type.String()]) },
      },
      ticks: { stream: Type.BigInt(), schema: { items: { $schema: "http://json-schema.org/draft-07/schema#" } } },
    });
    const { at, ticks } = jsonSchemaOf(Clock);
    expect(at.input).toEqual({ $schema, type: "string", format: "date-time" });
    expect(at.output).toMatchObject({ $schema, type: "array", prefixItems: [{ type: "string" }] });
    expect(ticks.items).toEqual({ $schema: "http://json-schema.org/draft-07/schema#" });
  });

  test.each<[Schema, string]>([
    [z.object({ at: z.date() }), "zod says: Date cannot be represented in JSON Schema"],
    [v.string(), "valibot offers none (it has no ~standard.jsonSchema)"],
    [Type.Object({ a: Type.Array(Type.Object({ b: Type.BigInt() })) }), "at /a/items/b, JSON cannot hold a bigint"],
    [Type.Union([Type.BigInt(), Type.Symbol()]), "JSON cannot hold a bigint"],
    [Type.Refine(Type.Unknown(), (value) => value instanceof Uint8Array), "JSON cannot hold bytes"],
    [Type.String({ pattern: /a/i as unknown as string }), 'JSON Schema has no pattern with the flags "i"'],
  ])("that there is none of throws, with the operation, the reason and what to write", (schema, reason) => {
    expect(refusalOf(schema)).toBe(
      `Operation p.o has no JSON Schema for its payload: ${reason}. ` +
        'Write one beside it, such as schema: { payload: { type: "string" } }.',
    );
  });

  test.each<[unknown, string]>([
    [null, "null"],
    [Promise.resolve({ type: "string" }), "an object"],
    [[], "an array"],
  ])("that a library gives as %p is none", (given, shown) => {
    const convert = (): unknown => given;
    const validate = (value: unknown): { value: unknown } => ({ value });
    const standard = { version: 1 as const, vendor: "odd", validate, jsonSchema: { input: convert, output: convert } };
    expect(refusalOf({ "~standard": standard })).toContain(
      `odd gave ${shown} for an input, and an object is wanted at once`,
    );
  });

  test("of what is no protocol says what to hand over", () => {
    for (const wrong of [null, undefined, {}, "counter"]) {
      expect(() => jsonSchemaOf(wrong as never)).toThrow(/^jsonSchemaOf takes what defineProtocol\(\) returned; got /);
    }
  });

  test("is there for each operation of the tools, is data, and is described", () => {
    const protocols: Protocol[] = [FileSystem, CodeExecution];
    for (const protocol of protocols) {
      const operations = Object.entries(jsonSchemaOf(protocol));
      expect(operations.length).toBe(Object.keys(protocol.operations).length);
      for (const [, operation] of operations) {
        expect(JSON.parse(JSON.stringify(operation))).toEqual(operation);
        expect(operation.description).toMatch(/^[A-Z].*\.$/);
        expect(Object.keys(operation.hints ?? {}).length).toBeGreaterThan(0);
      }
    }
    expect(jsonSchemaOf(FileSystem).write.input?.["properties"]).toMatchObject({ content: { type: "string" } });
    expect(outcomeOf(CodeExecution.operations["execute"])?.value?.["required"]).toEqual([
      "logs",
      "durationMs",
      "isolation",
    ]);
  });
});

const { schemas } = fc.letrec<{ schemas: TSchema }>((tie) => ({
  schemas: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<TSchema>(
      Type.String({ minLength: 1 }),
      Type.Integer(),
      Type.Boolean(),
      Type.Null(),
      Type.Literal("a"),
      Type.Literal(1),
      Type.Enum(["a", "b"]),
      Type.Never(),
      Type.Unknown(),
    ),
    fc.array(tie("schemas"), { minLength: 1, maxLength: 3 }).map((all) => Type.Union([...all, Type.Undefined()])),
    fc.array(tie("schemas"), { minLength: 1, maxLength: 2 }).map((all) => Type.Intersect(all)),
    fc.array(tie("schemas"), { maxLength: 2 }).map((all) => Type.Tuple(all)),
    tie("schemas").map((item) => Type.Array(item)),
    tie("schemas").map((item) => Type.Record(Type.String(), item)),
    fc
      .dictionary(fc.constantFrom("a", "b", "c"), fc.tuple(tie("schemas"), fc.boolean()))
      .map((properties) =>
        Type.Object(
          Object.fromEntries(
            Object.entries(properties).map(([key, [schema, isOptional]]) => [
              key,
              isOptional ? Type.Optional(schema) : schema,
            ]),
          ),
        ),
      ),
  ),
}));

const { values } = fc.letrec<{ values: unknown }>((tie) => ({
  values: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>("", "a", 1, 1.5, true, null),
    fc.array(tie("values"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b"), tie("values")),
  ),
}));

test("of all values that JSON can hold, a JSON Schema takes those that its schema takes", () => {
  fc.assert(
    fc.property(schemas, fc.array(values, { minLength: 5, maxLength: 5 }), (schema, candidates) => {
      const { operations } = defineProtocol("p", { o: { payload: schema } });
      const json = inputOf(schema) ?? { not: {} };
      const check = Compile(JSON.parse(JSON.stringify(json)));
      for (const value of candidates) {
        expect(check.Check(value)).toBe(operations["o"]?.payload.parse(value).isOk() === true);
      }
    }),
    { numRuns: 300 },
  );
});
