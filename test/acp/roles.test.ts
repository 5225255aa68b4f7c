import { expect, test } from "bun:test";
import {
  AcpSession,
  agentOperations,
  agentText,
  authRequired,
  type Client,
  serveAgent,
  sessionOperations,
} from "../../src/acp/index";
import { defineProtocol, Type } from "../../src/index";
import { channelPair } from "../../src/rpc/index";
import { testSystems } from "../actor/test-system";
import { notice, Raw, request } from "../rpc/raw";
import { INITIALIZE, serveScenario, textOf } from "./raw-sides";
import { resolveScenario, Scenario } from "./scenario-agent";

// The agent, with a client that writes what it likes.

const { createTestSystem } = testSystems();

test("P18: before initialize everything is refused, and a second initialize is", async () => {
  const test = createTestSystem();
  const { ask, open } = serveScenario(test);
  for (const [method, params] of [
    ["session/new", { cwd: "/", mcpServers: [] }],
    ["session/load", { sessionId: "a", cwd: "/", mcpServers: [] }],
    ["session/prompt", { sessionId: "a", prompt: [] }],
    ["session/set_mode", { sessionId: "a", modeId: "b" }],
  ] as const) {
    expect([method, await ask(method, params)]).toEqual([method, -32600]);
  }
  expect(await ask("initialize", INITIALIZE)).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: "agent", version: "1.0.0" },
    agentCapabilities: { loadSession: true, sessionCapabilities: { resume: {}, close: {} } },
    authMethods: [],
  });
  expect(await ask("initialize", INITIALIZE)).toBe(-32600);
  expect(await open()).toMatch(/^[\w-]+$/);
  test.takeFailures();
});

test("a client that speaks a later version is offered 1", async () => {
  const test = createTestSystem();
  const { ask } = serveScenario(test);
  expect(await ask("initialize", { ...INITIALIZE, protocolVersion: 2 })).toMatchObject({ protocolVersion: 1 });
});

test("P18: methods of the client, of drafts and of nobody are not there; nor are batches", async () => {
  const test = createTestSystem();
  const { ask, raw } = serveScenario(test);
  await ask("initialize", INITIALIZE);
  for (const method of [
    "session/update",
    "fs/read_text_file",
    "session/fork",
    "session/list",
    "logout",
    "_x",
    "toString",
  ]) {
    expect([method, await ask(method, { sessionId: "a" })]).toEqual([method, -32601]);
  }
  raw.say([request(1, "session/list")]);
  await test.settle();
  expect(raw.take().map(({ error }) => error?.code)).toEqual([-32600]);
});

test.each([
  ["a relative folder", "session/new", { cwd: "work", mcpServers: [] }, -32602],
  ["a folder that is none", "session/new", { cwd: 7, mcpServers: [] }, -32602],
  ["no servers", "session/new", { cwd: "/" }, -32602],
  [
    "a server of a kind that is not offered",
    "session/new",
    { cwd: "/", mcpServers: [{ type: "http", name: "a", url: "b", headers: [] }] },
    -32602,
  ],
  ["a session that is not there", "session/load", { sessionId: "no-1", cwd: "/", mcpServers: [] }, -32002],
  ["an id that leads elsewhere", "session/load", { sessionId: "../poet", cwd: "/", mcpServers: [] }, -32002],
  ["a session that is not open", "session/prompt", { sessionId: "b", prompt: [] }, -32002],
  ["a session with a name of objects", "session/prompt", { sessionId: "__proto__", prompt: [] }, -32002],
])("P18: %s is refused", async (_, method, params, code) => {
  const test = createTestSystem();
  const { ask } = serveScenario(test);
  await ask("initialize", INITIALIZE);
  expect(await ask(method, params)).toBe(code);
  test.takeFailures();
});

test("content that is not offered is refused", async () => {
  const test = createTestSystem();
  const { ask, open } = serveScenario(test);
  await ask("initialize", INITIALIZE);
  const sessionId = await open();
  const image = { type: "image", data: "", mimeType: "image/png" };
  expect(await ask("session/prompt", { sessionId, prompt: [image] })).toBe(-32602);
  test.takeFailures();
});

test("the updates of a turn come in order and before its response, and never with another session's id", async () => {
  const test = createTestSystem();
  const { ask, open, prompt, raw } = serveScenario(test);
  await ask("initialize", INITIALIZE);
  const [one, two] = [await open(), await open()];
  raw.say(prompt("a", one, "count 300"), prompt("b", two, "count 200"));
  await test.settle();
  const messages = raw.take();
  for (const [id, sessionId, count] of [
    ["a", one, 300],
    ["b", two, 200],
  ] as const) {
    const own = messages.filter(({ id: of, params }) => of === id || params?.["sessionId"] === sessionId);
    expect(own.slice(0, -1).map(({ params }) => textOf(params))).toEqual(
      Array.from({ length: count }, (__, i) => String(i)),
    );
    expect(own.at(-1)).toMatchObject({ id, result: { stopReason: "end_turn" } });
  }
});

