import { describe, expect, test } from "bun:test";
import { type Clock, createSystem, defineProtocol, systemClock, Type } from "../../../src/index";
import { NotRecorded, type RecordingLine, recorder, replay } from "../../../src/record/index";
import { Library } from "../../../src/record/replay/library";
import { Tape } from "../../../src/record/replay/tape";
import { createManualClock } from "../../../src/testing/index";
import { folders } from "../recorded";
import { ask, end, item, lines, stream } from "./lines";

const folder = folders();
const Model = defineProtocol("model", {
  think: { payload: Type.String(), reply: Type.String() },
  tokens: { payload: Type.Number(), stream: Type.Number() },
});
const quiet = { warn() {}, error() {} };
const outside = { from: "@(agent)", world: true as const, outside: "model" };
const at = "@(gpt)";

/** A system whose model is answered from lines. */
async function modelOf(recorded: readonly RecordingLine[], tail = "", clock: Clock = systemClock) {
  const to = `${folder()}/run.ndjson`;
  await Bun.write(to, recorded.map((line) => `${JSON.stringify(line)}\n`).join("") + tail);
  const warnings: string[] = [];
  const system = createSystem({ clock, logger: { warn: (line) => void warnings.push(String(line)), error() {} } });
  const recording = recorder(system, { to, mode: "replay" });
  const model = recording.outside("model", Model, () => {
    throw new Error("is not called");
  });
  // A call by an actor: that of a program outside of actors is another one.
  const Asker = defineProtocol("asker", {
    ask: { payload: Type.String(), reply: Type.Unknown() },
    read: { payload: Type.Number(), reply: Type.Unknown() },
  });
  const agent = system.spawn(
    "agent",
    Asker,
    (ctx) => ({
      ask: async (text) =>
        (await ctx.ask(model, "think", text, { timeout: 1_000 })).match(
          (said) => said,
          (error) => error,
        ),
      read: (most) => Array.fromAsync(ctx.stream(model, "tokens", most, { credit: 1 })),
    }),
    { concurrency: 9 },
  );
  return { agent, model, system, recording, warnings };
}

