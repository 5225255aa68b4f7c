import { describe, expect, test } from "bun:test";
import { createContext, runInContext } from "node:vm";
import fc from "fast-check";
import { faultOf, outcomeOf, programOf, session } from "./read";

describe("what a program of a session declares", () => {
  test.each([
    ["let a = 1, b", ["a", "b"]],
    ["const { a, b: c = 1, d: [e, , ...f], ...g } = {}", ["a", "c", "e", "f", "g"]],
    ["const [a = 2, { b } = { b: 1 }] = []", ["a", "b"]],
    ["var a; { var b; if (a) var c; else { var d } }", ["a", "b", "c", "d"]],
    [
      "for (var i = 0, n = 1; i < n; i++) { var a } for (var k in {}) var b; for (var { c } of []);",
      "i,n,a,k,b,c".split(","),
    ],
    ["try { var a } catch (e) { var b } finally { var c } switch (1) { case 1: var d }", ["a", "b", "c", "d"]],
    ["x: while (false) var a; do var b; while (false); with ({}) var c", ["a", "b", "c"]],
    ["for await (var a of []);", ["a"]],
    [
      "function f() { var no } async function g() {} function* h() {} class A { static { var no } }",
      "f,g,h,A".split(","),
    ],
    ["{ let no; const no2 = 1; class No {} } for (let no of []); (() => { var no })()", []],
    ["1 + 1", []],
  ] as [string, string[]][])("%s", async (code, names) => {
    expect([...(await programOf(code, "javascript", true)).declares].sort()).toEqual([...names].sort());
    expect((await programOf(code)).declares).toEqual([]);
  });
});

describe("later programs of a session", () => {
  test("find what earlier ones declared, and can change it", async () => {
    const run = session();
    await run(
      "let a = 1; const { b, ...rest } = { b: 2, c: 3 }; var d; function f() { return a + b } class A { m() { return f() } }",
    );
    expect(await run("[a, b, rest, d, f(), new A().m()]")).toEqual([1, 2, { c: 3 }, undefined, 3, 3]);
    await run("a = 10; b++; const c = a");
    expect(await run("[f(), c]")).toEqual([13, 10]);
    await run("const a = 'again'; function f() { return a.length }");
    expect(await run("[a, new A().m()]")).toEqual(["again", 5]);
    await run("f = () => 0");
    expect(await run("new A().m()")).toBe(0);
    expect(await run("let a; a")).toBeUndefined();
    await run("var c");
    expect(await run("c")).toBe(10);
  });

  test("find what was declared after a wait, or before the code threw", async () => {
    const run = session();
    await run("const a = await Promise.resolve(1); for (var i of [1, 2]) await i");
    expect(await run("a + i")).toBe(3);
    expect(await outcomeOf(() => run("let b = 5; throw new Error('no'); let c = 6"))).toEqual({ thrown: "Error: no" });
    expect(await run("[b, c]")).toEqual([5, undefined]);
  });

  test("have a request of their own", async () => {
    const run = session();
    await run("const a = input", 1);
    expect(await run("[a, input]", 2)).toEqual([1, 2]);
    for (const name of ["input", "tools", "progress", "arguments", "undefined"]) {
      expect(await faultOf(`1;\n let { ${name} } = {}`, "javascript", true)).toMatchObject({
        kind: "compile-error",
        line: 2,
        column: 8,
      });
    }
  });
});

test("a function of a session can be called above it, is one variable with its name, and knows it", async () => {
  const run = session();
  expect(await run("f(3); function f(n) { return n ? n * f(n - 1) : 1 }")).toBe(6);
  expect(await run("f.name")).toBe("f");
  expect(await run("const old = f; f = (n) => n; old(3)")).toBe(6);
  expect(await run("await g(); async function g() { return 7 }")).toBe(7);
  expect(await run("[...h()]; function* h() { yield 1; yield* i() } function* i() { yield 2 }")).toEqual([1, 2]);
  expect(await run("'use strict'; s(); function s() { try { undefined = 1 } catch { return true } }")).toBe(true);
  expect(await run("function twice() { return 1 } function twice() { return 2 } twice()")).toBe(2);
  expect(await run("1\nfunction t() {}\n(2)")).toBe(2);
  expect(await run("1\nfunction t() {}[3]")).toEqual([3]);
});

