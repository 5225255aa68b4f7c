import { describe, expect, test } from "bun:test";
import { createSystem, defineProtocol, type Ref, type SignaturesOf, type System, Type } from "../../../src/index";
import { type MessageLine, type Recording, type RecordingLine, recorder, replay } from "../../../src/record/index";
import { folders } from "../recorded";
import { ask, end, lines } from "./lines";

const folder = folders();
const quiet = { warn() {}, error() {} };
const Model = defineProtocol("model", { think: { payload: Type.String(), reply: Type.String() } });
const Agent = defineProtocol("agent", { go: { payload: Type.String(), reply: Type.String() } });
type ModelRef = Ref<SignaturesOf<typeof Model>>;
type Go = (think: (text: string) => Promise<string>, task: string) => Promise<string>;

function spawnAgent(system: System, recording: Recording, go: Go) {
  let calls = 0;
  const model: ModelRef = recording.outside("model", Model, () =>
    system.spawn("gpt", Model, () => ({ think: (text) => `${text} ${++calls}` })),
  );
  return system.spawn(
    "agent",
    Agent,
    (ctx) => ({
      go: (task) => go(async (text) => (await ctx.ask(model, "think", text)).unwrapOr("no answer"), task),
    }),
    { concurrency: 9 },
  );
}

const replayed = (recording: string | readonly RecordingLine[], go: Go) =>
  replay(recording, {
    patience: 600_000, // Nothing has to be waited for.
    setup({ clock, random, recorder: again }) {
      const system = createSystem({ clock, random, logger: quiet });
      spawnAgent(system, again(system), go);
      return system;
    },
  });

/** Records three requests, one after the other, each of which asks the model the same. */
async function recorded(): Promise<string> {
  const to = `${folder()}/run.ndjson`;
  const system = createSystem({ logger: quiet });
  const agent = spawnAgent(system, recorder(system, { to }), (think) => think("weather?"));
  for (const task of ["a", "b", "c"]) expect((await agent.ask("go", task)).isOk()).toBe(true);
  await system.shutdown();
  return to;
}

describe("equal calls of several requests", () => {
  test("a request that makes one more call changes nothing for the others", async () => {
    const report = await replayed(await recorded(), async (think, task) => {
      const said = await think("weather?");
      if (task === "a") await think("weather?");
      return said;
    });
    expect(report.deviations).toMatchObject([
      { kind: "not-recorded", origin: { id: 1, operation: "go" }, sentence: expect.stringContaining("more often") },
    ]);
    expect(String(report)).toContain("\nLed to by ask go of @(agent) (message 1, at ");
  });

  test("a request that makes one less leaves its answer unused, and the others get theirs", async () => {
    const report = await replayed(await recorded(), async (think, task) =>
      task === "a" ? "weather? 1" : think("weather?"),
    );
    expect(report.deviations).toMatchObject([{ kind: "unused", message: { id: 2 }, origin: { id: 1 } }]);
  });

  const from = { from: "@(agent)", world: true, outside: "model" } as const;
  const call = (id: number, at: number, more: Partial<MessageLine>) =>
    ask(id, at, "@(gpt)", "think", "weather?", { ...from, ...more });
  const two = [ask(1, 0, "@(agent)", "go", "a"), ask(2, 0, "@(agent)", "go", "b")];

  test("requests that call in another order get their own answers", async () => {
    const report = await replayed(
      lines(
        ...two,
        call(3, 1, { cause: 2 }),
        call(4, 1, { cause: 1 }),
        end(3, 2, { value: "for b" }),
        end(4, 2, { value: "for a" }),
        end(2, 3, { value: "for b" }),
        end(1, 3, { value: "for a" }),
      ),
      (think) => think("weather?"),
    );
    expect(String(report)).toStartWith("the recording: the same; 2 messages sent, 2 compared, 2 calls answered");
  });

  test("a call that another request makes in its place gets its answer", async () => {
    let shared: Promise<string> | undefined;
    const report = await replayed(
      lines(
        ...two,
        call(3, 1, { cause: 2 }),
        end(3, 2, { value: "rain" }),
        end(1, 3, { value: "rain" }),
        end(2, 3, { value: "rain" }),
      ),
      (think) => {
        shared ??= think("weather?");
        return shared;
      },
    );
    expect(report).toMatchObject({ isSame: true, answered: 1 });
  });
});

test("deviations are grouped by the message from outside that led to them", async () => {
  const report = await replayed(await recorded(), async (think, task) =>
    task === "c" ? think("weather?") : think(`weather, ${task}?`),
  );
  const groups = report.deviations.map((each) => [each.kind, "origin" in each ? each.origin?.id : each.message.id]);
  expect(groups).toEqual([
    ["not-recorded", 1],
    ["value", 1],
    ["unused", 1],
    ["not-recorded", 3],
    ["value", 3],
    ["unused", 3],
  ]);
  expect(String(report).match(/^Led to by .*/gm)).toEqual([
    expect.stringMatching(/^Led to by ask go of @\(agent\) \(message 1, at [\d.]+ ms\):$/),
    expect.stringMatching(/^Led to by ask go of @\(agent\) \(message 3, at [\d.]+ ms\):$/),
  ]);
});

describe("a recording as a stub", () => {
  const stub = async (options: { readonly repeat?: boolean }) => {
    const to = await recorded();
    const system = createSystem({ logger: quiet });
    const recording = recorder(system, { to, mode: "replay", ...options });
    const model = recording.outside("model", Model, () => {
      throw new Error("is not made");
    });
    const said: string[] = [];
    for (let call = 0; call < 6; call++) {
      said.push((await model.ask("think", "weather?")).match(String, ({ kind }) => kind));
    }
    const other = await model.ask("think", "news?");
    await system.shutdown();
    return { said, other: other.isErr() && other.error.kind === "handler-failed" && String(other.error.cause) };
  };

  test("gives the last answer again to equal calls where it is told to repeat, and refuses others", async () => {
    const { said, other } = await stub({ repeat: true });
    expect(said).toEqual(["weather? 1", "weather? 2", "weather? 3", "weather? 3", "weather? 3", "weather? 3"]);
    expect(other).toContain("think of model is not in the recording");
  });

  test("answers each recorded call once by default", async () => {
    const { said } = await stub({});
    expect(said).toEqual(["weather? 1", "weather? 2", "weather? 3", ...Array<string>(3).fill("handler-failed")]);
  });

  test("a repeat that is none is told", () => {
    const options = { to: "run.ndjson", mode: "replay", repeat: 3 } as unknown as Parameters<typeof recorder>[1];
    expect(() => recorder(createSystem(), options)).toThrow("The repeat of a recording is true or false; got 3.");
  });
});

test("a replay that leaves work unfinished says so in its report, and logs nothing", async () => {
  const logged: string[] = [];
  const log = (sentence: string) => void logged.push(sentence);
  const report = await replay(lines(ask(1, 0, "@(agent)", "go", "a")), {
    patience: 0,
    setup({ clock }) {
      const system = createSystem({ clock, logger: { warn: log, error: log } });
      system.spawn("agent", Agent, () => ({ go: () => new Promise<string>(() => {}) }));
      return system;
    },
  });
  expect(report.notes).toContain("An actor was still at work when the replay ended, and abandoned: @(agent).");
  expect(logged).toEqual([]);
});
