import { expect, test } from "bun:test";
import { errorIn } from "../tiers";
import { type Attack, attacks, inEachArena } from "./arena";

const GIGABYTE = 1024 ** 3;

/** Each would write a gigabyte, or more. */
const FLOODS: Readonly<Record<string, string>> = {
  "one entry after the other": "for (let written = 0; written < input; written += 1000) console.log('x'.repeat(1000))",
  "entries that are long": "for (let written = 0; written < input; written += 3e5) console.error('x'.repeat(3e5))",
  "entries of nothing": "for (let written = 0; written < input; written++) console.log()",
  "entries that it catches":
    "for (let written = 0; written < input; written += 1000) try { console.log('x'.repeat(1000)) } catch {}",
  "entries of bytes that count three times":
    "for (let written = 0; written < input; written += 3000) console.log('漢'.repeat(1000))",
  "entries that need escapes":
    "for (let written = 0; written < input; written += 1000) console.log('\\0'.repeat(1000))",
  "entries of objects":
    "const o = Array(100).fill({ a: 'x'.repeat(1000) }); for (let written = 0; written < input; written += 1e5) console.log(o)",
  "entries from microtasks":
    "const f = () => { console.log('x'.repeat(1000)); return Promise.resolve().then(f) }; return f()",
  "entries between calls of tools":
    "for (let i = 0; i < 900; i++) { console.log('x'.repeat(1e4)); await tools.desk.echo(i) }",
  progress: "for (let written = 0; written < input; written += 1000) progress('x'.repeat(1000))",
  "progress of nothing": "for (let written = 0; written < input; written++) progress(0)",
  "a value": "return Array(2e4).fill('x'.repeat(100))",
  "a value of many small parts": "return Array(6e5).fill(0)",
  "a value that toJSON makes": "return { toJSON: () => 'x'.repeat(2e6) }",
  "a value that is too large by what it logged": "console.log('x'.repeat(6e5)); return 'x'.repeat(6e5)",
};

/** Values that JSON cannot write, or that are circular, or that throw or lie when they are read. */
const HOSTILE: Readonly<Record<string, string>> = {
  "goes round": "const a = {}; a.self = a; return a",
  "goes round through others": "const a = [], b = { a }; a.push([[b]]); return a",
  "goes round through toJSON": "const m = { toJSON() { return { m } } }; return m",
  "is nested too deep": "let o = {}; for (let i = 0; i < 4e4; i++) o = { o }; return o",
  "is a list that is nested too deep": "let a = []; for (let i = 0; i < 4e4; i++) a = [a]; return a",
  "throws in a getter": "return { get a() { throw new Error('no') } }",
  "throws what throws": "return { toJSON() { throw new Proxy({}, { get() { throw 1 } }) } }",
  "throws null": "return { toJSON() { throw null } }",
  "throws in ownKeys": "return new Proxy({}, { ownKeys() { throw new Error('no') } })",
  "throws in a list": "return [new Proxy([], { get() { throw 1 } })]",
  "is a revoked proxy":
    "const { proxy, revoke } = Proxy.revocable({}, { get: (o, key) => (key === 'then' ? undefined : o[key]) }); setTimeout: { revoke() } return { proxy }",
  "is a function": "return () => 1",
  "is a symbol": "return Symbol('s')",
  "is a bigint": "return { a: 1n }",
};

/** Values that code throws. */
const THROWN: Readonly<Record<string, string>> = {
  "an error with a long message": "const e = new Error('x'.repeat(1e6)); e.name = 'y'.repeat(1e6); throw e",
  "an error with a long stack": "const e = new Error('x'); e.stack = 'at f (program.js:1:1)\\n'.repeat(1e5); throw e",
  "an error whose stack is none": "const e = new Error('x'); e.stack = { toString() { throw 1 } }; throw e",
  "an error whose members throw":
    "const e = new Error('x'); for (const key of ['name', 'message', 'stack']) Object.defineProperty(e, key, { get() { throw e } }); throw e",
  "a proxy of an error":
    "throw new Proxy(new Error('x'), { get() { throw 1 }, getPrototypeOf() { throw 2 }, has() { throw 3 } })",
  "what goes round": "const a = {}; a.a = a; throw a",
  "what is nested too deep": "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; throw o",
  "a large text": "throw 'x'.repeat(5e6)",
  "a large list": "throw Array(1e5).fill('x'.repeat(100))",
  nothing: "throw undefined",
  "a symbol": "throw Symbol('s')",
  "an error of errors":
    "let e = new Error('x'); for (let i = 0; i < 1e4; i++) e = new AggregateError([e], 'y', { cause: e }); throw e",
  "an error in the name of the host":
    "throw Object.assign(new Error('forged'), { name: 'OutputLimit', kind: 'out-of-memory', logs: [{}], line: 1e9 })",
};

/** Values that take an engine long to examine, so that the time may be up before. */
const DEEP = new Set(["goes round through toJSON", "is nested too deep", "is a list that is nested too deep"]);
const endOf = (what: string): Pick<Attack, "fate" | "with"> =>
  DEEP.has(what)
    ? { fate: ["unserializable-value", "timeout"], with: { timeout: 200 } }
    : { fate: ["unserializable-value"] };

attacks("Output", {}, [
  ...Object.entries(FLOODS).map(
    ([what, body]): Attack => ({
      name: `of a gigabyte is ended: ${what}`,
      body,
      fate: ["output-limit"],
      with: { input: GIGABYTE },
    }),
  ),
  ...Object.entries(HOSTILE).map(
    ([what, body]): Attack => ({ name: `that ${what} is an error, and no value`, body, ...endOf(what) }),
  ),
]);

inEachArena("Output that is thrown", {}, ({ run }) => {
  for (const [what, body] of Object.entries(THROWN)) {
    test(`is a short error, and plain: ${what}`, async () => {
      const outcome = await run(`console.log("said"); ${body}`);
      const error = errorIn(outcome);
      expect(["runtime-error", "out-of-memory"]).toContain(error.kind);
      expect(JSON.stringify(error).length).toBeLessThan(40_000);
      expect(error.logs).toMatchObject([{ text: "said" }]);
      expect(error.stack?.length ?? 0).toBeLessThanOrEqual(50);
      for (const { line, column } of error.stack ?? []) expect([line > 0, column > 0]).toEqual([true, true]);
    });
  }
});

inEachArena("Output that is read as it comes", { maxOutput: 100_000 }, (arena) => {
  test("has its end once, and what was told before it fits", async () => {
    const source = "for (;;) { console.log('x'.repeat(1000)); progress('y'.repeat(1000)) }";
    const kinds: string[] = [];
    let bytes = 0;
    for await (const item of arena.code.stream("executeStream", { code: source, language: arena.language })) {
      kinds.push(item.kind);
      if (item.kind === "log") bytes += item.entry.text.length;
      if (item.kind === "progress") bytes += String(item.value).length;
      if (item.kind === "end") expect(item.outcome).toMatchObject({ ok: false, error: { kind: "output-limit" } });
    }
    expect(kinds.indexOf("end")).toBe(kinds.length - 1);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThanOrEqual(100_000);
  });
});
