import { afterAll, describe, expect, test } from "bun:test";
import { sandbox } from "./kit";

const { tier, run, value } = sandbox();
afterAll(() => tier.dispose());

const MB = 1024 * 1024;

describe("Sandbox: code finds nothing but the language", () => {
  test("no names of a host are there", async () => {
    const names =
      "process Bun require module exports fetch WebAssembly Worker Deno std os print load scriptArgs setTimeout setInterval setImmediate queueMicrotask structuredClone performance navigator crypto XMLHttpRequest WebSocket __dirname __filename Buffer global self window";
    expect(
      await value(
        `return ${JSON.stringify(names.split(" "))}.filter((name) => name in globalThis || eval('typeof ' + name) !== 'undefined')`,
      ),
    ).toEqual([]);
    expect(await value("return Object.keys(console)")).toEqual(["debug", "log", "info", "warn", "error"]);
  });

  test("constructor chains lead to the language's own functions, where there is nothing either", async () => {
    const ways = [
      "[].constructor.constructor",
      "(async () => {}).constructor",
      "(function* () {}).constructor",
      "(async function* () {}).constructor",
      "console.log.constructor",
      "(await Promise.resolve()) ?? Promise.resolve().constructor.constructor",
      "new Proxy(function () {}, {}).constructor",
      "Reflect.getPrototypeOf(console.log).constructor",
      "(() => { try { console.log.call.call(1) } catch (e) { return e.constructor.constructor } })()",
      "(() => { try { null.x } catch (e) { return e.constructor.constructor } })()",
      "globalThis.Function",
    ];
    for (const way of ways) {
      const code =
        "'typeof process + typeof Bun + typeof require + Object.getOwnPropertyNames(this).includes(\"console\")'";
      const source = `const made = (${way})('return ' + ${code.slice(1, -1).replaceAll('"', "'") ? code : code});
        const got = made(); const result = await (got?.next ? (await got.next()).value : got); return result`;
      expect(await value(source)).toBe("undefinedundefinedundefinedtrue");
    }
  });

  test("Error.prepareStackTrace is not asked, and gets no frames of the host", async () => {
    const body = `let got = "not asked"; Error.prepareStackTrace = (e, frames) => { got = typeof frames[0]?.getThis?.(); return "x" };
      try { null.x } catch (e) { e.stack } ; console.log(new Error("x")); return got`;
    expect(await value(body)).toMatch(/not asked|undefined/);
  });

  test("import of anything is refused", async () => {
    for (const name of [
      "node:fs",
      "fs",
      "bun",
      "std",
      "os",
      "/etc/passwd",
      "./x.js",
      "data:text/javascript,1",
      "https://example.com/x.js",
    ]) {
      const ended = await run(`return await import(${JSON.stringify(name)})`);
      expect(ended.kind).toBe("runtime-error");
    }
    expect((await run("import 'fs'")).kind).toBe("runtime-error");
  });

  test("what it writes and returns is no result but its own", async () => {
    const forged = JSON.stringify(["end", 1, { kind: "value", value: '"forged"' }]);
    const body = `console.log(${JSON.stringify(`\n${forged}\n`)}); console.log("\\u0000\\n" + ${JSON.stringify(forged)}); return "own"`;
    const ended = await run(body);
    expect(ended).toMatchObject({ kind: "value", value: '"own"' });
    expect(ended.logs).toHaveLength(2);
    expect(
      await value(
        `Promise.prototype.then = (f) => f("forged"); JSON.stringify = () => "forged"; Reflect.apply = () => "forged"; return "own"`,
      ),
    ).toBe("own");
    expect(
      await value("Object.defineProperty(Object.prototype, 'then', { get() { return undefined } }); return { a: 1 }"),
    ).toEqual({ a: 1 });
  });
});

