import { afterAll, expect, test } from "bun:test";
import { createTopic, defineProtocol, type Ref, receive, type SignaturesOf, Type } from "../../src/index";
import { runCode, spawnCodeExecution, toolsFor } from "../../src/tools/index";
import { testSystems } from "../actor/test-system";
import { folders, type Line, record, story } from "./recorded";

const { createTestSystem } = testSystems();
const folder = folders();

const Tool = defineProtocol("tool", {
  look: { payload: Type.Object({ n: Type.Number() }), reply: Type.Number() },
  note: { payload: Type.String() },
  count: { payload: Type.Number(), stream: Type.Number() },
});
const tool = () => ({
  look: ({ n }: { n: number }) => n * 2,
  note() {},
  *count(to: number) {
    for (let at = 1; at <= to; at++) yield at;
  },
});
type ToolRef = Ref<SignaturesOf<typeof Tool>>;
const Agent = defineProtocol("agent", { go: { payload: Type.Number(), reply: Type.Number() } });

/** The messages of a recording as `operation <cause`, sorted. */
const causes = (lines: readonly Line[]): string[] =>
  lines
    .filter(({ kind }) => kind === "message")
    .map(({ operation, cause }) => `${operation} <${cause ?? ""}`)
    .sort();

/** Each asks a tool from inside of a handler, without the handler's context. */
const ways: Record<string, (tool: ToolRef, n: number) => PromiseLike<unknown>> = {
  "its reference": (tool, n) => tool.ask("look", { n }),
  "a door": (tool, n) => receive(tool).ask("look", { n }),
  "a model's call": (tool, n) => toolsFor({ tool }, { format: "openai" }).callTool("tool_look", { n }),
};

for (const [name, look] of Object.entries(ways)) {
  test(`what a handler sends by ${name} is caused by its message, also behind its awaits and beside others`, async () => {
    const { system } = createTestSystem();
    const { lines } = record(system, folder());
    const ref = system.spawn("tool", Tool, tool);
    const agent = system.spawn(
      "agent",
      Agent,
      () => ({
        async go(n) {
          await look(ref, n);
          await Promise.resolve();
          await look(ref, n);
          return n;
        },
      }),
      { concurrency: 4 },
    );
    await Promise.all([agent.ask("go", 1), agent.ask("go", 2)]);
    await look(ref, 3);
    const all = await lines();
    expect(causes(all)).toEqual(["go <", "go <", "look <", "look <1", "look <1", "look <2", "look <2"]);
    for (const { operation, cause, payload } of all) {
      if (operation === "look" && cause !== undefined) expect(payload).toEqual({ n: cause });
    }
  });
}

test("what code in a sandbox calls is caused by the message that the code came with", async () => {
  const { system } = createTestSystem();
  const { lines } = record(system, folder());
  const ref = system.spawn("tool", Tool, tool);
  const code = spawnCodeExecution(system, { languages: ["javascript"], tools: { tool: ref } });
  const agent = system.spawn("agent", Agent, (ctx) => ({
    async go(n) {
      await runCode(code, { code: `await tools.tool.look({ n: ${n} })` }, { signal: ctx.signal });
      return n;
    },
  }));
  await agent.ask("go", 1);
  await agent.ask("go", 2);
  await system.shutdown();
  const told = (await lines()).filter(({ kind }) => kind === "message");
  expect(told.map(({ operation, cause }) => [operation, cause])).toEqual([
    ["go", undefined],
    ["execute", 1],
    ["look", 2],
    ["go", undefined],
    ["execute", 4],
    ["look", 5],
  ]);
});

