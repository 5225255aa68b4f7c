import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { LONGEST_SOURCE, Sources } from "../../../../src/tools/code/source/sources";
import { runs } from "../../../property/runs";
import { faultOf, outcomeOf, programOf, run } from "./read";

// The value of a source by the language itself: an indirect eval, in the global scope.
// (JavaScriptCore's differs from the language in one thing, which is not generated: `0; a: { break a; 1 }` is 0.)
// biome-ignore lint/security/noGlobalEval: it is the model.
const evaluate = (code: string): unknown => globalThis.eval(code);

describe("the value", () => {
  test("is what the code returns, or its last expression, and undefined where there is none", async () => {
    expect(await run("return 1; 2")).toBe(1);
    expect(await run("1; 2")).toBe(2);
    expect(await run("if (input) return 'early'; 'late'", "javascript", true)).toBe("early");
    expect(await run("if (input) return 'early'; 'late'", "javascript", false)).toBe("late");
    for (const code of ["", "   ", "// only a comment", "let x = 1", "return", ";;", "function f() { 1 }"]) {
      expect(await run(code)).toBeUndefined();
    }
  });

  test("is waited for, and so is what the code awaits", async () => {
    expect(await run("await Promise.resolve(3)")).toBe(3);
    expect(await run("Promise.resolve(4)")).toBe(4);
    expect(await run("const x = await Promise.resolve(5); return x + await 1")).toBe(6);
    expect(await run("let sum = 0; for await (const x of [1, Promise.resolve(2)]) sum += x")).toBe(3);
  });

  test("is found however the last expression is written", async () => {
    const cases: [string, unknown][] = [
      ["5 // a comment", 5],
      ["5 /* a comment */", 5],
      ["5 // a comment\n;", 5],
      ["(1, 2)", 2],
      ["(1), (2);", 2],
      ["({ a: 1 }).a", 1],
      ["`a\n`", "a\n"],
      ["var a = 1\na++\n++a", 3],
      ["[1, 2]\n[1]", 2],
      ["1\n\n\n", 1],
      ["1;;;", 1],
      ["1\r\n2\r\n", 2],
      ["3\u2028", 3],
      ["'use strict'", "use strict"],
      ["'a'\n'b'; let k", "b"],
      ["'use strict'; (function () { return this })() === undefined", true],
      ["'use strict'; let q = 1; if (q) (function () { return this })() === undefined", true],
      ["let $value = 1; if ($value) $value + 1", 2],
      ["#!/usr/bin/env bun\n7", 7],
      ["<!-- a comment\n8\n--> another", 8],
      ["arguments.length", 0],
      ["010", 8],
      ["var \\u0061 = 9; a", 9],
    ];
    for (const [code, value] of cases) expect([code, await run(code)]).toEqual([code, value]);
  });

  test("of statements is the one that eval gives them", async () => {
    const codes = [
      "1; a: { break a; }",
      "1; a: { 2; break a; }",
      "1; a: { 2; { break a } }",
      "while (true) { 3; if (true) { break; } }",
      "1; var x1 = 2",
      "1; if (true) {}",
      "1; if (false) 2",
      "if (0) 1; else if (1) for (const x of [1, 2]) x; else 3",
      "if (1) 2\nelse 3",
      "try { 1 } finally { 2 }",
      "do { 4; try { 5; } finally { break; } } while (0)",
      "do { 4; try { 5; } finally { 6; break; } } while (0)",
      "do { try { 5; continue } finally { 6 } } while (0)",
      "1; try { 1; throw 0 } catch {}",
      "1; try { throw 7 } catch (e) { e }",
      "try { try { 1 } finally { 2 } } finally { try { 3 } finally { 4 } }",
      "1; switch (1) { case 1: }",
      "6; switch (1) { case 1: 7; break; case 2: 8 }",
      "6; switch (1) { case 1: 7; case 2: 8 }",
      "1; function f1() {}",
      "1; class A1 {}",
      "1; ; {}",
      "1; { let y = 2 }",
      "with ({ z: 3 }) { z }",
      "2; a: for (;;) { break a }",
      "for (const i of [1, 2, 3]) { i; if (i == 2) continue; }",
      "for (const i in { a: 1 }) i",
      "1; do { 2; continue; } while (false)",
      "1; do { } while (false)",
      "do 5\nwhile(0)\n7; var g1",
      "do 5; while(0) 8; var g2",
      "a: b: for (var i1 = 0; i1 < 2; i1++) { i1; continue a }",
      "'use strict'; var q1 = 1",
      "9; for (var i2 = 0; i2 < 0; i2++);",
    ];
    for (const code of codes) expect([code, await run(code)]).toEqual([code, evaluate(code)]);
  });

  test("of any program of such statements is the one that eval gives it", async () => {
    await fc.assert(
      fc.asyncProperty(program, async (code) => {
        expect(await outcomeOf(() => run(code))).toEqual(await outcomeOf(() => evaluate(code)));
      }),
      runs(100),
    );
  });
});

