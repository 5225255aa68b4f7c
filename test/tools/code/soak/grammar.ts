import fc from "fast-check";

/*
 * Programs that mean the same in every engine. They leave out what engines may decide for themselves:
 * - messages and stacks of errors, and names of errors that tell of a full stack or memory;
 * - what a program says of its own text (`Function.prototype.toString`), of time zones and languages (`Intl`, local dates);
 * - numbers that the language leaves to its implementation: `Math.sin` and the like, and powers that are not whole;
 * - the order of a sort whose comparison contradicts itself, random numbers, the time, and when garbage is collected;
 * - values that double in each turn of a loop, until an engine has no memory for them;
 * - lists that hold themselves, which some engines join and others follow until the stack ends;
 * - what is in one engine and not yet in the other, and sloppy oddities of functions in blocks.
 */

const NUMBERS = ["n0", "n1", "n2"] as const;
const STRINGS = ["s0", "s1"] as const;
const LISTS = ["a0", "a1"] as const;
const OBJECTS = ["o0", "o1"] as const;

const literalNumber = fc.constantFrom(
  "0",
  "1",
  "2",
  "3",
  "7",
  "-1",
  "-0",
  "0.5",
  "10",
  "255",
  "1e21",
  "NaN",
  "Infinity",
  "(2 ** 31)",
  "-5",
);
const literalString = fc.constantFrom(
  "''",
  "'a'",
  "'b1'",
  "'é漢'",
  "'🙂'",
  "'a,b,,c'",
  "'  x '",
  "'10'",
  "'\\ud800'",
  "'Ab-cd_Ef'",
);
const patterns = fc.constantFrom(
  "/a/g",
  "/[a-c]+/gi",
  "/(\\w)(\\d?)/g",
  "/(?<first>.)b?/gu",
  "/^\\s*|\\s*$/g",
  "/,/g",
  "/(?=[A-Z])/g",
  "/./gsu",
);
const key = fc.constantFrom("k", "l", "m", "0", "a b");

type Part = "number" | "string" | "bool" | "list" | "object" | "any" | "statement" | "block";

/** One of several texts, made of parts. */
function text(parts: readonly fc.Arbitrary<string>[], join: (...texts: string[]) => string): fc.Arbitrary<string> {
  return fc.tuple(...parts).map((texts) => join(...texts));
}

