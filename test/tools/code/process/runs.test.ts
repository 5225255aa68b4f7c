import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { setTimeout as after } from "node:timers/promises";
import { createManualClock } from "../../../../src/testing/index";
import type { Calls, Ended, LogEntry, Room, Run, Tier } from "../../../../src/tools/code/tier";
import { runOf, until } from "../sandbox/kit";
import { isOffered, processes } from "./kit";

const { tier, run, value } = processes({ size: 2 });
afterAll(() => tier.dispose());

/** Runs code on a clock that stands still until it has logged so many lines. Then its time is up. */
async function endedAfter(lines: number, body: string): Promise<Ended> {
  const clock = createManualClock();
  const timed = processes({ clock });
  const heard = Promise.withResolvers<void>();
  let count = 0;
  const onLog = () => void (++count === lines && heard.resolve());
  const ended = timed.run(body, { timeout: 60_000, onLog });
  await heard.promise;
  await clock.advance(61_000); // Code that does not listen has a moment more.
  return ended.finally(() => timed.tier.dispose());
}

/** Tools that answer by what they are asked. */
function calls(table: object, answer: (request: Record<string, unknown>) => unknown): Calls {
  return {
    tools: JSON.stringify(table),
    call: async (request) => JSON.stringify(await answer(JSON.parse(request))),
  };
}

