import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import Type, { type TSchema } from "typebox";
import { Compile } from "typebox/compile";
import * as v from "valibot";
import { z } from "zod";
import type { Issue } from "../../src/message/delivery-error";
import type { SchemaNode } from "../../src/protocol/discriminator";
import type { Schema } from "../../src/protocol/schema";
import { Validator } from "../../src/protocol/validator";

const issuesOf = (schema: Schema | undefined, value: unknown): readonly Issue[] =>
  new Validator(schema).parse(value).match(
    () => [],
    (issues) => issues(),
  );
const at = (path: string, message: string): Issue => ({ path, message });

const Circle = Type.Object({ kind: Type.Literal("circle"), r: Type.Number() });
const Square = Type.Object({ kind: Type.Literal("square"), side: Type.Number() });
const Shape = Type.Union([Circle, Square]);

describe("a validator", () => {
  test("compiles at its first parse", () => {
    const validator = new Validator(Type.Number());
    expect(validator.isCompiled).toBe(false);
    validator.parse(1);
    expect(validator.isCompiled).toBe(true);
  });

  test("gives the very value that a TypeBox schema accepts", () => {
    const value = { kind: "circle", r: 1 };
    expect(new Validator(Shape).parse(value)._unsafeUnwrap()).toBe(value);
  });

  test("finds issues only when asked, and once", () => {
    let asked = 0;
    const schema = Type.Refine(
      Type.Number(),
      (n) => n > 0,
      () => {
        asked++;
        return "must be positive";
      },
    );
    const find = new Validator(schema).parse(-1)._unsafeUnwrapErr();
    expect(asked).toBe(0);
    expect(find()).toEqual([at("", "must be positive")]);
    expect(find()).toBe(find());
    expect(asked).toBe(1);
  });

  test("without a schema takes undefined and null, and gives undefined", () => {
    const validator = new Validator();
    expect(validator.parse(undefined)._unsafeUnwrap()).toBeUndefined();
    expect(validator.parse(null)._unsafeUnwrap()).toBeUndefined();
    expect(issuesOf(undefined, 0)[0]?.message).toContain("takes no payload");
  });

  test("never throws: a schema that throws or does not compile refuses the value", () => {
    const throwing = Type.Refine(Type.Unknown(), () => {
      throw new Error("boom");
    });
    expect(issuesOf(throwing, 1)).toEqual([at("", "cannot be checked: Error: boom")]);
    expect(issuesOf(Type.String({ pattern: "(" }), "x")[0]?.message).toContain("cannot be checked");
    const hostile = Object.defineProperty({}, "kind", {
      get() {
        throw new Error("trap");
      },
    });
    expect(issuesOf(Shape, hostile)).toEqual([at("", "cannot be checked: Error: trap")]);
  });
});

