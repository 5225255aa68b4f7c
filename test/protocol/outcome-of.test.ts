import { describe, expect, test } from "bun:test";
import Type from "typebox";
import * as v from "valibot";
import { z } from "zod";
import { defineProtocol, jsonSchemaOf, type OperationSchemas, outcomeOf } from "../../src/index";
import { CodeExecution, FileError, FileSystem, outcomeSchema, ReadReply } from "../../src/tools";

const outcomeIn = (schemas: OperationSchemas) => outcomeOf(defineProtocol("p", { o: schemas }).operations["o"]);
const text = { type: "string" };
const good = Type.Object({ ok: Type.Literal(true), value: Type.String() });
const bad = Type.Object({ ok: Type.Literal(false), error: Type.Number() });

describe("an operation whose replies are a value or an error", () => {
  test("is found by its schema, of TypeBox or of zod, and its two schemas are given", () => {
    const zods = z.union([
      z.object({ ok: z.literal(true), value: z.string() }),
      z.object({ ok: z.literal(false), error: z.number() }),
    ]);
    const told = z.discriminatedUnion("ok", zods.options);
    for (const schema of [Type.Union([good, bad]), Type.Union([bad, good]), zods, told]) {
      expect(outcomeIn({ reply: schema })).toMatchObject({ value: text, error: { type: "number" } });
      expect(outcomeIn({ stream: schema })).toMatchObject({ value: text, error: { type: "number" } });
    }
    const two = Type.Object({ ok: Type.Literal(false), error: Type.Null() });
    const nested = Type.Union([Type.Union([good, bad]), two]);
    expect(outcomeIn({ reply: nested })?.error).toMatchObject({ anyOf: [{ type: "number" }, { type: "null" }] });
  });

  test("may carry no value; its schema may be that of the operation's own", () => {
    const nothing = Type.Union([Type.Object({ ok: Type.Literal(true) }), bad]);
    expect(outcomeIn({ reply: nothing })).toMatchObject({ value: undefined, error: { type: "number" } });
    const json = JSON.parse(JSON.stringify(Type.Union([good, bad])));
    expect(outcomeIn({ reply: v.any(), schema: { reply: json } })?.value).toMatchObject(text);
  });

  test("is read: the value of a good reply, the error of a bad one, and any other reply as it is", () => {
    const outcome = outcomeIn({ reply: Type.Union([good, bad]) });
    expect(outcome?.read({ ok: true, value: "a" })._unsafeUnwrap()).toBe("a");
    expect(outcome?.read({ ok: false, error: 1 })._unsafeUnwrapErr()).toBe(1);
    for (const other of [undefined, null, "ok", {}, [], { ok: null, value: 1 }])
      expect(outcome?.read(other)._unsafeUnwrap()).toBe(other);
  });

  test("each operation of the tools is one, but for the items of executeStream", () => {
    for (const { operations } of [FileSystem, CodeExecution]) {
      for (const operation of Object.values(operations)) {
        expect(outcomeOf(operation) !== null).toBe(operation.name !== "executeStream");
      }
    }
    const page = defineProtocol("library", { page: { reply: outcomeSchema(ReadReply, FileError) } });
    expect(outcomeOf(page.operations["page"])).toEqual(outcomeOf(FileSystem.operations["read"]));
  });

  test("keeps the definitions that its parts refer to", () => {
    const tree = Type.Cyclic({ Tree: Type.Object({ next: Type.Optional(Type.Ref("Tree")) }) }, "Tree");
    const outcome = outcomeIn({ reply: Type.Union([Type.Object({ ok: Type.Literal(true), value: tree }), bad]) });
    expect(outcome?.value).toMatchObject({ $ref: "#/$defs/Tree", $defs: { Tree: { type: "object" } } });
  });
});

describe("a reply that refers to itself", () => {
  const answer = Type.Object({ ok: Type.Literal(true), value: Type.Array(Type.Ref("Reply")) });

  test("is an outcome, also when its branches are definitions of their own", () => {
    const direct = Type.Cyclic({ Reply: Type.Union([answer, bad]) }, "Reply");
    const named = Type.Cyclic(
      { Good: answer, "a/~b": bad, Reply: Type.Union([Type.Ref("Good"), Type.Ref("a/~b"), Type.Ref("Reply")]) },
      "Reply",
    );
    for (const reply of [direct, named]) {
      const outcome = outcomeIn({ reply });
      expect(outcome?.value).toMatchObject({ type: "array", items: { $ref: "#/$defs/Reply" } });
      expect(outcome?.error).toMatchObject({ type: "number" });
    }
  });

  test("is a definition in the schema of its value, which would otherwise refer to itself", () => {
    const reply = Type.Union([Type.Object({ ok: Type.Literal(true), value: Type.Ref("R") }), bad], { $id: "R" });
    const { $schema: _, ...whole } = jsonSchemaOf(defineProtocol("p", { o: { reply } })).o.output ?? {};
    expect(whole).toMatchObject({ anyOf: [{ properties: { value: { $ref: "#" } } }, {}] });
    const own = JSON.parse(JSON.stringify(whole).replace('"#"', '"#/$defs/reply"'));
    const value = outcomeIn({ reply })?.value;
    expect(value).toMatchObject({ $ref: "#/$defs/reply", $defs: { reply: own } });
    const pointing = {
      reply: v.any(),
      schema: { reply: { anyOf: [{ ...whole }, { $ref: "#/anyOf/0" }, { $ref: "#" }] } },
    };
    expect(outcomeIn(pointing)).toBeNull(); // Only whole definitions are looked up.
  });
});

test.each<[string, OperationSchemas]>([
  ["no reply", {}],
  ["another type", { reply: Type.Number() }],
  ["only good ones", { reply: Type.Union([good, good]) }],
  ["a third branch", { reply: Type.Union([good, bad, Type.Null()]) }],
  ["a mark that may be left out", { reply: Type.Union([Type.Partial(good), bad]) }],
  [
    "a value beside other properties",
    { reply: Type.Union([Type.Object({ ok: Type.Literal(true), a: Type.Null() }), bad]) },
  ],
  [
    "an error under another name",
    { reply: Type.Union([good, Type.Object({ ok: Type.Literal(false), why: Type.Null() })]) },
  ],
  ["no JSON Schema", { reply: v.string() }],
])("an operation with %s is no such one", (_, schemas) => expect(outcomeIn(schemas)).toBeNull());
