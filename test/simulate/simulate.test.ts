import { describe, expect, test } from "bun:test";
import { defineProtocol, Type } from "../../src/index";
import {
  SimulatedFault,
  type SimulatedProgram,
  type SimulateOptions,
  SimulationError,
  simulate,
} from "../../src/testing/index";
import { answered } from "../savina/answered";
import { chameneos } from "../savina/chameneos";
import {
  deadlock,
  forgetsOnRestart,
  handlesTwice,
  lostUpdate,
  orderOfTwoSenders,
  waitsForTheDead,
} from "./wrong-programs";

const Echo = defineProtocol("echo", { say: { payload: Type.String(), reply: Type.String() } });
const Counter = defineProtocol("counter", { add: { payload: Type.Number() }, total: { reply: Type.Number() } });
const Clock = defineProtocol("clock", { start: {}, ticks: { reply: Type.Number() } });

/** The error that a simulation has to fail with. */
async function failureOf(program: SimulatedProgram, options: SimulateOptions): Promise<SimulationError> {
  const outcome = await simulate(program, options).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(outcome).toBeInstanceOf(SimulationError);
  if (!(outcome instanceof SimulationError)) throw new Error("It did not fail.");
  return outcome;
}

describe("it finds what is wrong with", () => {
  const wrong: [what: string, SimulatedProgram, sentence: string, SimulateOptions][] = [
    ["an order between two senders", orderOfTwoSenders, "the log begins with second", {}],
    ["an update that another one overwrites", lostUpdate, "2 clients added one each, and it is 1", {}],
    ["two locks that are taken in opposite orders", deadlock, "the program cannot go on", {}],
    ["a state that a restart forgets", forgetsOnRestart, "were acknowledged, and", { faults: { throw: 0.05 } }],
    ["a retry of what was handled", handlesTwice, "it was to be counted once, and was ", { faults: { expire: 0.2 } }],
    ["a wait for one who died", waitsForTheDead, "the program cannot go on", { faults: { stop: 0.05 } }],
  ];
  for (const [what, program, sentence, options] of wrong) {
    test(what, async () => {
      const { message, seed, trace } = await failureOf(program, { ...options, seeds: 200 });
      expect(message).toStartWith(`Seed ${seed} fails: `);
      expect(message).toContain(sentence);
      expect(message).toContain(`simulate(program, { seed: ${seed}`);
      expect(trace.length).toBeGreaterThan(0);
      const replayed = await failureOf(program, { ...options, seed });
      expect(replayed.message).toBe(message);
      expect(replayed.trace).toEqual(trace);
    });
    if (options.faults === undefined) continue;
    test(`${what}, and only with that fault`, async () => {
      await simulate(program, { seeds: 200 });
    });
  }
});

