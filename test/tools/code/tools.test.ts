import { describe, expect, test } from "bun:test";
import { createSystem, defineProtocol, type System, Type } from "../../../src";
import { createManualClock } from "../../../src/testing";
import type { Approve } from "../../../src/tools/code/approval";
import { spawnCodeExecution } from "../../../src/tools/code/code-execution";
import type { CodeExecutionOptions } from "../../../src/tools/code/options";
import { type Execute, errorIn, inspectionOf, valueIn, ways } from "./tiers";

const Text = defineProtocol("text", {
  upper: { payload: Type.String(), reply: Type.String() },
  letters: { payload: Type.String(), stream: Type.String() },
  never: { reply: Type.Null() },
  note: { payload: Type.String() },
});

const Tally = defineProtocol("tally", {
  add: { payload: Type.Number(), reply: Type.Number() },
  fail: { reply: Type.Null() },
  failing: { stream: Type.Number() },
});

interface Desk {
  readonly system: System;
  readonly code: ReturnType<typeof spawnCodeExecution>;
  readonly execute: Execute;
  /** The requests that the tool has seen, and the ends of those that wait for ever. */
  readonly seen: string[];
}

/** Runs a test with an actor whose code has a tool. */
async function withTool(options: CodeExecutionOptions, body: (desk: Desk) => Promise<void>): Promise<void> {
  await using system = createSystem({ askTimeout: 20_000, logger: { warn() {}, error() {} } });
  const seen: string[] = [];
  const text = system.spawn(
    "text",
    Text,
    (ctx) => ({
      upper(given) {
        seen.push(given);
        return given.toUpperCase();
      },
      async *letters(given) {
        try {
          yield* given;
        } finally {
          seen.push("left");
        }
      },
      never() {
        seen.push("begun");
        const { signal } = ctx;
        return new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve(null));
          signal.addEventListener("abort", () => seen.push("given up"));
        });
      },
      note(given) {
        seen.push(given);
      },
    }),
    { concurrency: 100 },
  );
  const code = spawnCodeExecution(system, { tools: { text }, ...options });
  const execute: Execute = async (source, more = {}) => {
    const answer = await code.ask("execute", { code: source, ...more });
    if (answer.isErr()) throw new Error(answer.error.message);
    return answer.value;
  };
  await body({ system, code, execute, seen });
}

