import { describe, expect, test } from "bun:test";
import type { CodeExecutionRef, RunRequest } from "../../../src/tools/code/protocol";
import { errorIn, inspectionOf, type Outcome, valueIn, ways, withCode } from "./tiers";

async function compile(code: CodeExecutionRef, source: string, language: "javascript" | "typescript" = "javascript") {
  const compiled = (await code.ask("compile", { code: source, language }))._unsafeUnwrap();
  if (!compiled.ok) throw new Error(compiled.error.message);
  return compiled.value.program;
}

async function run(code: CodeExecutionRef, request: RunRequest): Promise<Outcome> {
  return (await code.ask("run", request))._unsafeUnwrap();
}

describe.each(ways)("$isolation, $language", ({ isolation, language }) => {
  test("a program that was compiled runs as often as one likes, as its source would, each time anew", async () => {
    await withCode({ isolation, timeout: 5_000 }, async (_, code) => {
      const program = await compile(code, "let n = 0\nconsole.log('at', input)\nn += input\nn", language);
      for (const input of [1, 2, 3]) {
        const outcome = await run(code, { program, input });
        expect(valueIn(outcome)).toBe(input);
        expect(outcome.ok && outcome.value.logs.map(({ text }) => text)).toEqual([`at ${input}`]);
        expect(outcome.ok && outcome.value.isolation).toBe(isolation);
      }
      const failing = await compile(code, "\n  null.x", language);
      expect(errorIn(await run(code, { program: failing }))).toMatchObject({ kind: "runtime-error", line: 2 });
      const slow = await compile(code, "await new Promise((go) => (globalThis.go = go))", language);
      expect(errorIn(await run(code, { program: slow, timeout: 20 })).kind).toMatch(/^(timeout|runtime-error)$/);
    });
  });
});

test("what cannot be compiled is told with its place, as by check, and is not kept", async () => {
  await withCode({ isolation: "trusted" }, async (_, code) => {
    const source = "1;\n let = = 2";
    const compiled = (await code.ask("compile", { code: source }))._unsafeUnwrap();
    expect(compiled).toMatchObject({ ok: false, error: { kind: "compile-error", line: 2 } });
    expect(compiled).toEqual((await code.ask("check", { code: source }))._unsafeUnwrap() as typeof compiled);
    expect(await inspectionOf(code)).toMatchObject({ programs: 0 });
  });
});

test("one source has one id, and another language, or another actor, is no matter of it", async () => {
  await withCode({ isolation: "trusted" }, async (_, code) => {
    const program = await compile(code, "1");
    expect(await compile(code, "1")).toBe(program);
    expect(await compile(code, "1", "typescript")).not.toBe(program);
    expect(await inspectionOf(code)).toMatchObject({ programs: 2 });
  });
});

test("more programs than are kept: those go that were not used for longest, and are told to be compiled again", async () => {
  await withCode({ isolation: "trusted", maxPrograms: 2 }, async (_, code) => {
    const first = await compile(code, "1");
    const second = await compile(code, "2");
    expect(valueIn(await run(code, { program: first }))).toBe(1);
    const third = await compile(code, "3");
    expect(valueIn(await run(code, { program: first }))).toBe(1);
    expect(valueIn(await run(code, { program: third }))).toBe(3);
    const gone = errorIn(await run(code, { program: second }));
    expect(gone).toMatchObject({ kind: "unavailable", message: expect.stringContaining("compile it") });
    expect(await inspectionOf(code)).toMatchObject({ programs: 2 });
    expect(await compile(code, "2")).toBe(second);
    expect(valueIn(await run(code, { program: second }))).toBe(2);
  });
});

test("all programs together have a bound, too", async () => {
  await withCode({ isolation: "trusted" }, async (_, code) => {
    for (let i = 0; i < 300; i++) await compile(code, `${i}/*${"x".repeat(65_000)}*/`);
    const { programs } = await inspectionOf(code);
    expect(programs).toBe(Math.floor((16 * 1024 * 1024) / 65_006));
  });
});

test("what is no program's id is told so", async () => {
  await withCode({ isolation: "trusted" }, async (_, code) => {
    for (const program of ["", "__proto__", "x".repeat(100_000)]) {
      expect(errorIn(await run(code, { program })).kind).toBe("unavailable");
    }
  });
});

test("a program runs in a session, too, where it finds what is there and leaves what it declares", async () => {
  await withCode({ isolation: "trusted" }, async (execute, code) => {
    const opened = (await code.ask("session", {}))._unsafeUnwrap();
    const session = opened.ok ? opened.value.session : "";
    const program = await compile(code, "var total = (globalThis.undefined ?? 0) + input\ntotal");
    expect(valueIn(await run(code, { program, input: 2, session }))).toBe(2);
    expect(valueIn(await execute("total + 1", { session }))).toBe(3);
    expect(valueIn(await run(code, { program, input: 5 }))).toBe(5);
    expect(valueIn(await execute("total", { session }))).toBe(2);
  });
});