const { expression, program } = fc.letrec((tie) => {
  const part = tie("expression") as fc.Arbitrary<string>;
  const statement = tie("statement") as fc.Arbitrary<string>;
  const body = tie("body") as fc.Arbitrary<string>;
  return {
    expression: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom(
        "1",
        "0",
        "-7",
        "2.5",
        "'text'",
        "true",
        "null",
        "undefined",
        "[1, 2]",
        "({ a: 1 })",
        "/a/g.source",
      ),
      fc
        .tuple(part, fc.constantFrom("+", "*", "-", "===", "<", "&&", "||", "??", ","), part)
        .map(([a, o, b]) => `((${a}) ${o} (${b}))`),
      fc.tuple(part, part, part).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
      part.map((a) => `(() => ${a})()`),
      part.map((a) => `(function () { return ${a} })()`),
      part.map((a) => `[${a}].map((x) => x)[0]`),
      part.map((a) => `\`<\${${a}}>\``),
      part.map((a) => `(${a}).missing`),
    ),
    statement: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      part.map((a) => `(${a})`),
      fc.constantFrom("var v = 3", ";", "if (true) break a", "{}", "throw 'thrown'", "function f() { 5 }"),
      body,
      fc.tuple(part, statement, statement).map(([a, b, c]) => `if (${a}) ${b}${/[;}]$/.test(b) ? "" : ";"} else ${c}`),
      fc.tuple(part, body).map(([a, b]) => `for (const x of [${a}, 2]) ${b}`),
      body.map((b) => `do ${b} while (false)`),
      body.map((b) => {
        const label = `b${b.split("continue").length}_${b.length}`; // None that is within.
        return `${label}: for (const x in { p: 1, q: 2 }) ${b.slice(0, -1)}; continue ${label} }`;
      }),
      fc.tuple(body, body).map(([b, c]) => `try ${b} catch (e) ${c}`),
      fc.tuple(body, body).map(([b, c]) => `try ${b} finally ${c}`),
      fc
        .tuple(part, body, body)
        .map(([a, b, c]) => `switch (${a}) { case 1: ${b} case 'text': ${c}; break; default: ${b} }`),
    ),
    body: fc.array(statement, { maxLength: 3 }).map((list) => `{ ${list.join(";\n")} }`),
    program: fc.array(statement, { minLength: 1, maxLength: 4 }).map((list) => `0; a: { ${list.join("\n;")} }`),
  };
}) as { expression: fc.Arbitrary<string>; program: fc.Arbitrary<string> };

test("the value of any expression is the one that eval gives it, in TypeScript too", async () => {
  await fc.assert(
    fc.asyncProperty(expression, async (code) => {
      const value = await outcomeOf(() => evaluate(`(${code})`));
      expect(await outcomeOf(() => run(code.startsWith("{") ? `(${code})` : code))).toEqual(value);
      expect(await outcomeOf(() => run(`const x: any = ${code}; x as unknown`, "typescript"))).toEqual(value);
    }),
  );
});