describe("as the world, on any clock", () => {
  test("equal calls get their recorded answers one after the other, and one more is refused", async () => {
    const { agent } = await modelOf(
      lines(
        ask(1, 0, at, "think", "a", outside),
        end(1, 1, { value: "first" }),
        ask(2, 2, at, "think", "a", outside),
        end(2, 3, { value: "second" }),
        ask(3, 4, at, "think", "another", outside),
        end(3, 5, { value: "third" }),
      ),
    );
    const said = async () => (await agent.ask("ask", "a"))._unsafeUnwrap();
    expect([await said(), await said()]).toEqual(["first", "second"]);
    const error = (await said()) as { readonly kind: string; readonly cause: unknown };
    expect(error.kind).toBe("handler-failed");
    expect(error.cause).toBeInstanceOf(NotRecorded);
    expect(String(error.cause)).toContain("was called more often than in the recording");
    expect(String(error.cause)).toContain("all those that are equal to this one are used up: message 1");
    expect(String(error.cause)).toContain("repeat: true");
  });

  test("a call that was not recorded is told the nearest of all that were, used up or late in the recording", async () => {
    const far = Array.from({ length: 600 }, (_, n) => ask(n + 10, n + 10, at, "think", `task ${n}`, outside));
    const { agent } = await modelOf(
      lines(
        ask(1, 0, at, "think", "count the green apples", outside),
        end(1, 1, { value: "3" }),
        ...far,
        ask(1_000, 1_000, at, "think", "count the red pears", outside),
        end(1_000, 1_001, { value: "4" }),
      ),
    );
    const said = async (text: string) => (await agent.ask("ask", text))._unsafeUnwrap();
    const nearestTo = async (text: string) =>
      ((await said(text)) as { readonly cause: NotRecorded }).cause.refusal.nearest;
    expect(await nearestTo("count the red pearls")).toMatchObject({ id: 1_000 });
    expect(await said("count the green apples")).toBe("3");
    expect(await nearestTo("count the great apples")).toEqual({
      id: 1,
      differences: [{ path: "payload", recorded: "count the green apples", replayed: "count the great apples" }],
    });
  });

  test("a call that was recorded with its members in another order is used up, too", () => {
    const { toWorld } = new Tape("run", lines(ask(1, 0, at, "think", { a: 1, b: 2 }, outside), end(1, 1)));
    const options = { match: "content", sharesKey: false, followsOrigins: false, repeats: false } as const;
    const library = new Library(toWorld, options);
    const call = { world: "model", pattern: "ask", operation: "think", payload: { b: 2, a: 1 } } as const;
    expect(library.take(call, undefined)).toBeDefined();
    expect(library.take(call, undefined)).toBeUndefined();
    expect(library.nearest(call)?.differences).toEqual([]);
  });

  test("calls of one turn are answered in the recorded order; a failure fails again; no answer is none", async () => {
    const clock = createManualClock();
    const { agent } = await modelOf(
      lines(
        ask(1, 0, at, "think", "a", outside),
        ask(2, 0, at, "think", "b", outside),
        ask(3, 0, at, "think", "c", outside),
        ask(4, 0, at, "think", "d", outside),
        end(2, 3, { value: "B" }),
        end(1, 4, { value: "A" }),
        end(3, 5, { outcome: "failed", error: { name: "RangeError", message: "too much" } }),
      ),
      "",
      clock,
    );
    const order: string[] = [];
    const asked = ["a", "b", "c", "d"].map(async (text) => {
      const said = (await agent.ask("ask", text))._unsafeUnwrap();
      order.push(text);
      return said;
    });
    await clock.settle();
    expect(order.slice(0, 2)).toEqual(["b", "a"]);
    await clock.advance(1_000);
    const [a, b, c, d] = await Promise.all(asked);
    expect([a, b]).toEqual(["A", "B"]);
    expect(c).toMatchObject({ kind: "handler-failed", cause: { name: "RangeError", message: "too much" } });
    expect(d).toMatchObject({ kind: "timeout" });
  });

  test("streams come item by item, as their reader has room", async () => {
    const { agent } = await modelOf(
      lines(stream(1, 0, at, "tokens", 3, outside), item(1, 1, 10), item(1, 2, 20), item(1, 3, 30), end(1, 4)),
    );
    expect((await agent.ask("read", 3))._unsafeUnwrap()).toEqual([10, 20, 30]);
  });

  test("a reader that takes its time is given no item that it has no room for", async () => {
    const items = [1, 2, 3, 4].map((number) => item(1, number, number));
    const { model, system } = await modelOf(lines(stream(1, 0, at, "tokens", 4, outside), ...items, end(1, 5)));
    const turn = () => new Promise<void>((resolve) => system.clock.macrotask(resolve));
    const read: number[] = [];
    for await (const number of model.stream("tokens", 4, { credit: 1 })) {
      read.push(number);
      for (let turns = 0; turns < 8; turns++) await turn();
    }
    expect(read).toEqual([1, 2, 3, 4]);
  });

  test("an answer that came behind the limit of this asker is none", async () => {
    const clock = createManualClock();
    const recorded = lines(ask(1, 0, at, "think", "a", outside), end(1, 2_000, { value: "A" }));
    const { agent } = await modelOf(recorded, "", clock);
    const asked = agent.ask("ask", "a");
    await clock.advance(1_000);
    expect((await asked)._unsafeUnwrap()).toMatchObject({ kind: "timeout" });
  });

  test("an actor outside that is declared twice is one, until it is stopped", async () => {
    const { model, system, recording } = await modelOf(
      lines(ask(1, 0, at, "think", "a", outside), end(1, 1, { value: "A" })),
    );
    const declare = () => recording.outside("model", Model, () => ({}) as never); // It is not called.
    expect(declare()).toBe(model);
    await system.stop(model);
    const again = declare();
    expect(again).not.toBe(model);
    expect((await again.ask("think", "a"))._unsafeUnwrap()).toBe("A");
    await system.shutdown();
  });

  test("a torn file answers with what it has; one of a later format, or none at all, is refused at once", async () => {
    const { agent } = await modelOf(
      lines(ask(1, 0, at, "think", "a", outside), end(1, 1, { value: "A" })),
      '{"kind":"mess',
    );
    expect((await agent.ask("ask", "a"))._unsafeUnwrap()).toBe("A");
    const later = lines().map((line) => ({ ...line, format: 99 }) as never);
    await expect(modelOf(later)).rejects.toThrow("format 99");
    const system = createSystem();
    expect(() => recorder(system, { to: "/nowhere/run.ndjson", mode: "replay" })).toThrow("no recording at /nowhere");
  });
});

