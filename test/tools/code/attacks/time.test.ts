import { expect, test } from "bun:test";
import { isLong } from "../../../property/runs";
import { type Attack, attacks, inEachArena } from "./arena";

/** An engine may give up on one regular expression (Bun's after a million steps, 250 ms or more): each is tried again. */
const LOOPS: Readonly<Record<string, string>> = {
  code: "for (;;);",
  "code that catches": "for (;;) try { for (;;); } catch {} finally { continue }",
  finally: "try { return 1 } finally { for (;;); }",
  recursion: "const f = (n) => { for (let i = 0; i < 2; i++) n > 0 ? f(n - 1) : 0 }; for (;;) f(30)",
  "a regular expression": "for (;;) /^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60))",
  "a regular expression that is not greedy": "for (;;) /^(a+?)+?$/.test('a'.repeat(50) + 'b')",
  "a regular expression that looks back":
    "for (;;) /(?<=(a+)+b)c/.test('a'.repeat(40) + 'c'.repeat(40)) || /^(a|a)*$/.test('a'.repeat(50) + 'b')",
  "replacing by a regular expression": "for (;;) 'a'.repeat(50).replace(/(a*)*b/g, 'x')",
  sort: "const a = Array.from({ length: 3e5 }, (_, i) => i); for (;;) a.sort(() => Math.random() - 0.5)",
  "sort without a comparison": "for (;;) Array.from({ length: 3e5 }, (_, i) => String((i * 7919) % 300007)).sort()",
  "a comparison of sort": "[2, 1].sort(() => { for (;;); })",
  "a native search": "return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
  "a native fill": "return Array.prototype.fill.call(new Proxy({ length: 2 ** 53 - 1 }, { set: () => true }), 1)",
  "a native join":
    "return Array.prototype.join.call({ length: 2 ** 32 - 1, toString: null }, '').length + Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)",
  "string functions": "const s = 'a'.repeat(5e6); for (;;) s.lastIndexOf('b' + s.slice(0, 10))",
  "one string function": "const s = 'a'.repeat(8e6), part = 'a'.repeat(4e6) + 'b'; for (;;) s.indexOf(part)",
  "a string function that is called with patterns": "const s = 'ab'.repeat(1e6); for (;;) s.split(/(?=a)/g).length",
  bigints: "let n = 7n ** 50000n; for (;;) (n * n) % (n - 1n)",
  dates: "for (;;) new Date(NaN).getTime() + Date.parse('2020-01-01')",
  JSON: "const text = JSON.stringify(Array(1e5).fill(1)); for (;;) JSON.parse(text)",
  microtasks: "const f = () => void Promise.resolve().then(f); f(); return new Promise(() => {})",
  "async functions that catch":
    "const g = async () => { for (;;); }; const f = async () => { for (;;) try { await g() } catch {} }; return f()",
  "an async loop": "for (;;) await null",
  "an async iterator": "for await (const _ of (async function* () { for (;;) yield 1 })());",
  "a generator": "for (const _ of (function* () { for (;;) yield 1 })());",
  "an iterator that a native function reads":
    "return new Set({ [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }) }).size",
  "a thenable": "await { then() { for (;;); } }",
  "a thenable of thenables": "const again = { then(done) { done(again) } }; return await again",
  "a getter of the value": "return { get a() { for (;;); } }",
  "toJSON of the value": "return { toJSON() { for (;;); } }",
  "toJSON that gives another": "const again = () => ({ get a() { return again() } }); return again()",
  "a proxy of the value": "return new Proxy({}, { ownKeys() { for (;;); } })",
  "a proxy that is logged":
    "console.log(new Proxy({}, { getPrototypeOf() { for (;;); }, get() { for (;;); } })); for (;;);",
  "a getter of what is logged":
    "console.log({ get [Symbol.toStringTag]() { for (;;); }, get constructor() { for (;;); } }); for (;;);",
  "a getter of what is thrown":
    "const e = new Error(); Object.defineProperty(e, 'name', { get() { for (;;); } }); throw e",
  "the stack of what is thrown":
    "Error.prepareStackTrace = () => { for (;;); }; const e = new Error('x'); e.stack; Object.defineProperty(e, 'stack', { get() { for (;;); } }); throw e",
  "toJSON of progress": "progress({ toJSON() { for (;;); } })",
  "what a tool is sent": "await tools.desk.echo({ toJSON() { for (;;); } })",
  "a tool that never answers": "await tools.desk.never()",
  "calls of tools": "for (;;) await tools.desk.echo(1).catch(() => {})",
  "calls of tools that nobody awaits": "for (;;) { try { tools.desk.echo(1).catch(() => {}) } catch {} ; await null }",
  "a tool's stream": "for (;;) for await (const _ of tools.desk.letters('abc')) await 0",
  "Atomics.wait": "try { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) } catch {} ; for (;;);",
  eval: "for (;;) eval('1 + 1')",
  Proxies: "let p = new Proxy({}, {}); for (let i = 0; i < 100; i++) p = new Proxy(p, {}); for (;;) 'a' in p",
};

