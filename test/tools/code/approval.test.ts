import { describe, expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import { createSystem } from "../../../src";
import { createManualClock } from "../../../src/testing";
import {
  type Approval,
  type ApprovalRequest,
  type Approve,
  approveRun,
  unlessAborted,
} from "../../../src/tools/code/approval";
import { spawnCodeExecution } from "../../../src/tools/code/code-execution";
import { errorIn, inspectionOf, valueIn, ways, withCode } from "./tiers";

describe.each(ways)("$isolation, $language", ({ isolation, language }) => {
  test("what is to run is seen before it does, and runs where it is approved", async () => {
    const seen: unknown[] = [];
    const approve: Approve = ({ signal, ...request }) => {
      seen.push({ ...request, isAborted: signal.aborted });
      return Promise.resolve(true);
    };
    const input = { a: 1 };
    await withCode({ isolation, approve }, async (execute, code) => {
      expect(valueIn(await execute("input.a", { language, input }))).toBe(1);
      const compiled = (await code.ask("compile", { code: "2", language }))._unsafeUnwrap();
      const program = compiled.ok ? compiled.value.program : "";
      expect((await code.ask("run", { program }))._unsafeUnwrap()).toMatchObject({ ok: true, value: { value: 2 } });
      const known = { kind: "run", language, isolation, isAborted: false };
      expect(seen).toEqual([
        { ...known, code: "input.a", input },
        { ...known, code: "2", input: undefined },
      ]);
    });
  });

  test("what is refused does not run, and its asker is told why", async () => {
    const approve: Approve = (request) =>
      request.kind === "run" && request.code.includes("'a'") ? false : { refuse: "no b" };
    await withCode({ isolation, approve }, async (execute) => {
      const mark = (name: string) => `globalThis.ranUnapproved = '${name}'`;
      const refused = errorIn(await execute(mark("a"), { language: "javascript" }));
      expect(refused).toMatchObject({ kind: "refused", logs: [] });
      expect(errorIn(await execute(mark("b"), { language: "javascript" }))).toMatchObject({
        kind: "refused",
        message: expect.stringContaining("no b"),
      });
      expect(Reflect.has(globalThis, "ranUnapproved")).toBe(false);
    });
  });

  test("what is changed runs as it was changed to, and is held to what code is held to", async () => {
    let changed = "input + 1";
    await withCode({ isolation, approve: () => ({ code: changed }) }, async (execute) => {
      expect(valueIn(await execute("input", { language, input: 1 }))).toBe(2);
      changed = "\n let = = 1";
      expect(errorIn(await execute("input", { language }))).toMatchObject({ kind: "compile-error", line: 2 });
    });
  });
});

describe.each(ways)("$isolation, $language", ({ isolation, language }) => {
  test("in a session, and in a stream, no less", async () => {
    await withCode({ isolation, approve: () => false }, async (execute, code) => {
      const opened = (await code.ask("session", {}))._unsafeUnwrap();
      const session = opened.ok ? opened.value.session : "";
      expect(errorIn(await execute("1", { session, language })).kind).toBe("refused");
      for await (const item of code.stream("executeStream", { code: "1", language })) {
        expect(item).toMatchObject({ kind: "end", outcome: { ok: false, error: { kind: "refused" } } });
      }
    });
  });
});

const trusted = { isolation: "trusted" } as const;

test("whoever approves and fails, or gives what is no answer, refuses", async () => {
  const answers: (() => unknown)[] = [
    () => {
      throw new Error("broken");
    },
    () => Promise.reject(new Error("broken")),
    () => {
      throw {
        toString() {
          throw 1;
        },
      };
    },
    // A refusal counts, whatever else is said.
    () => ({ refuse: "no", code: "2" }),
    () => ({ refuse: false, code: "2" }),
    () =>
      new Proxy(
        {},
        {
          has: () => {
            throw new Error("broken");
          },
        },
      ),
    ...[undefined, null, 1, "true", {}, [], { code: 1 }, { refuse: 1 }, { payload: 1 }].map((answer) => () => answer),
  ];
  for (const answer of answers) {
    await withCode({ ...trusted, approve: answer as Approve }, async (execute) => {
      expect(errorIn(await execute("1")).kind).toBe("refused");
    });
  }
});

test("code that cannot be compiled is not shown to whoever approves", async () => {
  let asked = 0;
  await withCode({ ...trusted, approve: () => ++asked > 0 }, async (execute) => {
    expect(errorIn(await execute("let = = 1")).kind).toBe("compile-error");
    expect(asked).toBe(0);
  });
});

test("what is approved is what runs, whatever its asker does with its input meanwhile", async () => {
  const input = { a: 1 };
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const asked = Promise.withResolvers<void>();
  let seen: unknown;
  const approve: Approve = (request) => {
    if (request.kind === "run") seen = request.input;
    asked.resolve();
    return promise;
  };
  await withCode({ ...trusted, approve }, async (execute) => {
    const running = execute("input.a", { input });
    await asked.promise;
    input.a = 2;
    resolve(true);
    expect(valueIn(await running)).toBe(1);
    expect(seen).toEqual({ a: 1 });
  });
});

test("the time of a run begins when it is approved", async () => {
  const clock = createManualClock();
  await using system = createSystem({ clock, askTimeout: 1e9 });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const code = spawnCodeExecution(system, { ...trusted, timeout: 100, approve: () => promise });
  await Promise.all([import("acorn"), import("@sveltejs/acorn-typescript")]);
  const running = code.ask("execute", { code: "await new Promise((go) => (globalThis.goOn = go)); 1" });
  await clock.advance(1_000_000);
  resolve(true);
  await clock.settle();
  await clock.advance(99);
  (globalThis as unknown as { goOn(): void }).goOn(); // By the code above.
  Reflect.deleteProperty(globalThis, "goOn");
  await clock.settle();
  expect(valueIn((await running)._unsafeUnwrap())).toBe(1);
});

/** Holds all that is asked for until it is answered. */
function holding() {
  const requests: ApprovalRequest[] = [];
  const answers: ((approval: Approval) => void)[] = [];
  const approve: Approve = (request) => {
    requests.push(request);
    return new Promise((resolve) => answers.push(resolve));
  };
  return { requests, answers, approve };
}

test("an asker who gives up aborts the question, and what was asked for never runs", async () => {
  const { requests, answers, approve } = holding();
  await withCode({ ...trusted, approve }, async (_, code) => {
    const asked = await code.ask("execute", { code: "globalThis.ranAlone = 1" }, { timeout: 10 });
    expect(asked._unsafeUnwrapErr().kind).toBe("timeout");
    expect(requests[0]?.signal.aborted).toBe(true);
    while ((await inspectionOf(code)).held !== 0);
    answers[0]?.(true);
    await inspectionOf(code);
    expect(Reflect.has(globalThis, "ranAlone")).toBe(false);
  });
});

test("a session that is ended withdraws its question", async () => {
  const { requests, approve } = holding();
  await withCode({ ...trusted, approve }, async (execute, code) => {
    const opened = (await code.ask("session", {}))._unsafeUnwrap();
    const session = opened.ok ? opened.value.session : "";
    const running = execute("1", { session });
    const waiting = execute("2", { session });
    while (requests.length === 0) await inspectionOf(code);
    await code.ask("endSession", { session });
    expect(errorIn(await waiting).kind).toBe("unavailable");
    expect(requests).toHaveLength(1);
    expect(errorIn(await running)).toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("was ended"),
    });
    expect(requests[0]?.signal.aborted).toBe(true);
  });
});

