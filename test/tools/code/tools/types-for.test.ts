import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { TSchema } from "typebox";
import { Create } from "typebox/value";
import * as v from "valibot";
import * as z from "zod";
import { createSystem, defineProtocol, type Protocol, type Schema, Type } from "../../../../src";
import { FileSystem, Program, typesFor } from "../../../../src/tools";

const system = createSystem();
afterAll(() => system.shutdown());
let count = 0;

/** A reference to an actor of that protocol, whose handlers nobody calls. */
function refOf(protocol: Protocol<string, unknown>) {
  const handlers = Object.fromEntries(Object.keys(protocol.operations).map((name) => [name, () => {}]));
  return system.spawn(`actor-${++count}`, protocol, () => handlers as never);
}

/** The types of one payload, and the names that it needs. */
function typeOf(payload: Schema): { type: string; names: string } {
  const text = typesFor({ t: refOf(defineProtocol("p", { o: { payload } })) });
  const [, names = "", type = ""] =
    /\}\n((?:type [\s\S]*?;\n)*)declare const tools: \{\n {2}readonly t: \{\n {4}o\(payload\??: ([\s\S]*)\): Promise<void>;/.exec(
      text,
    ) ?? [];
  return { type: type.replaceAll(/\s+/g, " "), names: names.replaceAll(/\s+/g, " ") };
}

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "envoi-types-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The compiler's errors for code with such tools, in its strictest mode. */
async function faultsIn(declarations: string, code: string): Promise<string> {
  const file = join(folder, `code-${++count}.ts`);
  await Bun.write(file, `${declarations}\nasync function code() {\n${code}\n}\nvoid code;\nexport {};\n`);
  const tsc = join(import.meta.dir, "../../../../node_modules/typescript/bin/tsc");
  const options = ["--noEmit", "--strict", "--target", "esnext", "--lib", "esnext", "--types", "", "--ignoreConfig"];
  const compiler = Bun.spawn([process.execPath, tsc, ...options, file], { stdout: "pipe", stderr: "pipe" });
  const [text] = await Promise.all([compiler.stdout.text(), compiler.exited]);
  return text.trim();
}

describe("a schema", () => {
  const Node = Type.Cyclic(
    { Node: Type.Object({ value: Type.Number(), next: Type.Optional(Type.Ref("Node")) }) },
    "Node",
  );
  const Bytes = Type.Refine(Type.Unsafe<Uint8Array>({}), (value) => value instanceof Uint8Array);
  const cases: readonly [string, Schema, string, string?][] = [
    ["text", Type.String(), "string"],
    ["integer", Type.Integer({ minimum: 1 }), "number"],
    ["null", Type.Null(), "null"],
    ["anything", Type.Unknown(), "unknown"],
    ["nothing", Type.Never(), "never"],
    [
      "what is for askers in this process",
      Type.Union([Type.Literal("utf8"), Type.Literal("bytes", { "x-json": false })]),
      '"utf8"',
    ],
    ["literal", Type.Literal('a"b'), '"a\\"b"'],
    ["enum", Type.Enum({ A: "x", B: 2 }), '"x" | 2'],
    ["union", Type.Union([Type.String(), Type.Number(), Type.String()]), "string | number"],
    ["array", Type.Array(Type.Union([Type.String(), Type.Null()])), "(string | null)[]"],
    ["tuple", Type.Tuple([Type.String(), Type.Number()]), "[string, number]"],
    ["record", Type.Record(Type.String(), Type.Boolean()), "{ [key: string]: boolean }"],
    [
      "record of names",
      Type.Record(Type.Union([Type.Literal("a"), Type.Literal("b")]), Type.Null()),
      "{ a: null; b: null }",
    ],
    ["object", Type.Object({ a: Type.String(), b: Type.Optional(Type.Number()) }), "{ a: string; b?: number }"],
    ["no members", Type.Object({}), "{}"],
    [
      "odd names",
      Type.Object({ "a-b": Type.Null(), ñ: Type.Null(), "1": Type.Null() }),
      '{ "1": null; "a-b": null; ñ: null }',
    ],
    [
      "both",
      Type.Intersect([Type.Object({ a: Type.Null() }), Type.Object({ b: Type.Null() })]),
      "{ a: null } & { b: null }",
    ],
    [
      "others",
      Type.Object({ a: Type.Null() }, { additionalProperties: Type.Number() }),
      "{ a: null; [key: string]: unknown }",
    ],
    ["bytes or text", Type.Object({ a: Type.Union([Type.String(), Bytes]), b: Type.Optional(Bytes) }), "{ a: string }"],
    ["one with bytes", Type.Union([Type.Object({ b: Bytes }), Type.Object({ c: Type.Null() })]), "{ c: null }"],
    ["a refinement", Type.Refine(Type.Unsafe<object>({}), (value) => typeof value === "object"), "unknown"],
    ["bigint", Type.Union([Type.BigInt(), Type.Null()]), "null"],
    ["zod", z.object({ a: z.string(), n: z.number().default(1) }), "{ a: string; n?: number }"],
    ["zod that cannot tell", z.object({ at: z.date() }), "unknown"],
    ["valibot", v.object({ a: v.string() }), "unknown"],
    ["circle", Node, "TNode", "type TNode = { value: number; next?: TNode }; "],
  ];
  test.each([...cases])("is a type: %s", (_, schema, type, names = "") => {
    expect(typeOf(schema)).toEqual({ type, names });
  });

  test("of a Standard Schema is told by what goes in, and by what comes out", () => {
    const schema = z.string().transform(Number).pipe(z.number());
    const text = typesFor({ t: refOf(defineProtocol("p", { o: { payload: schema, reply: schema } })) });
    expect(text).toContain("  readonly t: {\n    o(payload: string): Promise<number>;");
  });

  test("of a Standard Schema has the description that it was given, or none", () => {
    const operations = { o: { payload: z.object({}) }, p: { payload: z.object({}).describe("Says */ why.") } };
    const text = typesFor({ t: refOf(defineProtocol("p", operations)) });
    expect(text).toContain("  readonly t: {\n    o(payload: {}): Promise<void>;\n    /** Says *\\/ why. */\n    p(");
  });

  test("of an operation with a description has that one", () => {
    const o = { description: "Does it.", payload: Type.String({ description: "The text." }) };
    const text = typesFor({ t: refOf(defineProtocol("p", { o })) });
    expect(text).toContain("  readonly t: {\n    /** Does it. */\n    o(payload: string): Promise<void>;");
  });

  test("that refers to itself by its root has a name", () => {
    interface Tree {
      get children(): z.ZodArray<z.ZodType>;
    }
    const tree: z.ZodType = z.object({
      get children() {
        return z.array(tree);
      },
    } satisfies Tree);
    expect(typeOf(tree)).toEqual({ type: "TOPayload", names: "type TOPayload = { children: TOPayload[] }; " });
  });

  test("tells its descriptions, each once, and none ends its comment", () => {
    const at = Type.String({ description: "One */ two\nthree" });
    const text = typesFor({ t: refOf(defineProtocol("p", { o: { payload: Type.Object({ from: at, to: at }) } })) });
    expect(text.match(/One/g)?.length).toBe(1);
    expect(text).toContain(
      "      /**\n       * One *\\/ two\n       * three\n       */\n      from: string;\n      to: string;\n",
    );
  });

  test("that recurs has a name where it is long, of the tool and of what it is", () => {
    const failure = Type.Object({
      kind: Type.String(),
      message: Type.String(),
      path: Type.String(),
      line: Type.Number(),
    });
    const reply = Type.Object({ failure });
    const Twice = defineProtocol("twice", {
      a: { payload: failure },
      b: { payload: Type.Null(), reply },
      c: { reply: Type.Null() },
    });
    const text = typesFor({ t: refOf(Twice), other: refOf(Program) });
    expect(text.match(/message: string/g)?.length).toBe(1);
    expect(text).toContain("a(payload: TAPayload): Promise<void>;");
    expect(text).toContain("b(payload: null): Promise<{ failure: TAPayload }>;");
    expect(text).toContain("c(): Promise<null>;");
    expect(text).toContain("run(payload?: unknown): Promise<unknown>;");
  });
});

test("code without tools has its input, and tells how far it is", async () => {
  const text = typesFor({});
  expect(text).not.toContain("tools");
  expect(await faultsIn(text, "progress(input);")).toBe("");
});

test("only what code may call is declared", () => {
  const text = typesFor({ $log_1: { ref: refOf(FileSystem), operations: ["append"] } });
  expect(text).toMatch(/readonly \$log_1: {\n {4}\/\*\* Adds content .*\n {4}append\(payload:/);
  expect(text).not.toContain("read(");
});

test("the compiler takes code that uses files rightly, and finds what does not", async () => {
  const text = typesFor({ files: refOf(FileSystem) });
  expect(text.length).toBeLessThan(9_500);
  expect(text).not.toContain("FilesKind"); // It is used once: in the error, which has a name.
  const code = `
      const read = await tools.files.read({ path: "a.txt", lines: { from: 1 } });
      if (read.ok) read.value.content.toUpperCase();
      else read.error.kind satisfies "not-found" | "denied" | string;
      for await (const item of tools.files.search({ text: "x" })) {
        if (item.ok && item.value.kind === "match") item.value.line.toFixed();
      }
      for await (const text of tools.files.readStream({ path: "a", encoding: "utf8" })) if (text.ok) text.value.trim();
      const written = await tools.files.write({ path: "b.txt", content: "text", ifExists: "fail" });
      if (written.ok && written.value.created) progress(written.value.size);
      const listed = await tools.files.list({});
      if (listed.ok) for (const { path, kind } of listed.value.entries) progress([path, kind === "file"]);
      await tools.files.inspect();
      try { await tools.files.stat({ path: "" }) } catch (thrown) { (thrown as ToolError).kind.trim() }
      // @ts-expect-error
      read.value;
      // @ts-expect-error
      await tools.files.read({});
      // @ts-expect-error
      await tools.files.read({ path: 1 });
      // @ts-expect-error
      await tools.files.read({ path: "a", encoding: "latin1" });
      // @ts-expect-error
      await tools.files.write({ path: "a", content: new Uint8Array() });
      // @ts-expect-error
      await tools.files.write({ path: "a", contents: "b" });
      // @ts-expect-error
      (await tools.files.search({ text: "x" })).ok;
      for await (const item of tools.files.watch({})) {
        // @ts-expect-error
        item.value;
      }
      // @ts-expect-error
      tools.files.remove({ path: "a" });
      // @ts-expect-error
      tools.files = tools.files;
      // @ts-expect-error
      tools.shell;
      // @ts-expect-error
      input.length;
    `;
  expect(await faultsIn(text, code)).toBe("");
}, 240_000);

/** Schemas of many kinds, of which each has a value that `Create` makes. */
const schemas = fc.letrec<{ schema: TSchema & object }>((tie) => {
  const inner = tie("schema");
  const name = fc.oneof(fc.string({ minLength: 1, maxLength: 5 }), fc.constantFrom("a", "kind", "*/", "a b"));
  const description = fc.option(fc.string({ maxLength: 20 }), { nil: undefined });
  const members = fc.dictionary(
    name.filter((key) => key !== "__proto__"),
    fc.tuple(inner, fc.boolean()),
    { maxKeys: 4, noNullPrototype: true },
  );
  return {
    schema: fc.oneof(
      { maxDepth: 4, depthIdentifier: "schema" },
      description.map((text) => Type.String(text === undefined ? {} : { description: text })),
      fc.constantFrom(Type.Number(), Type.Boolean(), Type.Null(), Type.Unknown(), Type.Integer()),
      fc.oneof(fc.string(), fc.integer(), fc.boolean()).map((value) => Type.Literal(value)),
      inner.map((item) => Type.Array(item)),
      fc.array(inner, { minLength: 1, maxLength: 3 }).map((items) => Type.Tuple(items)),
      fc.array(inner, { minLength: 1, maxLength: 3 }).map((parts) => Type.Union(parts)),
      inner.map((value) => Type.Record(Type.String(), value)),
      inner.map((value) =>
        Type.Cyclic({ Node: Type.Object({ value, next: Type.Optional(Type.Ref("Node")) }) }, "Node"),
      ),
      members.map((found) =>
        Type.Object(
          Object.fromEntries(
            Object.entries(found).map(([key, [schema, isOptional]]) => [
              key,
              isOptional ? Type.Optional(schema) : schema,
            ]),
          ),
        ),
      ),
    ),
  };
}).schema;

test("of any schema comes a type that the compiler takes, and that has the values of the schema", async () => {
  const samples = fc.sample(schemas, 200);
  const operations = Object.fromEntries(samples.map((payload, index) => [`o${index}`, { payload, reply: payload }]));
  const text = typesFor({ t: refOf(defineProtocol("many", operations) as Protocol<string, unknown>) });
  const calls = samples.map((schema, index) => {
    // `Create` gives undefined for a schema of anything.
    const value = JSON.stringify(Create(schema), (_, part) => part ?? null);
    return `await tools.t.o${index}(${value});`;
  });
  expect(await faultsIn(text, calls.join("\n"))).toBe("");
}, 240_000);
