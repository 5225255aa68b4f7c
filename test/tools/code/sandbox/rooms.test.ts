import { afterAll, describe, expect, test } from "bun:test";
import { Worker } from "./worker";

const MB = 1024 * 1024;
const workers: Worker[] = [];
afterAll(() => Promise.all(workers.map((worker) => worker.close())));

/** A process whose runs all find what those before left. */
function open(memory = 64 * MB) {
  const worker = new Worker();
  workers.push(worker);
  const kept = { isKept: true, memory } as const;
  return {
    worker,
    run: (...[body, order, answer]: Parameters<Worker["run"]>) => worker.run(body, { ...order, ...kept }, answer),
    value: (...[body, order, answer]: Parameters<Worker["value"]>) => worker.value(body, { ...order, ...kept }, answer),
  };
}

describe("Sandbox: a room", () => {
  test("has what runs before left, and what they declared", async () => {
    const { value } = open();
    expect(await value("a = 1; return [a, b]", { declares: ["a", "b"] })).toEqual([1, null]);
    expect(await value("b = [a]; return 'a' in globalThis && b", { declares: ["b"] })).toEqual([1]);
    expect(await value("return [a, b, typeof c]", { declares: ["a"] })).toEqual([1, [1], "undefined"]);
    expect(await value("Object.prototype.left = 1; Math.random = () => 4")).toBeUndefined();
    expect(await value("return [{}.left, Math.random()]")).toEqual([1, 4]);
  });

  test("declares a name that objects have, and leaves one that is there", async () => {
    const { value } = open();
    expect(await value("return [typeof toString, typeof Map]", { declares: ["toString", "Map"] })).toEqual([
      "undefined",
      "function",
    ]);
    expect(await value("toString = 1; return toString", { declares: ["toString"] })).toBe(1);
  });

  test("has places of each of its programs in stacks", async () => {
    const { run } = open();
    await run("f = () => {\n  throw new Error('x') }", { declares: ["f"], file: "program.js" });
    const { outcome } = await run("\n\nf()", { file: "program-1.js" });
    if (outcome.kind === "value") throw new Error("It failed.");
    expect(outcome.stack).toMatch(/program\.js:3:[\s\S]*program-1\.js:4:/);
  });

  test("goes on after errors, too much output and time that is up, with what it had", async () => {
    const { run, value } = open();
    await value("a = 1", { declares: ["a"] });
    for (const [body, kind] of [
      ["null.x", "runtime-error"],
      ["foo bar", "runtime-error"],
      ["function f() { f() } f()", "runtime-error"],
      ["await new Promise(() => {})", "runtime-error"],
      ["return 1n", "unserializable-value"],
      ["for (;;) console.log(1)", "output-limit"],
      ["for (;;);", "timeout"],
      ["return { get x() { for (;;); } }", "timeout"],
      ["const f = () => Promise.resolve().then(f); return f()", "timeout"],
      ["const f = () => void Promise.resolve().then(f, f); for (let i = 0; i < 50; i++) f(); return 1", "timeout"],
      ["for (let i = 0; i < 5; i++) (async () => { for (;;) try { await null } catch {} })(); return 1", "timeout"],
    ] as const) {
      const { outcome } = await run(body, { timeout: kind === "timeout" ? 50 : 20_000, maxOutput: 1_000 });
      expect([body, outcome.kind]).toEqual([body, kind]);
      expect(await value("return a")).toBe(1);
    }
  });

  test("has calls of each run, which end with it", async () => {
    const { run, value } = open();
    const tools = JSON.stringify({ t: { f: "ask" } });
    const other = JSON.stringify({ t: { g: "ask" } });
    const answer = () => '{"ok":true,"value":5}';
    expect(await value("first = tools; return await tools.t.f()", { tools, declares: ["first"] }, answer)).toBe(5);
    expect(await value("return first === tools", { tools })).toBe(true);
    expect(await value("return [first === tools, await tools.t.g()]", { tools: other }, answer)).toEqual([false, 5]);
    expect(await value("return typeof tools")).toBe("undefined");
    expect(await value("return await tools.t.f()", { tools }, answer)).toBe(5);
    await run("open = tools.t.f(); return 1", { tools, declares: ["open"] });
    expect((await run("return await open", { tools }, answer)).outcome.kind).toBe("runtime-error");
  });

  test("goes on after a call that it waited for when its time was up", async () => {
    const { worker, run, value } = open();
    const tools = JSON.stringify({ t: { f: "ask" } });
    const ended = run("a = 1; await tools.t.f()", { tools, number: 77, declares: ["a"] }, () => {
      void worker.say(["stop", 77]);
      return undefined;
    });
    expect((await ended).outcome.kind).toBe("timeout");
    expect(await value("return a")).toBe(1);
  });

  test("has its own memory, which runs that end leave to the next", async () => {
    const { value } = open(32 * MB);
    for (let index = 0; index < 60; index++) {
      expect(await value("const a = new Uint8Array(8e6).fill(1); return a.length")).toBe(8e6);
      expect(await value("return 'x'.repeat(9e5)")).toHaveLength(9e5);
    }
  });

  test("is lost with its process once its memory is full, which is told before", async () => {
    const { worker, run, value } = open();
    await value("a = 1", { declares: ["a"] });
    expect((await run("const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))")).outcome.kind).toBe(
      "out-of-memory",
    );
    expect(await worker.exited).toBe(0);
  });

  test("is lost with its process where the interpreter came to the end of the stack", async () => {
    const { worker, run } = open();
    const { outcome } = await run("JSON.parse('['.repeat(1e6) + ']'.repeat(1e6))");
    // The same end, as the host's engine tells it in its compiled code, and in its interpreter.
    expect(outcome).toMatchObject({
      kind: "runtime-error",
      name: expect.stringMatching(/^(Range|Syntax|Internal)Error$/),
    });
    expect(await worker.exited).toBe(0);
  });

  test("is not there for a run that keeps nothing", async () => {
    const { worker, value } = open();
    await value("a = 1", { declares: ["a"] });
    expect(await worker.value("return typeof a")).toBe("undefined");
  });
});
