import { afterAll, describe, expect, test } from "bun:test";
import { Worker } from "./worker";

const worker = new Worker();
afterAll(() => worker.close());

const tools = JSON.stringify({ files: { read: "ask", lines: "stream" } });
const ok = (value: unknown): string => JSON.stringify({ ok: true, value });
const payloadOf = (request: string): unknown => JSON.parse(request).payload;

describe("Sandbox: calls of code", () => {
  test("go out with tool, operation and payload, and come back as what the host answered", async () => {
    const { news, outcome } = await worker.run(
      "return await tools.files.read({ path: 'ü\\n' })",
      { tools },
      (request) => ok([JSON.parse(request), "\u0000\ud83d\ude00"]),
    );
    const request = { tool: "files", operation: "read", payload: { path: "ü\n" } };
    expect(news.map(([word]) => word)).toEqual(["call", "waiting", "end"]);
    expect(outcome).toEqual({ kind: "value", value: JSON.stringify([request, "\u0000\ud83d\ude00"]) });
  });

  test("fail as a ToolError with the kind that the host gave", async () => {
    const body =
      "try { await tools.files.read() } catch (e) { return [e.name, e.kind, e.message, e instanceof Error] }";
    const answer = JSON.stringify({ ok: false, kind: "refused", message: "not this" });
    expect(await worker.value(body, { tools }, () => answer)).toEqual(["ToolError", "refused", "not this", true]);
  });

  test("may be many at once, answered in any order", async () => {
    const body = "return Promise.all(Array.from({ length: 50 }, (_, i) => tools.files.read(i)))";
    const numbers = Array.from({ length: 50 }, (_, index) => index);
    expect(await worker.value(body, { tools }, (request) => ok(payloadOf(request)))).toEqual(numbers);
    const held: [number, string][] = [];
    const value = worker.value(body, { tools }, (request, call) => {
      held.push([call, ok(payloadOf(request))]);
      if (held.length === 50) {
        for (const [id, text] of held.reverse()) void worker.say(["answer", id, text, 0]);
      }
      return undefined;
    });
    expect(await value).toEqual(numbers);
  });

  test("are told before code that is busy goes on for long", async () => {
    const busy = new Worker();
    try {
      void busy.run("tools.files.read(1); for (;;);", { tools, timeout: 1e9 }).catch(() => {});
      await busy.heard("call");
    } finally {
      await busy.close();
    }
  });

  test("read streams item by item, and close what is left early", async () => {
    const requests: unknown[] = [];
    const body =
      "const got = []; for await (const line of tools.files.lines({})) { got.push(line); if (got.length === 2) break } return got";
    const value = await worker.value(body, { tools }, (request) => {
      const { payload: _, ...rest } = JSON.parse(request);
      requests.push(rest);
      return "next" in rest ? ok({ done: false, value: requests.length }) : ok(7);
    });
    expect(value).toEqual([2, 3]);
    expect(requests).toEqual([{ tool: "files", operation: "lines" }, { next: 7 }, { next: 7 }, { close: 7 }]);
  });

  test("that are open when the run ends are dropped, and their answers taken for no other's", async () => {
    const first = await worker.run("tools.files.read(1); return 1", { tools });
    expect(first.outcome).toEqual({ kind: "value", value: "1" });
    const [call] = first.news;
    if (call?.[0] !== "call") throw new Error("It called nothing.");
    await worker.say(["answer", call[1], ok("late"), 0]);
    const second = await worker.value("return await tools.files.read(2)", { tools }, (_, id) => {
      void worker.say(["answer", call[1], ok("late"), 0], ["answer", id + 1, ok("not asked"), 0]);
      return ok("own");
    });
    expect(second).toBe("own");
  });

  test("may be a thousand at once, and each further one fails", async () => {
    const body =
      "const all = await Promise.allSettled(Array.from({ length: 1002 }, () => tools.files.read())); return all.map(({ reason }) => reason?.kind ?? '').slice(998)";
    expect(await worker.value(body, { tools }, () => ok(1))).toEqual(["", "", "budget", "budget"]);
  });

  test("have payloads with JSON texts no larger than the output", async () => {
    const kindOf = (payload: string) =>
      worker.value(`try { await tools.files.read(${payload}) } catch (e) { return e.kind ?? e.name }`, {
        tools,
        maxOutput: 10_000,
      });
    expect(await kindOf("'x'.repeat(1e5)")).toBe("invalid-payload");
    expect(await kindOf("'ü'.repeat(6e3)")).toBe("invalid-payload");
    expect(await kindOf("1n")).toBe("TypeError");
    expect(await kindOf("{ toJSON() { throw new RangeError() } }")).toBe("RangeError");
  });

  test("are not there where the run has no tools, nor in the next run", async () => {
    expect(await worker.value("return typeof tools", { tools })).toBe("object");
    expect(await worker.value("return typeof tools")).toBe("undefined");
  });
});

