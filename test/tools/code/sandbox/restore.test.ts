import { afterAll, describe, expect, test } from "bun:test";
import { Image } from "../../../../src/tools/code/sandbox/image";
import { loadQuickJS, type QuickJS } from "../../../../src/tools/code/sandbox/quickjs";
import { isLong } from "../../../property/runs";
import { until } from "./kit";
import { Worker } from "./worker";

const MB = 1024 * 1024;
const worker = new Worker();
afterAll(() => worker.close());

describe("Sandbox: what a run leaves", () => {
  const leavings: readonly (readonly [what: string, leave: string, look: string])[] = [
    ["globals", "globalThis.a = 1; b = 2; var c = 3", "[typeof a, typeof b, typeof c]"],
    ["globals that went", "delete globalThis.Map; delete globalThis.console", "[typeof Map, typeof console]"],
    ["prototypes", "Object.prototype.x = 1; Array.prototype.push = null", "[{}.x, typeof [].push]"],
    [
      "frozen things",
      "Object.freeze(Object.prototype); Object.freeze(globalThis)",
      "Object.isFrozen(Object.prototype)",
    ],
    ["functions of ours", "console.log.x = progress.x = 1; console.log = null", "[progress.x, console.log.x]"],
    ["symbols", "Symbol.for('a').description; Symbol.prototype.x = 1", "[Symbol().x, Symbol.keyFor(Symbol.for('b'))]"],
    ["regular expressions", "/(a)(b)/.exec('ab'); RegExp.prototype.x = 1", "[RegExp.$1, /a/.x, /a/g.lastIndex]"],
    ["jobs", "const f = () => Promise.resolve().then(() => { globalThis.x = 1; f() }); f()", "typeof x"],
    ["promises", "new Promise(() => {}); globalThis.p = Promise.reject(1); await new Promise(() => {})", "typeof p"],
    ["dates", "Date.now = () => 1; Date.prototype.getTime = null", "[Date.now() > 1e12, typeof new Date().getTime]"],
    ["weak things", "globalThis.w = new WeakRef({}); new FinalizationRegistry(() => {}).register({})", "typeof w"],
    ["classes", "globalThis.C = class extends Array {}; Array[Symbol.species]", "[typeof C, new Array(1).length]"],
    ["memory", "globalThis.m = new Uint8Array(3e7).fill(255)", "new Uint8Array(3e7).indexOf(255)"],
    ["a full memory", "globalThis.m = []; for (;;) m.push(new Uint8Array(1e6).fill(255))", "typeof m"],
    ["the end of the stack", "globalThis.x = 1; JSON.parse('['.repeat(1e6))", "typeof x"],
    ["an endless loop", "globalThis.x = 1; for (;;);", "typeof x"],
    ["a loop of jobs", "globalThis.x = 1; for (;;) await null", "typeof x"],
    ["an open call", "globalThis.x = tools.t.f()", "[typeof x, typeof tools]"],
    ["too much output", "globalThis.x = 1; for (;;) console.log('x')", "typeof x"],
  ];
  for (const [what, leave, look] of leavings) {
    test(`is not there for the next: ${what}`, async () => {
      const before = await worker.value(`return ${look}`);
      const order = { timeout: 60, maxOutput: 10_000, tools: '{"t":{"f":"ask"}}' };
      await worker.run(leave, order);
      expect(await worker.value(`return ${look}`)).toEqual(before);
      // Also not for one that has less memory than the other took.
      expect(await worker.value(`return ${look}`, { memory: 48 * MB })).toEqual(before);
    });
  }

  test("is not there for the next: a stack that is shorter, since it ended in the midst of the interpreter", async () => {
    const fresh = new Worker();
    try {
      const depth = "let n = 0; const f = () => f(n++); try { f() } catch {} return n";
      const before = await fresh.value(depth);
      const { outcome } = await fresh.run("JSON.parse('['.repeat(1e6))");
      // The engine's end of the stack; seldom, when its compiler has come far, the interpreter finds its own first.
      expect(outcome).toMatchObject({ name: expect.stringMatching(/^(Range|Syntax)Error$/) });
      expect(await fresh.value(depth)).toBe(before);
    } finally {
      await fresh.close();
    }
  });

  test.if(process.platform === "linux")(
    "is not there for the next: what a process rehearses while it rests",
    async () => {
      const fresh = new Worker();
      try {
        expect((await fresh.hear())[0]).toBe("ready");
        const atReady = fresh.busy;
        await until(() => fresh.busy > atReady + 1e6);
        const look = "return [typeof list, input === undefined, Object.keys(globalThis).length]";
        expect(await fresh.value(look)).toEqual(["undefined", true, 0]);
        // It has ended with the first order, and no news of it are there.
        expect((await fresh.run("return 2")).news).toMatchObject([["end", 2, { value: "2" }]]);
      } finally {
        await fresh.close();
      }
    },
  );

  test("is no sequence of random numbers: each run has its own", async () => {
    const drawn: unknown[] = [];
    for (let index = 0; index < 30; index++) {
      drawn.push(await worker.value("return Math.random()"));
      if (index % 10 === 0) await worker.run("JSON.parse('['.repeat(1e6))");
    }
    expect(new Set(drawn).size).toBe(30);
    const many = (await worker.value("return Array.from({ length: 1000 }, Math.random)")) as number[];
    expect(many.every((number) => number >= 0 && number < 1)).toBe(true);
    const mean = many.reduce((sum, number) => sum + number) / many.length;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.1);
  });

  test("is as much memory for the next as any other has", async () => {
    const body = "const a = []; for (let i = 0; i < input; i++) a.push(new Uint8Array(1e6).fill(1)); return a.length";
    const kindOf = async (input: number, memory: number) =>
      (await worker.run(body, { input: `${input}`, memory: memory * MB })).outcome.kind;
    for (let round = 0; round < 2; round++) {
      expect(await kindOf(100, 128)).toBe("value");
      expect(await kindOf(60, 48)).toBe("out-of-memory");
      expect(await kindOf(30, 48)).toBe("value");
      expect(await kindOf(7, 8)).toBe("out-of-memory");
      expect(await kindOf(1, 8)).toBe("value");
      expect(await kindOf(1, 1)).toBe("value");
    }
  });
});

