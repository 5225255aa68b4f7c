import { describe, expect, test } from "bun:test";
import { createSystem, systemClock } from "../../../src";
import { createManualClock } from "../../../src/testing";
import { spawnCodeExecution } from "../../../src/tools/code/code-execution";
import { CodeRefusal } from "../../../src/tools/code/code-refusal";
import { Sources } from "../../../src/tools/code/source/sources";
import { openTier } from "../../../src/tools/code/tiers";
import { isLong } from "../../property/runs";
import { errorIn, inspectionOf, valueIn, ways, withCode } from "./tiers";

describe.each(ways)("$isolation, $language", ({ isolation, isIsolated, language }) => {
  // Code that never ends. A promise that nothing can settle would not do in isolation: the host sees that, and reports it at once.
  const endless = isIsolated ? "while (true);" : "await new Promise(() => {})";

  test("code gives its value, with its logs, how long it took, and how it was kept", async () => {
    await withCode(
      { isolation },
      async (execute) => {
        const outcome = await execute("console.log('adding', { n: 1 }); input.a + input.b", { input: { a: 1, b: 2 } });
        expect(outcome).toEqual({
          ok: true,
          value: {
            value: 3,
            logs: [{ level: "log", text: "adding { n: 1 }", time: expect.any(Number) }],
            durationMs: expect.any(Number),
            isolation,
          },
        });
        expect(valueIn(await execute("await null; return [input]", { input: null }))).toEqual([null]);
        expect(valueIn(await execute("input"))).toBeUndefined();
        expect(valueIn(await execute("const x: number = 1; x", { language: "typescript" }))).toBe(1);
      },
      language,
    );
  });

  test("logs keep their level and their order, before and after it waits", async () => {
    await withCode(
      { isolation },
      async (execute) => {
        const code = `const { debug, info } = console
        debug("a"); info("b", 1); console.log(); await null; console.warn("d!"); console.error(new Map([[1, 2]])); 1`;
        const outcome = await execute(code);
        const logs = outcome.ok ? outcome.value.logs : [];
        expect(logs.map(({ level, text }) => `${level}: ${text}`)).toEqual([
          "debug: a",
          "info: b 1",
          "log: ",
          "warn: d!",
          "error: Map(1) { 1 => 2 }",
        ]);
        const times = logs.map(({ time }) => time);
        expect(times).toEqual(times.toSorted((a, b) => a - b));
      },
      language,
    );
  });

  test("a value is what JSON makes of it", async () => {
    await withCode(
      { isolation },
      async (execute) => {
        const cases: [string, unknown][] = [
          ["new Date(0)", "1970-01-01T00:00:00.000Z"],
          ["[undefined, () => 1, NaN]", [null, null, null]],
          ["({ a: undefined, b: { c: 'é\\n\u2028' } })", { b: { c: "é\n\u2028" } }],
          ["new Map([[1, 2]])", {}],
          ["({ toJSON: () => 5 })", 5],
          ["'__proto__'", "__proto__"],
          ["JSON.parse('{\"__proto__\": 1}')", JSON.parse('{"__proto__": 1}')],
          ["undefined", undefined],
          ["null", null],
        ];
        for (const [code, value] of cases) expect([code, valueIn(await execute(code))]).toEqual([code, value]);
      },
      language,
    );
  });

  test("what JSON cannot hold is an error, and what was logged comes along", async () => {
    await withCode(
      { isolation },
      async (execute) => {
        for (const value of [
          "1n",
          "(() => 1)",
          "Symbol('a')",
          "const a = []; a.push(a); a",
          "({ toJSON() { throw 1 } })",
        ]) {
          const error = errorIn(await execute(`console.log(1); ${value}`));
          expect([value, error.kind, error.logs.length]).toEqual([value, "unserializable-value", 1]);
        }
        const input: { self?: unknown } = {};
        input.self = input;
        expect(errorIn(await execute("1", { input })).kind).toBe("unserializable-value");
        for (const input of [1n, () => 1, Symbol("a")]) {
          expect(errorIn(await execute("1", { input })).kind).toBe("unserializable-value");
        }
        expect(valueIn(await execute("({ toJSON() {} })"))).toBeUndefined();
        const deep = "let a = []; for (let i = 0; i < 3e3; i++) a = [a]; a";
        expect(errorIn(await execute(deep)).kind).toBe("unserializable-value");
      },
      language,
    );
  });

  test("what code throws is an error, with the place in its own source", async () => {
    await withCode(
      { isolation },
      async (execute) => {
        const code = "console.log('before')\nfunction f() {\n  null.x\n}\nif (true) { f() }";
        const error = errorIn(await execute(code));
        expect(error).toMatchObject({ kind: "runtime-error", name: "TypeError", line: 3 });
        expect(error.stack?.map(({ line }) => line)).toEqual([3, 5]);
        expect(error.logs.map(({ text }) => text)).toEqual(["before"]);
        expect(JSON.stringify(error)).not.toContain(import.meta.dir.split("/test/")[0] ?? "?");

        const later =
          "interface A {\n  b: number\n}\nconst a = { b: 1 } as A\nawait null; throw new RangeError(String(a.b))";
        const typed = errorIn(await execute(later, { language: "typescript" }));
        expect(typed).toMatchObject({ kind: "runtime-error", name: "RangeError", message: "1", line: 5 });
        expect(typed.column).toBeGreaterThanOrEqual(13);
        expect(typed.column).toBeLessThanOrEqual(33);
        const long = errorIn(await execute("const e = new Error('x'.repeat(1e6)); e.name = 'y'.repeat(1e6); throw e"));
        expect(long.message.length + (long.name?.length ?? 0)).toBeLessThan(10_000);
        for (const [thrown, message] of [
          ["5", "5"],
          ["'a text'", "a text"],
          ["undefined", "undefined"],
          ["{ a: 1 }", "{ a: 1 }"],
        ]) {
          const told = errorIn(await execute(`throw ${thrown}`));
          expect([told.kind, told.name, told.message]).toEqual(["runtime-error", undefined, message]);
        }
        expect(errorIn(await execute("throw { get message() { throw 1 } }")).kind).toBe("runtime-error");
        expect(errorIn(await execute("const e = new Error('x'); e.stack = 1; throw e")).message).toBe("x");
        expect(errorIn(await execute("const r = () => r() + 1; r()"))).toMatchObject({
          name: expect.stringMatching(/^(RangeError|InternalError)$/), // As the engine calls it.
          line: 1,
        });
      },
      language,
    );
  });

  test("a fault in a source is told with its place, by execute and by check, and nothing runs", async () => {
    await withCode(
      { isolation },
      async (execute, code) => {
        const source = "console.log(1)\n  let = = 1";
        const error = errorIn(await execute(source));
        expect(error).toMatchObject({ kind: "compile-error", line: 2, logs: [] });
        const checked = (await code.ask("check", { code: source, language }))._unsafeUnwrap();
        expect(checked).toEqual({ ok: false, error });
        const good = await code.ask("check", { code: "let x: 1", language: "typescript" });
        expect(good._unsafeUnwrap()).toEqual({ ok: true, value: {} });
      },
      language,
    );
  });

  test("code whose time is up is told so, with what it logged", async () => {
    await withCode(
      { isolation, timeout: 1_000 },
      async (execute) => {
        const error = errorIn(await execute(`console.log('begun'); ${endless}`));
        expect(error).toMatchObject({ kind: "timeout", logs: [{ text: "begun" }] });
        expect(error.message).toContain("1000 ms");
        const longer = errorIn(await execute(endless, { timeout: 60_000 }));
        expect(longer.message).toContain("1000 ms");
        const shorter = errorIn(await execute(endless, { timeout: 7 }));
        expect(shorter.message).toContain("7 ms");
        const late = "for (const end = Date.now() + 300; Date.now() < end; );";
        expect(errorIn(await execute(late, { timeout: 150 })).kind).toBe("timeout");
      },
      language,
    );
  });

  test("logs and value together have a bound", async () => {
    await withCode(
      { isolation, maxOutput: 100 },
      async (execute) => {
        expect(valueIn(await execute("'x'.repeat(98)"))).toHaveLength(98);
        expect(errorIn(await execute("'x'.repeat(99)")).kind).toBe("output-limit");
        expect(errorIn(await execute("'é'.repeat(50)")).kind).toBe("output-limit");
        expect(errorIn(await execute("console.log('x'.repeat(60)); 'x'.repeat(60)")).kind).toBe("output-limit");
        const flood = errorIn(await execute("for (;;) console.log('0123456789')"));
        expect(flood.kind).toBe("output-limit");
        // Each tier has its own cost of an entry beside its text.
        expect(flood.logs.length).toBeGreaterThan(0);
        expect(flood.logs.length).toBeLessThanOrEqual(10);
        expect(errorIn(await execute("try { for (;;) console.log('0123456789') } catch {}; 1")).kind).toBe(
          "output-limit",
        );
        expect(errorIn(await execute("await 1; for (;;) console.log('0123456789')")).kind).toBe("output-limit");
        expect(errorIn(await execute("for (;;) console.log()")).kind).toBe("output-limit");
        const caught = "try { for (;;) console.log('0123456789') } catch {}; undefined";
        expect(errorIn(await execute(caught)).kind).toBe("output-limit");
      },
      language,
    );
  });

  // Each of a process starts one.
  const atOnce = isLong || isolation !== "process" ? 200 : 40;
  test(`${atOnce} executions at once each give their own value and logs`, async () => {
    await withCode(
      { isolation },
      async (execute) => {
        const runs = Array.from({ length: atOnce }, (_, i) =>
          execute("console.log(input); await 1; input", { input: i }),
        );
        for (const [i, outcome] of (await Promise.all(runs)).entries()) {
          expect(valueIn(outcome)).toBe(i);
          expect(outcome.ok && outcome.value.logs.map(({ text }) => text)).toEqual([String(i)]);
        }
      },
      language,
    );
  });

  test("one more than may run and wait is told busy, and the next one is served", async () => {
    await withCode(
      { isolation, concurrency: 1, maxWaiting: 1, timeout: 800 },
      async (execute, code) => {
        const kinds = (await Promise.all([1, 2, 3].map(() => execute(endless)))).map(
          (outcome) => errorIn(outcome).kind,
        );
        expect(kinds.toSorted()).toEqual(["busy", "timeout", "timeout"]);
        expect(valueIn(await execute("1"))).toBe(1);
        const { value } = (await code.ask("inspect"))._unsafeUnwrap() as { value: unknown };
        expect(value).toMatchObject({
          isolation,
          limits: { timeout: 800 },
          tiers: [{ isolation, running: 0, waiting: 0 }],
        });
      },
      language,
    );
  });

  test("a run whose asker gives up is ended", async () => {
    await withCode(
      { isolation, timeout: 10_000 },
      async (_, code) => {
        const giving = code.ask("execute", { code: endless }, { timeout: 20 });
        expect((await giving)._unsafeUnwrapErr().kind).toBe("timeout");
        for (let running = 1; running > 0; ) {
          const seen = (await code.ask("inspect"))._unsafeUnwrap() as { value: { tiers: { running: number }[] } };
          running = seen.value.tiers[0]?.running ?? 0;
        }
      },
      language,
    );
  });

  test("an actor that stops ends what runs", async () => {
    const system = createSystem({ logger: { warn() {}, error() {} } });
    const code = spawnCodeExecution(system, { isolation, timeout: 60_000 });
    const running = code.ask("execute", { code: endless }, { timeout: 20_000 });
    await code.ask("execute", { code: "1" });
    await system.shutdown({ timeout: 100 });
    expect(errorIn((await running)._unsafeUnwrap()).kind).toBe("stopped");
  });

  test("a tier that is disposed of ends what it runs, and is through with it", async () => {
    const tier = openTier(isolation, { size: 2, maxWaiting: 0, clock: systemClock });
    const program = await new Sources().compile("console.log('begun'); await new Promise(() => {})", "javascript");
    if (program instanceof CodeRefusal) throw new Error(program.error.message);
    const limits = { timeout: 60_000, memory: 64 * 1024 * 1024, maxOutput: 1024 * 1024 };
    const run = tier.run({ program, input: undefined, signal: new AbortController().signal, ...limits });
    const given = new AbortController();
    const other = tier.run({ program, input: undefined, signal: given.signal, ...limits });
    expect(tier.inspect().running + tier.inspect().waiting).toBe(2);
    given.abort();
    expect((await other).kind).toBe("stopped");
    await tier.dispose();
    expect((await run).kind).toBe("stopped");
    expect(tier.inspect()).toEqual({ processes: 0, idle: 0, running: 0, waiting: 0 });
  });
});