describe("it tells of", () => {
  test("who is in the middle of what, where nothing can go on", async () => {
    const never = Promise.withResolvers<string>();
    const { message } = await failureOf(
      async ({ system }) => {
        const echo = system.spawn("echo", Echo, () => ({ say: () => never.promise }));
        echo.tell("say", "a");
        await echo.ask("say", "b", { timeout: Number.POSITIVE_INFINITY });
      },
      { seed: 1 },
    );
    expect(message).toContain('(@(echo) is awaiting: "say" for 0 ms, 1 queued)');
  });

  test("messages that the program left in a stash", async () => {
    const keeps: SimulatedProgram = ({ system }) => {
      system.spawn("echo", Echo, (ctx) => ({ say: () => ctx.stash() })).tell("say", "hi");
    };
    const { message } = await failureOf(keeps, { seed: 1 });
    expect(message).toContain("1 messages are queued and 0 are being handled: @(echo) is idle, 1 queued");
    await simulate(keeps, { seed: 1, unfinished: "allow" });
  });

  test("a handler that throws, unless that is expected", async () => {
    const program: SimulatedProgram = async ({ system }) => {
      const echo = system.spawn("echo", Echo, () => ({
        say() {
          throw new RangeError("too loud");
        },
      }));
      expect((await echo.ask("say", "hi")).isErr()).toBe(true);
    };
    const { message } = await failureOf(program, { seed: 1 });
    expect(message).toContain('@(echo) failed at "say", which nobody expected: RangeError(too loud)');
    await simulate(program, { seed: 1, expected: ({ error }) => error instanceof RangeError });
  });

  test("a program that comes to no end", async () => {
    const { message } = await failureOf(
      ({ system }) => {
        const echo = system.spawn("echo", Echo, (ctx) => ({
          say(text) {
            ctx.tell(ctx.self, "say", text);
            return text;
          },
        }));
        echo.tell("say", "again");
      },
      { seed: 1, maxSteps: 500 },
    );
    expect(message).toContain("it has not come to an end within 500 turns");
  });

  test("a program in which a timer sets itself again without end, and no actor has a turn for it", async () => {
    const { message } = await failureOf(
      async ({ system }) => {
        const counter = system.spawn("counter", Counter, ({ clock }) => ({
          add() {
            const again = (): void => void clock.setTimer(again, 1);
            again();
          },
          total: () => 0,
        }));
        counter.tell("add", 1);
        await new Promise(() => {});
      },
      { seed: 1, maxSteps: 500 },
    );
    expect(message).toContain("it has not come to an end within 500 turns");
  });

  test("a check that does not hold after some turn, and the turn", async () => {
    let total = 0;
    const { message, trace } = await failureOf(
      ({ system, always }) => {
        total = 0;
        const counter = system.spawn("counter", Counter, () => ({
          add(n) {
            total += n;
          },
          total: () => total,
        }));
        always(() => {
          if (total > 2) throw new Error("the total is above 2");
        });
        for (let i = 0; i < 5; i++) counter.tell("add", 1);
      },
      { seed: 1, trace: () => undefined },
    );
    expect(message).toContain("the total is above 2");
    expect(trace.filter((line) => line.includes("← add")).length).toBeGreaterThanOrEqual(3);
    expect(trace.at(-1)).toContain("@(counter) ← add 1");
  });

  test("what does not hold in the end", async () => {
    const { message } = await failureOf(({ eventually }) => eventually(() => Promise.reject(new Error("it is late"))), {
      seed: 1,
    });
    expect(message).toContain("it is late");
  });

  test("a program that does not give the same again", async () => {
    let runs = 0;
    const { message } = await failureOf(
      () => {
        if (runs++ === 0) throw new Error("only once");
      },
      { seed: 1 },
    );
    expect(message).toContain("only once");
    expect(message).toContain("It did not fail when it was run again for its trace");
  });
});

describe("a seed", () => {
  const program: SimulatedProgram = async ({ system }) => {
    await Promise.race([chameneos(system, { creatures: 5, meetings: 30 }), new Promise(() => undefined)]);
  };
  const options: SimulateOptions = {
    faults: { throw: 0.01, stop: 0.01, delay: 0.05, expire: 0.02 },
    unfinished: "allow",
    trace: () => undefined,
  };

  test("gives the same run, message by message", async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const first = await simulate(program, { ...options, seed });
      expect(first.trace.length).toBeGreaterThan(10);
      expect(await simulate(program, { ...options, seed })).toEqual(first);
    }
  });

  test("gives the same run whether it is traced or not", async () => {
    for (let seed = 1; seed <= 50; seed++) {
      for (const faults of [{ delay: 0.05, stop: 0.01 }, options.faults ?? {}]) {
        const { trace: _, ...traced } = await simulate(program, { ...options, faults, seed });
        const { trace: __, ...untraced } = await simulate(program, { ...options, faults, seed, trace: false });
        expect(untraced).toEqual(traced);
      }
    }
  });

  test("differs from others: 20 seeds give many runs", async () => {
    const traces = new Set<string>();
    for (let seed = 1; seed <= 20; seed++) {
      traces.add((await simulate(program, { seed, trace: () => undefined })).trace.join("\n"));
    }
    expect(traces.size).toBeGreaterThanOrEqual(12); // Two that take turns in the same way give the same.
  });

  test("is what the runs begin with", async () => {
    const seen: number[] = [];
    const { runs } = await simulate(({ seed }) => void seen.push(seed), { firstSeed: 7, seeds: 3 });
    expect({ seen, runs }).toEqual({ seen: [7, 8, 9], runs: 3 });
  });

  test("gives the program the same numbers", async () => {
    const drawn: number[] = [];
    for (let i = 0; i < 2; i++) await simulate(({ random }) => void drawn.push(random.next()), { seed: 3 });
    expect(drawn[0]).toBe(drawn[1] ?? Number.NaN);
  });
});