describe.each(ways)("$isolation, $language", (way) => {
  const { isolation, language } = way;

  test("a call that fails, and that nobody catches, has its place in the code, as what the code throws has", async () => {
    await withTool({ isolation }, async ({ execute }) => {
      const failing = [
        "1\n  await tools.text.upper(5)",
        "async function f() {\n  return await tools.text.upper(5)\n}\n\nawait f()",
        "'the items of a stream'\nfor await (const letter of tools.text.letters(5)) letter",
        "await Promise.all([1].map(async () => {\n  await tools.text.upper(5)\n}))",
      ];
      for (const code of failing) {
        const error = errorIn(await execute(code, { language }));
        expect([code, error]).toMatchObject([code, { kind: "runtime-error", name: "ToolError", line: 2 }]);
      }
      const caught =
        "try { await tools.text.upper(5) } catch (error) { [error.name, error.kind, error instanceof Error] }";
      expect(valueIn(await execute(caught, { language }))).toEqual(["ToolError", "invalid-payload", true]);
      if (isolation !== "sandbox") return; // Where a failed call is handed over without a throw.
      const species = "Object.defineProperty(Promise, Symbol.species, { get() { throw 1 } })";
      const changed = `Promise.prototype.then = function () {}; ${species}; ${caught}`;
      const found = valueIn(await execute(changed, { language: "javascript" }));
      expect(found).toEqual(["ToolError", "invalid-payload", true]);
    });
  });

  test("code asks its tools and reads their streams, and many calls are one message from outside", async () => {
    await withTool({ isolation }, async ({ execute, seen }) => {
      const code = `const got = []
        for (let i = 0; i < 10; i++) got.push(await tools.text.upper('a' + i))
        for await (const letter of tools.text.letters('xyz')) got.push(letter)
        await tools.text.note('noted')
        got.join()`;
      expect(valueIn(await execute(code, { language }))).toBe("A0,A1,A2,A3,A4,A5,A6,A7,A8,A9,x,y,z");
      expect(seen).toEqual([..."0123456789"].map((n) => `a${n}`).concat("left", "noted"));
    });
  });

  test("a stream that nobody reads is no value, and says how it is read", async () => {
    await withTool({ isolation }, async ({ execute, seen }) => {
      for (const code of ["await tools.text.letters('xyz')", "({ all: tools.text.letters('xyz') })"]) {
        const error = errorIn(await execute(code, { language }));
        expect(error.kind).toBe("unserializable-value");
        expect(error.message).toContain("read it by for await");
      }
      expect(seen).toEqual([]);
    });
  });

  test("P9: calls that make a tool throw fail alone, however many: nobody else loses the tool, or its state", async () => {
    await using system = createSystem({ askTimeout: 20_000, logger: { warn() {}, error() {} } });
    const tally = system.spawn("tally", Tally, () => {
      let total = 0;
      return {
        add: (n) => (total += n),
        fail() {
          throw new Error("broken");
        },
        *failing() {
          yield 1;
          throw new Error("broken");
        },
      };
    });
    await tally.ask("add", 2);
    const code = spawnCodeExecution(system, { tools: { tally }, isolation });
    const source = `let failed = 0
      for (let i = 0; i < 7; i++) try { await tools.tally.fail() } catch (error) { failed += error.kind === "handler-failed" ? 1 : 0 }
      for (let i = 0; i < 7; i++) try { for await (const n of tools.tally.failing()) failed += n } catch { }
      failed`;
    expect(valueIn((await code.ask("execute", { code: source, language }))._unsafeUnwrap())).toBe(14);
    expect((await tally.ask("add", 3))._unsafeUnwrap()).toBe(5);
    const found = system.inspect().find(({ address }) => address === tally.address);
    expect(found).toMatchObject({ state: "idle", restarts: 0, failed: 14 });
  });

  test("in a session, in a stream and as a program no less", async () => {
    await withTool({ isolation }, async ({ execute, code }) => {
      const source = "const said = await tools.text.upper('a')\nsaid";
      const opened = (await code.ask("session", {}))._unsafeUnwrap();
      const session = opened.ok ? opened.value.session : "";
      expect(valueIn(await execute(source, { session, language }))).toBe("A");
      expect(valueIn(await execute("said + await tools.text.upper('b')", { session, language }))).toBe("AB");
      const compiled = (await code.ask("compile", { code: source, language }))._unsafeUnwrap();
      const program = compiled.ok ? compiled.value.program : "";
      expect(valueIn((await code.ask("run", { program }))._unsafeUnwrap())).toBe("A");
      for await (const item of code.stream("executeStream", { code: source, language })) {
        expect(item).toMatchObject({ kind: "end", outcome: { ok: true, value: { value: "A" } } });
      }
    });
  });

  test("what a tool refuses is an error in the code, with its kind, and its place where nobody catches it", async () => {
    await withTool({ isolation }, async ({ execute }) => {
      const caught =
        "let kind = 'none'; try { await tools.text.upper(1) } catch (e) { kind = e.name + ' ' + e.kind }; kind";
      expect(valueIn(await execute(caught))).toBe("ToolError invalid-payload");
      const error = errorIn(await execute("1\nawait tools.text.upper(1)", { language }));
      expect(error).toMatchObject({ kind: "runtime-error", name: "ToolError" });
      expect(valueIn(await execute("['other' in tools.text, 'files' in tools].join()", { language }))).toBe(
        "false,false",
      );
    });
  });

  test("calls have a budget for each run, also in a session", async () => {
    await withTool({ isolation, toolLimits: { calls: 2 } }, async ({ execute, code }) => {
      const source = "let n = 0; try { for (;;) { await tools.text.upper('a'); n++ } } catch (e) { n += e.kind }; n";
      const opened = (await code.ask("session", {}))._unsafeUnwrap();
      const session = opened.ok ? opened.value.session : "";
      for (const more of [{}, {}, { session }, { session }]) {
        expect(valueIn(await execute(source.replace("let n", `let n${"x".length}; n`), more))).toBe("2budget");
      }
    });
  });

  test("whatever is open of a run's calls is given up when the run ends, in each way", async () => {
    await withTool({ isolation }, async ({ execute, seen, code }) => {
      const left = async () => {
        while (seen.at(-1) !== "given up" && seen.at(-1) !== "left") await inspectionOf(code);
        return seen.splice(0);
      };
      valueIn(await execute("tools.text.never(); await tools.text.upper('a'); 1"));
      expect(await left()).toEqual(["begun", "a", "given up"]);
      errorIn(await execute("tools.text.never(); await tools.text.upper('a'); throw 1"));
      expect(await left()).toEqual(["begun", "a", "given up"]);
      expect(errorIn(await execute("await tools.text.never()", { language, timeout: 1_500 })).kind).toBe("timeout");
      expect(await left()).toEqual(["begun", "given up"]);
      const asker = new AbortController();
      const asked = code.ask("execute", { code: "await tools.text.never()", language }, { signal: asker.signal });
      while (!seen.includes("begun")) await inspectionOf(code);
      asker.abort();
      expect((await asked).isErr()).toBe(true);
      expect(await left()).toEqual(["begun", "given up"]);
      valueIn(await execute("await tools.text.letters('abcdefgh').next(); 1"));
      expect(await left()).toEqual(["left"]);
    });
  });

  test("a call that is to be approved stops the run's time; refused, it is an error in the code", async () => {
    const asked: unknown[] = [];
    const approve: Approve = async (request) => {
      if (request.kind === "run") return true;
      asked.push([request.tool, request.operation, request.payload]);
      await new Promise((resolve) => setTimeout(resolve, 400));
      if (request.payload === "change") return { payload: "changed" };
      return request.payload === "no" ? { refuse: "not no" } : true;
    };
    await withTool({ isolation, timeout: 1_000, approve }, async ({ execute, seen }) => {
      const code = `const got = [await tools.text.upper('a'), await tools.text.upper('change')]
        try { await tools.text.upper('no') } catch (e) { got.push(e.kind) }
        got.join()`;
      expect(valueIn(await execute(code))).toBe("A,CHANGED,refused");
      expect(asked).toEqual(["a", "change", "no"].map((payload) => ["text", "upper", payload]));
      expect(seen).toEqual(["a", "changed"]);
    });
  });
});