test("a request may ask for the actor's isolation, or a stronger one, and never for a weaker one", async () => {
  await withCode({}, async (execute) => {
    const error = errorIn(await execute("1", { isolation: "trusted" }));
    expect(error.kind).toBe("unavailable");
    expect(error.message).toBe(
      'This actor runs code as "sandbox" or stronger, and "trusted" is weaker: leave isolation out, or spawn the actor with isolation: "trusted".',
    );
  });
  await withCode({ isolation: "trusted" }, async (execute, code) => {
    await execute("1", { isolation: "sandbox" });
    const seen = (await code.ask("inspect"))._unsafeUnwrap() as { value: { tiers: { isolation: string }[] } };
    expect(seen.value.tiers.map((tier) => tier.isolation)).toEqual(["trusted", "sandbox"]);
  });
});

test("code is in a language that the actor offers; another one is refused, and the reply names those offered", async () => {
  const typed = "const n: number = 1; n";
  await withCode({ isolation: "trusted", languages: ["javascript"] }, async (execute, code) => {
    const refusal = {
      ok: false,
      error: { kind: "unavailable", message: expect.stringContaining('write it in "javascript"') },
    };
    const request = { code: typed, language: "typescript" } as const;
    expect(await execute(typed, { language: "typescript" })).toMatchObject(refusal);
    for (const operation of ["check", "compile"] as const) {
      expect((await code.ask(operation, request))._unsafeUnwrap()).toMatchObject(refusal);
    }
    for await (const item of code.stream("executeStream", request)) {
      expect(item).toMatchObject({ kind: "end", outcome: refusal });
    }
    expect(valueIn(await execute("1"))).toBe(1);
    expect((await inspectionOf(code)).languages).toEqual(["javascript"]);
  });
  await withCode({ isolation: "trusted", languages: ["typescript", "javascript"] }, async (_, code) => {
    const answer = (await code.ask("execute", { code: typed }))._unsafeUnwrap(); // In the first one, where it names none.
    expect(answer).toMatchObject({ ok: true, value: { value: 1 } });
  });
});