test("what is declared by an expression has its name", async () => {
  const run = session();
  await run("const a = () => {}, { b = function () {} } = {}, c = class {}; class D { static n = D.name }");
  expect(await run("[a.name, b.name, c.name, D.name, D.n]")).toEqual(["a", "b", "c", "D", "D"]);
  expect(await run("const E = D; class F extends E {} D = null; [F.n, E.name]")).toEqual(["D", "D"]);
});

test("declarations in odd places are still what they were", async () => {
  const cases: [string, unknown][] = [
    ["let a = 1\nlet [b] = [2]\nlet { c } = { c: 3 }\na + b + c", 6],
    [
      "const f = () => [7]\nf()\nlet [b] = [2]\nf\nvar { c = b } = f\nf()\nclass D {}\nf()\nfunction g() {}\n[b, c]",
      [2, 2],
    ],
    ["const a = [1]\n;[a[0]]", [1]],
    ["let a\nlet b\n[a, b]", [undefined, undefined]],
    ["if (true) var a = 1; else var b = 2\n;[a, b]", [1, undefined]],
    ["if (false) var a = 1\nelse var b = 2\n;[a, b]", [undefined, 2]],
    ["for (var a of [1, 2]) var b = a\n;[a, b]", [2, 2]],
    ["for (var async of [1]) ; async", 1],
    ["for (var let of [1]) ; let", 1],
    ["for (var [a, b = 3] of [[1]]) { var c = a + b }; c", 4],
    ["for (var i = 0, j = 5; i < j; i++, j--); [i, j]", [3, 2]],
    ["for (var i; !i; i = 1); i", 1],
    ["for (var i = ('a' in {}) ? 1 : 2; i < 5; i++); i", 5],
    ["for (var k in { x: 1 }) ; k", "x"],
    ["do var a = 1; while (false)\na", 1],
    ["l: var a = 4\na", 4],
    ["switch (1) { case 1: var a = 1\nvar b = a } b", 1],
    ["try { throw 1 } catch (e) { var e = 2 } e", undefined],
    ["var a = 1, a = 2\n;a", 2],
    ["var let = 1\n;let", 1],
    ["const a = 1 /* b */\n// c\nconst d = 2 // e\n;[a, d]", [1, 2]],
    ["const\na\n=\n1\n,b=2\n;[a, b]", [1, 2]],
    ["class A {}class B extends A {};[new B() instanceof A]", [true]],
    ["let f = function () { return 1 }\nf()", 1],
    ["if (1) {}var z = 1; z", 1],
    ["try { 1 } finally {var y = 2} y", 2],
    ["let $value = 1; if ($value) $value + 1", 2],
  ];
  for (const [code, value] of cases) expect([code, await session()(code)]).toEqual([code, value]);
});

test("declarations have no value", async () => {
  for (const code of [
    "let a = 1",
    "var a = 1",
    "function f() {}",
    "class A {}",
    "let a;",
    "if (1) {}var a = 1",
    "for (var a of [1]);",
  ]) {
    expect([code, await session()(code)]).toEqual([code, undefined]);
    expect([code, await session()(`5; {} ${code.startsWith("if") || code.startsWith("for") ? "" : code}`)]).toEqual([
      code,
      5,
    ]);
  }
  const run = session();
  await run("let x");
  expect(await run("x = 1")).toBe(1);
});

test("a place in a program of a session is the one in its source, functions that moved included", async () => {
  const codes = [
    "const a1 = 1\r\nif (a1) {\r\n  var b2; b2; b2 }\nfunction f3(c4) {\n  c4; throw d5 }\nclass E6 { g7() { h8 } }\ni9",
    "'use strict'\nlet { a1, b2: [c3] } = d4, e5; for (var f6 of g7) { var h8 = i9 } async function j10() { await k11 } l12",
    "for (var a1 = 0; a1 < b2; a1++) var c3 = d4\nfunction e5() {} function f6() { g7 }\nh8",
  ];
  for (const code of codes) {
    const program = await programOf(code, "javascript", true);
    const lines = program.body.split(/\r\n?|\n/);
    for (const [row, line] of code.split(/\r\n?|\n/).entries()) {
      for (const { index, 0: name } of line.matchAll(/\b[a-zE]\d+\b/g)) {
        const places = lines.flatMap((text, at) =>
          [...text.matchAll(new RegExp(`\\b${name}\\b`, "g"))].map((found) => program.place(at + 1, found.index + 1)),
        );
        const isMovedName = new RegExp(`function ${name}`).test(line);
        if (!isMovedName)
          expect([name, places]).toEqual([name, expect.arrayContaining([{ line: row + 1, column: index + 1 }])]);
      }
    }
    expect(program.place(lines.length + 1, 1)).toBeUndefined();
  }
});