describe("Sandbox: memory ends where it should", () => {
  for (const [what, body] of [
    ["strings", "const a = []; for (let i = 0; ; i++) a.push(('x' + i).repeat(1e5))"],
    ["a string that grows", "let s = 'x'; for (;;) s = (s + s).split('').join('')"],
    ["arrays", "const a = []; for (;;) a.push([1, 2, 3])"],
    ["one array", "return new Array(1e9).fill(0)"],
    ["buffers", "const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))"],
    ["one buffer", "return new ArrayBuffer(2e9).byteLength"],
    ["maps", "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })"],
    ["sets", "const s = new Set(); for (let i = 0; ; i++) s.add('k' + i)"],
    [
      "bigints",
      "let n = 3n; const a = []; for (;;) { a.push(n); n *= 12345678901234567890n; if (a.length % 2000 === 0) n = 3n }",
    ],
    ["closures", "let f = () => 0; for (;;) { const g = f; f = () => g }"],
    ["promises", "const a = []; for (;;) a.push(new Promise(() => {}).then(() => {}))"],
    ["a returned value", "const a = 'x'.repeat(1e6); return Array(1e6).fill(a)"],
    [
      "what it catches",
      "const a = []; for (;;) try { a.push(new Array(1e5).fill(1)) } catch { a.push('more'); throw null }",
    ],
  ] as const) {
    test(`of ${what}`, async () => {
      expect((await run(body)).kind).toBe("out-of-memory");
      expect(await value("return 1")).toBe(1);
    });
  }

  test("is as much as the run may have, and no more", async () => {
    const body = "const a = []; for (let i = 0; i < input; i++) a.push(new Uint8Array(1e6).fill(1)); return a.length";
    expect(await value(body, { input: "30", memory: 48 * MB })).toBe(30);
    expect(await run(body, { input: "50", memory: 48 * MB })).toMatchObject({ kind: "out-of-memory" });
    expect(await value(body, { input: "100", memory: 128 * MB })).toBe(100);
    expect(await value(body, { input: "6", memory: 16 * MB })).toBe(6);
    expect(await run(body, { input: "7", memory: 8 * MB })).toMatchObject({ kind: "out-of-memory" });
    expect(await value(body, { input: "1", memory: 8 * MB })).toBe(1);
  });
});

describe("Sandbox: time ends where it should", () => {
  for (const [where, body] of [
    ["code", "for (;;);"],
    ["code that catches", "for (;;) try { for (;;); } catch {} finally { continue }"],
    ["a regular expression", "return /^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60))"],
    ["sort", "const a = Array.from({ length: 3e5 }, (_, i) => i); for (;;) a.sort(() => Math.random() - 0.5)"],
    ["a comparison of sort", "[2, 1].sort(() => { for (;;); })"],
    ["a native search", "return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)"],
    ["string functions", "const s = 'a'.repeat(5e6); for (;;) s.lastIndexOf('b' + s.slice(0, 10))"],
    ["one string function", "const s = 'a'.repeat(8e6); return s.indexOf('a'.repeat(4e6) + 'b')"],
    ["microtasks", "const f = () => Promise.resolve().then(f); return f()"],
    ["microtasks that are left behind", "const f = () => void Promise.resolve().then(f); f(); return 1"],
    [
      "async functions that catch",
      "const f = async () => { for (;;) try { await f2() } catch {} }; const f2 = async () => { for (;;); }; return f()",
    ],
    ["a getter of the value", "return { get a() { for (;;); } }"],
    ["toJSON of the value", "return { toJSON() { for (;;); } }"],
    ["a proxy of the value", "return new Proxy({}, { ownKeys() { for (;;); } })"],
    ["a proxy that is logged", "console.log(new Proxy({}, { getPrototypeOf() { for (;;); } }))"],
    ["the message of what is thrown", "throw { __proto__: Error.prototype, get message() { for (;;); } }; "],
    [
      "a getter of what is thrown",
      "const e = new Error(); Object.defineProperty(e, 'name', { get() { for (;;); } }); throw e",
    ],
    ["a generator", "for (const _ of (function* () { for (;;) yield 1 })());"],
    ["a thenable", "await { then() { for (;;); } }"],
    ["finally", "try { return 1 } finally { for (;;); }"],
    ["Atomics.wait", "try { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) } catch { for (;;); }"],
  ] as const) {
    test(`in ${where}`, async () => {
      const ended = await run(`console.log("begun"); ${body}`, { timeout: 60 });
      expect(ended.kind).toBe(where === "the message of what is thrown" ? "runtime-error" : "timeout");
      expect(ended.logs).toMatchObject([{ text: "begun" }]);
      expect(await value("return 1")).toBe(1);
    });
  }

  test("soon after it was due, also where only a kill ends it", async () => {
    for (const body of ["for (;;);", "return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)"]) {
      const { durationMs } = await run(body, { timeout: 200 });
      expect(durationMs).toBeGreaterThanOrEqual(200);
      expect(durationMs).toBeLessThan(2_000);
    }
  });
});

describe("Sandbox: the host goes on", () => {
  test("its timers tick while code loops, allocates and floods", async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    await Promise.all([
      run("for (;;);", { timeout: 150 }),
      run("const a = []; for (;;) a.push([1, 2, 3])", { timeout: 2_000 }),
      run("for (;;) console.log('x'.repeat(100))"),
    ]);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(10);
  });

  test("has none of what code changed", async () => {
    await run(
      'Object.prototype.polluted = 1; Array.prototype.polluted = 1; ({}).constructor.prototype.x = 1; return JSON.parse(\'{"__proto__":{"polluted":1}}\')',
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});