describe("Sandbox: time of code that calls", () => {
  test("without end is over when it should be", async () => {
    for (const body of [
      "for (;;) tools.files.read()",
      "for (;;) tools.files.read().catch(() => {})",
      "const f = () => tools.files.read().then(f, f); return f()",
      "await tools.files.read({ get x() { for (;;); } })",
      "await tools.files.read({ toJSON() { for (;;); } })",
    ]) {
      expect((await worker.run(body, { tools, timeout: 60 }, () => ok(1))).outcome.kind).toBe("timeout");
    }
    expect(await worker.value("return 1")).toBe(1);
  });

  test("is longer by what the host's answer says that it stood still", async () => {
    const body = "await tools.files.read(); for (let end = Date.now() + 60; Date.now() < end; ); return 1";
    const withPause = (paused: number) =>
      worker.run(body, { tools, timeout: 30 }, (_, call) => {
        void worker.say(["answer", call, ok(1), paused]);
        return undefined;
      });
    expect((await withPause(0)).outcome.kind).toBe("timeout");
    expect((await withPause(10_000)).outcome).toEqual({ kind: "value", value: "1" });
  });

  test("is over at once for code that only waits when the host says so, and the process lives on", async () => {
    for (const number of [1_000_001, 1_000_002]) {
      const ended = worker.run("console.log('waits'); await tools.files.read(); return 1", { tools, number }, () => {
        void worker.say(["stop", number - 1], ["stop", number], ["stop", number]);
        return undefined;
      });
      expect((await ended).outcome.kind).toBe("timeout");
    }
    expect(await worker.value("return 1")).toBe(1);
  });

  test("is not over where the host speaks of another run", async () => {
    const { outcome } = await worker.run("return await tools.files.read()", { tools, number: 55 }, (_, call) => {
      void worker.say(["stop", 54], ["answer", call, ok(1), 0]);
      return undefined;
    });
    expect(outcome).toEqual({ kind: "value", value: "1" });
  });

  test("that waits for no call, but for ever, is over at once", async () => {
    const { outcome } = await worker.run("await tools.files.read(); await new Promise(() => {})", { tools }, () =>
      ok(1),
    );
    expect(outcome).toMatchObject({ kind: "runtime-error" });
  });
});

describe("Sandbox: progress", () => {
  test("is told as it is made, in order with logs, as JSON", async () => {
    const { news } = await worker.run("progress(1); console.log('x'); progress({ a: ['ü'] }); progress(null)");
    const told = news.filter(([word]) => word === "progress" || word === "log").map(([, a, b]) => b ?? a);
    expect(told).toEqual(["1", "x", '{"a":["ü"]}', "null"]);
  });

  test("of a value without JSON throws", async () => {
    for (const value of ["undefined", "() => 1", "Symbol()", "1n", "(() => { const a = []; a[0] = a; return a })()"]) {
      const body = `try { progress(${value}) } catch (e) { return e instanceof TypeError }`;
      expect((await worker.run(body)).news).toEqual([["end", expect.any(Number), { kind: "value", value: "true" }]]);
    }
  });

  test("counts towards the output", async () => {
    const { news, outcome } = await worker.run("for (;;) progress('x'.repeat(100))", { maxOutput: 1_000 });
    expect(outcome.kind).toBe("output-limit");
    expect(news.filter(([word]) => word === "progress")).toHaveLength(7);
  });
});

describe("Sandbox: calls cannot be forged", () => {
  test("by what code makes of the language", async () => {
    for (const hostile of [
      "Promise.prototype.then = () => { throw new Error('asked') }",
      "Promise.prototype.constructor = class extends Promise { constructor(f) { super((a, b) => f(() => a('forged'), b)) } }",
      "Promise.prototype.constructor = class extends Promise {}; Promise.prototype.then = (f) => f('forged')",
      "Promise.resolve = Promise.withResolvers = () => { throw new Error('asked') }",
      "for (let i = 3; i < 5000; i++) Object.defineProperty(Object.prototype, i, { set(v) { globalThis.got = v }, get() { return 'forged' } })",
      "Object.prototype.get = Object.prototype.set = Object.prototype.value = () => 'forged'",
      "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => 'forged'",
      "Reflect.apply = Reflect.defineProperty = Object.defineProperty = () => 'forged'",
      "JSON.parse = JSON.stringify = () => 'forged'",
      "Array.prototype[Symbol.iterator] = function* () { yield 'forged' }",
      "Error.prepareStackTrace = (e, frames) => { globalThis.got = frames }",
      "globalThis.Promise = class { constructor(f) { f((v) => { globalThis.got = v }) } }",
    ]) {
      const body = `const { then } = Promise.prototype, { apply } = Reflect, { log } = console;
        ${hostile}; const promise = tools.files.read({ path: 1 });
        await { then(done) { apply(then, promise, [(value) => { log(value); log(typeof got); done() }]) } }`;
      const { news } = await worker.run(body, { tools }, () => ok("own"));
      const told = news.filter(([word]) => word === "call" || word === "log").map(([, , text]) => text);
      const request = '{"tool":"files","operation":"read","payload":{"path":1}}';
      expect([hostile, ...told]).toEqual([hostile, request, "own", "undefined"]);
    }
  });
});