describe("issues", () => {
  test("say what is expected, and where", () => {
    const User = Type.Object(
      { name: Type.String({ minLength: 2 }), role: Type.Enum(["admin", "guest"]), "a/b~c": Type.Null() },
      { additionalProperties: false },
    );
    expect(issuesOf(User, { name: "x", role: "root", "a/b~c": 1, more: 1 })).toEqual([
      at("/more", "is not allowed"),
      at("/name", "must not have fewer than 2 characters"),
      at("/role", 'must be "admin" or "guest"'),
      at("/a~1b~0c", "must be null"),
    ]);
    expect(issuesOf(User, { role: "admin", "a/b~c": null })).toEqual([at("/name", "is required")]);
    expect(issuesOf(User, [])).toEqual([at("", "must be an object")]);
    expect(issuesOf(Type.Literal("a"), 1)).toEqual([at("", 'must be "a"')]);
  });

  test("are eight at most, and never carry a whole payload", () => {
    const issues = issuesOf(Type.Array(Type.Number()), Array(100).fill("x"));
    expect(issues).toHaveLength(8);
    const names = Array.from({ length: 20 }, (_, i) => `field${i}`);
    expect(issuesOf(Type.Object(Object.fromEntries(names.map((name) => [name, Type.Number()]))), {})).toHaveLength(8);
    expect(issuesOf(z.array(z.number()), names)).toHaveLength(8);
    const strict = Type.Object({}, { additionalProperties: false });
    const [issue] = issuesOf(strict, { ["k".repeat(10_000)]: 1 });
    expect(JSON.stringify(issue).length).toBeLessThan(400);
    const [foreign] = issuesOf(v.literal("a"), "k".repeat(10_000));
    expect(JSON.stringify(foreign).length).toBeLessThan(400);
  });

  test("of a union come from the branch that its discriminator names", () => {
    expect(issuesOf(Shape, { kind: "circle", r: "1" })).toEqual([at("/r", "must be a number")]);
    const deep = Type.Object({ list: Type.Array(Type.Object({ shape: Shape })) });
    expect(issuesOf(deep, { list: [{ shape: { kind: "circle", r: 1 } }, { shape: { kind: "square" } }] })).toEqual([
      at("/list/1/shape/side", "is required"),
    ]);
  });

  test("of an unknown discriminator list the values that are allowed, a dozen at most", () => {
    expect(issuesOf(Shape, { kind: "hexagon" })).toEqual([at("/kind", 'must be "circle" or "square"')]);
    expect(issuesOf(Shape, {})).toEqual([at("/kind", 'must be "circle" or "square"')]);
    expect(issuesOf(Shape, 3)).toEqual([at("", "must be an object")]);
    const numbered = (length: number) =>
      Type.Union(Array.from({ length }, (_, i) => Type.Object({ t: Type.Literal(i) })));
    expect(issuesOf(numbered(12), { t: 30 })).toEqual([at("/t", "must be 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 or 11")]);
    expect(issuesOf(numbered(30), { t: 30 })).toEqual([
      at("/t", "must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … (30 in all)"),
    ]);
  });

  test("of a union without a discriminator name the kinds, or what the nearest alternative lacks", () => {
    expect(issuesOf(Type.Union([Type.String(), Type.Number(), Type.Null()]), true)).toEqual([
      at("", "must be a string, a number or null"),
    ]);
    const nullable = Type.Union([Type.Object({ a: Type.Number() }), Type.Null()]);
    expect(issuesOf(nullable, { a: "1" })).toEqual([at("/a", "must be a number")]);
    const either = Type.Union([Type.Object({ a: Type.Number(), b: Type.Number() }), Type.Object({ c: Type.Number() })]);
    expect(issuesOf(either, {})).toEqual([
      at("", "must fit one of 2 alternatives; the nearest finds this:"),
      at("/c", "is required"),
    ]);
    const mixed = Type.Union([Circle, Square, Type.String()]);
    expect(issuesOf(mixed, { kind: "circle" })).toEqual([at("/r", "is required")]);
    expect(issuesOf(mixed, 1)).toEqual([at("", "must be an object or a string")]);
  });

  test("of recursive schemas are found by TypeBox itself", () => {
    const Tree = Type.Cyclic(
      { Node: Type.Object({ v: Type.Number(), next: Type.Optional(Type.Ref("Node")) }) },
      "Node",
    );
    expect(issuesOf(Tree, { v: 1, next: { v: 2 } })).toEqual([]);
    expect(issuesOf(Tree, { v: 1, next: { v: "2" } })).toEqual([at("/next/v", "must be a number")]);
  });
});

test("a payload nested too deeply for the stack is refused, not thrown", () => {
  const List = Type.Cyclic({ List: Type.Object({ next: Type.Optional(Type.Ref("List")) }) }, "List");
  let value = {};
  for (let i = 0; i < 1_000_000; i++) value = { next: value };
  expect(issuesOf(List, value)[0]?.message).toContain("cannot be checked: RangeError");
});

