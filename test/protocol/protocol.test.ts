import { describe, expect, test } from "bun:test";
import Type from "typebox";
import * as v from "valibot";
import { z } from "zod";
import { defineProtocol, protocolOf } from "../../src/protocol/protocol";

const define = (operations: unknown, name = "counter") => defineProtocol(name, operations as Record<string, object>);

const Counter = defineProtocol("counter", {
  add: { payload: Type.Number() },
  total: { reply: z.number() },
  ticks: { payload: v.number(), stream: Type.Number() },
  reset: {},
});

describe("a protocol", () => {
  test("is known by its operations", () => {
    expect(protocolOf(Counter.operations)).toBe("counter");
    expect(protocolOf({ ...Counter.operations })).toBeUndefined();
  });

  test("tells what each operation takes and gives", () => {
    const shape = Object.values(Counter.operations).map(({ name, hasPayload, hasReply, isStream }) => [
      name,
      hasPayload,
      hasReply,
      isStream,
    ]);
    expect(Counter.name).toBe("counter");
    expect(shape).toEqual([
      ["add", true, false, false],
      ["total", false, true, false],
      ["ticks", true, false, true],
      ["reset", false, false, false],
    ]);
  });

  test("is frozen, and knows no operation that it was not given", () => {
    expect(Object.isFrozen(Counter)).toBe(true);
    expect(Object.isFrozen(Counter.operations)).toBe(true);
    for (const name of ["toString", "constructor", "__proto__", "hasOwnProperty", "subtract"]) {
      expect(Counter.operations[name]).toBeUndefined();
    }
  });

  test("keeps what an operation says of itself, and nobody can change it", () => {
    const hints = { readOnly: true };
    const { total, add } = defineProtocol("counter", {
      total: { description: "The sum so far.", hints, reply: Type.Number() },
      add: { payload: Type.Number(), description: undefined as unknown as string },
    }).operations;
    hints.readOnly = false;
    expect([total?.description, total?.hints]).toEqual(["The sum so far.", { readOnly: true }]);
    expect(Object.isFrozen(total?.hints)).toBe(true);
    expect([add?.description, add?.hints, add?.overrides]).toEqual([undefined, undefined, undefined]);
  });

  test("compiles a schema when its operation is first used", () => {
    const Lazy = defineProtocol("lazy", { add: { payload: Type.Number(), reply: Type.Number() } });
    const { add } = Lazy.operations;
    expect(add?.payload.isCompiled).toBe(false);
    expect(add?.payload.parse(1).isOk()).toBe(true);
    expect(add?.payload.isCompiled).toBe(true);
    expect(add?.reply.isCompiled).toBe(false);
  });

  test("checks payloads, replies and items with TypeBox, zod and valibot alike", () => {
    const { add, total, ticks, reset } = Counter.operations;
    expect(add?.payload.parse("1").isErr()).toBe(true);
    expect(total?.reply.parse(1).isOk()).toBe(true);
    expect(total?.reply.parse("1").isErr()).toBe(true);
    expect(ticks?.payload.parse(null).isErr()).toBe(true);
    expect(ticks?.item.parse(1).isOk()).toBe(true);
    expect(reset?.payload.parse(null)._unsafeUnwrap()).toBeUndefined();
    expect(reset?.payload.parse(0).isErr()).toBe(true);
  });
});

describe("a programmer's error throws, with what to write instead", () => {
  test.each(["", " ", "a b", "@(x)", ".x", "a\n"])("a protocol named %j", (name) => {
    expect(() => define({ add: {} }, name)).toThrow(/cannot be named .*such as "counter"/);
  });

  test.each(["constructor", "toString", "valueOf", "hasOwnProperty", "then"])("an operation named %s", (name) => {
    expect(() => define({ [name]: {} })).toThrow(/choose another name/);
  });

  test("an operation named __proto__, or nothing", () => {
    expect(() => define(JSON.parse('{"__proto__":{}}'))).toThrow(/choose another name/);
    expect(() => define({ "": {} })).toThrow(/give it one/);
  });

  test("a reply together with a stream", () => {
    expect(() => define({ both: { reply: Type.Number(), stream: Type.Number() } })).toThrow(
      /counter.both has both a reply and a stream/,
    );
  });

  test("a key that is none of payload, reply and stream", () => {
    expect(() => define({ add: { paylod: Type.Number() } })).toThrow(/unknown key "paylod": write payload/);
  });

  test.each([
    ["a name", "number"],
    ["a number", 1],
    ["null", null],
    ["an array", []],
    ["a function", String],
    ["a record of schemas", { name: z.string() }],
    ["a record with a schema named type", { type: Type.String() }],
  ])("%s in place of a schema", (_, payload) => {
    expect(() => define({ add: { payload } })).toThrow(/counter.add has a payload that is not a schema: write/);
  });

  test.each<[object, string]>([
    [{ descripton: "Adds." }, 'has an unknown key "descripton": write description.'],
    [
      { description: " " },
      'The description of operation counter.add is a text, such as "Adds to the total."; got " ".',
    ],
    [{ description: 1 }, "is a text"],
    [{ hints: true }, "The hints of operation counter.add are an object: write { readOnly: true }."],
    [{ hints: { readonly: true } }, 'has an unknown hint "readonly": write readOnly.'],
    [{ hints: { cheap: true } }, 'unknown hint "cheap": write readOnly, idempotent or destructive.'],
    [{ hints: { readOnly: "yes" } }, 'The hint readOnly of operation counter.add is true or false; got "yes".'],
    [{ hints: { readOnly: true, destructive: true } }, "cannot be both readOnly and destructive"],
    [{ schema: [] }, 'is an object: write { payload: { type: "string" } }.'],
    [{ schema: { reply: { type: "string" } } }, "has no reply: leave out the reply of its schema."],
    [{ schema: { items: {} } }, "has no stream: leave out the items of its schema."],
    [{ schema: { paylod: {} } }, 'unknown part of its schema "paylod": write payload.'],
    [{ schema: { payload: "string" } }, "has a payload that is not a JSON Schema"],
    [{ schema: { payload: z.string() } }, "has a payload that is not a JSON Schema"],
  ])("%p beside its schemas", (about, sentence) => {
    expect(() => define({ add: { payload: Type.Number(), ...about } })).toThrow(sentence);
  });

  test("an operation that is no object", () => {
    expect(() => define({ add: null })).toThrow(/must be an object/);
    expect(() => define({ add: Type.Number() })).toThrow(/unknown key "type"/);
  });
});
