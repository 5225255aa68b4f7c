import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { putAway } from "../../benchmarks/harness/places";
import { DONE, installation } from "../../benchmarks/subjects/installation";
import { Type } from "../../src";
import { sandbox } from "../tools/code/sandbox/kit";
import { runScript } from "./page";

const folder = mkdtempSync(join(tmpdir(), "envoi-cold-start-"));
const dist = join(folder, "node_modules/envoi/dist");
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterAll(putAway);
beforeAll(async () => cpSync(await installation(), folder, { recursive: true }), 120_000);

/** Does something while a file of the package is another one, or none. */
async function withFile<Value>(name: string, content: Uint8Array | null, work: () => Promise<Value>): Promise<Value> {
  const path = join(dist, name);
  const before = readFileSync(path);
  if (content === null) rmSync(path);
  else writeFileSync(path, content);
  try {
    return await work();
  } finally {
    writeFileSync(path, before);
  }
}

/** Uses a type that is computed from others, and is checked by it. */
const COMPUTED = `
import { createSystem, defineProtocol, Type } from "envoi";
const Counts = Type.Record(Type.String(), Type.Partial(Type.Object({ n: Type.Number() })));
const Sum = defineProtocol("sum", { of: { payload: Counts, reply: Type.Number() } });
const sum = createSystem().spawn("sum", Sum, () => ({ of: ({ a, b }) => (a?.n ?? 0) + (b?.n ?? 2) }), { validate: "always" });
const refused = await sum.ask("of", { a: { n: "1" } } as never);
const reply = await sum.ask("of", { a: { n: ${DONE - 2} }, b: {} });
process.exit(refused.isErr() ? reply.unwrapOr(1) : 1);
`;

/** Spawns an actor that is made of source text. */
const PROGRAM = `
import { createSystem } from "envoi";
import { spawnProgram } from "envoi/tools";
const reply = await spawnProgram(createSystem(), "six", "(by) => 6 * by").ask("run", 7);
process.exit(Number(reply.unwrapOr(1)));
`;

/** The files of the package that one of them imports. */
const importedBy = (name: string): string[] =>
  [...readFileSync(join(dist, name), "utf8").matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)].map(([, path = ""]) => path);

