import { describe, expect, test } from "bun:test";
import {
  createSystem,
  defineProtocol,
  type Ref,
  receive,
  type SignaturesOf,
  type System,
  spawnPool,
  Type,
} from "../../../src/index";
import { type Recording, type ReplayReport, recorder, replay } from "../../../src/record/index";
import { runCode, spawnCodeExecution, toolsFor } from "../../../src/tools/index";
import { folders } from "../recorded";

const folder = folders();
const quiet = { warn() {}, error() {} };

const Tool = defineProtocol("tool", { look: { payload: Type.Object({ n: Type.Number() }), reply: Type.Number() } });
const Agent = defineProtocol("agent", { go: { payload: Type.Number(), reply: Type.String() } });
type ToolRef = Ref<SignaturesOf<typeof Tool>>;
type AgentRef = Ref<SignaturesOf<typeof Agent>>;
type Build = (system: System, recording: Recording) => AgentRef;

/** Records a program that is asked twice, and replays it. */
async function again(build: Build): Promise<ReplayReport> {
  const to = `${folder()}/run.ndjson`;
  const system = createSystem({ logger: quiet });
  const agent = build(system, recorder(system, { to }));
  for (const n of [1, 2]) expect((await agent.ask("go", n, { timeout: 20_000 })).isOk()).toBe(true);
  await system.shutdown({ drain: true });
  return replay(to, {
    setup({ clock, random, recorder }) {
      const system = createSystem({ clock, random, logger: quiet });
      build(system, recorder(system));
      return system;
    },
  });
}

const same = { isSame: true, sent: 2, compared: 2 };

/** Each asks a tool from inside of a handler, without the handler's context. */
type Look = (n: number) => PromiseLike<unknown>;
const ways: Record<string, (tool: ToolRef, system: System) => Look> = {
  "its reference": (tool) => async (n) => (await tool.ask("look", { n })).unwrapOr(-1),
  "a door": (tool) => async (n) => (await receive(tool).ask("look", { n })).unwrapOr(-1),
  "a model's call": (tool) => {
    const tools = toolsFor({ tool }, { format: "openai" });
    return async (n) => (await tools.callTool("tool_look", { n })).unwrapOr(-1);
  },
  "code in a sandbox": (tool, system) => {
    const code = spawnCodeExecution(system, { languages: ["javascript"], tools: { tool } });
    return async (n) => {
      const ran = await runCode(code, { code: `await tools.tool.look({ n: ${n} })` });
      return ran.isOk() ? ran.value.value : String(ran.error);
    };
  },
};

for (const [name, way] of Object.entries(ways)) {
  describe(`a tool that handlers call by ${name}`, () => {
    const build = (system: System, tool: ToolRef): AgentRef => {
      const look = way(tool, system);
      return system.spawn("agent", Agent, () => ({ go: async (n) => JSON.stringify(await look(n)) }));
    };

    test("answers from the recording when it is outside", async () => {
      let calls = 0;
      const report = await again((system, recording) => {
        const tool = recording.outside("tool", Tool, () =>
          system.spawn("tool", Tool, () => ({
            look({ n }) {
              calls++;
              return n * 2;
            },
          })),
        );
        return build(system, tool);
      });
      expect(String(report)).toContain("the same");
      expect(report).toMatchObject({ ...same, answered: 2 });
      expect(calls).toBe(2);
    });

    test("is called once for each call when it is inside", async () => {
      const report = await again((system) => {
        let total = 0;
        const tool = system.spawn("tool", Tool, () => ({
          look({ n }) {
            total += n;
            return total;
          },
        }));
        return build(system, tool);
      });
      expect(String(report)).toContain("the same");
      expect(report).toMatchObject(same);
    });
  });
}

test("what plain code asks of an actor outside, by a door too, is not sent and not missed", async () => {
  const to = `${folder()}/run.ndjson`;
  const system = createSystem();
  const build = (system: System, recording: Recording) =>
    recording.outside("tool", Tool, () => system.spawn("tool", Tool, () => ({ look: ({ n }) => n })));
  const tool = build(system, recorder(system, { to }));
  await receive(tool).ask("look", { n: 1 });
  await tool.ask("look", { n: 2 });
  await system.shutdown();

  const report = await replay(to, {
    setup({ clock, recorder }) {
      const system = createSystem({ clock });
      build(system, recorder(system));
      return system;
    },
  });
  expect(report).toMatchObject({ isSame: true, sent: 0 });

  // A program that calls its tools itself finds the calls of both kinds.
  const other = createSystem();
  const answering = build(other, recorder(other, { to, mode: "replay" }));
  expect((await toolsFor({ tool: answering }, { format: "openai" }).callTool("tool_look", { n: 1 })).isOk()).toBe(true);
  expect((await answering.ask("look", { n: 2 })).unwrapOr(-1)).toBe(2);
  await other.shutdown();
});

test("an actor outside calls back into the system again, but not its own parts", async () => {
  const Inbox = defineProtocol("inbox", { put: { payload: Type.String() } });
  const put: string[] = [];
  let kept = 0;
  const report = await again((system, recording) => {
    const inbox = system.spawn("inbox", Inbox, () => ({
      put(text: string) {
        put.push(text);
      },
    }));
    const helper = recording.outside("helper", Agent, () => {
      const Files = defineProtocol("files", { keep: { payload: Type.Number() }, all: { reply: Type.Number() } });
      const store = () => ({
        keep() {
          kept++;
        },
        all: () => kept,
      });
      const files = system.spawn("files", Files, store);
      const pool = spawnPool(system, "copies", Files, store, { size: 2, routing: "broadcast" });
      files.tell("keep", 0);
      return system.spawn("helper", Agent, () => ({
        async go(n) {
          files.tell("keep", n);
          pool.tell("keep", n);
          inbox.tell("put", `kept ${n}`);
          return `${(await files.ask("all")).isOk()}`;
        },
      }));
    });
    return system.spawn("agent", Agent, () => ({ go: async (n) => (await helper.ask("go", n)).unwrapOr("?") }));
  });
  expect(String(report)).toContain("the same");
  expect(report).toMatchObject({ isSame: true, sent: 4, answered: 2 });
  expect(put).toEqual(["kept 1", "kept 2", "kept 1", "kept 2"]);
  expect(kept).toBe(7); // Nothing of it by the replay.
});
