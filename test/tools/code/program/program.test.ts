import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import * as z from "zod";
import { createSystem, defineProtocol, isDeliveryError, type Supervision, type System, Type } from "../../../../src";
import { createManualClock } from "../../../../src/testing";
import { type LogEntry, ProgramError, type ProgramOptions, spawnProgram } from "../../../../src/tools";
import { tiers } from "../tiers";

const Counter = defineProtocol("counter", {
  add: { payload: Type.Number() },
  total: { reply: Type.Number() },
  fail: { payload: Type.String(), reply: Type.Number() },
});
const counting = `
let n = 0;
({
  add(by) { n += by; return "not told"; },
  total: () => n,
  fail(how) {
    if (how === "throw") throw new RangeError("on purpose");
    return how;
  },
})`;

const silent = { warn() {}, error() {} };
const LONG = 30_000;

async function withSystem(body: (system: System) => Promise<void>, supervision: Supervision = {}): Promise<void> {
  const system = createSystem({ logger: silent, askTimeout: 20_000, supervision });
  try {
    await body(system);
  } finally {
    await system.shutdown({ timeout: 5_000 });
  }
}

/** Why a message failed. */
async function causeOf(asked: Promise<{ isOk(): boolean; error?: unknown }>): Promise<ProgramError> {
  const answer = await asked;
  const error = "error" in answer ? answer.error : undefined;
  if (!isDeliveryError(error) || error.kind !== "handler-failed") throw new Error(`It gave ${Bun.inspect(answer)}.`);
  if (!(error.cause instanceof ProgramError)) throw error.cause;
  return error.cause;
}

const value = async <Value>(asked: Promise<{ isOk(): boolean; _unsafeUnwrap(): Value }>): Promise<Value> =>
  (await asked)._unsafeUnwrap();

/** The processes that this one has started and that are there. */
function children(): number[] {
  const found: number[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const [, state, parent] = /\) (\S) (\d+) /.exec(readFileSync(`/proc/${name}/stat`, "utf8")) ?? [];
      if (Number(parent) === process.pid && state !== "Z") found.push(Number(name));
    } catch {
      // It ended meanwhile.
    }
  }
  return found;
}