describe.if(isOffered)("Process: code", () => {
  test("runs with the engine of Bun, timers and all", async () => {
    expect(
      await value("await new Promise((done) => setTimeout(done, 1)); return input.a + 1", { input: '{"a":1}' }),
    ).toBe(2);
    expect(await value("return new TextDecoder().decode(new TextEncoder().encode('é'))")).toBe("é");
    expect(await value("return [typeof Iterator, 'x'.isWellFormed(), this === globalThis]")).toEqual([
      "function",
      true,
      true,
    ]);
    expect(await run("return undefined")).toMatchObject({ kind: "value", value: undefined });
  });

  test("is run in a process that no other code was in", async () => {
    await run("globalThis.left = 1; Object.prototype.polluted = 1; return 1");
    for (let i = 0; i < 3; i++) {
      expect(await value("return [typeof left, ({}).polluted === undefined]")).toEqual(["undefined", true]);
    }
  });

  test("logs what a console shows, as it happens", async () => {
    const heard: LogEntry[] = [];
    const ended = await run(
      `console.log(1, -0, 'a', null, undefined, true); console.warn("%s is %d", "x", 5, 1n); console.info("100%")
       console.debug({ a: [new Map([[1, 2]])] }); console.error(new Proxy({}, {})); console.assert(1 > 2, "that"); console.assert(true)
       console.table(1); console.dir({}); console.trace("t"); const { log } = console; log()`,
      { onLog: (entry) => heard.push(entry) },
    );
    expect(ended.logs.map(({ level, text }) => `${level}: ${text}`)).toEqual([
      "log: 1 -0 a null undefined true",
      "warn: x is 5 1n",
      "info: 100%",
      "debug: { a: [ Map(1) { 1 => 2 } ] }",
      "error: {}",
      "error: Assertion failed that",
      "log: 1",
      "log: {}",
      "debug: t",
      "log: ",
    ]);
    expect(heard).toEqual([...ended.logs]);
    const times = ended.logs.map(({ time }) => time);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  test("has told all that it logged when it is killed, however much that is", async () => {
    const ended = await endedAfter(500, "for (let i = 0; i < 500; i++) console.log(i + 'x'.repeat(1_000)); for (;;);");
    expect(ended.kind).toBe("timeout");
    expect(ended.logs).toHaveLength(500);
    const large = "x".repeat(3_000_000);
    expect(await value("return 'é'.repeat(1e6)", { maxOutput: 3e6 })).toHaveLength(1e6);
    expect(await value("return input", { input: JSON.stringify(large), maxOutput: 4e6 })).toBe(large);
  });

  test("says how far it is, as JSON, within its output", async () => {
    const heard: string[] = [];
    const ended = await run(
      "progress({ done: 1 }); progress(null); try { progress(() => 1) } catch (e) { return e.name }",
      {
        onProgress: (text) => heard.push(text),
      },
    );
    expect(ended).toMatchObject({ kind: "value", value: '"TypeError"' });
    expect(heard).toEqual(['{"done":1}', "null"]);
    expect((await run("for (;;) progress('xxxxxxxxxx')", { maxOutput: 1_000 })).kind).toBe("output-limit");
  });

  test("gives what JSON can hold, and is told where it cannot", async () => {
    const faults = {
      "1n": "bigint",
      "(() => 1)": "function",
      "Symbol('a')": "symbol",
      "(() => { const a = []; a.push(a); return a })()": "TypeError",
      "({ toJSON() { throw 7 } })": "7",
      "({ get a() { throw new RangeError('r') } })": "RangeError: r",
      "(() => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a })()": "nested too deep",
    };
    for (const [code, fault] of Object.entries(faults)) {
      // The engine looks for circles in time that grows with the square of the depth: 1 s of a processor, shared or not.
      const ended = await run(`console.log(1); return ${code}`, { timeout: 100_000 });
      expect(ended).toMatchObject({ kind: "unserializable-value", message: expect.stringContaining(fault) });
      expect(ended.logs).toHaveLength(1);
    }
    expect(await run("return 'x'.repeat(101)", { maxOutput: 100 })).toMatchObject({ kind: "output-limit" });
    expect(await value("return { toJSON() {} }")).toBeUndefined();
  });

  test("that throws is told with its places, and none of the host's", async () => {
    const body = "function f() {\n  null.x\n}\nawait 1\n f()";
    const ended = await run(body);
    expect(ended).toMatchObject({ kind: "runtime-error", name: "TypeError" });
    expect(ended.kind !== "value" && ended.stack?.map(({ line }) => line)).toEqual([2, 5]);
    expect(await value("return new Error('x').stack")).not.toContain("/");
    expect(await run("throw { a: 1 }")).toMatchObject({ kind: "runtime-error", message: "{ a: 1 }" });
    expect(await run("throw undefined")).toMatchObject({ kind: "runtime-error", message: "undefined" });
    expect(await run("throw new Proxy({}, { getPrototypeOf() { throw 1 } })")).toMatchObject({ kind: "runtime-error" });
    expect(await run("throw Object.defineProperty(new Error(), 'stack', { get() { throw 1 } })")).toMatchObject({
      message: "What was thrown cannot be shown.",
    });
    expect(await run("throw new Error('at f (program.js:7:1)')")).toMatchObject({ stack: [{ line: 1 }] });
    expect(await run("let x = ;")).toMatchObject({ kind: "runtime-error", name: "SyntaxError" });
    const deep = await run("const r = () => r() + 1; r()");
    expect(deep).toMatchObject({ kind: "runtime-error", name: "RangeError" });
    expect(deep.kind !== "value" && deep.stack?.every(({ line }) => line === 1)).toBe(true);
  });

  test("ends by what a timer throws, and not by a promise that is rejected meanwhile", async () => {
    const late = "setTimeout(() => { throw new TypeError('late') }); await new Promise(() => {})";
    expect(await run(late)).toMatchObject({ kind: "runtime-error", name: "TypeError", message: "late" });
    const forgotten =
      "const p = Promise.reject(new Error('x')); await new Promise((done) => setTimeout(done, 5)); return p.catch(() => 'kept')";
    expect(await value(forgotten)).toBe("kept");
  });

  test("whose time is up is ended, whether it waits or works", async () => {
    for (const body of ["await new Promise(() => {})", "for (;;);", "for (;;) await null"]) {
      const ended = await endedAfter(1, `console.log('begun'); ${body}`);
      expect(ended).toMatchObject({ kind: "timeout", logs: [{ text: "begun" }] });
    }
    const late = "for (const end = Date.now() + 45; Date.now() < end; );";
    expect(await run(`${late} return 1`, { timeout: 30 })).toMatchObject({ kind: "timeout" });
    expect(await value("return 1")).toBe(1);
  });
});

describe.if(isOffered)("Process: tools", () => {
  const table = { files: { read: "ask", lines: "stream" } };

  test("are asked and streamed, and what is refused is thrown", async () => {
    const asked: unknown[] = [];
    const given = calls(table, (request) => {
      asked.push(request);
      if (request["operation"] === "lines") return { ok: true, value: 1 };
      if ("next" in request) return { ok: true, value: { done: asked.length > 5, value: asked.length } };
      return request["payload"] === 0
        ? { ok: false, kind: "refused", message: "no" }
        : { ok: true, value: request["payload"] };
    });
    const body = `const got = await Promise.all([tools.files.read(1), tools.files.read({ a: 2 })])
      try { await tools.files.read(0) } catch (e) { got.push(e.name, e.kind, e.message) }
      for await (const line of tools.files.lines()) got.push(line)
      return got`;
    expect(await value(body, { calls: given })).toEqual([1, { a: 2 }, "ToolError", "refused", "no", 5]);
    expect(await value("return typeof tools")).toBe("undefined");
  });

  test("stop the clock while code only waits for them, and not while it works", async () => {
    const given = (stop: boolean): Calls => ({
      tools: JSON.stringify(table),
      call: async (_, clock) => {
        if (stop) clock.stop();
        await after(1_200);
        if (stop) clock.start();
        return '{"ok":true,"value":"late"}';
      },
    });
    const limits = { timeout: 1_000 };
    expect(await value("return tools.files.read()", { ...limits, calls: given(true) })).toBe("late");
    expect(await run("return tools.files.read()", { ...limits, calls: given(false) })).toMatchObject({
      kind: "timeout",
    });
    const busy = await run("const asked = tools.files.read(); for (;;);", { ...limits, calls: given(true) });
    expect(busy.kind).toBe("timeout");
  });

  test("have a bound on how many are asked at once, and on how large a request is", async () => {
    const given = calls(table, () => new Promise(() => {}));
    const many =
      "const all = Array.from({ length: 1_001 }, () => tools.files.read()); return Promise.race(all.slice(-1)).catch((e) => e.message)";
    expect(await value(many, { calls: given })).toContain("1000 calls");
    const large = "return tools.files.read('x'.repeat(3e6)).catch((e) => e.message)";
    expect(await value(large, { calls: given })).toContain("larger than");
  });
});

describe.if(isOffered)("Process: a room", () => {
  const inRoom = async (
    work: (
      run: (body: string, options?: Partial<Run> & { declares?: string[] }) => ReturnType<Room["run"]>,
      room: Room,
    ) => Promise<void>,
    within: Tier = tier,
  ) => {
    const room = within.open(64 * 1024 * 1024);
    try {
      await work((body, { declares = [], ...options } = {}) => {
        const given = runOf(body, options);
        return room.run({ ...given, program: { ...given.program, declares } });
      }, room);
    } finally {
      await room.close();
    }
  };

  test("keeps what was declared, and tells places in the program that they are in", async () => {
    await inRoom(async (run) => {
      await run("a = 1; f = function () {\n null.x }", { declares: ["a", "f", "process", "toString"] });
      const later = await run(
        "self = performance = a; return [a, performance, self, typeof process, typeof toString]",
        {
          declares: ["b", "a", "performance", "self"],
        },
      );
      expect(later).toMatchObject({ kind: "value", value: '[1,1,1,"undefined","undefined"]' });
      const failed = await run("\n\nf()");
      expect(failed.kind !== "value" && failed.stack).toMatchObject([{ line: 2 }, { line: 3 }]);
      expect(failed.kind !== "value" && failed.stack?.[0]?.program).not.toBe(
        failed.kind !== "value" && failed.stack?.[1]?.program,
      );
    });
  });

  test("lives on after code that waited too long, whose late words count for nothing", async () => {
    // On a clock that stands still once its time is up, so that it may end by itself however slow the machine is.
    const clock = createManualClock();
    const slow = processes({ clock });
    await inRoom(async (run, room) => {
      await run("kept = 5; setTimeout(() => { kept = 6 }, 60)", { declares: ["kept"] });
      const body = "late = tools.x.y; tools.x.y().catch((e) => { said = e.message }); await new Promise(() => {})";
      const isCalled = Promise.withResolvers<void>();
      const given = calls({ x: { y: "ask" } }, () => {
        isCalled.resolve();
        return new Promise(() => {});
      });
      const ended = run(body, { timeout: 30_000, calls: given, declares: ["late", "said"] });
      await isCalled.promise;
      await clock.advance(30_000);
      expect((await ended).kind).toBe("timeout");
      expect(room.isLost).toBe(false);
      expect(await run("return [kept >= 5, await late().catch((e) => e.message)]")).toMatchObject({
        value: '[true,"This run has no tools."]',
      });
    }, slow.tier).finally(() => slow.tier.dispose());
  });

  test("hears nothing of what code says after its end", async () => {
    await inRoom(async (run, room) => {
      const later =
        "let turns = 0; const turn = () => turns++ < 30 ? void Promise.resolve().then(turn) : WORD; turn(); return 1";
      for (const word of ["console.log('late')", "progress('late')", "Promise.reject(new Error('late'))"]) {
        expect(await run(later.replace("WORD", word))).toMatchObject({ kind: "value", logs: [] });
        expect(await run("await 1; return 2")).toMatchObject({ kind: "value", logs: [] });
      }
      expect(room.isLost).toBe(false);
    });
  });

  test("stands still between its runs, so that what one has left takes no time and no memory", async () => {
    await inRoom(async (run) => {
      const left = "count = 0; setInterval(() => count++, 0); return (await import('node:process')).pid";
      const begun = await run(left, { declares: ["count"] });
      const pid = begun.kind === "value" ? begun.value : "0";
      const state = () => /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
      await until(() => state() === "T");
      expect(await run("return 1")).toMatchObject({ kind: "value", value: "1" });
      await until(() => state() === "T");
      const later = await run(
        "const before = count; while (count === before) await new Promise((done) => setTimeout(done, 1)); return 2",
      );
      expect(later).toMatchObject({ kind: "value", value: "2" });
      // A run that begins before the process stands still is not stopped halfway.
      const waits = "await new Promise((done) => setTimeout(done, 40)); return 3";
      expect(await run(waits)).toMatchObject({ kind: "value", value: "3" });
    });
  });

  test("is lost with its process", async () => {
    await inRoom(async (run, room) => {
      expect((await run("for (;;);", { timeout: 250 })).kind).toBe("timeout");
      expect((await run("return 1")).kind).toBe("crashed"); // Its process lives a little longer; this ends with it.
      expect(room.isLost).toBe(true);
    });
  });
});
