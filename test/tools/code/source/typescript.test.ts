import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { faultOf, outcomeOf, programOf, run, session } from "./read";

const bun = new Bun.Transpiler({ loader: "ts", deadCodeElimination: false, trimUnusedImports: false });
const AsyncFunction = (async () => {}).constructor as new (body: string) => () => Promise<unknown>; // By the language.

/** The value of a source as Bun's own compiler translates it. */
const theirs = (code: string): Promise<unknown> => {
  const whole = bun.transformSync(`async function program() {\n${code}\n}`);
  return new AsyncFunction(`${whole}; return program()`)();
};

async function expectTheSame(code: string): Promise<void> {
  expect([code, await outcomeOf(() => run(code, "typescript"))]).toEqual([code, await outcomeOf(() => theirs(code))]);
}

describe("an enum", () => {
  test.each([
    "enum A { B, C, D } return [A, A.B, A[1]]",
    "enum A { B = 5, C, D = -2, E, } return [A]",
    "enum A { B = 'b', C = `c`, D = 1, E } return [A]",
    "enum A { B = 1 << 3, C = B | 1, D = ~C, E = (B), F = B / 0, G = 2 ** B, H } return [A]",
    "enum A { 'a-b' = 1, 'c d', E = 'x' } return [A]",
    "enum A { B = 'text'.length, C = [1, 2].length, D = B + C } return [A]",
    "let f = () => 7; enum A { B = f(), C = B } return [A]",
    "const enum A { B = 1, C = B } return [A.C, A['B']]",
    "const /* a */ enum /* { */ A /* { */ { /* , */ B /* = */ = /* } */ 1 /* } */, /* x */ } return [A]",
    "enum A { B } enum A { C = 5, D = B } return [A]",
    "enum A { B = 1 } { enum A { C = 2 } var inner = A } return [A, inner]",
    "function f() { enum A { B } return A } return [f()]",
    "switch (1) { case 1: enum A { B } ; return [A] }",
    "enum A {} return [A]",
    "enum A { A, B = A } return [A]",
    "enum A { name, value, constructor, toString = 4 } return [A.name, A.value, A.constructor, A.toString]",
    "enum A { B = 1 } enum C { D = A.B + 1, B = 7, E = A.B } return [A, C]",
    "enum A { B = 1, C = { B: 2 }.B, D = { B }.B, E = [B][0] as number } return [A]",
    "enum $enum { $enumA } return [$enum]",
    "enum A { B = 1 as const, C = <number>B, D = B! } return [A]",
    "let x = 1\nenum A { B }\n[x].length\nreturn [A]",
    "enum\nA\n{\nB\n=\n1\n,\nC\n}\nreturn [A]",
    "class K { static x = 1; static { enum A { B } K.x = A.B } } return K.x",
    "if (true) { enum A { B } enum A { C = 3 } return [A] }",
    "declare enum X { Y } declare const enum Z { W } enum A { B } return [A, typeof X]",
  ])("%s", expectTheSame);

  test("of any members is what Bun makes of it", async () => {
    const key = fc.constantFrom("A", "B", "C", "D", "'e-f'");
    const atom = fc.constantFrom("1", "-2", "A", "B", "E.C", "'t'.length", "0.5", "(3)");
    const value = fc.oneof(
      atom,
      fc.tuple(atom, fc.constantFrom("+", "|", "<<", "*", "%"), atom).map(([a, o, b]) => `${a} ${o} ${b}`),
      fc.constantFrom("'x'", "`y`"),
    );
    const members = fc.uniqueArray(fc.tuple(key, fc.option(value)), { maxLength: 5, selector: ([name]) => name });
    await fc.assert(
      fc.asyncProperty(fc.array(members, { minLength: 1, maxLength: 2 }), async (declarations) => {
        const known = new Set<string>();
        let isSound = true;
        const text = declarations.map((list) => {
          let before: string | null = "1";
          const parts = list.map(([name, given]) => {
            // Enums that TypeScript refuses are left out: with a member that is used before it is declared, declared twice,
            // counted on from a text, or a text that is computed when the code runs.
            if (given?.includes("length") === true && given !== "'t'.length") isSound = false;
            const used = given?.match(/\b[A-D]\b/g) ?? [];
            if (known.has(name) || used.some((each) => !known.has(each))) isSound = false;
            if (given === null && !/^[-\d.() |+*%<]+$/.test(before ?? "1")) isSound = false;
            if (given !== null) before = given;
            known.add(name);
            return given === null ? name : `${name} = ${given}`;
          });
          return `enum E { ${parts.join(", ")} }`;
        });
        fc.pre(isSound);
        await expectTheSame(`${text.join("\n")}\nreturn [E]`);
      }),
      { numRuns: 300 },
    );
  });

  test("has no value, is undefined before it is made, and can be exported", async () => {
    expect(await run("const a = A; enum A { B } [a, typeof A]", "typescript")).toEqual([undefined, "object"]);
    expect(await run("5; enum A { B } enum A { C = 1 }", "typescript")).toBe(5);
    expect(await run("export enum A { B, C }\nexport const enum D { E = 'e' }\nA[1] + D.E", "typescript")).toBe("Ce");
  });

  test("of a session is there in later programs", async () => {
    const next = session("typescript");
    await next("enum A { B, C = B + 5 } enum A { D = 9 }");
    expect(await next("[A.C, A[9]]")).toEqual([5, "D"]);
    await next("enum A { B }");
    expect(await next("A")).toEqual({ 0: "B", B: 0 });
  });

  test("that cannot be one is refused with what to write", async () => {
    expect(await faultOf("enum A {\n B = 't', C }", "typescript")).toMatchObject({ line: 2, column: 11 });
    expect((await faultOf("enum A { B = (() => 1)() }", "typescript")).message).toContain("before the enum");
    expect((await faultOf("if (1) enum A { B }", "typescript")).kind).toBe("compile-error");
    expect((await faultOf("enum A { [x] = 1 }", "typescript")).kind).toBe("compile-error");
  });
});

