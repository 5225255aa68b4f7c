import { expect, test } from "bun:test";
import { isLong } from "../../../property/runs";
import { valueIn } from "../tiers";
import { type Attack, attacks, type Fate, inEachArena } from "./arena";

const MB = 1024 * 1024;

/** Each fills the memory by other things, in a loop that has no end. */
const HOARDS: Readonly<Record<string, string>> = {
  strings: "const a = []; for (let i = 0; ; i++) a.push(('x' + i).repeat(1e5) + i)",
  "strings of two bytes": "const a = []; for (let i = 0; ; i++) a.push(('é漢' + i).repeat(1e5) + i)",
  "texts that are joined": "const a = []; for (let i = 0; ; i++) a.push(Array(1e5).fill('x' + i).join())",
  "JSON texts": "const a = []; for (let i = 0; ; i++) a.push(JSON.stringify(Array(1e5).fill(i)))",
  "parsed JSON":
    "const text = JSON.stringify(Array(1e4).fill({ a: 1 })); const a = []; for (;;) a.push(JSON.parse(text))",
  arrays: "const a = []; for (;;) a.push([1, 2, 3])",
  objects: "const a = []; for (let i = 0; ; i++) a.push({ ['k' + i]: i })",
  "an object's members": "const o = {}; for (let i = 0; ; i++) o['k' + i] = { i }",
  buffers: "const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))",
  "views of many kinds":
    "const a = []; for (;;) for (const Kind of [Float64Array, Int16Array, BigInt64Array]) a.push(new Kind(1e5).fill(Kind === BigInt64Array ? 1n : 1))",
  maps: "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })",
  "maps by objects": "const m = new Map(); for (let i = 0; ; i++) m.set({ i }, [i])",
  sets: "const s = new Set(); for (let i = 0; ; i++) s.add('key' + i)",
  "weak maps of what is kept":
    "const m = new WeakMap(), a = []; for (let i = 0; ; i++) { const k = { i }; a.push(k); m.set(k, [i]) }",
  bigints:
    "const a = []; let n = 3n; for (;;) { a.push(n); n *= 12345678901234567890n; if (a.length % 2000 === 0) n = 3n }",
  closures: "let f = () => 0; for (;;) { const g = f; f = () => g }",
  promises: "const a = []; for (;;) a.push(new Promise(() => {}).then(() => {}))",
  generators:
    "const a = []; for (;;) { const g = (function* () { const kept = new Array(100).fill(a); yield kept })(); g.next(); a.push(g) }",
  proxies: "let p = {}; const a = []; for (;;) { p = new Proxy(p, {}); a.push(p) }",
  classes: "const a = []; for (let i = 0; ; i++) a.push(class { static own = i; method() { return i } })",
  errors: "const a = []; for (let i = 0; ; i++) a.push(new Error('x'.repeat(1000) + i))",
  symbols: "const a = []; for (let i = 0; ; i++) a.push(Symbol('x'.repeat(100) + i))",
  dates: "const a = []; for (let i = 0; ; i++) a.push(new Date(i))",
  "regular expressions": "const a = []; for (let i = 0; ; i++) a.push(new RegExp('(a|b' + i + ')*'))",
  "compiled functions":
    "const a = []; for (let i = 0; ; i++) a.push(new Function('return [' + i + ',' + 'x,'.repeat(1000) + ']'))",
  "async functions that wait":
    "const a = []; const f = async () => { const kept = new Array(100).fill(1); await new Promise(() => {}); return kept }; for (;;) a.push(f())",
  "what it catches": "const a = []; for (;;) try { a.push(new Uint8Array(1e7).fill(1)) } catch { a.push(a.slice()) }",
};

/** Each asks for all of it at once. */
const CHUNKS: Readonly<Record<string, string>> = {
  "one array": "return new Array(1e8).fill(0).length",
  "one string": "return 'x'.repeat(2 ** 29).split('').length",
  "a returned value": "const a = 'x'.repeat(1e6); return Array(1e6).fill(a)",
};

/** Attacks that fill the interpreter slowly: its tables do not grow with such things. */
const SLOW = new Set(["objects"]);
/**
 * Attacks on a process in the short verification: on the heap, with memory beside the heap, with compiled code, and with code that catches
 * the refusal. A process counts all bytes alike, so few attacks do; the engine of the sandbox bounds each kind by itself.
 */
