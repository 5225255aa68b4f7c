import { afterEach, describe, expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import type { ProcessPool } from "../../../../src/tools/code/pool/process-pool";
import type { LogEntry } from "../../../../src/tools/code/tier";
import { children, Desk, poolOf, runOf, valueFrom } from "./kit";

let pool: ProcessPool;
afterEach(async () => {
  await pool.dispose();
  expect(children()).toEqual([]);
});

describe("Pool: what code and its host say to each other", () => {
  test("a call goes to the host, and its answer to the code", async () => {
    pool = poolOf();
    const calls = { tools: '{"x":1}', call: async (request: string) => `answer to ${request}` };
    const body =
      "const all = []; for (const r of ['a', 'ü', 'c']) all.push((await call(r)).text); return [order.tools, ...all]";
    expect(await valueFrom(pool.run(runOf(body, { calls })))).toEqual([
      '{"x":1}',
      "answer to a",
      "answer to ü",
      "answer to c",
    ]);
    expect(await valueFrom(pool.run(runOf("return order.tools ?? 'none'")))).toBe("none");
  });

  test("calls are answered in whichever order their answers come", async () => {
    pool = poolOf();
    const calls = new Desk();
    const body =
      "const got = []; await Promise.all(['a', 'b', 'c'].map((r) => call(r).then(({ text }) => got.push(r + text)))); return got";
    const ended = valueFrom(pool.run(runOf(body, { calls })));
    const [a, b, c] = [await calls.next(), await calls.next(), await calls.next()];
    expect([a, b, c].map(({ request }) => request)).toEqual(["a", "b", "c"]);
    for (const [made, text] of [
      [b, "1"],
      [c, "2"],
      [a, "3"],
    ] as const) {
      made.answer(text);
    }
    expect(await ended).toEqual(["b1", "c2", "a3"]);
  });

  test("answers that are more than the socket holds arrive whole, however many wait for it", async () => {
    pool = poolOf();
    const calls = { tools: "{}", call: async (request: string) => request.repeat(3_000_000) };
    const body =
      "const all = await Promise.all(['a', 'é', 'c', 'd'].map((r) => call(r))); return all.map(({ text }) => [text.length, new Set(text).size, text[0]])";
    expect(await valueFrom(pool.run(runOf(body, { calls })))).toEqual(
      ["a", "é", "c", "d"].map((letter) => [3_000_000, 1, letter]),
    );
  });

  test("a request may be as long as the output, and not longer by one byte", async () => {
    pool = poolOf();
    const calls = { tools: "{}", call: async (request: string) => `${request.length}` };
    const ask = (length: number) =>
      pool.run(runOf(`return (await call("x".repeat(${length}))).text`, { calls, maxOutput: 1_000 }));
    expect(await valueFrom(ask(1_000))).toBe("1000");
    expect((await ask(1_001)).kind).not.toBe("value");
  });

  test("P14: a run that has ended leaves no listener at the signal of its asker", async () => {
    pool = poolOf();
    const { signal } = new AbortController();
    const ended = pool.run(runOf("return 1", { signal }));
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    expect(await valueFrom(ended)).toBe(1);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("logs and progress are told as they happen, in order, and the end has the same logs", async () => {
    pool = poolOf();
    const calls = new Desk();
    const told: unknown[] = [];
    const ended = pool.run(
      runOf("console.log('one'); progress({ done: 1 }); await call(''); console.log('two'); return 1", {
        calls,
        onLog: (entry: LogEntry) => told.push(entry),
        onProgress: (value) => told.push(value),
      }),
    );
    const made = await calls.next();
    expect(told).toEqual([{ level: "log", text: "one", time: 0 }, '{"done":1}']);
    made.answer("");
    const { logs } = await ended;
    expect(logs.map(({ text }) => text)).toEqual(["one", "two"]);
    expect(told).toEqual([logs[0], '{"done":1}', logs[1]]);
  });

  test("progress counts as output does", async () => {
    pool = poolOf();
    const body = "for (;;) progress('x'.repeat(900))";
    expect(await pool.run(runOf(body, { maxOutput: 10_000 }))).toMatchObject({ kind: "output-limit" });
    expect(await valueFrom(pool.run(runOf("return 1")))).toBe(1);
  });

  test("P5: an answer that is too large for one text is told as such, and the run goes on", async () => {
    pool = poolOf();
    const calls = { tools: "{}", call: async () => "xy".repeat(2 ** 30 - 1) };
    const body = "return (await call('')).text";
    expect(await valueFrom(pool.run(runOf(body, { calls })))).toContain("too large to come into code");
  });

  test("calls that are under way when a run ends are dropped", async () => {
    pool = poolOf();
    const calls = new Desk();
    expect(await valueFrom(pool.run(runOf("call('late'); return 1", { calls })))).toBe(1);
    const late = await calls.next();
    const next = valueFrom(pool.run(runOf("return (await call('mine')).text", { calls })));
    const mine = await calls.next();
    late.clock.stop();
    late.answer("not yours");
    await Promise.resolve();
    mine.answer("yours");
    expect(await next).toBe("yours");
  });

  test("code may make more calls than may be open at once, and a thousand at once", async () => {
    pool = poolOf();
    const calls = { tools: "{}", call: async (request: string) => request };
    const body =
      "let n = 0; for (let i = 0; i < 3; i++) n += (await Promise.all(Array.from({ length: 1_000 }, () => call('x'.repeat(300))))).length; return n";
    expect(await valueFrom(pool.run(runOf(body, { calls, maxOutput: 1_000 })))).toBe(3_000);
  });
});