describe("Sandbox: memory of the process", () => {
  for (const [what, count, odd, even] of [
    ["small runs", isLong ? 250 : 80, "return 1", "return 1"],
    [
      "runs that take 10 MB",
      isLong ? 50 : 10,
      "return new Uint8Array(1e7).fill(1).length",
      "return new Uint8Array(1e7).fill(1).length",
    ],
    [
      "runs of which every second one makes it grow",
      isLong ? 50 : 10,
      "return new Uint8Array(3e7).fill(1).length",
      "return 1",
    ],
    [
      "runs of which every second one needs another instance",
      isLong ? 50 : 10,
      "JSON.parse('['.repeat(1e5))",
      "return 1",
    ],
  ] as const) {
    test(`stays as it is after ${what}`, async () => {
      const fresh = new Worker();
      try {
        const levels: number[] = [];
        for (let round = 0; round < 4; round++) {
          for (let index = 0; index < count; index++) await fresh.run(index % 2 ? odd : even);
          // Runs that take nothing, after which the memory of those before is given back. The process gives it back when it
          // has told of the end, and its collector comes when it likes: what stays is there at each of the looks.
          const looks: number[] = [];
          for (let index = 0; index < 6; index++) {
            await fresh.run("return 1");
            looks.push(fresh.rss / MB);
          }
          levels.push(Math.min(...looks));
        }
        const [first = 0, ...later] = levels;
        expect(Math.max(...later)).toBeLessThan(first + 25);
      } finally {
        await fresh.close();
      }
    });
  }
});