const OF_PROCESS = new Set([
  ...["strings", "texts that are joined", "objects", "buffers", "promises", "compiled functions", "what it catches"],
  ...Object.keys(CHUNKS),
]);
const endOf = (what: string): Pick<Attack, "fate" | "with"> => {
  const fate: Fate = SLOW.has(what) ? ["out-of-memory", "timeout"] : ["out-of-memory"];
  return {
    fate: isLong || OF_PROCESS.has(what) ? fate : { sandbox: fate },
    ...(SLOW.has(what) && { with: { timeout: 500 } }),
  };
};

attacks("Memory", { memory: 12 * MB }, [
  ...[...Object.entries(HOARDS), ...Object.entries(CHUNKS)].map(
    ([what, body]): Attack => ({ name: `filled with ${what} ends the run`, body, ...endOf(what) }),
  ),
  {
    name: "asked for in one buffer is not there",
    body: "return new ArrayBuffer(20e9).byteLength",
    fate: ["out-of-memory", "runtime-error"],
  },
  {
    name: "is not taken by shared memory either",
    body: "const a = []; for (;;) a.push(new Uint8Array(new SharedArrayBuffer(1e6)).fill(1))",
    fate: ["out-of-memory", "runtime-error"],
  },
  {
    name: "is not taken by WebAssembly, which the sandbox does not have",
    body: "const a = []; for (;;) { const m = new WebAssembly.Memory({ initial: 1000 }); new Uint8Array(m.buffer).fill(1); a.push(m) }",
    fate: { sandbox: ["runtime-error"], process: ["out-of-memory"] },
  },
  {
    name: "is not taken while code waits",
    body: "const a = []; for (;;) { a.push(new Uint8Array(1e6).fill(1)); await (globalThis.setImmediate ? new Promise((done) => setImmediate(done)) : null) }",
    fate: ["out-of-memory"],
  },
  {
    name: "is not taken by recursion, of which code is told",
    body: "const f = (n) => f(n + 1) + 1; try { return f(0) } catch (e) { return e instanceof Error }",
    fate: { value: true },
  },
  {
    name: "is not taken by recursion that nobody catches",
    body: "const f = (n) => f(n + 1) + 1; return f(0)",
    fate: ["runtime-error"],
  },
  {
    name: "is not taken by recursion of async functions",
    body: "const f = async (n) => { await f(n + 1) }; return f(0)",
    fate: ["runtime-error", "out-of-memory", "timeout"],
    with: { timeout: 2_000 },
  },
  {
    name: "is not taken by recursion in native functions",
    body: "const a = []; a[0] = a; const f = () => [1].map(() => f()); return f()",
    fate: ["runtime-error", "out-of-memory"],
  },
  {
    name: "is not taken by recursion of getters, proxies and toString",
    body: "const o = { toString() { return o + '' } }; try { return o + '' } catch { const p = new Proxy({}, { get: (t, k) => p[k] }); return p.a }",
    fate: ["runtime-error", "out-of-memory"],
  },
  {
    name: "is not taken by a pattern that is nested too deep",
    body: "return new RegExp('('.repeat(1e5) + ')'.repeat(1e5)).test('')",
    fate: ["runtime-error", "out-of-memory"],
  },
  {
    name: "is not taken by code that is nested too deep",
    body: "return eval('['.repeat(1e6) + ']'.repeat(1e6))",
    fate: ["runtime-error", "out-of-memory", "crashed"],
  },
]);

inEachArena("Memory as much as a run may have", { memory: 128 * MB }, ({ run, isolation }) => {
  const body =
    "const a = []; for (let i = 0; i < input; i++) a.push(new Uint8Array(1e6).fill(1)); await (globalThis.setTimeout ? new Promise((done) => setTimeout(done, 60)) : null); return a.length";

  test("is there, and no more", async () => {
    expect(valueIn(await run(body, { input: 30, memory: 48 * MB }))).toBe(30);
    expect(valueIn(await run(body, { input: 100, memory: 128 * MB }))).toBe(100);
    // The memory of a process is what it has beside the engine's own, which the sandbox counts too.
    const over = isolation === "sandbox" ? 50 : 100;
    expect(await run(body, { input: over, memory: 48 * MB })).toMatchObject({
      ok: false,
      error: { kind: "out-of-memory" },
    });
    expect(await run(body, { input: 250, memory: 2 ** 40 })).toMatchObject({
      ok: false,
      error: { kind: "out-of-memory" },
    });
  });
});
