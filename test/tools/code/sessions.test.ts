import { describe, expect, test } from "bun:test";
import { createSystem } from "../../../src";
import { createManualClock } from "../../../src/testing";
import type { CodeError } from "../../../src/tools";
import type { Approve } from "../../../src/tools/code/approval";
import { spawnCodeExecution } from "../../../src/tools/code/code-execution";
import type { CodeExecutionRef, SessionRequest } from "../../../src/tools/code/protocol";
import { type Execute, errorIn, inspectionOf, tiers, valueIn, ways, withCode } from "./tiers";

async function open(code: CodeExecutionRef, request: SessionRequest = {}): Promise<string> {
  const opened = (await code.ask("session", request))._unsafeUnwrap();
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value.session;
}

/** Why a session could not be opened. */
async function faultOf(code: CodeExecutionRef, request: SessionRequest = {}): Promise<CodeError> {
  const opened = (await code.ask("session", request))._unsafeUnwrap();
  if (opened.ok) throw new Error("It was opened.");
  return opened.error;
}

describe.each(ways)("$isolation, $language", ({ isolation, language, pause }) => {
  test("an execution finds what earlier ones of its session declared, and no other one does", async () => {
    const body = async (execute: Execute, code: CodeExecutionRef) => {
      const [session, other] = [await open(code), await open(code)];
      expect(valueIn(await execute("let count = input\ncount", { session, input: 40 }))).toBe(40);
      expect(valueIn(await execute("count += 1", { session }))).toBe(41);
      expect(valueIn(await execute("await null; ++count", { session }))).toBe(42);
      expect(valueIn(await execute("const count = 'other'\ncount", { session: other }))).toBe("other");
      expect(valueIn(await execute("typeof count", { session: await open(code) }))).toBe("undefined");
      expect(valueIn(await execute("typeof count"))).toBe("undefined");
      expect(valueIn(await execute("count", { session }))).toBe(42);
      expect(errorIn(await execute("const lost = 1\nthrow new Error('x')", { session })).kind).toBe("runtime-error");
      expect(valueIn(await execute("[lost, count]", { session }))).toEqual([1, 42]);
    };
    await withCode({ isolation }, body, language);
  });

  test("a function of an earlier execution logs, and tells progress, for the one that calls it", async () => {
    const body = async (execute: Execute, code: CodeExecutionRef) => {
      const session = await open(code);
      await execute("const say = (text) => { console.log(text); progress(text) }", {
        session,
        language: "javascript",
      });
      const outcome = await execute("say('now')", { session });
      expect(outcome.ok && outcome.value.logs.map(({ text }) => text)).toEqual(["now"]);
    };
    await withCode({ isolation }, body, language);
  });

  test("the console and this are what they are outside of a session, and a console that is declared lasts", async () => {
    const body = async (execute: Execute, code: CodeExecutionRef) => {
      const session = await open(code);
      expect(valueIn(await execute("[this === globalThis, typeof console.log]", { session }))).toEqual([
        true,
        "function",
      ]);
      expect(valueIn(await execute("const console = { log: 'mine' }; console.log", { session }))).toBe("mine");
      expect(valueIn(await execute("console.log", { session }))).toBe("mine");
    };
    await withCode({ isolation }, body, language);
  });

  test("any name that code can have lasts, and code that leaves no room for one fails by itself", async () => {
    const body = async (execute: Execute, code: CodeExecutionRef) => {
      const session = await open(code);
      for (const name of ["__proto__", "constructor", "Object", "Promise", "eval", "async", "π"]) {
        expect(valueIn(await execute(`let ${name} = 7; ${name}`, { session, language: "javascript" }))).toBe(7);
        expect([name, valueIn(await execute(name, { session }))]).toEqual([name, 7]);
      }
      if (isolation === "trusted") return; // There it would be the host's own.
      const frozen = await open(code);
      await execute("Object.freeze(globalThis); 0", { session: frozen });
      expect(errorIn(await execute("let late = 1; late", { session: frozen }))).toMatchObject({
        kind: "runtime-error",
      });
      expect(valueIn(await execute("2", { session: frozen }))).toBe(2);
    };
    await withCode({ isolation }, body, language);
  });

  test("an error's place is in the source of its execution, and its stack tells which calls are in earlier ones", async () => {
    const body = async (execute: Execute, code: CodeExecutionRef) => {
      const session = await open(code);
      await execute("\n\n\nconst fail = () => {\n  throw new RangeError('no') }", { session });
      const error = errorIn(await execute("1\nfail()", { session }));
      expect(error).toMatchObject({ kind: "runtime-error", name: "RangeError", line: 2 });
      expect(error.stack?.map(({ line, isEarlier }) => [line, isEarlier])).toEqual([
        [5, true],
        [2, undefined],
      ]);
    };
    await withCode({ isolation }, body, language);
  });

  test("executions of one session run in order; others run beside them", async () => {
    const { promise: gate, resolve: openGate } = Promise.withResolvers<boolean>();
    const approve: Approve = (request) => (request.kind === "run" && request.code.includes("first") ? gate : true);
    const body = async (execute: Execute, code: CodeExecutionRef) => {
      const [session, other] = [await open(code), await open(code)];
      const ended: string[] = [];
      const run = async (name: string, source: string, more: { session?: string }) => {
        const outcome = await execute(source, more);
        ended.push(name);
        return valueIn(outcome);
      };
      const first = run("first", "const seen = ['first']\nseen", { session });
      const second = run("second", "seen.push('second'); seen", { session });
      const third = run("third", "seen.push('third'); seen", { session });
      await Promise.all([run("other", "1", { session: other }), run("none", "1", {})]);
      expect(ended.toSorted()).toEqual(["none", "other"]);
      openGate(true);
      expect(await first).toEqual(["first"]);
      expect(await second).toEqual(["first", "second"]);
      expect(await third).toEqual(["first", "second", "third"]);
      expect(ended.slice(2)).toEqual(["first", "second", "third"]);
    };
    await withCode({ isolation, approve, timeout: 20_000 }, body, language);
  });

  test("a session has limits of its own, no more than the actor's", async () => {
    const body = async (execute: Execute, code: CodeExecutionRef) => {
      const session = await open(code, { timeout: 600, maxOutput: 100, memory: 32 * 1024 * 1024 });
      const endless = pause(10_000);
      expect(errorIn(await execute(endless, { session })).message).toContain("600 ms");
      expect(errorIn(await execute(endless, { session, timeout: 70 })).message).toContain("70 ms");
      expect(errorIn(await execute(endless, { session, timeout: 1_000 })).message).toContain("600 ms");
      expect(errorIn(await execute("'x'.repeat(100)", { session })).kind).toBe("output-limit");
      expect(valueIn(await execute("'x'.repeat(50)", { session, isolation }))).toHaveLength(50);
      expect(valueIn(await execute("1", { session, memory: 32 * 1024 * 1024 }))).toBe(1); // As much as it has.
      const less = errorIn(await execute("1", { session, memory: 1024 * 1024 }));
      expect(less).toMatchObject({ kind: "unavailable", message: expect.stringContaining("33554432 bytes") });
      const wide = await open(code, { timeout: 60_000, maxOutput: 1e9 });
      expect(errorIn(await execute("'x'.repeat(200)", { session: wide })).kind).toBe("output-limit");
      expect(errorIn(await execute(endless, { session: wide })).message).toContain("900 ms");
    };
    await withCode({ isolation, timeout: 900, maxOutput: 150 }, body, language);
  });
});

