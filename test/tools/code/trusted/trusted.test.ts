import { expect, spyOn, test } from "bun:test";
import { errorIn, valueIn, withCode } from "../tiers";

const options = { isolation: "trusted" } as const;

test("trusted code is kept from nothing: it has what the host has", async () => {
  await withCode(options, async (execute) => {
    expect(valueIn(await execute("process.pid"))).toBe(process.pid);
    expect(valueIn(await execute("(await import('node:path')).sep"))).toBe("/");
  });
});

test("a source is compiled once, however often it runs", async () => {
  await withCode(options, async (execute) => {
    const code = "const seen = (globalThis.seenByTrusted ??= new Set()); seen.add(arguments.callee); seen.size";
    for (let i = 0; i < 5; i++) expect(valueIn(await execute(code))).toBe(1);
    expect(valueIn(await execute(`${code} `))).toBe(2);
    Reflect.deleteProperty(globalThis, "seenByTrusted");
  });
});

test("what it logs is kept, and shown nowhere; what it logs after its end is lost", async () => {
  const log = spyOn(console, "log").mockImplementation(() => {});
  try {
    await withCode(options, async (execute) => {
      const code = "console.log('now'); Promise.resolve().then(() => console.log('late')); 1";
      const outcome = await execute(code);
      await Promise.resolve();
      expect(outcome.ok && outcome.value.logs.map(({ text }) => text)).toEqual(["now"]);
      expect(valueIn(await execute("c\\u006fnsole.log(1); eval('cons' + 'ole').log(2); 3"))).toBe(3);
      expect(log).not.toHaveBeenCalled();
    });
  } finally {
    log.mockRestore();
  }
});

test("a stack has the code's own places alone, also where other code is called in between", async () => {
  await withCode(options, async (execute) => {
    const inner = "const f = new Function('g', '\\n\\n g()')";
    const error = errorIn(await execute(`${inner}\nf(() => {\n  throw new Error('x')\n})`));
    expect(error.stack?.map(({ line }) => line)).toEqual([3, 2]);
    await execute("1\n\n\n\nglobalThis.throwForTrusted = () => { throw new Error('x') }");
    const across = errorIn(await execute("\n throwForTrusted()\n\n\n\n\n\n"));
    expect(across.stack).toEqual([{ line: 2, column: 17 }]);
    Reflect.deleteProperty(globalThis, "throwForTrusted");
    const other = errorIn(await execute("globalThis.thrower()"));
    expect(other).toMatchObject({ kind: "runtime-error", name: "TypeError", line: 1, column: 19 });
  });
});

test("logs that are too many end with the first that is, also where a shorter one would have room", async () => {
  await withCode({ ...options, maxOutput: 100 }, async (execute) => {
    const code = "try { console.log('x'.repeat(101)) } catch {}; try { console.log('y') } catch {}";
    expect(errorIn(await execute(code))).toMatchObject({ kind: "output-limit", logs: [] });
  });
});

test("logs may take all of the output, where an entry counts 32 bytes beside its text, and not one byte more", async () => {
  await withCode({ ...options, maxOutput: 100 }, async (execute) => {
    const outcome = await execute("console.log('x'.repeat(68)); undefined");
    expect(outcome.ok && outcome.value.logs.map(({ text }) => text.length)).toEqual([68]);
    expect(errorIn(await execute("console.log('x'.repeat(69)); undefined")).kind).toBe("output-limit");
  });
});