describe("what is no body of a function is refused, and nothing of it runs", () => {
  test.each([
    ["})(); globalThis.ran = true; (() => {", 1, 1],
    ["}\nglobalThis.ran = true; {", 1, 1],
    ["1;\n  } async function g() {", 2, 3],
    ["} globalThis.ran = true //", 1, 27],
    ["}; globalThis.ran = true; if (1) {", 1, 1],
    ["}/*", 1, 2],
    ["`", 1, 1],
    ["/*", 1, 1],
    ["if (1) {", 1, 9],
  ])("%j", async (code, line, column) => {
    const { message, ...place } = await faultOf(code);
    expect(message).toMatch(/closes nothing|not closed|Unterminated|Unexpected/);
    expect(place.line).toBe(line);
    expect(Math.abs((place.column ?? 0) - column)).toBeLessThanOrEqual(1);
    expect((await faultOf(code, "typescript")).kind).toBe("compile-error");
    expect("ran" in globalThis).toBe(false);
  });

  test.each(["const a: A = 1", "interface A {}", "type A = 1", "1 as A", "function f(a?: A) {}", "(a): A => 1"])(
    "%j as JavaScript: a type is told to be TypeScript",
    async (code) => {
      expect((await faultOf(code)).message).toContain('language: "typescript"');
    },
  );

  test.each(['{"a": 1}', "{ a: 1, b: 2 }", "{\n  a: 1,\n  'b': 2,\n}"])(
    "%j: an object is told its parentheses",
    async (code) => {
      expect((await faultOf(code)).message).toContain("({ a: 1 })");
      expect((await faultOf(code, "typescript")).message).toContain("({ a: 1 })");
    },
  );

  test("what is neither a type nor an object is told as before", async () => {
    for (const code of ["let x = ;", "x y", "f(a b)"]) expect((await faultOf(code)).message).toBe("Unexpected token.");
    expect((await faultOf("const a: = 1", "typescript")).message).not.toContain("typescript");
  });

  test("a module is told what to do", async () => {
    expect(await faultOf("1\n  import x from 'y'")).toMatchObject({
      line: 2,
      column: 3,
      kind: "compile-error",
    });
    expect((await faultOf("import { a } from 'b'", "typescript")).message).toContain("nothing can be imported");
    expect((await faultOf("import.meta.url")).message).toContain("no module");
    expect((await faultOf("export const a = 1")).message).toContain("return the value");
    expect((await faultOf("export default 1", "typescript")).message).toContain("return the value");
  });

  test.each([
    ["javascript", "1\n  @dec class A {}", 3, "Decorators are not supported"],
    ["typescript", "1\n  @dec class A {}", 3, "Decorators are not supported"],
    ["javascript", "1\nconst x = <div>a</div>", 11, "JSX is not supported"],
    ["typescript", "1\nconst x = <div>a</div>", 19, "JSX is not supported"],
    ["typescript", "1\nconst x = <div className='a'>a</div>", 16, "JSX is not supported"],
    ["javascript", "1\nconst x = <A/>", 11, "JSX is not supported"],
    ["javascript", "1\nusing x = null", 7, "using is not supported"],
    ["typescript", "1\nawait using x = null", 13, "using is not supported"],
    ["javascript", "1\n;[2, 3", 7, "something is not closed"],
    ["javascript", "1\n;1__0", 4, "Numeric separator"],
    ["javascript", "1\n;/(?<a>.)(?<a>.)/", 3, "Duplicate capture group name"],
    ["javascript", "1\n;/[/", 3, "Unterminated regular expression"],
    ["typescript", "1\n;(((", 5, "something is not closed"],
  ] as const)("what is not supported is told so, in %s: %j", async (language, code, column, message) => {
    expect(await faultOf(code, language)).toMatchObject({
      kind: "compile-error",
      line: 2,
      column,
      message: expect.stringContaining(message),
    });
  });

  test("what would take quadratic time is refused", async () => {
    const names = Array.from({ length: 13_000 }, (_, i) => `a${i.toString(36)}`);
    for (const language of ["javascript", "typescript"] as const) {
      expect((await faultOf(`let ${names}`, language)).message).toContain("too many names");
      expect(
        (await faultOf(`${"{".repeat(100)}var ${names.slice(0, 2_000)}${"}".repeat(100)}`, language)).message,
      ).toContain("too many names");
      expect((await faultOf(`${names.slice(0, 200).join(":")}: 1`, language)).message).toContain("too many labels");
      expect(await run(`let ${names.slice(0, 4_000)}; 1`, language)).toBe(1);
    }
    expect((await faultOf("enum A {}".repeat(600), "typescript")).message).toContain("too many enums");
    expect(await run(`a: ${names.slice(0, 90).join(":")}: for (;;) break a`)).toBeUndefined();
  });

  test("names that a function cannot have are refused", async () => {
    expect((await faultOf("let await = 1")).message).toContain("await");
    expect((await faultOf("let a; let a")).message).toContain("already been declared");
    expect(await faultOf("'use strict'; 010")).toMatchObject({ line: 1, column: 15 });
  });

  test("a source that is too long, nested too deeply, or made to be hard to read is refused", async () => {
    expect((await faultOf("1;".repeat(LONGEST_SOURCE))).message).toContain("hand data over as input");
    for (const language of ["javascript", "typescript"] as const) {
      for (const open of ["(", "[", "{", "f(", "async (", "a?(b):", "!", "`${", "x = {a:", "function f(){"]) {
        const code = open.repeat(Math.floor(LONGEST_SOURCE / open.length));
        expect((await faultOf(code, language)).kind).toBe("compile-error");
      }
    }
    const hard = `${"<T>(".repeat(60)}a${")".repeat(60)}`;
    expect((await faultOf(hard, "typescript")).message).toContain("too hard to read");
    expect(await run("1 + 1")).toBe(2);
    expect(await run("1 + 1 as number", "typescript")).toBe(2);
  });

  test("a chain as long as a source may be is code", async () => {
    expect(await run(`let x = {}; ${"1+".repeat(20_000)}1`)).toBe(20_001);
    expect((await programOf(`x${".a".repeat(20_000)}`, "typescript")).body).toContain("return (x.a.a");
    expect((await programOf(`x${" as x".repeat(10_000)}`, "typescript")).body).toEndWith(" );   ");
  });
});