describe("a discriminator", () => {
  test("tries no other branch", () => {
    let tried = 0;
    const Slow = Type.Object({
      kind: Type.Literal("slow"),
      x: Type.Refine(Type.Unknown(), () => {
        tried++;
        return true;
      }),
    });
    const validator = new Validator(Type.Array(Type.Union([Slow, Circle, Type.Union([Square])])));
    expect(
      validator
        .parse([
          { kind: "circle", r: 1 },
          { kind: "square", side: 1 },
        ])
        .isOk(),
    ).toBe(true);
    expect(tried).toBe(0);
    expect(validator.parse([{ kind: "slow", x: 1 }]).isOk()).toBe(true);
    expect(tried).toBe(1);
  });

  test("is an own property: what a value inherits does not count", () => {
    const Odd = Type.Union([
      Type.Object({ constructor: Type.Literal("a") }),
      Type.Object({ constructor: Type.Literal("b") }),
    ]);
    expect(new Validator(Odd).parse({}).isErr()).toBe(true);
    expect(new Validator(Odd).parse({ constructor: "b" }).isOk()).toBe(true);
    expect(new Validator(Shape).parse(Object.create({ kind: "circle", r: 1 })).isErr()).toBe(true);
    expect(new Validator(Shape).parse({ kind: "__proto__" }).isErr()).toBe(true);
    expect(new Validator(Shape).parse({ kind: "toString" }).isErr()).toBe(true);
    expect(new Validator(Shape).parse(JSON.parse('{"__proto__":{"kind":"circle","r":1}}')).isErr()).toBe(true);
  });

  test("is not looked for where references reach across the schema", () => {
    const Expr = Type.Cyclic(
      {
        Expr: Type.Union([
          Type.Object({ op: Type.Literal("num"), n: Type.Number() }),
          Type.Object({ op: Type.Literal("neg"), of: Type.Ref("Expr") }),
        ]),
      },
      "Expr",
    );
    expect(new Validator(Expr).parse({ op: "neg", of: { op: "num", n: 1 } }).isOk()).toBe(true);
    expect(new Validator(Expr).parse({ op: "neg", of: { op: "num" } }).isErr()).toBe(true);
  });
});

const tag = fc.oneof(
  fc.constantFrom("a", "b", "__proto__", "toString", ""),
  fc.integer({ min: 0, max: 2 }),
  fc.boolean(),
);
const key = fc.constantFrom("kind", "type", "x", "a/b");
const tagSchema = fc.oneof(
  tag.map((value) => Type.Literal(value)),
  fc.array(tag, { minLength: 1, maxLength: 2 }).map((tags) => Type.Union(tags.map((value) => Type.Literal(value)))),
  fc.constantFrom(Type.Enum(["a", "b"]), Type.Enum(["c"])),
);
// Discriminators that collide, or may be missing, as well as good ones.
const nearlyTagged = fc
  .array(
    fc.record({
      kind: fc.constantFrom<TSchema>(
        ...["a", "b", 1, true].map((value) => Type.Literal(value)),
        Type.Union([Type.Literal("c"), Type.Number()]),
      ),
      x: fc.constantFrom<TSchema>(Type.String(), Type.Number(), Type.Null()),
      isOptional: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.boolean()),
    }),
    { minLength: 2, maxLength: 4 },
  )
  .map((branches) =>
    branches.map(({ kind, x, isOptional }) => Type.Object({ kind: isOptional ? Type.Optional(kind) : kind, x })),
  );
const { schema: anySchema } = fc.letrec<{ schema: TSchema; object: TSchema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<TSchema>(Type.String(), Type.Number(), Type.Null(), Type.Unknown(), Type.Never()),
    tagSchema,
    tie("object"),
    nearlyTagged.map((branches) => Type.Union(branches)),
    nearlyTagged.map((oneOf) => Type.Unsafe({ oneOf })),
    tie("schema").map((item) => Type.Array(item)),
    tie("schema").map((item) => Type.Record(Type.String(), item)),
    fc.array(tie("schema"), { maxLength: 3 }).map((items) => Type.Tuple(items)),
    fc.array(tie("object"), { minLength: 1, maxLength: 4 }).map((branches) => Type.Union(branches)),
    fc.array(tie("schema"), { minLength: 1, maxLength: 4 }).map((branches) => Type.Union(branches)),
    fc.array(tie("object"), { minLength: 1, maxLength: 3 }).map((oneOf) => Type.Unsafe({ oneOf })),
    fc.array(tie("object"), { minLength: 1, maxLength: 2 }).map((parts) => Type.Unsafe({ allOf: parts })),
  ),
  object: fc
    .tuple(fc.dictionary(key, fc.oneof(tagSchema, tie("schema")), { maxKeys: 3 }), fc.boolean(), fc.boolean())
    .map(([properties, isStrict, isOptional]) =>
      Type.Object(
        Object.fromEntries(Object.entries(properties).map(([k, s]) => [k, isOptional ? Type.Optional(s) : s])),
        isStrict ? { additionalProperties: false } : {},
      ),
    ),
}));