describe("calls of actors outside that were under way when the recording ended", () => {
  const Agent = defineProtocol("agent", { work: { reply: Type.String() } });
  const recorded = lines(
    ask(1, 0, "@(agent)", "work"),
    ask(2, 1, at, "think", "a", { ...outside, cause: 1 }),
    end(2, 2, { value: "A" }),
    ask(3, 3, at, "think", "b", { ...outside, cause: 1 }),
    stream(4, 3, at, "tokens", 3, { ...outside, cause: 1 }),
    item(4, 3, 1),
  );

  test("are told by the report of a replay", async () => {
    const report = await replay(recorded, {
      patience: 0,
      setup({ clock, recorder: inReplay }) {
        const system = createSystem({ clock, logger: quiet });
        const model = inReplay(system).outside("model", Model, () => ({}) as never); // It is not called.
        system.spawn("agent", Agent, (ctx) => ({
          work: async () => (await ctx.ask(model, "think", "a")).unwrapOr(""),
        }));
        return system;
      },
    });
    expect(report.notes).toContain(
      "2 calls of actors outside have no end in the recording, so they got no answer: messages 3, 4.",
    );
  });

  test("are told once at the end of a recording that answers, those that were made", async () => {
    const clock = createManualClock();
    const { agent, system, recording, warnings } = await modelOf(recorded, "", clock);
    const events: unknown[] = [];
    system.events.subscribe((event) => {
      if (event.kind === "record:unanswered") events.push(event.detail);
    });
    const asked = [agent.ask("ask", "a"), agent.ask("ask", "b")];
    await clock.advance(1_000);
    expect(await Promise.all(asked)).toMatchObject([{ value: "A" }, { value: { kind: "timeout" } }]);
    await recording.close();
    await system.shutdown();
    const sentence = "1 call of an actor outside has no end in the recording, so it got no answer: message 3.";
    expect(warnings.filter((line) => line.includes("no end in the recording"))).toHaveLength(1);
    expect(events).toEqual([{ path: recording.path, messages: [3], sentence }]);
  });

  test("are not told where each call had its answer", async () => {
    const clock = createManualClock();
    const { agent, system, warnings } = await modelOf(recorded, "", clock);
    const asked = agent.ask("ask", "a");
    await clock.settle();
    expect((await asked)._unsafeUnwrap()).toBe("A");
    await system.shutdown();
    expect(warnings).toEqual([]);
  });
});

test("a replay that asks later than it was recorded gets the answer when it came, within its own limit", async () => {
  const Agent = defineProtocol("agent", { work: { reply: Type.String() } });
  const recorded = lines(
    ask(1, 0, "@(agent)", "work"),
    ask(2, 0, at, "think", "a", { ...outside, cause: 1 }),
    end(2, 100, { value: "A" }),
    end(1, 100, { value: "A" }),
  );
  const report = await replay(recorded, {
    setup({ clock, recorder: inReplay }) {
      const system = createSystem({ clock, logger: quiet });
      const model = inReplay(system).outside("model", Model, () => ({}) as never); // It is not called.
      system.spawn("agent", Agent, (ctx) => ({
        async work() {
          await new Promise<void>((resolve) => clock.setTimer(resolve, 80));
          return (await ctx.ask(model, "think", "a", { timeout: 60 })).unwrapOr("?");
        },
      }));
      return system;
    },
  });
  expect(String(report)).toContain("the same; 1 message sent, 1 compared");
});