describe("a start of the built package", () => {
  test("has nothing to transpile, but for the three files that load others when they are needed", async () => {
    const files = [...new Bun.Glob("*.js").scanSync({ cwd: dist })];
    expect(files).toContain("index.js");
    const other = files.filter((name) => !/^(?:#!.*\n)?\/\/ @bun\n/.test(readFileSync(join(dist, name), "utf8")));
    expect(other.sort()).toEqual(["compiler.js", "late.js", "load-embedded.js"]);
  });

  test("says which function threw, and where, by its own name", async () => {
    const script = 'import { createMessage } from "envoi";\ncreateMessage("x" as never, "say", 1);\n';
    await Bun.write(join(folder, "wrong.ts"), script);
    const { exitCode, stderr } = await runScript(folder, "wrong.ts");
    expect(exitCode).toBe(1);
    expect(stderr).toContain('TypeError: "x" is not an address; make one with address("x").');
    expect(stderr).toMatch(/at createMessage \(.*envoi\/dist\/chunk-\w+\.js:\d+:\d+\)/);
    expect(stderr).not.toContain("note:");
  }, 240_000);

  test("loads the compiler of schemas for who checks something, and for nobody else", async () => {
    const start = (name: string) => runScript(folder, `${name}.ts`);
    expect((await start("checked-reply")).exitCode).toBe(DONE);
    await withFile("typebox-schema.js", null, async () => {
      for (const name of ["reply", "agent"])
        expect(await start(name)).toEqual({ exitCode: DONE, stdout: "", stderr: "" });
      expect((await start("checked-reply")).exitCode).not.toBe(DONE);
    });
  }, 240_000);

  test("loads what computes types for who writes such a type, and for nobody else", async () => {
    await Bun.write(join(folder, "computed.ts"), COMPUTED);
    expect(await runScript(folder, "computed.ts")).toEqual({ exitCode: DONE, stdout: "", stderr: "" });
    await withFile("typebox-types.js", null, async () => {
      expect(await runScript(folder, "checked-reply.ts")).toEqual({ exitCode: DONE, stdout: "", stderr: "" });
      expect((await runScript(folder, "computed.ts")).exitCode).not.toBe(DONE);
    });
  }, 240_000);

  test("loads what serves files, and what runs code, for who spawns such an actor, and for nobody else", async () => {
    const codeOf = async (name: string) => (await runScript(folder, `${name}.ts`)).exitCode;
    await Bun.write(join(folder, "program.ts"), PROGRAM);
    await withFile("file-actor.js", null, async () => {
      expect([await codeOf("execution"), await codeOf("program")]).toEqual([DONE, DONE]);
      expect(await codeOf("file-read")).not.toBe(DONE);
    });
    await withFile("code-actor.js", null, async () => {
      expect(await codeOf("file-read")).toBe(DONE);
      expect(await codeOf("execution")).not.toBe(DONE);
    });
  }, 240_000);

  test("reads a third of TypeBox's types, and no more", () => {
    const bytes = ["typebox.js", ...importedBy("typebox.js")].map((name) => readFileSync(join(dist, name)).length);
    expect(bytes.length).toBeGreaterThan(2);
    expect(bytes.reduce((sum, each) => sum + each)).toBeLessThan(35_000);
  });

  test("has of TypeBox's compiler what is called, and what that needs: two thirds", async () => {
    const path = join(dist, "typebox-schema.js");
    expect(Object.keys((await import(path)) as object).sort()).toEqual(["Compile", "Errors"]);
    expect(readFileSync(path).length).toBeLessThan(70_000);
  });

  test("has all of TypeBox's types, by the same names, that make the same schemas", async () => {
    const { Type: built } = (await import(join(dist, "index.js"))) as { Type: typeof Type };
    const kinds = (types: typeof Type) =>
      Object.entries(types)
        .map(([name, value]) => `${name}: ${typeof value}`)
        .sort();
    expect(kinds(built)).toEqual(kinds(Type));
    const schemas = (types: typeof Type) => [
      types.Object({ a: types.Optional(types.String()), b: types.Readonly(types.Array(types.Integer())) }),
      types.Immutable(types.Tuple([types.Null(), types.Union([types.Literal(1), types.Literal("2")])])),
      types.Partial(types.Object({ a: types.Readonly(types.Number()), b: types.Optional(types.Boolean()) })),
      types.Record(types.String(), types.Pick(types.Object({ a: types.Optional(types.Any()), b: types.Any() }), ["a"])),
      types.Call(types.Generic([types.Parameter("X")], types.Array(types.Ref("X"))), [types.Unknown()]),
      types.Script("{ readonly a?: string, b: number[] }"),
    ];
    expect(JSON.stringify(schemas(built))).toBe(JSON.stringify(schemas(Type)));
  });

  test.each(["checked-reply", "computed", "file-read"])(
    "of %s, bundled into one file, needs nothing beside it",
    async (name) => {
      await Bun.write(join(folder, "computed.ts"), COMPUTED);
      const { success, outputs } = await Bun.build({ entrypoints: [join(folder, `${name}.ts`)], target: "bun" });
      expect([success, outputs.length]).toEqual([true, 1]);
      const alone = mkdtempSync(join(tmpdir(), "envoi-bundle-"));
      try {
        await Bun.write(join(alone, "bundle.js"), (await outputs[0]?.text()) ?? "");
        await Bun.write(join(alone, "number.txt"), String(DONE)); // What one of them reads.
        expect(await runScript(alone, "bundle.js")).toEqual({ exitCode: DONE, stdout: "", stderr: "" });
      } finally {
        rmSync(alone, { recursive: true, force: true });
      }
    },
    240_000,
  );
});

const PROGRAMS = [
  "return [1, 'two', { three: [undefined, null] }]",
  "console.log('a', { b: [1n] }, new Map([[1, 2]])); console.error(new TypeError('no')); return 1",
  "throw new RangeError('too far')",
  "await null; return [typeof input, Object.keys(globalThis), Math.random() === Math.random()]",
  "return tools.none.here()",
  "progress({ at: 1 }); for (;;);",
  "return 'x'.repeat(1e9)",
  "globalThis.left = 1; return 2",
  "return globalThis.left ?? 'nothing is left'",
];

describe("an interpreter that starts from its image", () => {
  const ends = async (): Promise<unknown[]> => {
    const kit = sandbox({ program: join(dist, "sandbox-worker.js") });
    try {
      const told: unknown[] = [];
      for (const program of PROGRAMS) {
        const { logs, durationMs: _, ...ended } = await kit.run(program, { timeout: 300 });
        told.push(JSON.parse(JSON.stringify({ ...ended, logs: logs.map(({ level, text }) => [level, text]) })));
      }
      return told;
    } finally {
      await kit.tier.dispose();
    }
  };

  test("does what one does that starts without, whatever it is given", async () => {
    const fromImage = await ends();
    expect(fromImage).toHaveLength(PROGRAMS.length);
    expect(fromImage.at(-1)).toMatchObject({ kind: "value", value: '"nothing is left"' });
    expect(await withFile("sandbox.image", null, ends)).toEqual(fromImage);
  }, 240_000);

  test("draws other random numbers in each process", async () => {
    const drawn = new Set<string>();
    for (let i = 0; i < 3; i++) {
      const kit = sandbox({ program: join(dist, "sandbox-worker.js") });
      drawn.add(String(await kit.value("return [Math.random(), Math.random()].join()")));
      await kit.tier.dispose();
    }
    expect(drawn.size).toBe(3);
  }, 240_000);

  test("takes none that is of another interpreter, or that is not whole", async () => {
    const image = Buffer.from(Bun.zstdDecompressSync(readFileSync(join(dist, "sandbox.image"))));
    const ended = await ends();
    const other = Buffer.from(image.toString("latin1").replace(/"fingerprint":"\w/, '"fingerprint":"-'), "latin1");
    other.fill(1, other.indexOf(10) + 1); // Whoever took it would fail.
    expect(other.length).toBe(image.length);
    const packed = Bun.zstdCompressSync(image);
    const cut = Bun.zstdCompressSync(image.subarray(0, image.length / 2));
    const torn = packed.subarray(0, packed.length / 2);
    for (const wrong of [Bun.zstdCompressSync(other), cut, torn]) {
      expect(await withFile("sandbox.image", wrong, ends)).toEqual(ended);
    }
  }, 240_000);

  test("is taken, where there is one", async () => {
    const path = join(dist, "sandbox.image");
    const text = Buffer.from(Bun.zstdDecompressSync(readFileSync(path))).toString("latin1");
    const marked = text.replaceAll("progress takes a value", "PROGRESS takes a value");
    expect(marked).not.toBe(text);
    await withFile("sandbox.image", Bun.zstdCompressSync(Buffer.from(marked, "latin1")), async () => {
      const kit = sandbox({ program: join(dist, "sandbox-worker.js") });
      expect(await kit.run("progress(undefined)")).toMatchObject({
        message: "PROGRESS takes a value that has a JSON text, not a undefined",
      });
      await kit.tier.dispose();
    });
  }, 240_000);
});