describe.each([...tiers])("a program in $isolation", ({ isolation, isIsolated }) => {
  const options: ProgramOptions = { isolation };

  test(
    "has a function for each operation, and keeps its state from message to message",
    async () => {
      await withSystem(async (system) => {
        const counter = spawnProgram(system, "counter", counting, { ...options, protocol: Counter });
        counter.tell("add", 2);
        counter.tell("add", 3);
        expect(await value(counter.ask("total"))).toBe(5);
        expect((await counter.ask("add", 1))._unsafeUnwrap()).toBeUndefined();
        expect(await value(counter.ask("total"))).toBe(6);
      });
    },
    LONG,
  );

  test(
    "may be one function, of the payload and the operation, in TypeScript, and wait",
    async () => {
      await withSystem(async (system) => {
        const source = `
          interface Asked { n: number }
          const before: unknown[] = [];
          await null;
          return async (asked: Asked, operation: string) => {
            await null;
            before.push(asked);
            return [operation, asked?.n ?? null, before.length];
          };`;
        const program = spawnProgram(system, "program", source, { ...options, language: "typescript" });
        expect(await value(program.ask("run", { n: 4 }))).toEqual(["run", 4, 1]);
        expect(await value(program.ask("run"))).toEqual(["run", null, 2]);
      });
    },
    LONG,
  );

  test(
    "P5: is asked with no more than its limit, and keeps its state where that is refused",
    async () => {
      const limited = { ...options, maxInputBytes: 1_000 };
      await withSystem(
        async (system) => {
          const counter = spawnProgram(system, "counter", counting, { ...limited, protocol: Counter });
          counter.tell("add", 2);
          const { error } = await causeOf(counter.ask("fail", "xy".repeat(2 ** 29)));
          expect(error).toMatchObject({ kind: "input-limit", message: expect.stringContaining("1000 bytes") });
          expect(await value(counter.ask("total"))).toBe(2);
        },
        { decide: () => "resume" },
      );
    },
    LONG,
  );

  test(
    "that throws fails the message, with its place in the source; a restart begins with a new state",
    async () => {
      await withSystem(async (system) => {
        const counter = spawnProgram(system, "counter", counting, { ...options, protocol: Counter });
        counter.tell("add", 2);
        const error = await causeOf(counter.ask("fail", "throw"));
        expect(error.message).toStartWith("RangeError: on purpose (line 7, column ");
        expect(error.error).toMatchObject({ kind: "runtime-error", name: "RangeError", line: 7 });
        expect(error.error.stack?.map(({ line }) => line)).toEqual([7]);
        expect(error.stack).toBe(`ProgramError: ${error.message}\n    at program:7:${error.error.column}`);
        expect(await value(counter.ask("total"))).toBe(0);
      });
    },
    LONG,
  );

  test(
    "goes on with its state where its supervisor says so",
    async () => {
      await withSystem(
        async (system) => {
          const counter = spawnProgram(system, "counter", counting, { ...options, protocol: Counter });
          counter.tell("add", 2);
          await causeOf(counter.ask("fail", "throw"));
          expect(await value(counter.ask("total"))).toBe(2);
        },
        { decide: () => "resume" },
      );
    },
    LONG,
  );

  test(
    "gets what its protocol takes, and gives what it promises",
    async () => {
      await withSystem(async (system) => {
        const Strict = defineProtocol("strict", {
          shout: { payload: z.string().transform((text) => text.toUpperCase()), reply: z.string() },
          number: { reply: Type.Number() },
        });
        const source = "({ shout: (text) => text, number: () => 'one' })";
        const strict = spawnProgram(system, "strict", source, { ...options, protocol: Strict });
        expect(await value(strict.ask("shout", "hey"))).toBe("HEY");
        expect((await strict.ask("shout", 1 as never))._unsafeUnwrapErr().kind).toBe("invalid-payload");
        const failed = (await strict.ask("number"))._unsafeUnwrapErr();
        expect(failed.kind).toBe("handler-failed");
        expect(failed.message).toContain('reply to "number" does not fit the schema: it must be a number');
      });
    },
    LONG,
  );

  test(
    "that does not compile, throws, or gives no behaviour fails each message, until its supervisor has enough",
    async () => {
      await withSystem(
        async (system) => {
          const cases: readonly [source: string, kind: string, sentence: string][] = [
            ["const a = 1;\nlet b = ;", "compile-error", "(line 2, column 9)"],
            ["\n\nnull.x", "runtime-error", "(line 3, column"],
            ["1", "runtime-error", "gives no behaviour (number); return an object with a function for each"],
            ["null", "runtime-error", "gives no behaviour (object)"],
            ["({ add() {}, total: 1 })", "runtime-error", "no function for total, fail"],
            ["({ get add() { throw new Error('got') } })", "runtime-error", "Error: got (line 1, column"],
          ];
          for (const [index, [source, kind, sentence]] of cases.entries()) {
            const program = spawnProgram(system, `program-${index}`, source, { ...options, protocol: Counter });
            const error = await causeOf(program.ask("total"));
            expect(error.kind).toBe(kind as typeof error.kind);
            expect(error.message).toContain(sentence);
            expect((await causeOf(program.ask("total"))).message).toBe(error.message);
            expect((await program.ask("total"))._unsafeUnwrapErr().kind).toBe("stopped");
          }
        },
        { limit: 1, beyondLimit: "stop" },
      );
    },
    LONG,
  );

  test(
    "that was not asked for anything fails nothing, and is not started again and again",
    async () => {
      await withSystem(async (system) => {
        let restarts = 0;
        system.events.subscribe((event) => {
          if (event.kind === "restarted") restarts++;
        });
        const program = spawnProgram(system, "program", "throw 1", options);
        const other = spawnProgram(system, "other", "() => 1", options);
        await other.ask("run");
        expect(restarts).toBe(0);
        await causeOf(program.ask("run"));
      });
    },
    LONG,
  );

  test(
    "whose message takes too long fails it",
    async () => {
      await withSystem(async (system) => {
        const source = "let n = 0; (wait) => (n++, wait ? new Promise((go) => (globalThis.go = go)) : n)";
        const program = spawnProgram(system, "program", source, { ...options, timeout: 1_500 });
        expect(await value(program.ask("run"))).toBe(1);
        const error = await causeOf(program.ask("run", true));
        // The sandbox sees that nothing will ever come.
        expect(error.kind).toBe(isolation === "sandbox" ? "runtime-error" : "timeout");
        expect(await value(program.ask("run"))).toBe(1);
        if (!isIsolated) return;
        const endless = spawnProgram(system, "endless", "() => { for (;;); }", { ...options, timeout: 100 });
        expect((await causeOf(endless.ask("run"))).kind).toBe("timeout");
        expect((await causeOf(endless.ask("run"))).kind).toBe("timeout");
      });
    },
    LONG,
  );

  test(
    "goes on where its asker gives up",
    async () => {
      await withSystem(async (system) => {
        const source = "let n = 0; async (gate) => { n++; if (gate) await tools.gate.pass(); return n }";
        const Gate = defineProtocol("gate", { pass: {} });
        const { promise, resolve } = Promise.withResolvers<void>();
        const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
        const gate = system.spawn("gate", Gate, () => ({
          pass() {
            enter();
            return promise;
          },
        }));
        const program = spawnProgram(system, "program", source, { ...options, tools: { gate } });
        const giving = new AbortController();
        const asked = program.ask("run", true, { signal: giving.signal });
        await entered;
        giving.abort();
        expect((await asked)._unsafeUnwrapErr().kind).toBe("cancelled");
        const next = program.ask("run", false);
        resolve();
        expect(await value(next)).toBe(2);
      });
    },
    LONG,
  );

  test(
    "calls its tools, as it starts and as it handles messages, each of which has its own budget",
    async () => {
      await withSystem(async (system) => {
        const counter = system.spawn("counter", Counter, () => {
          let n = 0;
          return {
            add: (by) => {
              n += by;
            },
            total: () => n,
            fail: () => 1,
          };
        });
        const source = `
          await tools.counter.add(10);
          async (by) => {
            await tools.counter.add(by);
            const total = await tools.counter.total();
            try {
              await tools.counter.total();
            } catch (error) {
              return [total, error.name, error.kind];
            }
          }`;
        const seen: string[] = [];
        const program = spawnProgram(system, "program", source, {
          ...options,
          tools: { counter },
          toolLimits: { calls: 2 },
          approve: (request) => {
            if (request.kind === "call") seen.push(request.operation);
            return true;
          },
        });
        expect(await value(program.ask("run", 1))).toEqual([11, "ToolError", "budget"]);
        expect(await value(program.ask("run", 2))).toEqual([13, "ToolError", "budget"]);
        expect(seen).toEqual(["add", "add", "total", "add", "total"]);
      });
    },
    LONG,
  );

  test(
    "logs to who listens, from its start on; a listener that throws fails the message",
    async () => {
      await withSystem(async (system) => {
        const entries: LogEntry[] = [];
        const onLog = (entry: LogEntry) => {
          entries.push(entry);
          if (entry.text === "stop") throw new Error("no more");
        };
        const source = "console.warn('up'); (text) => { console.log(text); return 1 }";
        const program = spawnProgram(system, "program", source, { ...options, onLog });
        expect(await value(program.ask("run", "hey"))).toBe(1);
        expect(entries.map(({ level, text }) => `${level} ${text}`)).toEqual(["warn up", "log hey"]);
        expect((await program.ask("run", "stop"))._unsafeUnwrapErr()).toMatchObject({ cause: new Error("no more") });
        expect(await value(program.ask("run", "on"))).toBe(1);
      });
    },
    LONG,
  );

  test(
    "is refused what JSON cannot hold, and gives none of it",
    async () => {
      await withSystem(async (system) => {
        const program = spawnProgram(system, "program", "(n) => (n === 1 ? 1n : n)", options);
        for (const payload of [new Uint8Array(3), 1n, { m: new Map() }, 1]) {
          expect((await causeOf(program.ask("run", payload))).kind).toBe("unserializable-value");
        }
      });
    },
    LONG,
  );

  test(
    "leaves no process when its actor stops, also while it runs",
    async () => {
      await withSystem(async (system) => {
        const before = new Set(children());
        const started = Promise.withResolvers<void>();
        const onLog = () => started.resolve();
        const busy = isIsolated ? "for (;;);" : "await new Promise(() => {});";
        const source = `async (busy) => { if (busy) { console.log("busy"); ${busy} } }`;
        const program = spawnProgram(system, "program", source, { ...options, timeout: 60_000, onLog });
        await program.ask("run", false);
        const own = children().filter((pid) => !before.has(pid));
        if (isIsolated) expect(own.length).toBeGreaterThan(0);
        const asked = program.ask("run", true);
        await started.promise;
        await system.shutdown({ timeout: 5_000 });
        expect((await asked).isErr()).toBe(true);
        expect(children().filter((pid) => own.includes(pid))).toEqual([]);
      });
    },
    LONG,
  );

  test(
    "gives up what it has called and did not wait for",
    async () => {
      await withSystem(async (system) => {
        const Gate = defineProtocol("gate", { pass: {} });
        const entered = Promise.withResolvers<void>();
        const givenUp = Promise.withResolvers<void>();
        const gate = system.spawn("gate", Gate, (ctx) => ({
          async pass() {
            ctx.signal.addEventListener("abort", () => givenUp.resolve());
            entered.resolve();
            await givenUp.promise;
          },
        }));
        const Entrance = defineProtocol("entrance", { wait: {} });
        const entrance = system.spawn("entrance", Entrance, () => ({ wait: () => entered.promise }));
        const source = "async () => { tools.gate.pass().catch(() => {}); await tools.entrance.wait(); return 1 }";
        const program = spawnProgram(system, "program", source, { ...options, tools: { gate, entrance } });
        expect(await value(program.ask("run"))).toBe(1);
        await givenUp.promise;
      });
    },
    LONG,
  );

  if (isIsolated) {
    test(
      "leaves no process where its actor is abandoned in the middle of a message",
      async () => {
        await withSystem(async (system) => {
          const before = new Set(children());
          const Gate = defineProtocol("gate", { pass: {} });
          const entered = Promise.withResolvers<void>();
          const gate = system.spawn("gate", Gate, () => ({
            async pass() {
              entered.resolve();
              await new Promise(() => {});
            },
          }));
          const program = spawnProgram(system, "program", "() => tools.gate.pass()", { ...options, tools: { gate } });
          void program.ask("run");
          await entered.promise;
          const own = children().filter((pid) => !before.has(pid));
          expect(own.length).toBeGreaterThan(0);
          await system.shutdown({ timeout: 0 });
          while (children().some((pid) => own.includes(pid))) await new Promise(setImmediate);
        });
      },
      LONG,
    );

    test(
      "whose process is killed fails a message, and begins anew in another one",
      async () => {
        await withSystem(async (system) => {
          const before = new Set(children());
          const program = spawnProgram(system, "program", "let n = 0; () => ++n", options);
          expect(await value(program.ask("run"))).toBe(1);
          expect(await value(program.ask("run"))).toBe(2);
          for (const pid of children()) if (!before.has(pid)) process.kill(pid, "SIGKILL");
          const error = await causeOf(program.ask("run"));
          expect(error.kind).toBe("crashed");
          expect(error.message).toContain("process of the program has ended");
          expect(await value(program.ask("run"))).toBe(1);
        });
      },
      LONG,
    );

    test(
      "that needs more memory than it may have fails its message",
      async () => {
        await withSystem(async (system) => {
          const source =
            "const all = []; (more) => { while (more) all.push(new Array(10_000).fill(1)); return all.length }";
          const program = spawnProgram(system, "program", source, { ...options, memory: 32 * 1024 * 1024 });
          expect(await value(program.ask("run"))).toBe(0);
          expect(["out-of-memory", "crashed"]).toContain((await causeOf(program.ask("run", true))).kind);
          expect(await value(program.ask("run"))).toBe(0);
        });
      },
      LONG,
    );
  }
});

