import { describe, expect, test } from "bun:test";
import { systemClock } from "../../../../src";
import { createManualClock } from "../../../../src/testing";
import { CodeRefusal } from "../../../../src/tools/code/code-refusal";
import { Sources } from "../../../../src/tools/code/source/sources";
import type { Calls, Ended, Program, Run, RunClock } from "../../../../src/tools/code/tier";
import { createTrusted } from "../../../../src/tools/code/trusted/trusted";

const sources = new Sources();

async function programOf(code: string, isSession = false): Promise<Program> {
  const program = await sources.compile(code, "javascript", { isSession });
  if (program instanceof CodeRefusal) throw new Error(program.error.message);
  return program;
}

const limits = { input: undefined, timeout: 1_000, memory: 1, maxOutput: 1_000, signal: new AbortController().signal };

async function runOf(code: string, more: Partial<Run> = {}, isSession = false): Promise<Run> {
  return { program: await programOf(code, isSession), ...limits, ...more };
}

const resultIn = (ended: Ended): unknown => {
  if (ended.kind !== "value") throw new Error(`${ended.kind}: ${ended.message}`);
  return ended.value === undefined ? undefined : JSON.parse(ended.value);
};

const table = { text: { upper: "ask", letters: "stream" } };

/** Tools that do what they say at once, and note what they were asked. */
function tools(): Calls & { readonly asked: unknown[] } {
  const asked: unknown[] = [];
  let letters: string[] = [];
  const answer = (request: { operation?: string; payload?: string; next?: number; close?: number }): unknown => {
    if (request.operation === "upper") return request.payload?.toUpperCase();
    if (request.operation === "letters") letters = [...(request.payload ?? "")];
    if (request.operation === "letters") return 1;
    return request.next === undefined ? undefined : { done: letters.length === 0, value: letters.shift() };
  };
  return {
    asked,
    tools: JSON.stringify(table),
    async call(text) {
      const request = JSON.parse(text);
      asked.push(request);
      if (request.payload === "bad") return JSON.stringify({ ok: false, kind: "refused", message: "not that" });
      return JSON.stringify({ ok: true, value: answer(request) });
    },
  };
}

describe("trusted code with tools", () => {
  const tier = createTrusted({ size: 10, clock: systemClock });

  test("asks them, and reads their streams", async () => {
    const calls = tools();
    const code = `const seen = [await tools.text.upper('a')]
      for await (const letter of tools.text.letters('xyz')) { seen.push(letter); if (letter === 'y') break }
      seen`;
    expect(resultIn(await tier.run(await runOf(code, { calls })))).toEqual(["A", "x", "y"]);
    expect(calls.asked).toEqual([
      { tool: "text", operation: "upper", payload: "a" },
      { tool: "text", operation: "letters", payload: "xyz" },
      { next: 1 },
      { next: 1 },
      { close: 1 },
    ]);
  });

  test("gets what they refuse as an error with its kind", async () => {
    const code = "try { await tools.text.upper('bad') } catch (e) { [e.name, e.kind, e.message, e instanceof Error] }";
    const seen = resultIn(await tier.run(await runOf(code, { calls: tools() })));
    expect(seen).toEqual(["ToolError", "refused", "not that", true]);
  });

  test("has no tools where there are none, and none are made for code that does not name them", async () => {
    expect(resultIn(await tier.run(await runOf("typeof tools")))).toBe("undefined");
    let reads = 0;
    const run: Run = {
      ...(await runOf("1 + 1")),
      get calls() {
        reads++;
        return tools();
      },
    };
    expect(resultIn(await tier.run(run))).toBe(2);
    const room = tier.open(1);
    expect(resultIn(await room.run(run))).toBe(2);
    expect(reads).toBe(0);
    await room.close();
    for (const code of ["typeof eval('to' + 'ols')", "typeof t\\u006fols", "typeof tools"]) {
      expect(resultIn(await tier.run(await runOf(code, { calls: tools() })))).toBe("object");
    }
  });

  test("calls nothing any more once its run has ended", async () => {
    const calls = tools();
    const code = "setTimeout(() => { tools.text.upper('late'); globalThis.wasLate() }, 1); 1";
    const late = new Promise((resolve) => Reflect.set(globalThis, "wasLate", resolve));
    expect(resultIn(await tier.run(await runOf(code, { calls })))).toBe(1);
    await late;
    Reflect.deleteProperty(globalThis, "wasLate");
    expect(calls.asked).toEqual([]);
  });

  test("in a room, a function of an earlier run calls for the run that calls it", async () => {
    const room = tier.open(1);
    const [first, second] = [tools(), tools()];
    await room.run(await runOf("const up = (text) => tools.text.upper(text)\n1", { calls: first }, true));
    expect(resultIn(await room.run(await runOf("await up('b')", { calls: second }, true)))).toBe("B");
    expect([first.asked.length, second.asked.length]).toEqual([0, 1]);
    await room.close();
  });
});

