import { expect, test } from "bun:test";
import official from "@agentclientprotocol/sdk/schema/v1/schema.json";
import { AcpAgent, AcpClient, AGENT_METHODS, CANCEL_REQUEST, CLIENT_METHODS } from "../../src/acp/methods";
import { messagesOf, type OfficialSchema } from "../../src/acp/schema/normalise";

// A newer schema that has more than is served here fails these tests: serve it, or say in docs/agents-and-protocols.md that it is not.

const SDK = "@agentclientprotocol/sdk";

const methodsOf = (side: string): Set<string> =>
  new Set(
    messagesOf(official)
      .filter((message) => message.side === side)
      .map(({ method }) => method),
  );

test("every method of the official schema is served by its side, and no other", () => {
  expect(new Set<string>(Object.values(AGENT_METHODS))).toEqual(methodsOf("agent"));
  expect(new Set<string>(Object.values(CLIENT_METHODS))).toEqual(methodsOf("client"));
  expect(new Set([CANCEL_REQUEST])).toEqual(methodsOf("protocol") as Set<typeof CANCEL_REQUEST>);
});

test.each([
  ["agent", AcpAgent.operations, AGENT_METHODS],
  ["client", AcpClient.operations, CLIENT_METHODS],
] as const)(
  "each operation of the %s has the messages of its method: requests reply, notifications do not",
  (side, operations, methods) => {
    const messages = messagesOf(official).filter((message) => message.side === side);
    for (const [name, method] of Object.entries(methods)) {
      const operation = operations[name];
      const names = messages.filter((message) => message.method === method).map((message) => message.name);
      expect([method, operation?.hasPayload, operation?.hasReply]).toEqual([
        method,
        names.some((each) => /(?:Request|Notification)$/.test(each)),
        names.some((each) => each.endsWith("Response")),
      ]);
    }
  },
);

const { $defs }: OfficialSchema = official;
const namesIn = (definition: string): readonly string[] =>
  Object.keys($defs[definition]?.["properties"] ?? {}).filter((name) => name !== "_meta");

// The capabilities of both sides. Those with an effect here are handled in agent/offers.ts, agent/front.ts and client/connect-agent.ts. An
// agent reads the others, such as the kinds of options that a client shows, from `client.capabilities`.
test.each([
  ["AgentCapabilities", ["auth", "loadSession", "mcpCapabilities", "promptCapabilities", "sessionCapabilities"]],
  ["SessionCapabilities", ["additionalDirectories", "close", "delete", "list", "resume"]],
  ["AgentAuthCapabilities", ["logout"]],
  ["PromptCapabilities", ["audio", "embeddedContext", "image"]],
  ["McpCapabilities", ["http", "sse"]],
  ["ClientCapabilities", ["auth", "elicitation", "fs", "session", "terminal"]],
  ["ClientSessionCapabilities", ["compaction", "configOptions", "notices"]],
  ["ElicitationCapabilities", ["form", "url"]],
  ["FileSystemCapabilities", ["readTextFile", "writeTextFile"]],
])("a newer schema offers nothing in %s that is not known here", (definition, known) => {
  expect([...namesIn(definition)].sort()).toEqual(known);
});

test("the official package has version 2 as an experiment still: once it is stable, it is to be spoken", async () => {
  const { exports } = await Bun.file(
    new URL("../../package.json", import.meta.resolve(`${SDK}/schema/v1/schema.json`)),
  ).json();
  const ofVersion2 = Object.keys(exports).filter((name) => name.includes("v2") && !name.startsWith("./schema/"));
  expect(ofVersion2.filter((name) => !name.startsWith("./experimental/"))).toEqual([]);
  expect(ofVersion2).toContain("./experimental/v2");
  expect(exports["."].import).toContain("/v1/stable/");
});