test("what the code is given can be declared by it", async () => {
  expect(await run("const input = 1; input + tools", "javascript", 5, 6)).toBe(7);
  expect(
    await run("let { input, progress: tools } = { input: 1, progress: 2 }; return [input, tools, typeof progress]"),
  ).toEqual([1, 2, "undefined"]);
  expect(await run("f(); function f() { return tools } class input {} f()", "javascript", 5, 6)).toBe(6);
  expect(await run("'use strict'; const progress = (() => { return this })(); progress === undefined")).toBe(true);
  expect(await run("const console = { a: arguments.length }; await 1; console.a", "javascript", 5, 6, 7, 8)).toBe(4);
  expect(await run("var input = input + 1; function tools() { return input } tools()", "javascript", 5)).toBe(6);
  expect(await run("const input = tools, x = 1; var tools; if (x) input", "javascript", 5, 6)).toBe(6);
  expect(await outcomeOf(() => run("const input = input + 1"))).toEqual({
    thrown: expect.stringContaining("ReferenceError"),
  });
  const program = await programOf("const input = 1\n  fail()");
  const lines = program.body.split("\n");
  const line = lines.findIndex((text) => text.includes("fail"));
  expect(program.place(line + 1, (lines[line] ?? "").indexOf("fail") + 1)).toEqual({ line: 2, column: 3 });
  expect(program.place(lines.length, 5)).toBeUndefined();
});