const { statement } = fc.letrec<Record<Part, string>>((tie) => {
  const number = tie("number");
  const string = tie("string");
  const bool = tie("bool");
  const list = tie("list");
  const object = tie("object");
  const any = tie("any");
  const block = tie("block");
  const one = (...ways: (fc.Arbitrary<string> | fc.WeightedArbitrary<string>)[]): fc.Arbitrary<string> =>
    fc.oneof({ depthSize: "small", withCrossShrink: true }, ...ways);
  const nameOf = (names: readonly string[]) => fc.constantFrom(...names);
  const operator = (...operators: string[]) => fc.constantFrom(...operators);
  return {
    number: one(
      literalNumber,
      nameOf(NUMBERS),
      text(
        [number, operator("+", "-", "*", "/", "%", "|", "&", "^", "<<", ">>", ">>>"), number],
        (a, o, b) => `(${a} ${o} ${b})`,
      ),
      text([operator("-", "~", "+"), number], (o, a) => `(${o} ${a})`),
      text(
        [operator("floor", "trunc", "abs", "sign", "round", "fround", "clz32"), number],
        (f, a) => `Math.${f}(${a})`,
      ),
      text([operator("min", "max"), number, number], (f, a, b) => `Math.${f}(${a}, ${b})`),
      text([string], (s) => `${s}.length`),
      text([string], (s) => `Number(${s})`),
      text([string, operator("2", "10", "16")], (s, radix) => `parseInt(${s}, ${radix})`),
      text([string, number], (s, n) => `${s}.charCodeAt(${n})`),
      text([string, string], (s, t) => `${s}.indexOf(${t})`),
      text([list], (l) => `${l}.length`),
      text([list, any], (l, v) => `${l}.indexOf(${v})`),
      text([list], (l) => `${l}.reduce((sum, each) => sum + (typeof each === "number" ? each : 1), 0)`),
      text([number], (n) => `new Date(Date.UTC(2020, ${n} % 12 || 0, 15, 3)).getUTCDay()`),
      text([bool, number, number], (c, a, b) => `(${c} ? ${a} : ${b})`),
      text([number], (n) => `counter(${n})`),
      text([list], (l) => `[...new Set(${l})].length`),
      text([object], (o) => `Object.keys(${o}).length`),
    ),
    string: one(
      literalString,
      nameOf(STRINGS),
      text([any], (v) => `String(${v})`),
      text([string, any], (s, v) => `\`\${${s}}-\${typeof ${v}}\``),
      text(
        [string, operator("toUpperCase", "toLowerCase", "trim", "trimEnd", "toWellFormed", "normalize")],
        (s, f) => `${s}.${f}()`,
      ),
      text([string, operator("slice", "substring", "at"), number], (s, f, n) => `String(${s}.${f}(${n}))`),
      text(
        [string, operator("padStart", "padEnd"), number, string],
        (s, f, n, t) => `${s}.${f}(Math.min(${n}, 40) || 0, ${t})`,
      ),
      text([string, number], (s, n) => `${s}.repeat(Math.abs(Math.trunc(${n})) % 4 || 0)`),
      text([string, patterns, string], (s, p, t) => `${s}.replace(${p}, ${t})`),
      text([string, patterns], (s, p) => `${s}.replace(${p}, (found, at) => found.length + ":" + (typeof at))`),
      text(
        [string, patterns],
        (s, p) =>
          `JSON.stringify([...${s}.matchAll(${p})].map((found) => [found.index, found[0], found.groups ?? null]))`,
      ),
      text([list, string], (l, s) => `${l}.join(${s})`),
      text([any], (v) => `String(JSON.stringify(${v}))`),
      text([number, operator("2", "10", "16", "36")], (n, radix) => `(Math.trunc(${n}) % 1e9).toString(${radix})`),
      text([number], (n) => `((${n}) % 1e6).toFixed(2)`),
      text(
        [number],
        (n) => `((d) => Number.isNaN(d.getTime()) ? "none" : d.toISOString())(new Date(Math.trunc(${n}) % 1e12))`,
      ),
      text([string], (s) => `encodeURIComponent(${s}.toWellFormed())`),
      text([string], (s) => `[...${s}].reverse().join("")`),
      text([object], (o) => `Object.prototype.toString.call(${o})`),
    ),
    bool: one(
      fc.constantFrom("true", "false"),
      text([any, operator("===", "!==", "==", "!=", "<", ">", "<=", ">="), any], (a, o, b) => `(${a} ${o} ${b})`),
      text([bool, operator("&&", "||"), bool], (a, o, b) => `(${a} ${o} ${b})`),
      text([bool], (a) => `!${a}`),
      text([string, patterns], (s, p) => `${p}.test(${s})`),
      text([string, operator("includes", "startsWith", "endsWith"), string], (s, f, t) => `${s}.${f}(${t})`),
      text([list, operator("some", "every")], (l, f) => `${l}.${f}((each) => typeof each === "number")`),
      text([key, object], (k, o) => `("${k}" in ${o})`),
      text([number, operator("isInteger", "isNaN", "isSafeInteger")], (n, f) => `Number.${f}(${n})`),
      text([any, any], (a, b) => `Object.is(${a}, ${b})`),
      text([object], (o) => `(${o} instanceof Shape)`),
    ),
    list: one(
      nameOf(LISTS),
      text([any, any, any], (a, b, c) => `[${a}, ${b}, ${c}]`),
      text([list, any], (l, v) => `[...${l}, ${v}].slice(0, 20)`),
      text(
        [list, operator("map", "flatMap", "filter"), any],
        (l, f, v) => `${l}.${f}((each, at) => at % 2 ? each : ${v})`,
      ),
      text([list, number, number], (l, a, b) => `${l}.slice(${a}, ${b})`),
      text([list], (l) => `${l}.map(String).toSorted()`),
      // Without NaN: with it the comparison is inconsistent, and the order the engine's own.
      text(
        [list],
        (l) => `${l}.filter((each) => typeof each === "number" && each === each).sort((a, b) => a - b || 0)`,
      ),
      text([list], (l) => `${l}.toReversed()`),
      text([list], (l) => `${l}.flat(2)`),
      text([list, list], (a, b) => `${a}.concat(${b}).slice(-20)`),
      text([string, patterns], (s, p) => `${s}.split(${p})`),
      text([string], (s) => `Array.from(${s})`),
      text([object], (o) => `Object.entries(${o})`),
      text([number], (n) => `[...range(Math.abs(Math.trunc(${n})) % 6 || 0)]`),
      text([list], (l) => `[...new Map(${l}.map((each, at) => [each, at])).entries()]`),
      text(
        [list],
        (l) => `((list) => { const [first, , third = "none", ...rest] = list; return [rest, third, first] })(${l})`,
      ),
      text([list, any, number], (l, v, n) => `${l}.with(0 * ${l}.push(small(${v})), ${n})`),
    ),
    object: one(
      nameOf(OBJECTS),
      text([key, any, key, any], (k, a, l, b) => `({ "${k}": ${a}, ["${l}" + 1]: ${b} })`),
      text([object, object], (a, b) => `({ ...${a}, ...${b} })`),
      text([object], (o) => `(({ k, l = 5, ...rest }) => ({ l, rest, k }))(${o})`),
      text([any], (v) => `new Shape(${v})`),
      text([any, number], (v, n) => `new Square(${v}, ${n})`),
      text([list], (l) => `Object.fromEntries(${l}.map((each, at) => ["e" + at, each]))`),
      text([list], (l) => `Object.groupBy(${l}, (each) => typeof each)`),
      text(
        [any],
        (v) =>
          `((value) => { try { return JSON.parse(JSON.stringify({ value })) } catch (e) { return { name: e.name } } })(${v})`,
      ),
      text([any, string], (v, s) => `((held) => ({ get size() { return held }, [${s}]: 1, toJSON: undefined }))(${v})`),
    ),
    any: one(
      { arbitrary: number, weight: 3 },
      { arbitrary: string, weight: 3 },
      bool,
      list,
      object,
      fc.constantFrom("null", "undefined", "12n", "[,1]", "[1, [2, [3]]]"),
      text([object, key], (o, k) => `${o}["${k}"]`),
      text([object, key], (o, k) => `${o}?.["${k}"]?.length`),
      text([list, number], (l, n) => `${l}[${n}]`),
      text([any, any], (a, b) => `(${a} ?? ${b})`),
      text([any, number], (v, n) => `closure(${v})(${n})`),
      text([any], (v) => `(() => { try { return ${v} } catch (e) { return e.name } })()`),
    ),
    statement: one(
      {
        arbitrary: text(
          [nameOf(NUMBERS), operator("=", "+=", "-=", "*=", "|=", "??="), number],
          (n, o, v) => `${n} ${o} ${v};`,
        ),
        weight: 2,
      },
      { arbitrary: text([nameOf(STRINGS), string], (s, v) => `${s} = ${v}.slice(0, 50);`), weight: 2 },
      { arbitrary: text([nameOf(LISTS), list], (l, v) => `${l} = small(${v});`), weight: 2 },
      { arbitrary: text([nameOf(OBJECTS), object], (o, v) => `${o} = small(${v});`), weight: 2 },
      { arbitrary: text([any], (v) => `note(${v});`), weight: 3 },
      text([any], (v) => `note(await ${v});`),
      text([any], (v) => `note(await later(${v}));`),
      text([any, any], (v, w) => `note(await Promise.all([later(${v}), ${w}, Promise.resolve(2)]));`),
      text([any], (v) => `note(await Promise.reject(${v}).catch((e) => [e]));`),
      text(
        [any],
        (v) => `note((await Promise.allSettled([later(${v}), Promise.reject(1)])).map(({ status }) => status));`,
      ),
      text([object, key, any], (o, k, v) => `${o}["${k}"] = small(${v});`),
      text([nameOf(LISTS), any], (l, v) => `${l}.push(small(${v}));`),
      text([object, key], (o, k) => `note(delete ${o}["${k}"]);`),
      text([bool, block, block], (c, a, b) => `if (${c}) { ${a} } else { ${b} }`),
      text(
        [block, fc.constantFrom("2", "3", "5")],
        (b, times) => `for (let i = 0; i < ${times}; i++) { ${b} if (i === 1) continue; note(i); }`,
      ),
      text([list, block], (l, b) => `for (const each of ${l}.slice(0, 4)) { note(each); ${b} }`),
      text([object], (o) => `for (const name in ${o}) note(name);`),
      text([list], (l) => `for await (const each of slow(${l}.slice(0, 3))) note(each);`),
      text(
        [block, block],
        (a, b) => `try { ${a} } catch (e) { note(e instanceof Error ? e.name : e); } finally { ${b} }`,
      ),
      text([any, block], (v, b) => `try { throw ${v}; } catch (e) { note(e); ${b} }`),
      text(
        [fc.constantFrom("TypeError", "RangeError", "SyntaxError", "Error", "Own")],
        (name) => `throw new ${name}("thrown");`,
      ),
      fc.constantFrom(
        "null.x;",
        "undefined();",
        "missing;",
        "n0();",
        "new s0();",
        "const fixed = 1; fixed = 2;",
        "1n + 1;",
        "[].reduce((a) => a);",
        "'x'.repeat(-1);",
        "JSON.parse('{');",
        "new Array(-1);",
        "Symbol() + '';",
        "s0.at = 1;",
        "BigInt(0.5);",
        "(1).toString(1);",
        "new (class extends Shape { constructor() {} })();",
      ),
      text([any, any], (a, b) => `switch (${a}) { case ${b}: note("case"); default: note("default"); }`),
      text([block], (b) => `for (;;) { do { ${b} break; } while (true); break; }`),
      text(
        [number],
        (n) => `{ const numbers = range(3); note(numbers.next(${n})); note(numbers.return(5)); note([...numbers]); }`,
      ),
      text(
        [any],
        (v) => `{ const shape = new Shape(${v}); shape.size++; note([shape.size, Shape.made > 0, shape.own()]); }`,
      ),
    ),
    block: fc.array(tie("statement"), { maxLength: 2, depthIdentifier: "block" }).map((all) => all.join(" ")),
  };
});