test("what code without tools finds as tools is nothing", async () => {
  await using system = createSystem();
  const code = spawnCodeExecution(system, { isolation: "trusted" });
  const ran = (await code.ask("execute", { code: "typeof tools" }))._unsafeUnwrap();
  expect(valueIn(ran)).toBe("undefined");
});

test("the time of a run stands still for as long as a call waits to be approved", async () => {
  const clock = createManualClock();
  await using system = createSystem({ clock, askTimeout: 1e9 });
  const text = system.spawn("text", Text, () => ({
    upper: (given) => given.toUpperCase(),
    letters: (given) => [...given],
    never: () => null,
    note() {},
  }));
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const approve: Approve = ({ kind }) => kind === "run" || promise;
  const code = spawnCodeExecution(system, { isolation: "trusted", timeout: 100, tools: { text }, approve });
  await Promise.all([import("acorn"), import("@sveltejs/acorn-typescript")]);
  const running = code.ask("execute", { code: "await tools.text.upper('a')" });
  await clock.settle();
  await clock.advance(1_000_000);
  resolve(true);
  await clock.settle();
  expect(valueIn((await running)._unsafeUnwrap())).toBe("A");
});

test("trusted, a call that nobody waits for is given up with its run, also where that ends at once", async () => {
  await withTool({ isolation: "trusted" }, async ({ execute, seen }) => {
    expect(valueIn(await execute("tools.text.never(); 1"))).toBe(1);
    expect(valueIn(await execute("await tools.text.upper('a')"))).toBe("A");
    expect(seen).toEqual(["a"]);
  });
});