describe("TypeScript", () => {
  test("is JavaScript in the same places", async () => {
    const cases: [string, string][] = [
      ["let x: number = 1;", "let x         = 1;"],
      ["(a as B);", "return ((a     ));"],
      ["(a) as B;", "return ((a)     );"],
      ["(a /* as */) /* as */ as B;", "return ((a /* as */) /* as */     );"],
      ["a!.b!;", "return (a .b );"],
      ["<any>a;", "     return (a);"],
      ["f<A, B>(c);", "return (f      (c));"],
      ["const g = async <T,>(a: T): Promise<T> => a;", "const g = async     (a   )             => a;"],
      ["interface A { b: c }", ";                   "],
      ["declare const z: 1;", ";                  "],
      ["function f(this: A, b?: string) {}", "function f(         b         ) {}\n;return f(input, tools);"],
      ["function f(this: A /* , */ , b) {}", "function f(                  b) {}\n;return f(input, tools);"],
      ["let q!: number;", "let q         ;"],
      [
        "try {} catch (e: any) {}\nlet k",
        ";let $value = void 0;{$value = void 0;try {} catch (e     ) {$value = void 0;}}\nlet k\n;return $value;",
      ],
    ];
    for (const [code, body] of cases) expect((await programOf(code, "typescript")).body).toBe(body);
  });

  test("that ends a line with a type ends it still", async () => {
    expect(await run("type X = { a: 1 }\n/re/.test('re') as boolean\n(1)", "typescript")).toBe(1);
    expect(await run("let x = 1 as any\n[1].length", "typescript")).toBe(1);
    expect(await run("const a = (b: any) => b\ninterface V {}\n(2)", "typescript")).toBe(2);
    expect(await run("const f = (a: number): {\n b: number } => ({ b: a })\nf(2)!.b", "typescript")).toBe(2);
    const members = "class A { a = 2\npublic *b() {} c: any\n*d() {} e = 1 as any; private g?\n['h'] = 3 }";
    expect(await run(`${members}\nObject.keys(new A()).join()`, "typescript")).toBe("a,c,e,g,h");
  });

  test("classes lose what only types have", async () => {
    const code = `abstract class Q<T> extends Object implements I, J<T> {
      abstract z(): void; abstract w: string; declare v: string;
      private readonly x?: number = 1; static override y: string = "s"; [k: string]: any
      m(): void; m(a?: number, ...b: any[]): number { return b.length }
      protected get p(): number { return this.x! }
    }
    class R extends Q<string> {}
    const r = new R()
    return [r.m(1, 2, 3), r.p, Q.y, Object.keys(r)]`;
    expect(await run(code, "typescript")).toEqual([2, 1, "s", ["x"]]);
  });

  test("that is more than types is refused with what to write", async () => {
    expect(await faultOf("1\n namespace N {}", "typescript")).toMatchObject({ line: 2, column: 2 });
    expect((await faultOf("module N { export const a = 1 }", "typescript")).message).toContain("write an object");
    expect((await faultOf("import a = b.c", "typescript")).message).toContain("write const");
    expect(await faultOf("let x: number = ;", "typescript")).toMatchObject({ line: 1, column: 17 });
    expect(await faultOf("let x: number = 1", "javascript")).toMatchObject({ line: 1, column: 6 });
  });

  test("of every source file here is what Bun makes of it", async () => {
    const bun = new Bun.Transpiler({
      loader: "ts",
      deadCodeElimination: false,
      trimUnusedImports: false,
      minifyWhitespace: true,
    });
    const transpile = (code: string) =>
      bun
        .transformSync(`async function f(){${code}\n}`)
        .replace(/;+/g, ";")
        .replaceAll("{;", "{")
        .replaceAll(";}", "}");
    const { loadParser } = await import("../../../../src/tools/code/source/parser");
    const parse = await loadParser("typescript");
    let count = 0;
    for await (const path of new Bun.Glob("src/actor/**/*.ts").scan()) {
      const code = (await Bun.file(path).text())
        .replace(/^(?:import|export)\b[^;({]*(?:\{[^}]*\})?\s*(?:from\s*)?"[^"]*";$/gm, "")
        .replace(/^export /gm, "");
      const { text, origins } = parse(code);
      if (origins === null) expect(text).toHaveLength(code.length);
      expect(transpile(text)).toBe(transpile(code));
      count++;
    }
    expect(count).toBeGreaterThan(30);
  });
});

test("what is a comment in a script alone is none in the program, wherever it is", async () => {
  const { body } = await programOf("<!-- a\nfunction f() {\n --> b\n}\n1 // <!-- c\n/* d */ --> e");
  expect(body).toBe("      \nfunction f() {\n      \n}\nreturn (1); // <!-- c\n/* d */      ");
});

test("a place in a program is the one in its source, by line and column", async () => {
  for (const code of [
    "const a = 1\r\nif (a) {\r\n  a; a; a }",
    "for (const a of []) { a }; 1; {2}\n 3 ",
    "'x'; try { 1; } finally { 2 }\n/* 4 */ 5; let k",
    "let s = `\n\u2028`; s",
  ]) {
    const program = await programOf(code);
    const bodyLines = program.body.split(/\r\n?|[\n\u2028\u2029]/);
    const codeLines = code.split(/\r\n?|[\n\u2028\u2029]/);
    for (const [index, line] of codeLines.entries()) {
      for (const { index: at, 0: word } of line.matchAll(/\d|\w+/g)) {
        // The same occurrence of it, in a line that has what is ours in it.
        const nth = [...line.slice(0, at).matchAll(new RegExp(`\\b${word}\\b`, "g"))].length;
        const places = [...(bodyLines[index] ?? "").matchAll(new RegExp(`\\b${word}\\b`, "g"))]
          .map((found) => program.place(index + 1, found.index + 1))
          .filter((place) => place?.column === at + 1);
        expect([word, nth, places[0]]).toEqual([word, nth, { line: index + 1, column: at + 1 }]);
      }
    }
    expect(program.place(bodyLines.length + 1, 1)).toBeUndefined();
    expect(program.place(0, 1)).toBeUndefined();
  }
});

test("a source that was read is not read again", async () => {
  const sources = new Sources();
  const programOf = (code: string) => sources.compile(code, "javascript");
  const first = await programOf("1 + 2");
  expect(programOf("1 + 2")).toBe(first);
  for (let i = 0; i < 300; i++) programOf(`${i} + 2 + 3`);
  expect(programOf("1 + 2")).toBe(first); // In the older generation, and so in the younger one again.
  for (let i = 0; i < 1_000; i++) programOf(`${i} + 3 + 3`);
  expect(programOf("1 + 2")).not.toBe(first);
  expect(sources.compile("let a = 1", "javascript", { isSession: true })).not.toBe(programOf("let a = 1"));
  expect(sources.compile("let a = 1", "javascript", { isSession: true })).toMatchObject({ declares: ["a"] });
});

test("a source that is used again and again stays, however many others come between", async () => {
  const sources = new Sources();
  const first = await sources.compile("1 + 2", "javascript");
  for (let i = 0; i < 2_000; i++) {
    sources.compile(`${i} + 2 + 3`, "javascript");
    if (i % 200 === 0) expect(sources.compile("1 + 2", "javascript")).toBe(first);
  }
});

test("P18: long sources are kept no longer than 8 MB of them are together, few as they are", async () => {
  const sources = new Sources();
  const first = await sources.compile("1 + 2", "javascript");
  const compileLong = async (from: number, to: number): Promise<void> => {
    for (let i = from; i < to; i++) {
      await sources.compile(`"${i}${"x".repeat(LONGEST_SOURCE - 10)}"`, "javascript");
    }
  };
  await compileLong(0, 60);
  expect(sources.compile("1 + 2", "javascript")).toBe(first);
  await compileLong(60, 200); // Three times 4 MB, and 200 in all.
  expect(sources.compile("1 + 2", "javascript")).not.toBe(first);
  await sources.dispose();
});
