import { expect, test } from "bun:test";
import { jsonSchemaOf, outcomeOf } from "../../src/index";
import { remoteLimitsOf } from "../../src/mcp/client/options";
import { type RemoteTool, remoteTools } from "../../src/mcp/client/remote-protocol";
import { isSoonChecked, writtenOut } from "../../src/mcp/client/written-out";

const LIMITS = remoteLimitsOf({ tools: 5, definition: 2_000 });
const tool = (name: string, more: Partial<RemoteTool> = {}): RemoteTool => ({
  name,
  inputSchema: { type: "object" },
  ...more,
});

const check = (outputSchema: Record<string, unknown>, value: unknown): boolean => {
  const { protocol } = remoteTools("s", [tool("t", { outputSchema })], remoteLimitsOf());
  return protocol.operations["t"]?.reply.parse({ ok: true, value }).isOk() === true;
};

test("P18: names that JavaScript or an actor gives a meaning get another one", () => {
  const { tools, protocol } = remoteTools(
    "s",
    ["then", "__proto__", "onStop", "toString", "a/b.c"].map((name) => tool(name)),
    LIMITS,
  );
  expect([...tools.keys()]).toEqual(["then_", "__proto___", "onStop_", "toString_", "a/b.c"]);
  expect(Object.keys(protocol.operations)).toHaveLength(5);
  expect([...tools.values()].map(({ name }) => name)).toEqual(["then", "__proto__", "onStop", "toString", "a/b.c"]);
});

test("P18: too many tools, giant ones, and two of one name are left out", () => {
  const many = Array.from({ length: 100_000 }, (_, n) => tool(`t${n}`));
  const { tools, leftOut } = remoteTools("s", many, LIMITS);
  expect([tools.size, leftOut.length]).toEqual([5, 10]);
  const giant = tool("giant", { description: "a".repeat(3_000) });
  const odd = remoteTools("s", [giant, tool("a"), tool("a"), tool(""), tool("b".repeat(200))], LIMITS);
  expect([...odd.tools.keys()]).toEqual(["a"]);
  expect(odd.leftOut).toHaveLength(4);
});

test("a reply is held to the server's own schema, references included", () => {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: { at: { $ref: "#/$defs/place" }, below: { type: "array", items: { $ref: "#" } } },
    required: ["at"],
    $defs: { place: { type: "integer", minimum: 3 } },
  };
  expect([check(schema, { at: 3 }), check(schema, { at: 1 }), check(schema, {})]).toEqual([true, false, false]);
  expect(check(schema, { at: 3, below: [{ at: 4, below: [] }] })).toBe(true);
  expect(check(schema, { at: 3, below: [{ at: 1 }] })).toBe(false);
  const { protocol } = remoteTools("s", [tool("t", { outputSchema: schema })], LIMITS);
  expect(jsonSchemaOf(protocol)["t"]?.output).toMatchObject({
    anyOf: [{ properties: { value: { type: "object" } } }, {}],
  });
  expect(outcomeOf(protocol.operations["t"])?.value).toMatchObject({ required: ["at"] });
});

test("P18: a schema of a stranger cannot hold up what checks by it", () => {
  const slow = { type: "object", properties: { text: { type: "string", pattern: "^(a+)+$" } } };
  expect(check(slow, { text: `${"a".repeat(50_000)}!` })).toBe(true);
  expect(check({ type: "object", patternProperties: { "^(a+)+$": {} }, additionalProperties: false }, { x: 1 })).toBe(
    true,
  );
  expect(check({ $ref: "https://evil.example/schema" }, { any: 1 })).toBe(true);
  let deep: Record<string, unknown> = { type: "object" };
  for (let level = 0; level < 200; level++) deep = { type: "object", properties: { a: deep } };
  expect(check(deep, { a: { a: {} } })).toBe(true);
});

test("a list has a fingerprint, which tells whether it is another one", () => {
  const of = (...tools: RemoteTool[]) => remoteTools("s", tools, LIMITS).fingerprint;
  expect(of(tool("a"), tool("b"))).toBe(of(tool("a"), tool("b")));
  expect(of(tool("a"))).not.toBe(of(tool("a"), tool("b")));
  expect(of(tool("a"))).not.toBe(of(tool("a", { description: "x" })));
});

test("P18: references to references, and without end, cannot hold up what checks by them", () => {
  const twice: Record<string, unknown> = { d60: { required: ["none"] } };
  for (let level = 0; level < 60; level++) {
    const $ref = `#/$defs/d${level + 1}`;
    twice[`d${level}`] = { anyOf: [{ $ref }, { $ref }] };
  }
  const bomb = { type: "object", properties: { x: { $ref: "#/$defs/d0" } }, $defs: twice };
  expect(check(bomb, { x: {} })).toBe(true); // It is not checked so deep down.
  const items = { anyOf: [{ items: { $ref: "#/$defs/a" } }, { items: { $ref: "#/$defs/a" } }] };
  let nested: unknown = 3;
  for (let level = 0; level < 40; level++) nested = [nested];
  const branching = { type: "object", properties: { x: { $ref: "#/$defs/a" } }, $defs: { a: items } };
  expect(check(branching, { x: nested })).toBe(true);
  expect(check({ type: "object", $ref: "#" }, {})).toBe(true);
  expect(check({ type: "object", $ref: "#" }, [])).toBe(false);
  const list = {
    $defs: { node: { properties: { at: { type: "integer" }, next: { $ref: "#/$defs/node" } }, required: ["at"] } },
    $ref: "#/$defs/node",
  };
  expect(check(list, { at: 1, next: { at: 2, next: { at: 3 } } })).toBe(true);
  expect(check(list, { at: 1, next: { at: 2, next: { at: "3" } } })).toBe(false);
});

test("P18: what is not checked of a schema refuses nothing that fits", () => {
  const text = (format: string) => ({ type: "string", format });
  const either = { properties: { on: { oneOf: [text("date"), text("date-time")] } } };
  expect([check(either, { on: "2026-01-01" }), check(either, { on: 3 })]).toEqual([true, false]);
  expect(check({ properties: { a: { not: { pattern: "^b" } } } }, { a: "a" })).toBe(true);
  const open = { allOf: [{ patternProperties: { "^x": {} } }], unevaluatedProperties: false };
  expect(check(open, { x1: 1 })).toBe(true);
  expect(check({ properties: JSON.parse('{"__proto__":{"type":"integer"}}') }, JSON.parse('{"__proto__":3}'))).toBe(
    true,
  );
});

test("P18: a reply is not checked where its schema would take too long for it", () => {
  const wide = { properties: { x: { items: { anyOf: Array.from({ length: 2_000 }, (_, at) => ({ const: at })) } } } };
  const { width } = writtenOut(wide);
  const isSoon = (length: number): boolean => isSoonChecked({ x: Array(length).fill(1) }, width, 10_485_760);
  expect([isSoon(10_000), isSoon(300_000)]).toEqual([true, false]);
  const plain = writtenOut({ properties: { x: { items: { type: "integer" } } }, required: ["x"] });
  expect(isSoonChecked({ x: Array(300_000).fill(1) }, plain.width, 10_485_760)).toBe(true);
});