test("a cancelled turn ends with cancelled, nothing of it comes after, and the next one runs", async () => {
  const test = createTestSystem();
  const { ask, open, prompt, raw } = serveScenario(test);
  await ask("initialize", INITIALIZE);
  const sessionId = await open();
  raw.say(prompt("a", sessionId, "wait"), prompt("b", sessionId, "count 2"));
  await test.settle();
  expect(raw.take().map(({ params }) => textOf(params))).toEqual(["waiting"]);
  raw.say(notice("session/cancel", { sessionId }));
  await test.settle();
  expect(raw.take()).toMatchObject([
    { id: "a", result: { stopReason: "cancelled" } },
    { id: "b", result: { stopReason: "cancelled" } }, // It had come before the cancellation.
  ]);
  raw.say(notice("session/cancel", { sessionId }), prompt("c", sessionId, "count 1"));
  await test.settle();
  expect(raw.take()).toMatchObject([{ method: "session/update" }, { id: "c", result: { stopReason: "end_turn" } }]);
});

test("a prompt that is cancelled as a request is answered so, and its session is free", async () => {
  const test = createTestSystem();
  const { ask, open, prompt, raw } = serveScenario(test);
  await ask("initialize", INITIALIZE);
  const sessionId = await open();
  raw.say(prompt("a", sessionId, "wait"));
  await test.settle();
  raw.take();
  raw.say(notice("$/cancel_request", { requestId: "a" }), prompt("b", sessionId, "count 1"));
  await test.settle();
  expect(raw.take().filter(({ id }) => id !== undefined)).toMatchObject([
    { id: "a", error: { code: -32800 } },
    { id: "b", result: { stopReason: "end_turn" } },
  ]);
});

test("P18: a turn that fails tells what its session threw to be told, and nothing else", async () => {
  const test = createTestSystem();
  const { ask, open, prompt, raw } = serveScenario(test);
  await ask("initialize", INITIALIZE);
  const sessionId = await open();
  raw.say(prompt("a", sessionId, "refuse"), prompt("b", sessionId, "fail"));
  await test.settle();
  const [refused, failed] = raw.take();
  expect(refused).toMatchObject({ error: { code: -32001, message: "No poem today.", data: { until: "tomorrow" } } });
  expect(failed?.error?.code).toBe(-32603);
  expect(JSON.stringify(failed)).not.toContain("secret");
  test.takeFailures();
  test.takeLog();
});

test("a session is loaded with its conversation before the response, by another connection too", async () => {
  const test = createTestSystem();
  const { ask, open, prompt, raw, said } = serveScenario(test);
  await ask("initialize", INITIALIZE);
  const sessionId = await open();
  raw.say(prompt("a", sessionId, "count 0"), prompt("b", sessionId, "stop refusal"));
  await test.settle();
  raw.take();
  expect(said.get(`sessions/${sessionId}`)).toEqual(["count 0", "stop refusal"]);
  raw.say(request("c", "session/load", { sessionId, cwd: "/", mcpServers: [] }));
  await test.settle();
  const messages = raw.take();
  expect(messages.slice(0, -1).map(({ params }) => textOf(params))).toEqual(["count 0", "stop refusal"]);
  expect(messages.at(-1)).toMatchObject({ id: "c", result: { modes: { currentModeId: "ask" } } });
});

test("P18: sessions, and the prompts of one, are bounded", async () => {
  const test = createTestSystem();
  const { ask, open, prompt, raw } = serveScenario(test, { maxSessions: 2, maxTurns: 2 });
  await ask("initialize", INITIALIZE);
  const sessionId = await open();
  await open();
  expect(await ask("session/new", { cwd: "/", mcpServers: [] })).toBe(-32600);
  raw.say(prompt("a", sessionId, "wait"), prompt("b", sessionId, "wait"), prompt("c", sessionId, "wait"));
  await test.settle();
  expect(raw.take().filter(({ id }) => id !== undefined)).toMatchObject([{ id: "c", error: { code: -32600 } }]);
  expect(await ask("session/close", { sessionId })).toEqual({});
  expect(raw.take()).toMatchObject([
    { id: "a", result: { stopReason: "cancelled" } },
    { id: "b", result: { stopReason: "cancelled" } },
  ]);
  expect(await open()).not.toBe(sessionId);
  test.takeFailures();
});