test("what a stream's producer and a topic send has a cause, too; what begins a stream has none", async () => {
  const { system, clock } = createTestSystem();
  const { lines } = record(system, folder());
  const back = system.spawn("back", Tool, tool);
  const topic = createTopic<string>("news");
  topic.subscribe(back, "note");
  const front = system.spawn("front", Tool, () => ({
    ...tool(),
    async *count(to) {
      for (let at = 1; at <= to; at++) {
        await back.ask("look", { n: at });
        topic.publish("counted");
        yield at;
      }
    },
  }));
  for await (const _ of front.stream("count", 2)) await back.ask("look", { n: 0 });
  await clock.settle();
  expect(causes(await lines())).toEqual([
    ...["count <", "look <", "look <", "look <1", "look <1", "note <1", "note <1"],
  ]);
});

test("an actor without lines of its own hands the cause on, and what was not chosen causes nothing", async () => {
  const { system } = createTestSystem();
  const { lines } = record(system, folder(), { include: ["@(agent)", "@(tool)"] });
  const ref = system.spawn("tool", Tool, tool);
  const middle = system.spawn("middle", Agent, () => ({
    go: async (n) => (await ref.ask("look", { n })).unwrapOr(0),
  }));
  const agent = system.spawn("agent", Agent, () => ({ go: async (n) => (await middle.ask("go", n)).unwrapOr(0) }));
  await agent.ask("go", 4);
  expect(story(await lines())).toEqual(["1 ask @(agent) go 4: handled 8", '2 ask @(tool) look {"n":4} <1: handled 8']);

  const other = createTestSystem().system;
  const sampled = record(other, folder(), { sample: 0.5 });
  const tooled = other.spawn("tool", Tool, tool);
  const asker = other.spawn("agent", Agent, () => ({ go: async (n) => (await tooled.ask("look", { n })).unwrapOr(0) }));
  for (let n = 0; n < 100; n++) await asker.ask("go", n);
  const all = (await sampled.lines()).filter(({ kind }) => kind === "message");
  expect(all.filter(({ operation }) => operation === "look").every(({ cause }) => cause !== undefined)).toBe(true);
  expect(all.filter(({ operation }) => operation === "go")).toHaveLength(all.length / 2);
});

const servers: { stop(force: boolean): unknown }[] = [];
afterAll(() => Promise.all(servers.map((server) => server.stop(true))));

test("a server that a handler has opened is a door for strangers once the handler has ended", async () => {
  const { system } = createTestSystem();
  const { lines } = record(system, folder());
  const ref = system.spawn("tool", Tool, tool);
  const agent = system.spawn("agent", Agent, () => ({
    go(n) {
      const server = Bun.serve({
        port: 0,
        async fetch() {
          await receive(ref).ask("look", { n });
          return new Response();
        },
      });
      servers.push(server);
      return server.port ?? 0;
    },
  }));
  const port = (await agent.ask("go", 1)).unwrapOr(0);
  await fetch(`http://localhost:${port}`);
  expect(causes(await lines())).toEqual(["go <", "look <"]);
});

test("the actors that the function of outside() makes, and their children, are parts of it", async () => {
  const { system, clock } = createTestSystem();
  const { recording, lines } = record(system, folder());
  const own = system.spawn("own", Tool, tool);
  const ref = recording.outside("helper", Tool, () => {
    const files = system.spawn("files", Tool, tool);
    files.tell("note", "begin");
    return system.spawn("tool", Tool, (ctx) => {
      const child = ctx.spawn("child", Tool, tool);
      return {
        ...tool(),
        note() {
          files.tell("note", "part");
          child.tell("note", "child");
          own.tell("note", "callback");
        },
      };
    });
  });
  ref.tell("note", "go");
  await clock.settle();
  const told = (await lines()).filter(({ kind }) => kind === "message");
  expect(told.map(({ to, cause, within, outside }) => [to, cause, within, outside])).toEqual([
    ["@(files)", undefined, "helper", undefined],
    ["@(tool)", undefined, undefined, "helper"],
    ["@(files)", 2, "helper", undefined],
    ["@(tool/child)", 2, "helper", undefined],
    ["@(own)", 2, undefined, undefined],
  ]);
});