test("the order in a session is that of the requests, also where the first one needs a parser that is not there yet", async () => {
  await withCode({ isolation: "trusted" }, async (execute, code) => {
    const session = await open(code);
    const [first, second] = [
      execute("let order = ['typescript'] as string[]\norder", { session, language: "typescript" }),
      execute("order.push('javascript'); order", { session }),
    ];
    expect([valueIn(await first), valueIn(await second)]).toEqual([["typescript"], ["typescript", "javascript"]]);
  });
});

describe.each(tiers)("$isolation", ({ isolation, isIsolated, pause }) => {
  const forever = pause(60_000);

  test("a session that is ended ends what runs there, what waits there does not run, and both are told", async () => {
    await withCode({ isolation, timeout: 60_000 }, async (execute, code) => {
      const session = await open(code);
      await execute("let ran = 0", { session });
      const running = execute(forever, { session });
      const waiting = execute("globalThis.ranInSession = 1", { session });
      while ((await inspectionOf(code)).tiers[0]?.running !== 1);
      const ended = (await code.ask("endSession", { session }))._unsafeUnwrap();
      expect(ended).toEqual({ ok: true, value: {} });
      expect(errorIn(await running).kind).toBe("stopped");
      expect(errorIn(await waiting)).toMatchObject({
        kind: "unavailable",
        message: expect.stringContaining("was ended"),
      });
      expect(Reflect.has(globalThis, "ranInSession")).toBe(false);
      const later = errorIn(await execute("1", { session }));
      expect(later).toMatchObject({ kind: "unavailable", message: expect.stringContaining("open another one") });
      const again = (await code.ask("endSession", { session }))._unsafeUnwrap();
      expect(again).toMatchObject({ ok: false, error: { kind: "unavailable" } });
      expect(await inspectionOf(code)).toMatchObject({ sessions: 0, held: 0, tiers: [{ running: 0, waiting: 0 }] });
    });
  });

  test("an execution whose asker gives up leaves its session: one that waits never runs, one that runs is ended", async () => {
    await withCode({ isolation, timeout: 60_000 }, async (execute, code) => {
      const session = await open(code);
      const first = execute(`const seen = ['first']\n${pause(50)}`, { session });
      const gone = code.ask("execute", { code: "seen.push('gone')", session }, { timeout: 10 });
      const last = execute("seen.push('last'); seen", { session });
      expect((await gone)._unsafeUnwrapErr().kind).toBe("timeout");
      while ((await inspectionOf(code)).held !== 1);
      await first;
      expect(valueIn(await last)).toEqual(["first", "last"]);
      const busy = isIsolated ? "while (true);" : forever;
      const given = await code.ask("execute", { code: busy, session }, { timeout: 10 });
      expect(given._unsafeUnwrapErr().kind).toBe("timeout");
      // A busy run is ended with its process, and its session with it. A run that only waits is left behind.
      expect((await execute("1", { session })).ok).toBe(!isIsolated);
      const kind = isIsolated ? errorIn(await execute("1", { session })).kind : "none";
      expect(kind).toBe(isIsolated ? "unavailable" : "none");
      expect(await inspectionOf(code)).toMatchObject({ sessions: isIsolated ? 0 : 1 });
    });
  });

  test("one session more than may be open is told busy, and has room once another one is ended", async () => {
    await withCode({ isolation, maxSessions: 2 }, async (_, code) => {
      const [first] = [await open(code), await open(code)];
      expect(await faultOf(code)).toMatchObject({ kind: "busy", message: expect.stringContaining("2 sessions") });
      await code.ask("endSession", { session: first });
      await open(code);
      expect(await inspectionOf(code)).toMatchObject({ sessions: 2 });
    });
    await withCode({ isolation, maxSessions: 0 }, async (_, code) => {
      expect((await faultOf(code)).kind).toBe("busy");
    });
  });

  test("more that wait in sessions than may wait at all are told busy", async () => {
    await withCode({ isolation, concurrency: 1, maxWaiting: 1, timeout: 40 }, async (execute, code) => {
      const session = await open(code);
      await execute("1", { session });
      const kinds = (await Promise.all([1, 2, 3, 4].map(() => execute(forever, { session })))).map(
        (outcome) => errorIn(outcome).kind,
      );
      expect(kinds.filter((kind) => kind === "busy").length).toBeGreaterThan(0);
      // One that is slow to end takes its session, and those that wait there, with it.
      expect(kinds.filter((kind) => kind !== "busy").length).toBeGreaterThan(1);
      expect(await inspectionOf(code)).toMatchObject({ held: 0 });
    });
  });
});

