import { expect, test } from "bun:test";
import { type ServeMcpOptions, serveMcp } from "../../src/mcp/index";
import { testSystems } from "../actor/test-system";
import { createDesk, Desk, SECRET, send } from "./desk";

const { createTestSystem } = testSystems();

function desk() {
  const test = createTestSystem();
  const ref = test.system.spawn("desk", Desk, createDesk);
  const serve = (prompts: unknown) =>
    serveMcp(test.system, { name: "p", version: "1", prompts: prompts as NonNullable<ServeMcpOptions["prompts"]> }); // Some are wrong.
  return { ...test, ref, serve };
}

test("prompts are listed with the arguments that their payloads have", async () => {
  const { ref, serve } = desk();
  const mcp = await serve({
    greeting: { ref, operation: "greet" },
    scene: { ref, operation: "scene", title: "A scene", description: "Two people." },
  });
  expect((await send(mcp, "prompts/list")).result).toMatchObject({
    prompts: [
      {
        name: "greeting",
        title: "greeting",
        description: "Greets somebody.",
        arguments: [
          { name: "who", description: "The name.", required: true },
          { name: "how", required: false },
        ],
      },
      { name: "scene", title: "A scene", description: "Two people." },
    ],
  });
});

test("a prompt is a text, or messages", async () => {
  const { ref, serve } = desk();
  const mcp = await serve({ greeting: { ref, operation: "greet" }, scene: { ref, operation: "scene" } });
  const greeting = await send(mcp, "prompts/get", { name: "greeting", arguments: { who: "Ada" } });
  expect(greeting.result).toMatchObject({
    messages: [{ role: "user", content: { type: "text", text: "Hello, Ada" } }],
  });
  expect((await send(mcp, "prompts/get", { name: "scene" })).result).toMatchObject({
    description: "Two of them.",
    messages: [{ role: "user" }, { role: "assistant", content: { text: "It is me." } }],
  });
});

test("P18: a prompt that there is not, or with wrong arguments, is refused; a failure tells nothing", async () => {
  const { ref, serve, takeLog } = desk();
  const mcp = await serve({ greeting: { ref, operation: "greet" }, broken: { ref, operation: "broken" } });
  for (const name of ["none", "constructor", "shout"]) {
    expect((await send(mcp, "prompts/get", { name })).error?.code).toBe(-32_602);
  }
  const wrong = await send(mcp, "prompts/get", { name: "greeting", arguments: { how: "Hi" } });
  expect([wrong.error?.code, wrong.error?.message]).toEqual([-32_602, expect.stringMatching(/\/who is required/)]);
  const broken = await send(mcp, "prompts/get", { name: "broken" });
  expect([broken.error?.code, broken.error?.message]).toEqual([-32_603, '"broken" failed in its handler.']);
  expect(JSON.stringify(takeLog().map(({ message }) => message))).toContain(SECRET);
});

test.each([
  ["an operation that there is not", "gret", /no operation "gret"/],
  ["one that gives no text", "total", /must reply with a text/],
  ["one that gives nothing", "reset", /must reply with a text/],
  ["one whose payload is no object", "shout", /must be an object/],
])("%s is refused as a prompt at the start", (_, operation, sentence) => {
  const { ref, serve } = desk();
  expect(serve({ it: { ref, operation } })).rejects.toThrow(sentence);
});
