import { afterAll, describe, expect, test } from "bun:test";
import { sandbox } from "./kit";

const { tier, run } = sandbox();
afterAll(() => tier.dispose());

const shown = async (args: string): Promise<string | undefined> => (await run(`console.log(${args})`)).logs[0]?.text;

describe("Sandbox: logs", () => {
  test("keep level, order and time", async () => {
    const { logs } = await run(
      "for (const level of ['debug', 'log', 'info', 'warn', 'error']) console[level](level, 1)",
    );
    expect(logs.map(({ level, text }) => `${level}: ${text}`)).toEqual([
      "debug: debug 1",
      "log: log 1",
      "info: info 1",
      "warn: warn 1",
      "error: error 1",
    ]);
    const times = logs.map(({ time }) => time);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.every((time) => time >= 0)).toBe(true);
  });

  test("come of the methods that code expects of a console", async () => {
    const { logs } = await run(
      "for (const told of [console.log, console.assert]) if (told(1) !== undefined) throw told; console.table(1); console.dir({}); console.trace('t'); console.assert(1 > 2, 'that'); console.assert(true)",
    );
    expect(logs.map(({ level, text }) => `${level}: ${text}`)).toEqual([
      "log: 1",
      "log: 1",
      "log: {}",
      "debug: t",
      "error: Assertion failed that",
    ]);
  });

  test("show values as a console does", async () => {
    for (const [args, text] of [
      ["'a b', 'c'", "a b c"],
      ["", ""],
      ["1, -0, 1.5, NaN, 10n, true, null, undefined, Symbol('s')", "1 -0 1.5 NaN 10n true null undefined Symbol(s)"],
      ["['a', [1, [2]], , {}]", '[ "a", [ 1, [ 2 ] ], <empty>, {} ]'],
      ["{ a: 1, 'b c': 'x', [Symbol('k')]: 2 }", '{ a: 1, "b c": "x", [Symbol(k)]: 2 }'],
      ["new Error('no')", "Error: no"],
      ["{ error: new TypeError('no') }", "{ error: TypeError: no }"],
      ["new (class Point { x = 1 })()", "Point { x: 1 }"],
      ["Object.create(null)", "[Object: null prototype] {}"],
      ["function f() {}, () => 1, class A {}", "[Function: f] [Function (anonymous)] [class: A]"],
      ["new Map([['a', { b: 1 }]]), new Set([1, 'x'])", 'Map(1) { "a" => { b: 1 } } Set(2) { 1, "x" }'],
      ["new Date(0), /a/gi, new Uint8Array([1, 2])", "1970-01-01T00:00:00.000Z /a/gi Uint8Array(2) [ 1, 2 ]"],
      ["{ get a() { throw 1 }, set b(x) {} }", "{ a: [Getter], b: [Setter] }"],
    ] as const) {
      expect(await shown(args)).toBe(text);
    }
    expect((await run("const a = { b: {} }; a.b.a = a; console.log(a)")).logs[0]?.text).toBe(
      "{ b: { a: [Circular] } }",
    );
  });

  test("are short where values are deep, long or wide", async () => {
    expect(await shown("[[[[[[[[1]]]]]]]]")).toBe("[ [ [ [ [ [Array] ] ] ] ] ]");
    expect(await shown("Array(1e9)")).toEndWith("<empty>, ... 999999900 more ]");
    expect(await shown("Object.fromEntries(Array.from({ length: 1e4 }, (_, i) => ['k' + i, i]))")).toEndWith(
      "k99: 99, ... }",
    );
    const wide = "const w = (d) => d === 0 ? 1 : Array.from({ length: 100 }, () => w(d - 1)); console.log(w(3))";
    expect((await run(wide)).logs[0]?.text.length).toBeLessThan(200_000);
  });

  test("are not fooled by what the code changed", async () => {
    const hostile = `
      Array.prototype.join = String.prototype.slice = Function.prototype.call = Reflect.apply = () => "fooled";
      Object.defineProperty(Array.prototype, 0, { set() {}, get: () => "fooled" });
      Object.prototype.toJSON = () => "fooled"; JSON.stringify = () => "fooled"; globalThis.String = () => "fooled";
      Map.prototype.forEach = Symbol.prototype.toString = Date.prototype.toISOString = () => "fooled";
      console.log({ a: ["x"] }, new Map([[1, 2]]), new Date(0));`;
    expect((await run(hostile)).logs.map(({ text }) => text)).toEqual([
      '{ a: [ "x" ] } Map(1) { 1 => 2 } 1970-01-01T00:00:00.000Z',
    ]);
  });

  test("of a gigabyte end the run, with those that fit", async () => {
    for (const body of [
      "const s = 'x'.repeat(1000); for (let i = 0; i < 1e6; i++) console.log(s)",
      "for (;;) console.log()",
    ]) {
      const ended = await run(body, { maxOutput: 10_000 });
      expect(ended.kind).toBe("output-limit");
      expect(ended.logs.length).toBeGreaterThan(5);
      expect(ended.logs.length).toBeLessThan(400);
    }
    expect(await run("console.log('x'.repeat(30e6))")).toMatchObject({ kind: "output-limit", logs: [] });
    expect(
      await run("try { for (;;) console.log('x'.repeat(500)) } catch {} finally { return 1 }", { maxOutput: 9_000 }),
    ).toMatchObject({
      kind: "output-limit",
    });
  });

  test("come along with an error, and with a run that had to be killed", async () => {
    expect(await run("console.log('before'); null.x")).toMatchObject({
      kind: "runtime-error",
      logs: [{ text: "before" }],
    });
    const killed = await run("console.log('before'); Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)", {
      timeout: 1_500,
    });
    expect(killed).toMatchObject({ kind: "timeout", logs: [{ text: "before" }] });
  });

  test("are a few hundred thousand characters in one piece, whatever they are", async () => {
    const { logs } = await run("console.log('\\u0000\\n\\ud800\"'.repeat(50_000))");
    expect(logs[0]?.text).toBe('\0\n\ud800"'.repeat(50_000));
  });

  test("end the code that writes more than it may, long before its time is up", async () => {
    const ended = await run("for (;;) console.log('x'.repeat(1e6))", { timeout: 600_000, maxOutput: 1_500_000 });
    expect(ended.kind).toBe("output-limit");
  }, 240_000);
});
