import { afterAll, expect, test } from "bun:test";
import { context } from "@opentelemetry/api";
import { defineProtocol, type Ref, receive, type SignaturesOf, Type } from "../../src/index";
import { trace } from "../../src/telemetry/index";
import { testSystems } from "../actor/test-system";
import { installContextManager, traced } from "../telemetry/traced";
import { folders, record } from "./recorded";

const { createTestSystem } = testSystems();
const folder = folders();

installContextManager();
afterAll(() => context.disable());

const Tool = defineProtocol("tool", { get: { payload: Type.Number(), reply: Type.Number() } });
const Agent = defineProtocol("agent", { go: { reply: Type.Number() } });

for (const order of ["before", "behind"]) {
  test(`each message of a handler has its end in a recording that begins ${order} trace()`, async () => {
    const { system } = createTestSystem();
    const { tracer } = traced();
    if (order === "behind") trace(system, { tracer });
    const { lines } = record(system, folder());
    if (order === "before") trace(system, { tracer });
    const last = system.spawn("last", Tool, () => ({ get: (n) => n + 1 }));
    const tool: Ref<SignaturesOf<typeof Tool>> = system.spawn("tool", Tool, (ctx) => ({
      get: () => ctx.forward(last),
    }));
    const agent = system.spawn("agent", Agent, (ctx) => ({
      async go() {
        await ctx.ask(tool, "get", 1);
        await tool.ask("get", 2);
        await receive(tool).ask("get", 3);
        await tool.ask("get", 4, { metadata: { user: "ada" } });
        return 1;
      },
    }));
    await tracer.startActiveSpan("client", async (span) => {
      await agent.ask("go");
      span.end();
    });

    const written = await lines();
    const ended = new Set(written.filter(({ kind }) => kind === "end").map(({ of }) => of));
    const messages = written.filter(({ kind }) => kind === "message");
    expect(messages).toHaveLength(9);
    expect(messages.filter(({ id }) => !ended.has(id))).toEqual([]);
  });
}

test("metadata that a recorder and a tracer have marked are short where they are logged", async () => {
  const { system } = createTestSystem();
  const { tracer } = traced();
  trace(system, { tracer });
  const { lines } = record(system, folder());
  const seen: string[] = [];
  const tool = system.spawn("tool", Tool, (ctx) => ({
    get(n) {
      seen.push(Bun.inspect(ctx.metadata), Bun.inspect(ctx.handsOn));
      return n;
    },
  }));
  const agent = system.spawn("agent", Agent, (ctx) => ({
    go: async () => (await ctx.ask(tool, "get", 1)).unwrapOr(0),
  }));
  await agent.ask("go");
  await lines();
  expect(seen).toHaveLength(2);
  for (const text of seen) {
    expect(text).toContain("Scope(00-");
    expect(text.split("\n").length).toBeLessThan(10);
  }
  expect(seen[0]).toContain("Mark(");
});