test("a long source is read, and a restart does without its reader", async () => {
  await withSystem(async (system) => {
    const source = `/*${"x".repeat(60_000)}*/\n(x) => { if (x) throw new Error("x"); return 2 }`;
    const program = spawnProgram(system, "program", source, { isolation: "trusted" });
    expect(await value(program.ask("run", false))).toBe(2);
    expect((await causeOf(program.ask("run", true))).error.line).toBe(2);
    expect(await value(program.ask("run", false))).toBe(2);
  });
});

test("restarts wait as the supervisor of any actor says", async () => {
  const clock = createManualClock();
  const supervision = { backoff: { initial: 500, jitter: 0 } };
  const system = createSystem({ clock, logger: silent, supervision });
  const source = "(x) => { if (x) throw 1; return 2 }";
  const program = spawnProgram(system, "program", source, { isolation: "trusted" });
  await Promise.all([import("acorn"), import("@sveltejs/acorn-typescript")]);
  const failing = program.ask("run", true);
  await clock.settle();
  await causeOf(failing);
  let answer: unknown;
  void program.ask("run", false).then((given) => {
    answer = given.unwrapOr(0);
  });
  await clock.advance(499);
  expect(answer).toBeUndefined();
  await clock.advance(1);
  await clock.settle();
  expect(answer).toBe(2);
  await system.shutdown();
});

