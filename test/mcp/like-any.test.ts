import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { createSystem, defineProtocol, type System, Type } from "../../src/index";
import { connectMcp, type McpTools, serveMcp } from "../../src/mcp/index";
import { runCode, spawnCodeExecution, toolsFor } from "../../src/tools/index";
import { call } from "./desk";

// Another server's tools are called as any operations are.

let system: System;
let remote: McpTools;
beforeAll(async () => {
  system = createSystem();
  const command = [process.execPath, join(import.meta.dir, "programs/remote.ts")] as const;
  remote = await connectMcp(system, { name: "remote", command });
}, 30_000);
afterAll(() => system.shutdown());

test("by code in the sandbox, which is shown what the server says of them", async () => {
  const tools = { remote: { ref: remote.ref, operations: ["add", "say", "fail"] } };
  const code = spawnCodeExecution(system, { languages: ["javascript"], tools });
  const program = `
    const { value } = await tools.remote.add({ a: input, b: 2 });
    const said = await tools.remote.say({ what: "tea" });
    const failed = await tools.remote.fail();
    return [value.sum, said.value, failed.ok, failed.error.kind, Object.keys(tools.remote).includes("die")];
  `;
  const ran = await runCode(code, { code: program, input: 40 });
  expect(ran._unsafeUnwrap().value).toEqual([42, "tea", false, "failed", false]);
}, 30_000);

test("by a handler of an actor, whose asker's end is theirs", async () => {
  const Agent = defineProtocol("agent", { sum: { payload: Type.Array(Type.Number()), reply: Type.Unknown() } });
  const agent = system.spawn("agent", Agent, (ctx) => ({
    async sum([a = 0, b = 0]) {
      const reply = await ctx.ask(remote.ref, "add", { a, b });
      return reply.isOk() ? reply.value : reply.error.kind;
    },
  }));
  expect((await agent.ask("sum", [1, 2]))._unsafeUnwrap()).toEqual({ ok: true, value: { sum: 3 } });
});

test("by a model, to which they are declared with the server's own schemas", async () => {
  const { declarations, callTool } = toolsFor(
    { remote: { ref: remote.ref, operations: ["add"] } },
    { format: "anthropic" },
  );
  expect(declarations).toMatchObject([
    { name: "remote_add", description: "Adds.", input_schema: { type: "object", required: ["a", "b"] } },
  ]);
  expect(await callTool("remote_add", { a: 4, b: 5 })).toEqual({ value: { sum: 9 } } as never); // By the server's schema.
});

test("by the clients of a server of ours, which hands them on with their schemas, outcomes and errors", async () => {
  const mcp = await serveMcp(system, {
    name: "relay",
    version: "1",
    expose: { far: { ref: remote.ref, operations: ["add", "say", "fail"] } },
  });
  expect(await call(mcp, "far_add", { a: 1, b: 2 })).toMatchObject({ structuredContent: { sum: 3 } });
  expect(await call(mcp, "far_say", { what: "tea" })).toMatchObject({ content: [{ type: "text", text: "tea" }] });
  expect(await call(mcp, "far_fail")).toMatchObject({ isError: true });
  await mcp.close();
});