describe("a parameter that is a property", () => {
  test.each([
    "class A { constructor(private x: number, y: number, public readonly z = x + y) {} } return { ...new A(1, 2) }",
    "class A { a = 1; constructor(readonly x: number) { this.a += this.x } b = 2 } const o = new A(5); return [Object.keys(o), o]",
    "class B { constructor(public q: number) {} } class A extends B { c = 1; constructor(private x: number) { super(x + 1)\nthis.c++ } } const a = new A(1); return [Object.keys(a), a]",
    "class B {} class A extends B { constructor(protected x?: string) { const y = 1; super(); this.x ??= y + 1 } } return { ...new A() }",
    "class A { constructor(readonly x: number, public readonly: boolean, ...rest: any[]) {} } return { ...new A(1, true) }",
    "class A { constructor(private x: number);constructor(private x: any) { this.x++ } } return { ...new A(1) }",
    "return { ...new (class { constructor(public a: { b: number } = { b: 1 }) {} })() }",
    "class A { constructor(\nprivate readonly x\n:\nnumber\n,\n) {\n} } return { ...new A(1) }",
    "class A { constructor(public f: () => void = () => { class B { constructor(public g: 1) {} } }) {} } return Object.keys(new A())",
  ])("%s", expectTheSame);

  test("that cannot be one is refused with what to write", async () => {
    expect(
      await faultOf("class A extends B {\n constructor(public x) { if (x) super() } }", "typescript"),
    ).toMatchObject({ line: 2, message: expect.stringContaining("super") });
    expect((await faultOf("class A { constructor(public { x }) { } }", "typescript")).kind).toBe("compile-error");
  });
});

describe("the colon of a conditional", () => {
  const given = "let c: any = 1, d = 0, y = 2; ";
  test.each([
    "return (c ? (y) : z => z)",
    "return (d ? (y) : z => z)(7)",
    "return c\n  ? (y)\n  : z => { return z }",
    "return c ? (y, c) : z => z",
    "return c ? (y, y) : z => z",
    "return c ? ((y)) : z => z",
    "return c ? (y as any) : z => z",
    "return c ? ({ y }) : (z => z)",
    "return c ? ([c.e, 1]) : z => z",
    "return c ? (c = 4) : z => z",
    "const async = (x: any) => x; return c ? async (y) : z => z",
    "return d ? (y) : c ? (y) : z => z",
    "return c ? c ? (y) : (d) : z => z",
    "return (d ? (y) : z => d ? (y) : z => c ? (y) : z => z)(1)(2)",
    "return [c ? (y) : z => z, d ? (y) : (z: number) => z].length",
    "if (c ? (y) : z => z) return 5",
    "const f = (a = c ? (y) : z => z): number => a; return f()",
    "return (c ? (y): number => y : (z) => z)(8)",
    "return (c ? (y)\n: number => y : z => z)(8)",
    "return (c ? async (y): Promise<number> => y : z => z)(8)",
    "return (c ? <T,>(x: T): T => x : null)!(8)",
    "return (c ? ({ a }: { a: 1 }): number => a : null)!({ a: 1 })",
  ])("is none of a return type: %s", (code) => expectTheSame(given + code));

  test("that is missing is told where it is, and so is what is wrong behind it", async () => {
    expect(await faultOf("let c\nc ? (y: 1): number => y;", "typescript")).toMatchObject({ line: 2, column: 24 });
    expect(await faultOf("let c\nc ? (y) : z => z +;", "typescript")).toMatchObject({ line: 2, column: 19 });
    expect(await faultOf("let c\nc ? (y) : z => z; let c", "typescript")).toMatchObject({ line: 2, column: 23 });
  });

  test("P5: takes no more attempts than its source is long", async () => {
    expect((await faultOf(`${"c?(y):z=>".repeat(40)}1`, "typescript")).message).toContain("too hard to read");
    expect(await run(`let c = 0, y = 2; typeof (${"c?(y):z=>".repeat(8)}1)`, "typescript")).toBe("function");
  });
});

