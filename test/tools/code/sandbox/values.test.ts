import { afterAll, describe, expect, test } from "bun:test";
import { sandbox } from "./kit";

const { tier, run, value } = sandbox();
afterAll(() => tier.dispose());

describe("Sandbox: the value of a run", () => {
  test("is what the body returns", async () => {
    expect(await value("return 1 + 1")).toBe(2);
    expect(await value('return { a: [1, "ü\\u0000\\ud800", null], b: true }')).toEqual({
      a: [1, "ü\0\ud800", null],
      b: true,
    });
  });

  test("is undefined where nothing is returned", async () => {
    expect(await run("1 + 1")).toMatchObject({ kind: "value", value: undefined });
    expect(await run("return { toJSON() {} }")).toMatchObject({ kind: "value", value: undefined });
  });

  test("is made of the input, which is a value in scope", async () => {
    expect(await value("return input.a * 2", { input: '{"a":21}' })).toBe(42);
    expect(await value("return typeof input")).toBe("undefined");
  });

  test("is what was awaited", async () => {
    expect(await value("const a = await 1; const b = await Promise.resolve(2); return Promise.resolve(a + b)")).toBe(3);
    expect(await value("let n = 0; for await (const i of [1, 2, 3]) n += await i; return n")).toBe(6);
  });

  test("comes after all microtasks that it left", async () => {
    const ended = await run("Promise.resolve().then(() => 0).then(() => console.log('late')); return 1");
    expect(ended).toMatchObject({ kind: "value", value: "1", logs: [{ text: "late" }] });
  });

  test("cannot be a function, a symbol, a bigint or a cycle, and it is told why", async () => {
    for (const [body, reason] of [
      ["return () => 1", "a function"],
      ["return Symbol('x')", "a symbol"],
      ["return 1n", "a bigint"],
      ["return { a: 1n }", "BigInt"],
      ["const a = {}; a.a = a; return a", "circular"],
      ["return { toJSON() { throw new Error('not me') } }", "not me"],
      ["return { get a() { throw new RangeError('nor me') } }", "RangeError: nor me"],
      ["let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o", "nested too deep"],
    ] as const) {
      const ended = await run(body);
      expect(ended.kind).toBe("unserializable-value");
      if (ended.kind !== "value") expect(ended.message).toContain(reason);
    }
  });

  test("is refused where it is larger than the output may be, with the logs", async () => {
    expect(await value("return 'x'.repeat(998)", { maxOutput: 1_000 })).toHaveLength(998);
    expect(await run("return 'x'.repeat(999)", { maxOutput: 1_000 })).toMatchObject({ kind: "output-limit" });
    // Counted in bytes, not in characters.
    expect(await run("return 'ü'.repeat(600)", { maxOutput: 1_000 })).toMatchObject({ kind: "output-limit" });
    const both = await run("console.log('x'.repeat(400)); return 'x'.repeat(600)", { maxOutput: 1_000 });
    expect(both).toMatchObject({ kind: "output-limit", logs: [{ text: "x".repeat(400) }] });
  });

  test("may be a megabyte of what takes most room on the channel", async () => {
    expect(await value("return '\\u0001'.repeat(170_000)")).toHaveLength(170_000);
    expect(await value("return '\\\\'.repeat(500_000)")).toHaveLength(500_000);
  });

  test("is of this run alone: nothing of one is in the next", async () => {
    await run(
      "globalThis.leak = 1; Object.prototype.leak = 2; Array.prototype.push = null; JSON.stringify = null; console.log = null",
    );
    expect(
      await value("return [typeof leak, ({}).leak ?? null, typeof [].push, typeof JSON.stringify, typeof console.log]"),
    ).toEqual(["undefined", null, "function", "function", "function"]);
  });
});
