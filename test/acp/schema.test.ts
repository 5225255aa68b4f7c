import { expect, test } from "bun:test";
import { acpTypes, TYPES } from "../../scripts/acp-types";
import { defineProtocol } from "../../src";
import { messageSchema, replySchema } from "../../src/acp/schema/message-schema";
import { schemas } from "../../src/acp/schema/official";
import { pack, unpack } from "../../src/acp/schema/packed";

/** The payload as a peer gets it; undefined when it is refused. */
function parse(name: Parameters<typeof messageSchema>[0], value: unknown): unknown {
  const operation = defineProtocol("one", { it: { payload: messageSchema(name) } }).operations["it"];
  return operation?.payload.parse(value).unwrapOr(undefined);
}

function issues(name: Parameters<typeof messageSchema>[0], value: unknown): unknown {
  const operation = defineProtocol("one", { it: { payload: messageSchema(name) } }).operations["it"];
  return operation?.payload.parse(value).match(
    () => [],
    (find) => find(),
  );
}

const chunk = (update: object): object => ({ sessionId: "s", update });
const said = (content: unknown, more: object = {}): object =>
  chunk({ sessionUpdate: "agent_message_chunk", content, ...more });

test("the types of the messages are those that the installed official package gives", async () => {
  expect(await Bun.file(TYPES).text()).toBe(await acpTypes());
}, 30_000);

test("a message that fits is given as it is, with what the protocol does not know of", () => {
  const message = said({ type: "text", text: "hi", later: 1 }, { _meta: { trace: "a" }, also: [1] });
  expect(parse("SessionNotification", message)).toBe(message);
});

test("null stands for an optional part that is not there", () => {
  const message = { sessionId: "s", path: "/a", line: null, limit: null, _meta: null };
  expect(parse("ReadTextFileRequest", message)).toBe(message);
});

test("the packed schemas are the same as the others, at a third of their size", () => {
  const packed = JSON.stringify(pack(schemas));
  expect(unpack(JSON.parse(packed))).toEqual(schemas);
  expect(packed.length * 3).toBeLessThan(JSON.stringify(schemas).length);
});

test("null in place of a response stands for an empty one, where nothing is required", () => {
  const validate = (name: Parameters<typeof replySchema>[0]) => replySchema(name)["~standard"].validate(null);
  expect(validate("WriteTextFileResponse")).toEqual({ value: {} });
  expect(validate("ReadTextFileResponse")).toHaveProperty("issues");
});

test.each([
  ["an unknown update", chunk({ sessionUpdate: "no_such_update" })],
  ["a missing discriminator", chunk({ content: { type: "text", text: "hi" } })],
  ["an unknown content", said({ type: "smell", data: "" })],
  ["a content without its text", said({ type: "text" })],
  ["a discriminator from a prototype", said({ type: "constructor", text: "" })],
  ["a list in place of an object", [said({ type: "text", text: "" })]],
  ["nothing", undefined],
])("%s is refused", (_, message) => {
  expect(parse("SessionNotification", message)).toBeUndefined();
});

test("a refusal names the part of the branch that the discriminator names", () => {
  expect(issues("SessionNotification", said({ type: "text", text: 1 }))).toEqual([
    { path: "/update/content/text", message: "must be a string" },
  ]);
});

test.each([
  ["an optional text", { toolCallId: "c", title: 7 }, { toolCallId: "c" }],
  [
    "an optional literal",
    { toolCallId: "c", kind: "dance", status: "completed" },
    { toolCallId: "c", status: "completed" },
  ],
  [
    "an item of a list",
    { toolCallId: "c", content: [{ type: "diff" }, { type: "terminal", terminalId: "t" }] },
    { toolCallId: "c", content: [{ type: "terminal", terminalId: "t" }] },
  ],
  ["_meta", { toolCallId: "c", _meta: "none" }, { toolCallId: "c" }],
])("%s that is wrong is left out, as the schema asks, and the sender's object stays as it was", (_, wrong, right) => {
  const message = chunk({ sessionUpdate: "tool_call_update", ...wrong });
  const before = structuredClone(message);
  expect(parse("SessionNotification", message)).toEqual(chunk({ sessionUpdate: "tool_call_update", ...right }));
  expect(message).toEqual(before);
});

test("null stands for an empty list where the schema says so, and a missing required list is refused", () => {
  expect(parse("NewSessionRequest", { cwd: "/", mcpServers: null })).toEqual({ cwd: "/", mcpServers: [] });
  expect(parse("NewSessionRequest", { cwd: "/" })).toBeUndefined();
});

test("a required list that is wrong is empty where the schema says so", () => {
  expect(parse("ListSessionsResponse", { sessions: "none" })).toEqual({ sessions: [] });
});

test("an elicitation of a mode that is not known yet keeps what it carries; a known one must fit", () => {
  const later = { sessionId: "s", message: "?", mode: "voice", pitch: 3 };
  expect(parse("CreateElicitationRequest", later)).toBe(later);
  expect(parse("CreateElicitationRequest", { sessionId: "s", message: "?", mode: "url" })).toBeUndefined();
});