test("what can be no program is refused at once, with what to write", async () => {
  await withSystem(async (system) => {
    const spawn = (options: unknown, source: unknown = "1") =>
      spawnProgram(system, "program", source as string, options as ProgramOptions);
    const Ticks = defineProtocol("ticks", { ticks: { stream: Type.Number() } });
    const cases: readonly [unknown, string][] = [
      [null, "are an object"],
      [{ time: 1 }, 'There is no option "time" of a program; write one of protocol, isolation'],
      [{ protocol: Ticks }, 'has the stream "ticks"; write one without it'],
      [{ protocol: {} }, "The protocol of a program"],
      [{ isolation: "vm" }, '"vm"'],
      [{ timeout: 0 }, "timeout"],
      [{ language: "python" }, '"javascript" or "typescript"; got "python"'],
      [{ tools: { a: 1 } }, 'The tool "a" is no reference'],
      [{ toolLimits: { calls: 0 } }, "toolLimits.calls"],
      [{ approve: 1 }, "approve"],
      [{ onLog: 1 }, "The onLog of a program is a function"],
      [{ capacity: 0 }, "capacity"],
      [{ supervision: {} }, 'There is no option "supervision"'],
    ];
    for (const [options, sentence] of cases) expect(() => spawn(options)).toThrow(sentence);
    expect(() => spawn({}, 1)).toThrow("The source of a program is a text");
    expect(system.inspect().length).toBe(0);
  });
});
