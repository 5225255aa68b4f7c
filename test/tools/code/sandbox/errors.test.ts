import { afterAll, describe, expect, test } from "bun:test";
import { stackOf } from "../../../../src/tools/code/pool/stack";
import { isLong } from "../../../property/runs";
import { runOf, sandbox } from "./kit";

const { tier, run } = sandbox();
afterAll(() => tier.dispose());

describe("Sandbox: errors", () => {
  test("have name, message and the places in the caller's source, innermost first", async () => {
    const ended = await run(
      "function inner() {\n  throw new TypeError('no');\n}\nconst outer = () => inner();\nouter();",
    );
    expect(ended).toMatchObject({ kind: "runtime-error", name: "TypeError", message: "no" });
    if (ended.kind === "value") throw new Error("It failed.");
    expect(ended.stack?.map(({ line }) => line)).toEqual([2, 4, 5]);
    expect(ended.stack?.[0]?.column).toBeGreaterThan(2);
  });

  test("have the places of the source before it was changed, and none of what is ours", async () => {
    const { program } = runOf("0;\n0;\nnull.x");
    const place = (line: number, column: number) => (line === 3 ? { line: line + 40, column: column + 7 } : undefined);
    expect(await run("", { program: { ...program, place } })).toMatchObject({ stack: [{ line: 43, column: 12 }] });
  });

  test("after an await, too", async () => {
    const ended = await run("await null;\nawait (async () => {\n  await null;\n  throw new RangeError('late');\n})()");
    expect(ended).toMatchObject({ kind: "runtime-error", name: "RangeError", message: "late", stack: [{ line: 4 }] });
  });

  test("may be anything that was thrown", async () => {
    for (const [thrown, message] of [
      ["'text'", "text"],
      ["{ a: 1 }", "{ a: 1 }"],
      ["null", "null"],
      ["undefined", "undefined"],
      ["new (class extends Error { get message() { throw 1 } })()", ""],
      ["Object.defineProperty(new Error('x'), 'stack', { get() { throw 1 } })", ""],
      ["new Proxy(new Error('x'), { get() { throw 1 } })", "Error {}"],
    ] as const) {
      expect(await run(`throw ${thrown}`)).toMatchObject({ kind: "runtime-error", message });
    }
    expect(await run("throw Object.assign(new Error('m'), { name: 'Mine' })")).toMatchObject({
      name: "Mine",
      message: "m",
    });
  });

  test("of what is thrown are bounded", async () => {
    const ended = await run(
      "const e = new Error('x'.repeat(1e6)); e.stack = 'program.js:2:1\\n'.repeat(1e5); e.name = 'n'.repeat(1e6); throw e",
    );
    if (ended.kind === "value") throw new Error("It failed.");
    expect(ended.message.length).toBeLessThan(10_000);
    expect(ended.name?.length).toBeLessThan(1_000);
    expect(ended.stack?.length).toBeLessThanOrEqual(50);
  });

  test("name no file of the host", async () => {
    const ended = await run("throw new Error('x')");
    expect(JSON.stringify(ended)).not.toContain("/");
    expect(
      stackOf(
        "    at f (/home/x/program.jsx:2:1)\n    at /etc/passwd:1:1\n    at program.js:1:1",
        () => runOf("").program,
      ),
    ).toEqual([]);
  });

  test("of recursion are errors, as deep as it may be", async () => {
    for (const body of [
      "function f() { return f() + 1 } f()",
      "const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x",
      "eval('1' + '+(1'.repeat(1e5) + ')'.repeat(1e5))",
      "JSON.parse('['.repeat(1e5) + ']'.repeat(1e5))",
      "const f = (n) => [1].map(() => f(n + 1)); f(0)",
      'class A { toString() { return "" + this } } "" + new A()',
    ]) {
      const ended = await run(body);
      expect(ended.kind).toBe("runtime-error");
      if (ended.kind !== "value") expect(ended.message).toMatch(/stack/);
    }
  });

  test("are none of memory where there was enough, however much was taken", async () => {
    for (let megabytes = 50; megabytes < 58; megabytes += isLong ? 1 : 3) {
      const { tier, run } = sandbox(); // In a process where nothing took more before.
      try {
        const ended = await run(
          `const a = []; for (let i = 0; i < ${megabytes}; i++) a.push(new Uint8Array(1 << 20)); throw null`,
        );
        expect(ended).toMatchObject({ kind: "runtime-error", message: "null" });
      } finally {
        await tier.dispose();
      }
    }
  });

  test("are of memory, in whatever way the engine tells of that", async () => {
    for (const body of [
      "return 'a'.repeat(1e7).normalize('NFKD').length",
      "return 'a'.repeat(1e6).match(/(a)*$/).length",
      "return encodeURIComponent('\u00e9'.repeat(5e6)).length",
    ]) {
      expect([body, (await run(body)).kind]).toEqual([body, "out-of-memory"]);
    }
  });

  test("of a promise that never settles are told at once", async () => {
    const ended = await run("console.log('waits'); await new Promise(() => {})", { timeout: 1e9 });
    expect(ended).toMatchObject({ kind: "runtime-error", logs: [{ text: "waits" }] });
    if (ended.kind !== "value") expect(ended.message).toContain("never settles");
  });

  test("of code that cannot be parsed have its place", async () => {
    expect(await run("const a = 1;\nfoo bar")).toMatchObject({
      kind: "runtime-error",
      name: "SyntaxError",
      stack: [{ line: 2, column: 5 }],
    });
    // Code that closes the function around it stays where it is, and is no function.
    expect((await run("}); (function () {")).kind).toMatch(/value|runtime-error/);
    expect(await run("}), 5, (0")).toMatchObject({ kind: "runtime-error", name: "SyntaxError" });
  });
});