test("a session may be kept from the machine as its actor does, or better, and never worse", async () => {
  await withCode({}, async (_, code) => {
    expect(await faultOf(code, { isolation: "trusted" })).toMatchObject({ kind: "unavailable" });
  });
  await withCode({ isolation: "trusted" }, async (execute, code) => {
    const session = await open(code);
    const error = errorIn(await execute("1", { session, isolation: "sandbox" }));
    expect(error).toMatchObject({ kind: "unavailable", message: expect.stringContaining('as "trusted"') });
  });
});

test("ids of sessions cannot be guessed, and what is none is told so", async () => {
  await withCode({ isolation: "trusted" }, async (execute, code) => {
    const ids = [await open(code), await open(code)];
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(2);
    for (const session of ["", "__proto__", "constructor", "x".repeat(100_000), `${ids[0]} `]) {
      expect(errorIn(await execute("1", { session })).kind).toBe("unavailable");
    }
  });
});

test("a session that is idle for too long is ended, by the system's clock; work keeps it", async () => {
  const clock = createManualClock();
  await using system = createSystem({ clock, askTimeout: 1e9 });
  const code = spawnCodeExecution(system, { isolation: "trusted", sessionIdle: 1_000, timeout: 1e6 });
  const ask = async (session: string, source: string) => {
    const asked = code.ask("execute", { code: source, session });
    await clock.settle();
    return asked;
  };
  const kindOf = async (session: string) => {
    const outcome = (await ask(session, "1"))._unsafeUnwrap();
    return outcome.ok ? "value" : outcome.error.kind;
  };
  await Promise.all([import("acorn"), import("@sveltejs/acorn-typescript")]);
  const opening = Promise.all([open(code), open(code, { idleTimeout: 300 }), open(code, { idleTimeout: 5_000 })]);
  await clock.settle();
  const [plain, short, long] = await opening;
  await ask(plain, "1"); // The parser is loaded.
  await clock.advance(299);
  expect(await kindOf(short)).toBe("value");
  await clock.advance(299);
  expect(await kindOf(short)).toBe("value");
  await clock.advance(300);
  expect(await kindOf(short)).toBe("unavailable");
  expect(await kindOf(plain)).toBe("value");
  const waiting = code.ask("execute", { code: "await new Promise((go) => (globalThis.goOn = go))", session: plain });
  await clock.advance(5_000);
  expect(await kindOf(long)).toBe("unavailable"); // No more than the actor's.
  (globalThis as unknown as { goOn(): void }).goOn(); // By the code above.
  Reflect.deleteProperty(globalThis, "goOn");
  await clock.settle();
  expect((await waiting)._unsafeUnwrap().ok).toBe(true);
  await clock.advance(999);
  expect(await kindOf(plain)).toBe("value");
  await clock.advance(1_000);
  expect(await kindOf(plain)).toBe("unavailable");
  const left = code.ask("inspect");
  await clock.settle();
  expect((await left)._unsafeUnwrap()).toMatchObject({ ok: true, value: { sessions: 0 } });
});

test("an actor that stops ends its sessions, and leaves no timer", async () => {
  const clock = createManualClock();
  const system = createSystem({ clock, askTimeout: 1e9 });
  const code = spawnCodeExecution(system, { isolation: "trusted" });
  const opening = open(code);
  await clock.settle();
  const session = await opening;
  const running = code.ask("execute", { code: "await new Promise(() => {})", session });
  const waiting = code.ask("execute", { code: "1", session });
  await Promise.all([import("acorn"), import("@sveltejs/acorn-typescript")]);
  await clock.settle();
  const stopping = system.shutdown({ timeout: 100 });
  await clock.advance(200);
  await stopping;
  expect(errorIn((await running)._unsafeUnwrap()).kind).toBe("stopped");
  expect(errorIn((await waiting)._unsafeUnwrap()).kind).toMatch(/^(stopped|unavailable)$/);
  expect(clock.timers).toBe(0);
});