/** A value that fits a schema, mostly; `pick` makes the choices. */
function valueFor(schema: SchemaNode, pick: () => number): unknown {
  const choose = (list: unknown): unknown => (list as unknown[])[pick() % (list as unknown[]).length];
  if ("const" in schema) return schema.const;
  if ("enum" in schema) return choose(schema.enum);
  for (const keyword of ["anyOf", "oneOf"]) {
    if (keyword in schema) return valueFor(choose(schema[keyword]) as SchemaNode, pick);
  }
  if (Array.isArray(schema.allOf)) return Object.assign({}, ...schema.allOf.map((part) => valueFor(part, pick)));
  if (Array.isArray(schema.items)) return schema.items.map((item) => valueFor(item, pick));
  if (schema.type === "array") {
    const items = schema.items as SchemaNode;
    return Array.from({ length: pick() % 3 }, () => valueFor(items, pick));
  }
  if (schema.type === "object") {
    const entries = Object.entries(schema.properties ?? schema.patternProperties ?? {});
    return Object.fromEntries(entries.map(([k, s]) => [k === "^.*$" ? "x" : k, valueFor(s, pick)]));
  }
  return { string: "s", number: 1.5, null: null }[String(schema.type)];
}

/** The same value with one place in it changed. */
function mutate(value: unknown, pick: () => number): unknown {
  const odd = ["a", "b", 0, 1, true, null, undefined, {}, [], "constructor", { kind: "a" }];
  if (typeof value !== "object" || value === null || pick() % 4 === 0) return odd[pick() % odd.length];
  if (Array.isArray(value)) return value.map((item, i) => (i === pick() % value.length ? mutate(item, pick) : item));
  const entries = Object.entries(value);
  if (pick() % 4 === 0) return Object.fromEntries(entries.slice(1));
  if (pick() % 4 === 0)
    return { ...value, [["kind", "type", "x", "extra"][pick() % 4] ?? ""]: odd[pick() % odd.length] };
  const chosen = pick() % Math.max(1, entries.length);
  return Object.fromEntries(entries.map(([k, item], i) => [k, i === chosen ? mutate(item, pick) : item]));
}

test("dispatch accepts exactly what TypeBox's own compiler accepts, and refuses with issues", () => {
  const choices = fc.array(fc.nat({ max: 1_000 }), { minLength: 8, maxLength: 40 });
  let accepted = 0;
  let refused = 0;
  fc.assert(
    fc.property(anySchema, fc.array(choices, { minLength: 1, maxLength: 6 }), (schema, seeds) => {
      const plain = Compile(schema);
      const validator = new Validator(schema as Schema);
      for (const seed of seeds) {
        let step = 0;
        const pick = (): number => seed[step++ % seed.length] ?? 0;
        const good = valueFor(schema as SchemaNode, pick);
        for (const value of [good, mutate(good, pick), mutate(mutate(good, pick), pick), {}, 1]) {
          const isValid = plain.Check(value);
          const result = validator.parse(value);
          expect(result.isOk()).toBe(isValid);
          if (isValid) accepted++;
          else refused++;
          if (result.isErr()) {
            const issues = result.error();
            expect(issues.length).toBeGreaterThan(0);
            expect(issues.length).toBeLessThanOrEqual(8);
            expect(new Set(issues.map((issue) => JSON.stringify(issue))).size).toBe(issues.length);
            expect(issues.map((issue) => issue.message)).not.toContain("does not fit its schema");
          }
        }
      }
    }),
    { numRuns: 500 },
  );
  // Both answers are well represented.
  expect(Math.min(accepted, refused)).toBeGreaterThan((accepted + refused) / 10);
});