test("what one asker does to its reply is nothing to the next one's", async () => {
  await withCode({ isolation: "trusted" }, async (execute) => {
    for (const [code, session] of [
      ["let = = 1", undefined],
      ["1", "none"],
    ] as const) {
      const more = session === undefined ? {} : { session };
      const first = errorIn(await execute(code, more));
      const { message } = first;
      first.message = "forged";
      first.logs.push({ level: "log", text: "forged", time: 0 });
      expect(errorIn(await execute(code, more))).toMatchObject({ message, logs: [] });
    }
  });
});

test("what is no request is refused before anything is read", async () => {
  await withCode({ isolation: "trusted" }, async (_, code) => {
    for (const payload of [
      {},
      { code: 1 },
      { code: "1", language: "python" },
      { code: "1", timeout: 0 },
      { code: "1", isolation: "none" },
    ]) {
      const answer = await code.ask("execute", payload as { code: string });
      expect(answer._unsafeUnwrapErr().kind).toBe("invalid-payload");
    }
  });
});

test("time is the system's clock's", async () => {
  const clock = createManualClock();
  await using system = createSystem({ clock });
  const code = spawnCodeExecution(system, { isolation: "trusted", timeout: 5_000 });
  const first = code.ask("execute", { code: "1" }, { timeout: 60_000 });
  await Promise.all([import("acorn"), import("@sveltejs/acorn-typescript")]);
  await clock.settle();
  await first;
  const running = code.ask("execute", { code: "await new Promise(() => {})" }, { timeout: 60_000 });
  await clock.settle();
  await clock.advance(5_000);
  const answer = (await running)._unsafeUnwrap();
  expect(answer).toMatchObject({ ok: false, error: { kind: "timeout" } });
});