test("P12: a turn waits while its client does not read", async () => {
  const test = createTestSystem();
  let made = 0;
  test.system.resolve("sessions/", (_, id) =>
    test.system.spawn(id, AcpSession, () => ({
      *prompt() {
        for (; made < 10_000; made++) yield agentText("x".repeat(1_000));
      },
    })),
  );
  const [here, there] = channelPair();
  serveAgent(test.system, here, { name: "a", version: "1", sessions: { prefix: "sessions/", protocol: AcpSession } });
  const raw = new Raw(there, test.clock);
  raw.say(request(1, "initialize", INITIALIZE), request(2, "session/new", { cwd: "/", mcpServers: [] }));
  await test.settle();
  const result = raw.take()[1]?.result;
  const { sessionId } = result as { sessionId: string };
  raw.channel.pause();
  raw.say(request(3, "session/prompt", { sessionId, prompt: [] }));
  await test.settle();
  expect(made).toBeLessThan(500);
  raw.channel.resume();
  await test.advance(10_000);
  expect(made).toBe(10_000);
  expect(raw.texts).toHaveLength(10_001);
});

test("a client is reached by what it has offered, and by nothing else", async () => {
  const test = createTestSystem();
  const [here, there] = channelPair();
  resolveScenario(test.system, "sessions/");
  const connection = serveAgent(test.system, here, {
    name: "a",
    version: "1",
    sessions: { prefix: "sessions/", protocol: Scenario },
  });
  const raw = new Raw(there, test.clock);
  const fs = { readTextFile: true };
  raw.say(
    request(1, "initialize", {
      protocolVersion: 1,
      clientCapabilities: { fs },
      clientInfo: { name: "me", version: "1" },
    }),
  );
  const client: Client = await connection.client;
  await test.settle();
  raw.take();
  expect(client).toMatchObject({ info: { name: "me" }, files: undefined, terminals: undefined });
  const written = await client.ref.ask("writeTextFile", { sessionId: "s", path: "/a", content: "" });
  expect(written.isErr() && written.error.kind).toBe("unknown-operation");
  const made = await client.ref.ask("createTerminal", { sessionId: "s", command: "ls" });
  expect(made.isErr() && made.error.kind).toBe("unknown-operation");
  const reading = client.ref.ask("readTextFile", { sessionId: "s", path: "/a" });
  await test.settle();
  const [asked] = raw.take();
  expect(asked).toMatchObject({ method: "fs/read_text_file", params: { sessionId: "s", path: "/a" } });
  raw.say({ jsonrpc: "2.0", id: asked?.id, result: { content: "text" } });
  expect((await reading).unwrapOr(undefined)).toEqual({ content: "text" });
});

test("authentication, lists and deletions go to the agent's own actor; the others are not there", async () => {
  const test = createTestSystem();
  const Poets = defineProtocol("poets", {
    authenticate: agentOperations.authenticate,
    listSessions: agentOperations.listSessions,
  });
  let isKnown = false;
  const poets = test.system.spawn("poets", Poets, () => ({
    authenticate() {
      isKnown = true;
    },
    listSessions: () => ({ sessions: [{ sessionId: "one", cwd: "/" }] }),
  }));
  const Guarded = defineProtocol("guarded", { prompt: sessionOperations.prompt, create: sessionOperations.create });
  test.system.resolve("sessions/", (_, id) =>
    test.system.spawn(id, Guarded, () => ({
      prompt: () => [],
      create() {
        if (!isKnown) throw authRequired();
        return {};
      },
    })),
  );
  const [here, there] = channelPair();
  serveAgent(test.system, here, {
    name: "a",
    version: "1",
    sessions: { prefix: "sessions/", protocol: Guarded },
    agent: poets,
    authMethods: [{ id: "key", name: "A key" }],
  });
  const raw = new Raw(there, test.clock);
  const opening = { cwd: "/", mcpServers: [] };
  raw.say(request(1, "initialize", INITIALIZE), request(2, "session/new", opening));
  await test.settle();
  expect(raw.take()).toMatchObject([
    {
      result: {
        authMethods: [{ id: "key" }],
        agentCapabilities: { loadSession: false, sessionCapabilities: { list: {} } },
      },
    },
    { error: { code: -32000 } },
  ]);
  raw.say(request(3, "authenticate", { methodId: "none" }), request(4, "authenticate", { methodId: "key" }));
  await test.settle();
  raw.say(
    request(5, "session/new", opening),
    request(6, "session/list", {}),
    request(7, "session/delete", { sessionId: "a" }),
  );
  await test.settle();
  expect(Object.fromEntries(raw.take().map(({ id, error, result }) => [id, error?.code ?? result]))).toEqual({
    3: -32602,
    4: {},
    5: { sessionId: expect.any(String) },
    6: { sessions: [{ sessionId: "one", cwd: "/" }] },
    7: -32601,
  });
  test.takeFailures();
});

test("a method of one's own begins with an underscore", () => {
  const { system } = createTestSystem();
  const own = system.spawn("own", defineProtocol("own", { say: { reply: Type.String() } }), () => ({
    say: () => "hi",
  }));
  const [here] = channelPair();
  const sessions = { prefix: "sessions/", protocol: AcpSession };
  const serves = { "poet/say": { ref: own, operation: "say" } };
  expect(() => serveAgent(system, here, { name: "a", version: "1", sessions, extensions: { serves } })).toThrow(
    'write "_poet/say"',
  );
});