describe("types over several lines", () => {
  test.each([
    "const f = (x: number)\n: number => x; return f(3)",
    "const f = (x: number): {\n a: number } => ({ a: x }); return f(3)",
    "const f = async (\n  x: number, // )\n)\n:\nPromise<number> => x; return await f(3)",
    "const f = (x: number) /* ) */ // c\n : /* => */ number => x; return f(3)",
    "const f = (/* ) */)\n: number => 4; return f()",
    "const f = async /* ( */ (/* ) */)\n: Promise<number> => 4; return await f()",
    "const f = (a, b = ((c) => c))\n: any => b(5); return f(3)",
    "const f = ([a]: number[], ...r: number[])\n: number => a + r[0]; return f([1], 2)",
    "const f = (x): x is\n 3 => true; return f(3)",
    "const f = async <T,>(x: T) => x; return await f(3)",
    "const f = async <\n  T,\n  U,\n>(x: T, y: U) => x; return await f(3, 4)",
    "const f = async /* a */ <T,\n> /* ( */ (x: T)\n: Promise<T> => x; return await f(4)",
    "const f = async <T,> // (\n () => 5; return await f()",
    "return (<T\n>(x: T) => x)(4)",
    "return [<T>\n(x: T) => x].length",
    "return (<T>\n(x: T) => x)(4)",
    "return <any>\n1 + <any>\n2",
    "return <any>\n<string>\n(<number>\n7)",
    "return <any> /*\n*/ 9",
    "try { throw <any>\n5 } catch (e) { return e }",
    "function* g() { yield <any>\n4 } return [...g()]",
    "enum A { B = <number>\n1, C } return [A.C]",
  ])("are types: %j", expectTheSame);

  test("leave all that follows in its place", async () => {
    const code = "const f = async <\n T,\n>(x: T)\n : T => g1(x); const h = <any>\n i2; j3\nk4";
    const program = await programOf(code, "typescript");
    for (const [name, place] of Object.entries({
      g1: { line: 4, column: 9 },
      i2: { line: 5, column: 2 },
      j3: { line: 5, column: 6 },
      k4: { line: 6, column: 1 },
    })) {
      const lines = program.body.split("\n");
      const line = lines.findIndex((text) => text.includes(name));
      expect(program.place(line + 1, (lines[line] ?? "").indexOf(name) + 1)).toEqual(place);
    }
    expect(await faultOf(`${code}\n let f`, "typescript")).toMatchObject({ line: 7, column: 6 });
  });
});

test("types that a module takes or gives are left out, and nothing else of a module", async () => {
  const code =
    "import type { A } from 'a'\nimport { type B } from 'b'\nexport interface C {}\nexport type D = 1\nexport type { C }\n[7]";
  expect(await run(code, "typescript")).toEqual([7]);
  for (const refused of ["import a from 'a'", "import 'a'", "import { type A, b } from 'a'", "import {} from 'a'"]) {
    expect(await faultOf(`1\n${refused}`, "typescript")).toMatchObject({
      line: 2,
      message: expect.stringContaining("nothing can be imported"),
    });
  }
  for (const refused of [
    "export const a = 1",
    "export default 1",
    "export { a }",
    "export function f() {}",
    "export * from 'a'",
    "export class A {}",
  ]) {
    for (const language of ["typescript", "javascript"] as const) {
      expect(await faultOf(`let a2;\n${refused}`, language)).toMatchObject({
        line: 2,
        message: expect.stringContaining("return the value"),
      });
    }
  }
});

test("a place in a program with enums and such properties is the one in its source", async () => {
  const code =
    "type X = 1; enum A { b1, c2 = d3(), /* e */ e4 = c2 | 1 } f5; class G { constructor(private h6: X, i7) { j8 } k9 = 1 } l10\nm11";
  for (const isSession of [false, true]) {
    const program = await programOf(code, "typescript", isSession);
    const lines = program.body.split("\n");
    for (const { index, 0: name } of code.matchAll(/\b[a-m]\d+\b/g)) {
      const place = index > code.indexOf("\n") ? { line: 2, column: 1 } : { line: 1, column: index + 1 };
      const places = lines.flatMap((text, at) =>
        [...text.matchAll(new RegExp(`\\b${name}\\b`, "g"))].map((found) => program.place(at + 1, found.index + 1)),
      );
      expect([name, places]).toEqual([name, expect.arrayContaining([place])]);
    }
  }
  expect(await faultOf("enum A { B }\nenum C { D } let x = ;", "typescript")).toMatchObject({ line: 2, column: 22 });
  expect(await faultOf("enum A { B } let x; let x", "typescript")).toMatchObject({ line: 1, column: 25 });
});