test("more that wait to be approved than may wait at all are told busy; those that wait are served", async () => {
  const { answers, approve } = holding();
  await withCode({ ...trusted, approve, concurrency: 1, maxWaiting: 1 }, async (execute, code) => {
    const running = [1, 2, 3].map((n) => execute(`${n}`));
    expect(errorIn(await (running[2] ?? execute("1"))).kind).toBe("busy");
    while (answers.length < 2) await inspectionOf(code);
    expect(await inspectionOf(code)).toMatchObject({ held: 2 });
    for (const answer of answers) answer(true);
    expect((await Promise.all(running.slice(0, 2))).map(valueIn)).toEqual([1, 2]);
    expect(await inspectionOf(code)).toMatchObject({ held: 0 });
  });
});

test("nobody is asked about what nobody waits for any more", async () => {
  let asked = 0;
  const request = { kind: "run", code: "1", language: "javascript", isolation: "trusted", input: undefined } as const;
  const answer = await approveRun(() => ++asked > 0, { ...request, signal: AbortSignal.abort() });
  expect(answer).toMatchObject({ error: { kind: "stopped" } });
  expect(asked).toBe(0);
  const waited = unlessAborted(new Promise(() => {}), AbortSignal.abort());
  expect(await waited).toMatchObject({ error: { kind: "stopped" } });
});

test("P14: an approval that has come leaves no listener at the signal of its asker", async () => {
  const { signal } = new AbortController();
  const rejected = Promise.reject(new Error("broken"));
  const coming = [unlessAborted(1, signal), unlessAborted(rejected, signal).catch(() => 2)];
  expect(getEventListeners(signal, "abort")).toHaveLength(2);
  expect(await Promise.all(coming)).toEqual([1, 2]);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});
