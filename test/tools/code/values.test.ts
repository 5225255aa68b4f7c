import { describe, expect, test } from "bun:test";
import type { CodeExecutionRef, ExecuteItem } from "../../../src/tools/code/protocol";
import { type Execute, errorIn, valueIn, ways, withCode } from "./tiers";

const CYCLES: readonly string[] = [
  "const a = {}; a.self = a; a",
  "const a = [], b = { a }; a.push([[b]]); a",
  "const m = { toJSON() { return { m } } }; m",
];
const THROWERS: readonly string[] = [
  "({ get a() { throw new Error('no') } })",
  "({ toJSON() { throw null } })",
  "({ toJSON() { throw new Proxy({}, { get() { throw 1 } }) } })",
  "new Proxy({}, { ownKeys() { throw new Error('no') } })",
  "[new Proxy([], { get() { throw 1 } })]",
  "({ get toJSON() { throw { toString() { throw 1 } } } })",
];
const LOGGED: readonly string[] = [
  "const a = {}; a.a = a; console.log(a)",
  "console.log({ get a() { throw 1 } })",
  "console.log(new Proxy({}, { get() { return 1 }, ownKeys() { return ['a'] } }))",
  "console.log(Object.create(null), [,,], -0, 1n, Symbol('s'), () => 1, new Error('e'), undefined, null)",
  "console.log('%s %d %j %o %%', 'a', 1)",
  "let deep = {}; for (let i = 0; i < 1e4; i++) deep = { deep }; console.log(deep)",
];