test("by order, a call with another payload is answered, and told", async () => {
  const Agent = defineProtocol("agent", { work: { reply: Type.String() } });
  const recorded = lines(
    ask(1, 0, "@(agent)", "work"),
    ask(2, 1, at, "think", "a", { ...outside, cause: 1 }),
    end(2, 2, { value: "A" }),
    end(1, 3, { value: "A" }),
  );
  const report = await replay(recorded, {
    match: "order",
    setup({ clock, recorder: inReplay }) {
      const system = createSystem({ clock, logger: quiet });
      const model = inReplay(system).outside("model", Model, () => system.spawn("gpt", Model, () => ({}) as never));
      system.spawn("agent", Agent, (ctx) => ({
        async work() {
          const said = await ctx.ask(model, "think", "b");
          await ctx.ask(model, "think", "c");
          return said.unwrapOr("?");
        },
      }));
      return system;
    },
  });
  expect(report.deviations).toMatchObject([
    { kind: "not-recorded" }, // One call more.
    { kind: "other-payload", differences: [{ recorded: "a", replayed: "b" }] },
  ]);
  expect(String(report)).toContain(
    "ask think of model was called more often than in the recording: the recording has 1 such call, and all of them are used up.\n",
  );
});

test("replayTests() makes a test of each recording, and a failing one where there is none", async () => {
  const at = folder();
  const source = JSON.stringify(`${import.meta.dir}/../../../src`);
  await Bun.write(
    `${at}/good.ndjson`,
    lines(ask(1, 0, "@(a)", "say"), end(1, 1, { value: "hi" }))
      .map((line) => JSON.stringify(line))
      .join("\n"),
  );
  await Bun.write(
    `${at}/bad.ndjson`,
    lines(ask(1, 0, "@(a)", "say"), end(1, 1, { value: "ho" }))
      .map((line) => JSON.stringify(line))
      .join("\n"),
  );
  await Bun.write(`${at}/empty.ndjson`, JSON.stringify(lines()[0]));
  await Bun.write(
    `${at}/cut.ndjson`,
    [...lines(), ask(1, 0, "@(a)", "say")].map((line) => JSON.stringify(line)).join("\n"),
  );
  await Bun.write(
    `${at}/all.test.ts`,
    `import { type Clock, createSystem, defineProtocol, systemClock, Type } from ${source.replace(/"$/, '/index"')};
    import { replayTests } from ${source.replace(/"$/, '/record/index"')};
    const A = defineProtocol("a", { say: { reply: Type.String() } });
    const options = { setup: ({ clock }) => {
      const system = createSystem({ clock });
      system.spawn("a", A, () => ({ say: () => "hi" }));
      return system;
    } };
    replayTests("*.ndjson", options);
    replayTests("./empty.ndjson", { ...options, allowEmpty: true });
    replayTests("none/*.ndjson", options);`,
  );
  const child = Bun.spawn([process.execPath, "test", "./all.test.ts"], { cwd: at, stdout: "pipe", stderr: "pipe" });
  const text = (await child.stdout.text()) + (await child.stderr.text());
  expect(text).toContain("(pass) replays good.ndjson");
  expect(text).toContain("(fail) replays bad.ndjson");
  expect(text).toContain('- "ho"');
  expect(text).toContain("There is no recording at none/*.ndjson");
  expect(text).toContain("(fail) replays empty.ndjson");
  expect(text).toContain("(pass) replays empty.ndjson");
  expect(text).toContain("(fail) replays cut.ndjson");
  expect(text).toContain("Nothing was compared");
  expect(text).toContain("1 message was sent whose end");
  expect(text).not.toContain("replay-tests.ts"); // The report alone, without the frames of the library.
});

test("a call of an actor outside by a name that the recording does not have is told the names that it has", async () => {
  const to = `${folder()}/run.ndjson`;
  const recorded = lines(ask(1, 0, at, "think", "a", outside), end(1, 1, { value: "A" }));
  await Bun.write(to, recorded.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const system = createSystem({ logger: quiet });
  const model = recorder(system, { to, mode: "replay" }).outside("modell", Model, () => ({}) as never);
  const error = (await model.ask("think", "a"))._unsafeUnwrapErr() as { readonly cause?: unknown };
  expect(String(error.cause)).toContain("no call of it; it has calls of model.");
});