// The model: what the engine itself keeps of scripts in one context, where all that is declared is a `var`.
const NAMES = ["a", "b", "c", "d"] as const;
interface Line {
  readonly code: string;
  readonly model: string;
}
const name = fc.constantFrom(...NAMES);
const simple = fc.oneof(
  fc.constantFrom("1", "'t'", "[1, 2]", "{ k: 3 }.k".replace(/^/, "(").replace(".k", ").k"), "undefined"),
  name.map((n) => `typeof ${n}`),
  name.map((n) => `(typeof ${n} === 'function' ? 'called ' + ${n}.name : ${n})`),
);
const same = (code: string): Line => ({ code, model: code });
const declaration = (n: string): fc.Arbitrary<Line> =>
  fc.oneof(
    fc.tuple(fc.constantFrom("let", "const", "var"), simple).map(([kind, value]) => ({
      code: `${kind} ${n} = ${value}`,
      model: `var ${n} = ${value}`,
    })),
    fc.constant({ code: `let ${n}`, model: `var ${n} = undefined` }),
    fc.constant(same(`var ${n}`)),
    simple.map((value) => ({ code: `const { ${n} = ${value} } = {}`, model: `var { ${n} = ${value} } = {}` })),
    simple.map((value) => ({ code: `let [, ...${n}] = [0, ${value}]`, model: `var [, ...${n}] = [0, ${value}]` })),
    simple.map((value) => same(`function ${n}() { return ${value} }`)),
    fc.constant({ code: `class ${n} {}`, model: `var ${n} = class ${n} {}` }),
    simple.map((value) => same(`for (var ${n} of [0, ${value}]) ${n}`)),
    simple.map((value) => same(`if (${value}) { var ${n} = ${value} } else var ${n} = 9`)),
    simple.map((value) => same(`try { var ${n} = ${value} } finally { }`)),
  );
const other: fc.Arbitrary<Line> = fc.oneof(
  simple.map((value) => same(`(${value})`)),
  fc.tuple(name, simple).map(([n, value]) => same(`${n} = ${value}`)),
  name.map((n) => same(`typeof ${n} === 'function' && !/^class/.test(${n}) && ${n}()`)),
  fc.tuple(name, simple).map(([n, value]) => same(`{ let ${n} = ${value}; ${n} }`)),
  simple.map((value) => same(`switch (1) { case 1: ${value} }`)),
);
/** Each name is declared once at most in a program: `let` twice is none. */
const program: fc.Arbitrary<readonly Line[]> = fc
  .tuple(
    fc.subarray([...NAMES]).chain((names) => fc.tuple(...names.map(declaration))),
    fc.array(other, { maxLength: 3 }),
  )
  .chain(([declarations, others]) => {
    const lines = [...declarations, ...others];
    return fc.shuffledSubarray(lines, { minLength: lines.length });
  });

test("programs one after the other give what the engine gives for scripts in one context", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(program, { minLength: 1, maxLength: 4 }), async (programs) => {
      const run = session();
      const context = createContext({});
      for (const n of NAMES) runInContext(`var ${n}`, context);
      await run(`var ${NAMES.join()}`);
      for (const lines of programs) {
        const code = lines.map((line) => line.code).join("\n;");
        // The block keeps JavaScriptCore from reading `a = [1]; var b = 1` as data, which gives it no value.
        const model = `{}${lines.map((line) => line.model).join("\n;")}`;
        const shown = `JSON.stringify([${NAMES.map((n) => `typeof ${n} === 'function' ? ${n}.name : ${n}`)}])`;
        const ours = [await outcomeOf(async () => show(await run(code))), await run(shown)];
        const theirs = [await outcomeOf(() => show(runInContext(model, context))), runInContext(shown, context)];
        expect([code, ...ours]).toEqual([code, ...theirs]);
      }
    }),
    { numRuns: 300 },
  );
}, 240_000);

const show = (value: unknown): unknown => (typeof value === "function" ? value.name : JSON.stringify(value));