/** The declarations that programs use. */
const PRELUDE = `const trace = [];
  const note = (value) => { if (trace.length < 60) trace.push(typeof value === "bigint" ? String(value) + "n" : value === undefined ? "undefined" : Object.is(value, -0) ? "-0" : typeof value === "number" ? String(value) : value); };
  let n0 = 1, n1 = -2.5, n2 = 40; let s0 = "abc", s1 = "x1,Y2"; let a0 = [3, 1, 2], a1 = ["p", [1, 2], { k: 1 }]; let o0 = { k: 1, l: [1] }, o1 = { m: { k: "v" } };
  class Own extends Error { constructor(message) { super(message); this.name = "Own"; } }
  class Shape { static made = 0; #own; constructor(own) { this.#own = own; this.kind = "shape"; Shape.made++; } get size() { return this.sized ?? 0; } set size(size) { this.sized = size; } own() { return this.#own; } }
  class Square extends Shape { constructor(own, side) { super(own); this.side = side; } own() { return [super.own(), this.side]; } get [Symbol.toStringTag]() { return "Square"; } }
  function* range(to) { try { for (let at = 0; at < to; at++) { const got = yield at; if (got !== undefined) note(got); } } finally { note("left"); } }
  async function* slow(list) { for (const each of list) { await null; yield each; } }
  const later = async (value) => { await null; return value; };
  const small = (value) => { try { const text = JSON.stringify(value); return text?.length > 1000 ? [] : text === undefined ? value : typeof value === 'object' && value !== null && !Array.isArray(value) ? value : JSON.parse(text); } catch (e) { return []; } };
  const closure = (value) => { let calls = 0; return (more) => [value, more, ++calls]; };
  let total = 0; const counter = (by) => (total = (total + by) | 0);`;

/** The body of an async function: what it noted, and what its variables are in the end. */
export const program: fc.Arbitrary<string> = fc
  .array(statement, { minLength: 1, maxLength: 6 })
  .map(
    (statements) =>
      `${PRELUDE}\n${statements.join("\n")}\nreturn { trace, n: [n0, n1, n2].map(String), s0, s1, a0, a1, o0, o1, total };`,
  );