/** Attacks with globals that only `process` has. */
const TIMERS: Readonly<Record<string, string>> = {
  timers: "const f = () => setTimeout(f, 0); f(); await new Promise(() => {})",
  "intervals that are busy": "setInterval(() => { for (;;); }, 0); await new Promise(() => {})",
  immediates: "for (;;) await new Promise((done) => setImmediate(done))",
  WebAssembly:
    "const loop = new Uint8Array([0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,7,5,1,1,102,0,0,10,9,1,7,0,3,64,12,0,11,11]); new WebAssembly.Instance(new WebAssembly.Module(loop)).exports.f()",
  "a thread that ends nothing":
    "import('node:worker_threads').then((all) => new all.Worker('for (;;);', { eval: true })).catch(() => {}); for (;;);",
  "a promise that nothing settles": "await new Promise(() => {})",
};

const soon = { timeout: 25 };
/**
 * The loops that the short verification runs in a process: it is killed from outside, whatever it does. The sandbox has to
 * come out of each kind by itself.
 */
const OF_PROCESS = new Set([
  ...["code", "code that catches", "a regular expression", "a native search", "microtasks", "an async loop"],
  ...["toJSON of the value", "a proxy that is logged", "a tool that never answers", "calls of tools", "Atomics.wait"],
]);
const timesOut = (where: string): Attack["fate"] =>
  isLong || OF_PROCESS.has(where) ? ["timeout"] : { sandbox: ["timeout"] };

attacks("Time", { toolLimits: { calls: 1_000_000 } }, [
  ...Object.entries(LOOPS).map(
    ([where, body]): Attack => ({ name: `ends in ${where}`, body, fate: timesOut(where), with: soon }),
  ),
  {
    // Each is kept by the one before it: in 50 to 100 ms they take more than the run may have.
    name: "ends in microtasks that wait for one another",
    body: "const f = () => Promise.resolve().then(f); return f()",
    fate: ["timeout", "out-of-memory"],
    with: soon,
  },
  ...Object.entries(TIMERS).map(
    ([where, body]): Attack => ({
      name: `ends in ${where}`,
      body,
      fate: { process: ["timeout"], sandbox: ["runtime-error", "timeout"] },
      with: soon,
    }),
  ),
]);

inEachArena("Time that is up", {}, (arena) => {
  const { run, language } = arena;

  /** Runs code within a time. Gives its outcome, and whether it reported that it had begun. */
  async function heard(code: string, timeout: number): Promise<{ hasBegun: boolean; outcome: unknown }> {
    let hasBegun = false;
    for await (const item of arena.code.stream("executeStream", { code, language, timeout })) {
      if (item.kind === "progress") hasBegun = true;
      if (item.kind === "end") return { hasBegun, outcome: item.outcome };
    }
    throw new Error("The run has no end.");
  }

  test("ends a run with what it had logged", async () => {
    for (const body of [LOOPS["code"], LOOPS["a native search"], LOOPS["a regular expression"]]) {
      const source = `console.log("begun"); progress("begun"); ${body}`;
      // On a busy machine its time may be up before it begins: then it has more. Once it was heard, what it logged is there.
      let timeout = 250;
      let ended = await heard(source, timeout);
      while (!ended.hasBegun && timeout < 16_000) {
        timeout *= 2;
        ended = await heard(source, timeout);
      }
      expect(ended).toMatchObject({
        hasBegun: true,
        outcome: { ok: false, error: { kind: "timeout", logs: [{ text: "begun" }] } },
      });
    }
  });

  test("is the run's own: one beside it goes on", async () => {
    const [endless, beside] = await Promise.all([run("for (;;);", { timeout: 200 }), run("return 1")]);
    expect(endless.ok).toBe(false);
    expect(beside.ok).toBe(true);
  });
});