describe("Sandbox: the image of a memory", () => {
  const load = loadQuickJS();
  const start = async (): Promise<QuickJS> => (await load).start({ called: () => 0, isToStop: () => false });
  const evaluate = (quickjs: QuickJS, code: string): string | undefined => {
    const { value, thrown } = quickjs.evaluate(code, "x.js");
    return thrown === 0 ? quickjs.textOf(value) : `thrown: ${quickjs.textOf(thrown)}`;
  };
  const same = (memory: Uint8Array, before: Uint8Array): boolean =>
    Buffer.compare(memory.subarray(0, before.length), before) === 0 &&
    !memory.subarray(before.length).some((byte) => byte !== 0);

  test("is put back byte for byte, with zeros beyond it, whatever code did", async () => {
    const quickjs = await start();
    quickjs.makeContext(256 * 1024);
    expect(evaluate(quickjs, "globalThis.f = (n) => n + 1; f(1)")).toBe("2");
    const before = quickjs.memory.slice();
    const image = Image.of(quickjs.memory);
    for (const code of [
      "f(2)",
      "globalThis.a = Array.from({ length: 1e5 }, (_, i) => ({ i })); a.length",
      "const deep = (n) => n === 0 ? 0 : 1 + deep(n - 1); deep(300)",
      "'x'.repeat(9e6).length",
      "new Uint8Array(5e7).fill(7).length",
      "for (let i = 0; i < 1e4; i++) Symbol.for('s' + i); f = null",
    ]) {
      expect(evaluate(quickjs, code)).not.toMatch(/^thrown/);
      expect(same(quickjs.memory, before)).toBe(false);
      expect(image.restore(quickjs.memory)).toBe(process.platform === "linux");
      expect(same(quickjs.memory, before)).toBe(true);
      expect(evaluate(quickjs, "f(1)")).toBe("2");
      image.restore(quickjs.memory);
    }
  });

  test("is put back where the interpreter itself was broken, and wrote anywhere", async () => {
    const quickjs = await start();
    quickjs.makeContext(256 * 1024);
    const before = quickjs.memory.slice();
    const image = Image.of(quickjs.memory);
    for (let at = 0; at < before.length; at += 4_093) quickjs.memory[at] = 255;
    image.restore(quickjs.memory);
    expect(same(quickjs.memory, before)).toBe(true);
    quickjs.memory.fill(255);
    image.restore(quickjs.memory);
    expect(same(quickjs.memory, before)).toBe(true);
    expect(evaluate(quickjs, "1 + 1")).toBe("2");
  });

  test("is found wherever there is any of it, in a memory of which most was never touched", () => {
    const memory = new Uint8Array(new WebAssembly.Memory({ initial: 256, maximum: 256 }).buffer);
    // One byte in each of them, at another place in its page of 64 KB.
    const places = Array.from(
      { length: 40 },
      (_, index) => index * 6 * 65_536 + ((index * 37 * 4_096 + index) % 65_536),
    );
    for (const at of places) memory[at] = 7;
    const image = Image.of(memory);
    memory.fill(255);
    image.restore(memory);
    expect(places.map((at) => memory[at])).toEqual(places.map(() => 7));
    expect(memory.reduce((sum, byte) => sum + byte, 0)).toBe(7 * places.length);
  });

  test("is put into another instance, which goes on from there", async () => {
    const [one, other] = [await start(), await start()];
    one.makeContext(256 * 1024);
    evaluate(one, "globalThis.x = [1, 2]");
    const image = Image.of(one.memory);
    evaluate(one, "x = null");
    image.write(other.memory);
    other.adopt(one.layout);
    expect(evaluate(other, "x.push(3); x.join()")).toBe("1,2,3");
  });

  test("is all that there is: besides its memory, an instance has one global that changes, the place in its stack", async () => {
    const path = Bun.fileURLToPath(import.meta.resolve("@jitl/quickjs-wasmfile-release-sync/wasm"));
    const bytes = await Bun.file(path).bytes();
    const module = new WebAssembly.Module(bytes);
    const imports = WebAssembly.Module.imports(module).filter(({ kind }) => kind !== "function");
    expect(imports.map(({ kind }) => kind)).toEqual(["memory"]);
    const exported = WebAssembly.Module.exports(module).map(({ kind }) => kind);
    expect(exported.filter((kind) => kind === "global" || kind === "memory")).toEqual([]);
    expect(globalsOf(bytes)).toBe(1);
  });
});

/** The number of a WebAssembly module's own globals. Its sixth section begins with it. */
function globalsOf(bytes: Uint8Array): number {
  let at = 8;
  const number = (): number => {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const [section, length] = [bytes[at++], number()];
    if (section === 6) return number();
    at += length;
  }
  return 0;
}