describe.each(ways)("$isolation, $language", ({ isolation, language }) => {
  test("P5: to write an input of megabytes, and to send it, are turns of their own", async () => {
    const body = async (execute: Execute) => {
      valueIn(await execute("1"));
      const order: string[] = [];
      const input = "x".repeat(700_000);
      const long = execute("input.length", { input }).then((outcome) => order.push(`long ${valueIn(outcome)}`));
      setImmediate(() => order.push("another"));
      await long;
      expect(order).toEqual(["another", "long 700000"]);
    };
    await withCode({ isolation }, body, language);
  });

  test("values that go round, or throw when they are looked at, are errors, and harm nobody", async () => {
    const body = async (execute: Execute) => {
      for (const code of [...CYCLES, ...THROWERS]) {
        const outcome = await execute(code, { language: "javascript" });
        expect([code, errorIn(outcome).kind]).toEqual([code, "unserializable-value"]);
      }
      expect(valueIn(await execute("'well'"))).toBe("well");
    };
    // The engine takes seconds to find one that goes round through toJSON.
    await withCode({ isolation, timeout: 20_000 }, body, language);
  });

  test("a value and an input may be nested 1,000 deep, and what is deeper is refused before the host writes a text of it", async () => {
    const body = async (execute: Execute) => {
      const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
      const text = JSON.stringify(nested(1_000));
      const echo = "input";
      expect(JSON.stringify(valueIn(await execute(echo, { input: nested(1_000) })))).toBe(text);
      for (const depth of [1_001, 40_000]) {
        const { kind, message } = errorIn(await execute("1", { input: nested(depth) }));
        expect([kind, message]).toEqual(["unserializable-value", expect.stringContaining("more than 1000 deep")]);
      }
      for (const part of ["[a]", "{ a }"]) {
        const { kind, message } = errorIn(await execute(`let a = []; for (let i = 0; i < 1000; i++) a = ${part}; a`));
        expect([kind, message]).toEqual(["unserializable-value", expect.stringContaining("more than 1000 deep")]);
      }
    };
    await withCode({ isolation }, body, language);
  });

  test("an input that throws in whatever way is refused, and takes no session with it", async () => {
    await withCode({ isolation }, async (execute, code) => {
      const opened = (await code.ask("session", {}))._unsafeUnwrap();
      if (!opened.ok) throw new Error(opened.error.message);
      const { session } = opened.value;
      await execute("let kept = 5", { session });
      const trap = {
        get: () => {
          throw 1;
        },
      };
      const odd = Object.defineProperty(new Error(), "message", { get: trap.get });
      for (const thrown of [new Error("why"), 1, null, new Proxy(new Error(), trap), odd, new Proxy({}, trap)]) {
        const input = {
          toJSON: () => {
            throw thrown;
          },
        };
        expect(errorIn(await execute("1", { input, session })).kind).toBe("unserializable-value");
      }
      expect(errorIn(await execute("1", { input: { toJSON() {} } })).message).toContain("its toJSON gives nothing");
      expect(valueIn(await execute("kept", { session, language }))).toBe(5);
    });
  });

  test("what is written to the log, whatever it is, is a text", async () => {
    const body = async (execute: Execute) => {
      for (const code of LOGGED) {
        const outcome = await execute(`try { ${code} } catch {}\n1`, { language: "javascript" });
        const logs = outcome.ok ? outcome.value.logs : outcome.error.logs;
        expect([code, logs.every(({ text }) => typeof text === "string")]).toEqual([code, true]);
        expect([code, outcome.ok ? "value" : outcome.error.kind]).toEqual([code, "value"]);
      }
    };
    await withCode({ isolation }, body, language);
  });

  test("names that objects have anyway are data, there and back, and change no prototype", async () => {
    const body = async (execute: Execute) => {
      const text = `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":2,"hasOwnProperty":3}`;
      const outcome = await execute("[Object.keys(input), input.polluted, ({}).polluted, input]", {
        input: JSON.parse(text),
      });
      const [keys, own, other, back] = valueIn(outcome) as unknown[];
      expect(keys).toEqual(["__proto__", "constructor", "toString", "hasOwnProperty"]);
      expect([own, other]).toEqual([null, null]);
      expect(JSON.stringify(back)).toBe(text);
      expect(Reflect.get({}, "polluted")).toBeUndefined();
      const made = await execute(`JSON.parse('${text}')`);
      expect(JSON.stringify(valueIn(made))).toBe(text);
      expect(Reflect.get({}, "polluted")).toBeUndefined();
    };
    await withCode({ isolation }, body, language);
  });

  test("code that is one function is called with the input, alone and in a session", async () => {
    await withCode({ isolation }, async (_, code) => {
      const opened = (await code.ask("session", {}))._unsafeUnwrap();
      if (!opened.ok) throw new Error(opened.error.message);
      for (const session of [{}, { session: opened.value.session }]) {
        const told = async (source: string) =>
          valueIn((await code.ask("execute", { code: source, language, input: 20, ...session }))._unsafeUnwrap());
        expect(await told("async () => { await null; return 1 }")).toBe(1);
        expect(await told("// It adds.\n(async function main(given) { return given + 1 });\n;")).toBe(21);
        expect(await told('"use strict";\n() => { return input + 2 } // done')).toBe(22);
        expect(await told("(async () => 3)()")).toBe(3);
        expect(await told("(given, tools, ...more) => [given, typeof tools, more]")).toEqual([20, "undefined", []]);
      }
      // A declaration alone is called, too, but not in a session, where it is for later runs.
      for (const source of [
        "async function main(given) { return given + 4 }",
        '"use strict"; function f() { return 24 };',
      ]) {
        const execute = { code: source, language, input: 20 };
        expect(valueIn((await code.ask("execute", execute))._unsafeUnwrap())).toBe(24);
        const { session } = opened.value;
        expect(valueIn((await code.ask("execute", { ...execute, session }))._unsafeUnwrap())).not.toBe(24);
      }
      for (const source of ["function f() { return 1 } function g() {}", "function tools() { return 1 }"]) {
        expect(valueIn((await code.ask("execute", { code: source, language }))._unsafeUnwrap())).toBeUndefined();
      }
      const two = (await code.ask("execute", { code: "let a = 1; () => a", language }))._unsafeUnwrap();
      expect(errorIn(two)).toMatchObject({ kind: "unserializable-value" });
      const thrown = (
        await code.ask("execute", { code: "async () => {\n  throw new Error('x')\n}", language })
      )._unsafeUnwrap();
      expect(errorIn(thrown)).toMatchObject({ kind: "runtime-error", line: 2 });
    });
  });

  test("texts with every kind of character come through whole", async () => {
    const body = async (execute: Execute) => {
      const input = ["\0\u0001\n\r\u2028\u2029\"\\'`$\u007b}", "\ud800 alone \udfff", "🙂é漢", "</script>", ""];
      expect(valueIn(await execute("input", { input }))).toEqual(input);
      const outcome = await execute("for (const text of input) console.log(text)", { input });
      expect(outcome.ok && outcome.value.logs.map(({ text }) => text)).toEqual(input);
    };
    await withCode({ isolation }, body, language);
  });

  test("P5: an input of more than its limit is refused before a text of it is written, and takes no session with it", async () => {
    const body = async (execute: Execute, code: CodeExecutionRef) => {
      const opened = (await code.ask("session", {}))._unsafeUnwrap();
      if (!opened.ok) throw new Error(opened.error.message);
      const { session } = opened.value;
      await execute("let kept = 5", { session });
      const part = "x".repeat(900);
      // The text of each would be too long for one, or be some gigabytes.
      const inputs = [
        [part, part],
        Array(3_000_000).fill(part),
        new Array(2 ** 32 - 1),
        { toJSON: () => Array },
        { toJSON: () => [part, [part]] },
        "xy".repeat(2 ** 30 - 1),
        "\u{1f602}".repeat(300),
        new Uint8Array(1_001),
      ];
      for (const [at, input] of inputs.entries()) {
        const { kind, message } = errorIn(await execute("1", { input, ...(at % 2 === 0 && { session }) }));
        const isLarge = at !== 3;
        expect([at, kind]).toEqual([at, isLarge ? "input-limit" : "unserializable-value"]);
        if (isLarge) expect(message).toContain("more than 1000 bytes");
      }
      const compiled = (await code.ask("compile", { code: "input.length" }))._unsafeUnwrap();
      if (!compiled.ok) throw new Error(compiled.error.message);
      const { program } = compiled.value;
      const ran = (await code.ask("run", { program, input: "x".repeat(999) }))._unsafeUnwrap();
      expect(errorIn(ran).kind).toBe("input-limit");
      expect(valueIn(await execute("input.length", { input: "x".repeat(998) }))).toBe(998);
      expect(valueIn(await execute("kept", { session }))).toBe(5);
    };
    await withCode({ isolation, maxInputBytes: 1_000 }, body, language);
  });

  test("progress may be nested 1,000 deep, and what is deeper is an error of the code", async () => {
    await withCode({ isolation }, async (_, code) => {
      const source = `const nest = (depth) => { let a = []; for (let i = 1; i < depth; i++) a = [a]; return a };
        progress(nest(1000)); progress("[".repeat(3000)); progress('\\"'.repeat(1001) + "[".repeat(1001));
        try { progress(nest(1001)) } catch (error) { [error.name, error.message] }`;
      const items: ExecuteItem[] = [];
      for await (const item of code.stream("executeStream", { code: source, language })) items.push(item);
      expect(items.map(({ kind }) => kind)).toEqual(["progress", "progress", "progress", "end"]);
      const told = ["TypeError", expect.stringContaining("nested more than 1000 deep")];
      expect(items.at(-1)).toMatchObject({ outcome: { ok: true, value: { value: told } } });
    });
  });

  test("input of any size that JSON has comes in, and out again where there is room for it", async () => {
    const body = async (execute: Execute) => {
      const input = "x".repeat(3 * 1024 * 1024);
      expect(valueIn(await execute("input.length", { input }))).toBe(input.length);
      expect(errorIn(await execute("input", { input })).kind).toBe("output-limit");
    };
    await withCode({ isolation, maxInputBytes: 4 * 1024 * 1024 }, body, language);
  });
});
