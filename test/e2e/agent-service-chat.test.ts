import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Value } from "typebox/value";
import { agentOf } from "../../examples/agent-service/agent";
import { chatModel, endpointIn } from "../../examples/agent-service/chat";
import { Agent, type Happening } from "../../examples/agent-service/protocols";
import { createSystem, type JsonSchema, type Static, Type } from "../../src";

const folder = mkdtempSync(join(tmpdir(), "envoi-chat-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const strict = { additionalProperties: false };
const Call = Type.Object(
  {
    id: Type.String({ minLength: 1 }),
    type: Type.Literal("function"),
    function: Type.Object(
      { name: Type.String({ pattern: "^[a-zA-Z0-9_-]{1,64}$" }), arguments: Type.String() },
      strict,
    ),
  },
  strict,
);
/** What a server of chat completions takes, as far as the agent speaks it; anything else is refused. */
const ChatRequest = Type.Object(
  {
    model: Type.String({ minLength: 1 }),
    parallel_tool_calls: Type.Literal(false),
    messages: Type.Array(
      Type.Union([
        Type.Object({ role: Type.Literal("user"), content: Type.String({ minLength: 1 }) }, strict),
        Type.Object({ role: Type.Literal("assistant"), content: Type.String() }, strict),
        Type.Object(
          { role: Type.Literal("assistant"), content: Type.Null(), tool_calls: Type.Array(Call, { minItems: 1 }) },
          strict,
        ),
        Type.Object({ role: Type.Literal("tool"), tool_call_id: Type.String(), content: Type.String() }, strict),
      ]),
      { minItems: 1 },
    ),
    tools: Type.Array(
      Type.Object(
        {
          type: Type.Literal("function"),
          function: Type.Object(
            {
              name: Type.String({ pattern: "^[a-zA-Z0-9_-]{1,64}$" }),
              description: Type.String({ minLength: 1, maxLength: 1_024 }),
              parameters: Type.Object({ type: Type.Literal("object"), properties: Type.Object({}) }),
            },
            strict,
          ),
        },
        strict,
      ),
    ),
  },
  strict,
);
type ChatRequest = Static<typeof ChatRequest>;
/** A call that the model makes, or its answer. */
type Said = { readonly name: string; readonly args: string } | string;

/** A server that speaks chat completions: it holds what it is sent to the protocol, and says what it was told to say. */
function chatServer(script: readonly Said[]) {
  const asked: ChatRequest[] = [];
  const faults: unknown[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body: unknown = await request.json();
      const isIt = new URL(request.url).pathname === "/v1/chat/completions" && Value.Check(ChatRequest, body);
      if (!isIt) {
        faults.push(...Value.Errors(ChatRequest, body));
        return new Response("no chat completion", { status: 400 });
      }
      asked.push(body);
      const said = script[asked.length - 1] ?? "Done.";
      const message =
        typeof said === "string"
          ? { role: "assistant", content: said }
          : {
              role: "assistant",
              content: null,
              tool_calls: [
                { id: `c${asked.length}`, type: "function", function: { name: said.name, arguments: said.args } },
              ],
            };
      return Response.json({
        id: "1",
        object: "chat.completion",
        choices: [{ index: 0, message, finish_reason: "stop" }],
      });
    },
  });
  return {
    asked,
    faults,
    baseUrl: `http://127.0.0.1:${server.port}/v1/`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

test("the agent of the service works with a model that speaks chat completions, and a tool for the web", async () => {
  using site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ headers }) => new Response(`tea costs 3; ${headers.get("x-key")}`),
  });
  const page = `http://localhost:${site.port}/prices`;
  await using server = chatServer([
    { name: "web_get", args: JSON.stringify({ url: page }) },
    { name: "web_get", args: JSON.stringify({ url: "http://169.254.169.254/latest/meta-data/" }) },
    { name: "web_get", args: '{"url":' },
    { name: "web_get", args: "{}" },
    { name: "files_destroy", args: "{}" },
    { name: "files_write", args: JSON.stringify({ path: "prices.txt", content: "tea 3" }) },
    {
      name: "code_execute",
      args: JSON.stringify({ code: "return (await tools.files.read({ path: 'prices.txt' })).value.content" }),
    },
    "Tea costs 3.",
  ]);
  const endpoint = endpointIn({ OPENAI_BASE_URL: server.baseUrl, OPENAI_MODEL: "any", OPENAI_API_KEY: "none" });
  if (endpoint === undefined) throw new Error("The environment names an endpoint.");
  await using system = createSystem();
  const factory = agentOf({
    workspaces: folder,
    pause: 0,
    model: chatModel(endpoint),
    allow: [{ url: `http://localhost:${site.port}/*`, addresses: ["127.0.0.1"], headers: { "x-key": "k" } }],
  });
  const session = { id: "one", events: () => [] } as unknown as Parameters<typeof factory>[1]; // What the agent uses of one.
  const agent = system.spawn("agent", Agent, (ctx) => factory(ctx, session));
  const happened: Happening[] = [];
  for await (const each of agent.stream("work", { text: "What does tea cost?" })) happened.push(each);

  expect(server.faults).toEqual([]);
  expect(happened.at(-1)).toEqual({ kind: "answer", text: "Tea costs 3." });
  const tools = server.asked[0]?.tools.map((each) => each.function) ?? [];
  expect(tools.map(({ name }) => name)).toEqual(["files_list", "files_read", "files_write", "code_execute", "web_get"]);
  const schema = tools.at(-1)?.parameters as JsonSchema;
  expect(schema).toMatchObject({
    required: ["url"],
    additionalProperties: false,
    properties: { url: { type: "string" } },
  });

  // What the model is shown of each call.
  const shown = (server.asked.at(-1)?.messages ?? []).flatMap((message) =>
    message.role === "tool" ? [JSON.parse(message.content)] : [],
  );
  expect(shown).toMatchObject([
    { value: { status: 200, url: page, content: "tea costs 3; k" } },
    { error: { kind: "not-allowed" } },
    { error: { kind: "invalid-arguments", message: expect.stringContaining("JSON") } },
    { error: { kind: "invalid-arguments", issues: [{ path: "/url" }] } },
    { error: { kind: "unknown-tool", message: expect.stringContaining("files_write") } },
    { value: { size: 5 } },
    { value: { value: "tea 3" } },
  ]);
  const ids = (server.asked.at(-1)?.messages ?? []).flatMap((message) =>
    message.role === "tool"
      ? [message.tool_call_id]
      : "tool_calls" in message
        ? message.tool_calls.map(({ id }) => id)
        : [],
  );
  expect(ids.filter((_, at) => at % 2 === 0)).toEqual(ids.filter((_, at) => at % 2 === 1)); // Each result after its call.
});

test("without a whole endpoint in the environment there is none", () => {
  expect(endpointIn({})).toBeUndefined();
  expect(endpointIn({ OPENAI_API_KEY: "k" })).toBeUndefined();
  expect(endpointIn({ OPENAI_BASE_URL: "http://a.test/v1/", OPENAI_MODEL: "m" })).toEqual({
    baseUrl: "http://a.test/v1",
    model: "m",
    key: undefined,
  });
});