describe("a trace", () => {
  test("has each message, fault, dead letter and passing of time", async () => {
    const lines: string[] = [];
    const { trace } = await simulate(
      async ({ system, fault, advance }) => {
        const echo = system.spawn("echo", Echo, () => ({ say: (text) => text }));
        fault.throw(echo);
        await echo.ask("say", "one");
        fault.delay(echo, 20);
        await echo.ask("say", "two");
        fault.stop(echo);
        await advance(10);
        echo.tell("say", "three");
      },
      { seed: 1, trace: (line) => lines.push(line) },
    );
    expect(lines).toEqual([...trace]);
    expect(trace.map((line) => line.slice(8))).toEqual([
      '@(echo) ← say "one"',
      "fault: @(echo) throws at say",
      expect.stringMatching(/^warning: envoi: "say" to @\(echo\) failed in its handler: .*; it restarts\.$/),
      "fault: @(echo) waits 20 ms for its turn",
      '@(echo) failed at say: SimulatedFault(a simulated fault at "say"); restart',
      "time passes from 0 to 20 ms",
      '@(echo) ← say "two"',
      "fault: @(echo) is stopped",
      "time passes from 20 to 30 ms",
      expect.stringMatching(/^warning: envoi: dead letter \(stopped\)/),
      "dead letter: say to @(echo) (stopped)",
      "the program has ended",
    ]);
  });
});

describe("time", () => {
  test("passes by itself when nobody has anything to do, and takes none", async () => {
    await simulate(
      async (simulation) => {
        const { system, advance } = simulation;
        const clock = system.spawn("clock", Clock, (ctx) => {
          let ticks = 0;
          const tick = (times: number): void => {
            ticks += times;
          };
          return { start: () => ctx.timers.fixedRate("tick", 1_000, tick), ticks: () => ticks };
        });
        clock.tell("start");
        await advance(3_600_000);
        expect(simulation.now).toBe(3_600_000);
        expect(answered(await clock.ask("ticks"))).toBeWithin(3_599, 3_601);
      },
      { seeds: 5 },
    );
  });

  test("does not pass while there is something to do, but for the fault `expire`", async () => {
    const program: SimulatedProgram = async ({ system }) => {
      const echo = system.spawn("echo", Echo, () => ({ say: (text) => text }));
      for (let i = 0; i < 20; i++) echo.tell("say", "busy");
      answered(await echo.ask("say", "hi", { timeout: 1 }));
    };
    await simulate(program, { seeds: 200 });
    const { message } = await failureOf(program, { seeds: 200, faults: { expire: 0.1 } });
    expect(message).toContain("timeout");
  });

  test("stands still while the program settles", async () => {
    await simulate(
      async (simulation) => {
        const counter = simulation.system.spawn("counter", Counter, () => {
          let total = 0;
          return {
            add(n) {
              total += n;
            },
            total: () => total,
          };
        });
        for (let i = 0; i < 50; i++) counter.tell("add", 1);
        await simulation.settle();
        expect(simulation.system.router.audit()).toMatchObject({ handled: 50, queued: 0 });
        expect(simulation.now).toBe(0);
      },
      { seeds: 20 },
    );
  });

  test("goes on while the program settles where a turn is delayed by a fault", async () => {
    const { faults } = await simulate(
      async (simulation) => {
        const counter = simulation.system.spawn("counter", Counter, () => ({ add() {}, total: () => 0 }));
        for (let i = 0; i < 5; i++) {
          counter.tell("add", 1);
          await simulation.settle();
          expect(simulation.system.router.audit()).toMatchObject({ handled: i + 1, queued: 0 });
        }
      },
      { seeds: 20, faults: { delay: 0.5, longestDelay: 10 } },
    );
    expect(faults.delay).toBeGreaterThan(20);
  });

  test("cannot go back", async () => {
    await simulate(({ advance }) => expect(() => advance(-1)).toThrow("Time goes forward"), { seed: 1 });
  });
});