test("a room that is closed runs nothing more, and ends what runs and waits there as stopped", async () => {
  const tier = createTrusted({ size: 1, clock: systemClock });
  const room = tier.open(1);
  const run = await runOf("await new Promise(() => {})");
  const [running, waiting] = [room.run(run), room.run(run)];
  await Promise.resolve();
  expect(tier.inspect()).toMatchObject({ running: 1, waiting: 1 });
  await room.close();
  expect([(await running).kind, (await waiting).kind]).toEqual(["stopped", "stopped"]);
  expect((await room.run(await runOf("1"))).kind).toBe("stopped");
  expect(tier.inspect()).toMatchObject({ running: 0, waiting: 0 });
});

describe("the clock of a trusted run", () => {
  async function begin(code: string, call: (clock: RunClock) => Promise<string>) {
    const clock = createManualClock();
    const tier = createTrusted({ size: 1, clock });
    const calls: Calls = { tools: JSON.stringify(table), call: (_, time) => call(time) };
    const ended: Ended[] = [];
    void Promise.resolve(tier.run(await runOf(code, { calls }))).then((end) => ended.push(end));
    await clock.settle();
    return { clock, ended };
  }
  const done = JSON.stringify({ ok: true, value: 1 });

  test("stands still while a call has stopped it, and goes on with what was left", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const code = "await tools.text.upper('a'); await new Promise(() => {})";
    const { clock, ended } = await begin(code, async (time) => {
      time.stop();
      await promise;
      time.start();
      return done;
    });
    await clock.advance(1_000_000);
    expect(ended).toEqual([]);
    expect(clock.timers).toBe(0);
    resolve();
    await clock.advance(999);
    expect(ended).toEqual([]);
    await clock.advance(1);
    expect(ended[0]).toMatchObject({ kind: "timeout", message: expect.stringContaining("1000 ms") });
    expect(clock.timers).toBe(0);
  });

  test("stands still until each of several calls has started it again, and a start too many is none", async () => {
    const starts: (() => void)[] = [];
    const code = "await Promise.all([tools.text.upper('a'), tools.text.upper('b')]); await new Promise(() => {})";
    const { clock, ended } = await begin(code, (time) => {
      time.stop();
      return new Promise((resolve) =>
        starts.push(() => {
          time.start();
          resolve(done);
        }),
      );
    });
    await clock.advance(5_000);
    starts[0]?.();
    await clock.advance(5_000);
    expect(ended).toEqual([]);
    starts[1]?.();
    starts[1]?.();
    await clock.advance(1_000);
    expect(ended[0]?.kind).toBe("timeout");
  });

  test("runs on while a call does not stop it", async () => {
    const { clock, ended } = await begin("await tools.text.upper('a')", () => new Promise(() => {}));
    await clock.advance(1_000);
    expect(ended[0]?.kind).toBe("timeout");
  });

  test("what came to its end after a long stop is in time", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { clock, ended } = await begin("await tools.text.upper('a'); 2", async (time) => {
      time.stop();
      await promise;
      time.start();
      return done;
    });
    await clock.advance(50_000);
    resolve();
    await clock.settle();
    expect(ended[0]).toMatchObject({ kind: "value", value: "2", durationMs: 50_000 });
  });
});