describe("a Standard Schema", () => {
  test("gives its output: zod and valibot may transform the value", () => {
    expect(new Validator(z.string().transform(Number)).parse("1")._unsafeUnwrap()).toBe(1);
    expect(new Validator(v.pipe(v.string(), v.transform(Number))).parse("1")._unsafeUnwrap()).toBe(1);
  });

  test("has its paths turned into JSON Pointers", () => {
    const path = (schema: Schema, value: unknown) => issuesOf(schema, value).map((issue) => issue.path);
    expect(path(z.object({ "a/b": z.array(z.object({ "c~d": z.string() })) }), { "a/b": [{ "c~d": 1 }] })).toEqual([
      "/a~1b/0/c~0d",
    ]);
    expect(path(v.object({ "a/b": v.array(v.number()) }), { "a/b": [1, "2"] })).toEqual(["/a~1b/1"]);
    expect(path(z.string(), 1)).toEqual([""]);
  });

  const standard = (validate: (value: unknown) => unknown): Schema =>
    ({ "~standard": { version: 1, vendor: "test", validate } }) as Schema;

  test("that is asynchronous refuses the value, and its rejection is heard by nobody", async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", listen);
    const [issue] = issuesOf(
      standard(() => Promise.reject(new Error("late"))),
      1,
    );
    expect(issue?.message).toContain("asynchronously");
    await new Promise(setImmediate);
    process.off("unhandledRejection", listen);
    expect(unhandled).toEqual([]);
  });

  test("that throws, or returns nonsense, refuses the value", () => {
    const throwing = standard(() => {
      throw new Error("boom");
    });
    expect(issuesOf(throwing, 1)).toEqual([at("", "cannot be checked: Error: boom")]);
    expect(
      issuesOf(
        standard(() => undefined),
        1,
      )[0]?.message,
    ).toContain("cannot be checked");
  });
});

test("issues of a Standard Schema that are none are told as such, and never throw", () => {
  for (const issues of [[{}], true, [{ message: "m", path: 5 }], [null]]) {
    const validate = () => ({ issues }) as never;
    const parsed = new Validator({ "~standard": { version: 1, vendor: "broken", validate } }).parse(1);
    expect(parsed.isErr() && parsed.error().length > 0).toBe(true);
  }
});

describe("P18: the issues of a large value, which is looked through part by part", () => {
  const Line = Type.Object({
    item: Type.String(),
    count: Type.Integer(),
    tags: Type.Optional(Type.Array(Type.String())),
  });
  const Order = Type.Object(
    { id: Type.String(), lines: Type.Array(Line, { maxItems: 1_000 }), more: Type.Optional(Type.Array(Line)) },
    { additionalProperties: false },
  );
  const lines = (count: number, wrong: Readonly<Record<number, object>> = {}): object[] =>
    Array.from({ length: count }, (_, n) => ({ item: "tea", count: 1, ...wrong[n] }));
  const issuesOf = (value: unknown) =>
    new Validator(Order).parse(value).match(
      () => [],
      (issues) => issues(),
    );

  test("are those of the items that do not fit, wherever they are", () => {
    expect(issuesOf({ id: "1", lines: lines(900, { 899: { count: "x" } }) })).toEqual([
      { path: "/lines/899/count", message: "must be an integer" },
    ]);
    expect(issuesOf({ id: "1", lines: lines(900, { 5: { tags: ["a", 1] }, 6: { item: 2 } }) })).toEqual([
      { path: "/lines/5/tags/1", message: "must be a string" },
      { path: "/lines/6/item", message: "must be a string" },
    ]);
  });

  test("are eight at most", () => {
    const wrong = Object.fromEntries(lines(900).map((_, n) => [n, { count: "x" }]));
    expect(issuesOf({ id: "1", lines: lines(900, wrong) }).map(({ path }) => path)).toEqual(
      Array.from({ length: 8 }, (_, n) => `/lines/${n}/count`),
    );
  });

  test("begin with those of the whole: its own keys, and the length of an array", () => {
    const value = { lines: lines(1_001, { 3: { count: 1.5 } }), other: 1, more: lines(1, { 0: { item: 1 } }) };
    expect(issuesOf(value)).toEqual([
      { path: "/id", message: "is required" },
      { path: "/other", message: "is not allowed" },
      { path: "/lines", message: "must not have more than 1000 items" },
      { path: "/lines/3/count", message: "must be an integer" },
      { path: "/more/0/item", message: "must be a string" },
    ]);
  });
});