describe("faults", () => {
  test("are thrown into handlers as SimulatedFault, which is expected", async () => {
    let thrown = 0;
    const { faults } = await simulate(
      async ({ system }) => {
        const echo = system.spawn("echo", Echo, () => ({ say: (text) => text }));
        for (let i = 0; i < 10; i++) {
          const reply = await echo.ask("say", "hi");
          if (reply.isOk()) continue;
          expect(reply.error.kind).toBe("handler-failed");
          expect(reply.error.kind === "handler-failed" && reply.error.cause).toBeInstanceOf(SimulatedFault);
          thrown++;
        }
      },
      {
        seeds: 100,
        faults: { throw: 0.1 },
        expected: () => false,
        system: { supervision: { decide: () => "resume" } },
      },
    );
    expect(faults.throw).toBe(thrown);
    expect(thrown).toBeWithin(50, 200);
  });

  test("hit only whom they may", async () => {
    const { faults } = await simulate(
      async ({ system }) => {
        const [good, bad] = ["good", "bad"].map((name) => system.spawn(name, Echo, () => ({ say: (text) => text })));
        for (let i = 0; i < 5; i++) {
          if (good !== undefined) answered(await good.ask("say", "hi"));
          await bad?.ask("say", "hi");
        }
      },
      { seeds: 100, faults: { throw: 0.2, stop: 0.05, delay: 0.1, only: (address) => address === "@(bad)" } },
    );
    for (const kind of ["throw", "stop", "delay"] as const) expect(faults[kind]).toBeGreaterThan(0);
  });

  test("end with the program: what is checked in the end goes well", async () => {
    await simulate(
      ({ system, eventually }) => {
        const echo = system.spawn("echo", Echo, () => ({ say: (text) => text }));
        eventually(async () => {
          for (let i = 0; i < 20; i++) answered(await echo.ask("say", "hi"));
        });
      },
      { seeds: 20, faults: { throw: 1, stop: 1, expire: 1 } },
    );
  });

  test("can be asked for: the next wait expires though the reply is on its way", async () => {
    await simulate(
      async ({ system, fault }) => {
        const echo = system.spawn("echo", Echo, () => ({ say: (text) => text }));
        fault.delay(echo, 50);
        const late = echo.ask("say", "hi", { timeout: 10 });
        expect((await late).isErr()).toBe(true);
        expect(() => fault.delay(echo, 0)).toThrow("above 0");
        fault.expire(); // There is nothing to expire.
      },
      { seeds: 20 },
    );
  });
});

test("options that cannot be ones are refused, and what to write is told", () => {
  const program: SimulatedProgram = () => undefined;
  const refused: [options: object, sentence: string][] = [
    [{ sedes: 1 }, 'There is no option "sedes"; write one of seeds,'],
    [{ faults: { crash: 1 } }, 'There is no fault "crash"; write one of throw,'],
    [{ faults: { throw: 2 } }, 'The fault "throw" has a probability from 0 to 1; got 2.'],
    [{ faults: { longestDelay: 0 } }, "longestDelay is a number of milliseconds above 0; got 0."],
    [{ unfinished: true }, 'unfinished is "fail" or "allow"; got true.'],
    [{ maxSteps: 0 }, "maxSteps is a whole number from 1; got 0."],
    [{ seeds: 0 }, "seeds and firstSeed are whole numbers, seeds from 1; got 0, 1."],
    [{ seed: 0.5 }, "A seed is a whole number; got 0.5."],
    [{ seed: 1, seeds: 2 }, "seed is the one seed to try, and seeds is how many: write one of the two."],
    [{ expected: true }, "expected is a function, such as (failure) => true; got true."],
    [{ faults: { only: "@(a)" } }, "only, of faults, is a function, such as (address) => true; got '@(a)'."],
    [{ trace: "all" }, "trace is true, false, or a function of a line; got 'all'."],
    [{ system: null }, "system is an object, such as { askTimeout: 500 }; got null."],
    [{ system: "fast" }, "system is an object, such as { askTimeout: 500 }; got 'fast'."],
    ...["clock", "logger", "random", "dispatcher"].map((key): [object, string] => [
      { system: { [key]: () => 0 } },
      `A simulation brings its own ${key}, or a seed would not replay its run; leave it out of system.`,
    ]),
  ];
  for (const [options, sentence] of refused) {
    expect(simulate(program, options as SimulateOptions)).rejects.toThrow(sentence);
  }
  // What the compiler refuses too.
  expect(simulate(1 as unknown as SimulatedProgram)).rejects.toThrow("simulate() takes a function of a simulation");
});
