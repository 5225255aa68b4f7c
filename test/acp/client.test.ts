import { expect, test } from "bun:test";
import { AcpFiles, AcpPermission, type ClientOptions, connectAgent, serveAgent } from "../../src/acp/index";
import { defineProtocol, Type } from "../../src/index";
import { channelPair, type Protocols } from "../../src/rpc/index";
import { testSystems } from "../actor/test-system";
import { Raw, request } from "../rpc/raw";
import { ABOUT, connectRaw, read, update } from "./raw-sides";
import { resolveScenario, Scenario } from "./scenario-agent";

// The client, with an agent that writes what it likes, and with that of the scenario.

const { createTestSystem } = testSystems();

test("a client offers what it has actors for", async () => {
  const test = createTestSystem();
  const Reading = defineProtocol("reading", { readTextFile: { payload: Type.Unknown(), reply: Type.Unknown() } });
  const files = test.system.spawn("files", Reading, () => ({ readTextFile: () => ({ content: "" }) }));
  const { initialize } = await connectRaw(
    test,
    {},
    { files: files as unknown as ClientOptions<Protocols>["files"] & {} },
  );
  expect(initialize?.params).toEqual({
    protocolVersion: 1,
    clientInfo: ABOUT,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: false }, terminal: false },
  });
});

test("an agent of another version is left", async () => {
  const test = createTestSystem();
  const [here, there] = channelPair();
  const raw = new Raw(there, test.clock);
  const connecting = connectAgent(test.system, here, ABOUT);
  await test.settle();
  raw.say({ jsonrpc: "2.0", id: raw.take()[0]?.id, result: { protocolVersion: 2 } });
  await test.settle();
  const connected = await connecting;
  expect(connected.isErr() && connected.error.message).toContain("version 2");
  await test.settle();
  expect(raw.isClosed).toBe(true);
});

test("an agent that does not begin is left in time", async () => {
  const test = createTestSystem();
  const [here, there] = channelPair();
  const raw = new Raw(there, test.clock);
  const connecting = connectAgent(test.system, here, { ...ABOUT, startWithin: 1_000 });
  await test.advance(1_000);
  const connected = await connecting;
  expect(connected.isErr() && "kind" in connected.error && connected.error.kind).toBe("timeout");
  await test.settle();
  expect(raw.isClosed).toBe(true);
});

test("an operation that an agent has not offered is not sent", async () => {
  const test = createTestSystem();
  const { connection, raw } = await connectRaw(test);
  for (const result of [
    await connection.agent.ask("listSessions", {}),
    await connection.agent.ask("logout", {}),
    await connection.loadSession({ sessionId: "a", cwd: "/" }),
    await connection.resumeSession({ sessionId: "a", cwd: "/" }),
  ]) {
    expect(result.isErr() && result.error.kind).toBe("unknown-operation");
  }
  expect(raw.take()).toEqual([]);
});

test("a turn has the updates that came before its response, in order, and none of another session", async () => {
  const test = createTestSystem();
  const { raw, open, answer } = await connectRaw(test);
  const [one, two] = [await open("one"), await open("two")];
  const [first, second] = [read(one), read(two)];
  await test.settle();
  const [a, b] = raw.take();
  for (let i = 0; i < 300; i++) raw.say(update(i % 3 === 0 ? "two" : "one", String(i)));
  raw.say(update("nobody", "lost"));
  answer(a?.id, { stopReason: "end_turn" });
  answer(b?.id, { stopReason: "max_tokens" });
  await test.settle();
  raw.say(update("one", "later"));
  await test.settle();
  const numbers = Array.from({ length: 300 }, (_, i) => i);
  expect(first.found).toEqual([...numbers.filter((i) => i % 3 > 0).map(String), "end_turn"]);
  expect(second.found).toEqual([...numbers.filter((i) => i % 3 === 0).map(String), "max_tokens"]);
});

test("updates that come before the id of a new session, or outside of turns, wait for their reader", async () => {
  const test = createTestSystem();
  const { raw, connection, answer } = await connectRaw(test);
  const opening = connection.newSession({ cwd: "/" });
  await test.settle();
  raw.say(update("new", "early"));
  answer(raw.take()[0]?.id, { sessionId: "new" });
  raw.say(update("new", "soon"));
  await test.settle();
  const { ref } = (await opening)._unsafeUnwrap();
  raw.say(update("new", "later"));
  await test.settle();
  const items = ref.stream("updates");
  await items.next();
  await test.settle();
  expect(items.ready().map((item) => item.sessionUpdate)).toEqual(["agent_message_chunk", "agent_message_chunk"]);
  await items.return();
});

test("a turn that is left is cancelled at the agent, and the next one waits for its end", async () => {
  const test = createTestSystem();
  const { raw, open, answer } = await connectRaw(test);
  const session = await open("one");
  const first = read(session);
  await test.settle();
  const [asked] = raw.take();
  await first.leave();
  const second = read(session, "again");
  await test.settle();
  expect(raw.take()).toMatchObject([{ method: "session/cancel", params: { sessionId: "one" } }]);
  raw.say(update("one", "of the first"));
  answer(asked?.id, { stopReason: "cancelled" });
  await test.settle();
  const [next] = raw.take();
  expect(next).toMatchObject({ method: "session/prompt", params: { prompt: [{ text: "again" }] } });
  raw.say(update("one", "of the second"));
  answer(next?.id, { stopReason: "end_turn" });
  await test.settle();
  expect(second.found).toEqual(["of the second", "end_turn"]);
});

test("an agent that does not end a turn that was left holds up the next one for 30 seconds", async () => {
  const test = createTestSystem();
  const { raw, open, answer } = await connectRaw(test);
  const session = await open("one");
  const first = read(session);
  await test.settle();
  await first.leave();
  read(session, "again");
  await test.settle();
  raw.take();
  await test.advance(30_000);
  const messages = raw.take();
  expect(messages).toMatchObject([{ method: "$/cancel_request" }, { method: "session/prompt" }]);
  answer(messages[1]?.id, { stopReason: "end_turn" });
  await test.settle();
});

test("a cancellation answers the permissions that the turn waits for", async () => {
  const test = createTestSystem();
  const permission = test.system.spawn(
    "user",
    AcpPermission,
    (ctx) => ({
      requestPermission: () => new Promise((_, reject) => ctx.onAbort(() => reject(ctx.signal.reason))),
    }),
    { concurrency: 10 },
  );
  const { raw, open } = await connectRaw(test, {}, { permission });
  const [one, two] = [await open("one"), await open("two")];
  const asking = (sessionId: string): object => ({ sessionId, toolCall: { toolCallId: "a" }, options: [] });
  raw.say(
    request("a", "session/request_permission", asking("one")),
    request("b", "session/request_permission", asking("two")),
  );
  await test.settle();
  one.ref.tell("cancel");
  await test.settle();
  expect(raw.take()).toMatchObject([
    { method: "session/cancel", params: { sessionId: "one" } },
    { id: "a", result: { outcome: { outcome: "cancelled" } } },
  ]);
  two.ref.tell("cancel");
  await test.settle();
});

test("P18: an agent reaches nothing that was not offered, and no session that is not open", async () => {
  const test = createTestSystem();
  const files = test.system.spawn("files", AcpFiles, () => ({
    readTextFile: ({ path }) => ({ content: path }),
    writeTextFile: () => ({}),
  }));
  const { raw, open } = await connectRaw(test, {}, { files });
  await open("one");
  raw.say(
    request(1, "fs/read_text_file", { sessionId: "one", path: "/a" }),
    request(2, "fs/read_text_file", { sessionId: "two", path: "/a" }),
    request(3, "fs/read_text_file", { path: "/a" }),
    request(4, "terminal/create", { sessionId: "one", command: "ls" }),
    request(5, "session/prompt", { sessionId: "one", prompt: [] }),
    request(6, "initialize", { protocolVersion: 1 }),
    request(7, "session/request_permission", { sessionId: "two", toolCall: { toolCallId: "a" }, options: [] }),
    request(8, "session/request_permission", {
      sessionId: "one",
      toolCall: { toolCallId: "a" },
      options: [{ optionId: "no", name: "No", kind: "reject_once" }],
    }),
  );
  await test.settle();
  const answers = new Map(raw.take().map(({ id, error, result }) => [id, error?.code ?? result]));
  expect(Object.fromEntries(answers)).toEqual({
    1: { content: "/a" },
    2: -32602,
    3: -32602,
    4: -32601,
    5: -32601,
    6: -32601,
    7: -32002,
    8: { outcome: { outcome: "selected", optionId: "no" } },
  });
  test.takeFailures();
});

test("the end of the connection ends sessions, their turns and their readers", async () => {
  const test = createTestSystem();
  const { raw, open, connection } = await connectRaw(test);
  const session = await open("one");
  const turn = read(session);
  await test.settle();
  raw.channel.close();
  await test.settle();
  await connection.closed;
  expect(turn.found).toHaveLength(1);
  const later = await session.ref.ask("setMode", { modeId: "a" });
  expect(later.isErr() && later.error.kind).toBe("stopped");
  test.takeFailures();
  test.takeLog();
});

test("both roles of envoi speak with each other: modes, a loaded conversation and the end of a session", async () => {
  const test = createTestSystem();
  resolveScenario(test.system, "sessions/");
  const [here, there] = channelPair();
  serveAgent(test.system, there, {
    name: "agent",
    version: "1.0.0",
    sessions: { prefix: "sessions/", protocol: Scenario },
  });
  const connecting = connectAgent(test.system, here, ABOUT);
  await test.settle();
  const connection = (await connecting)._unsafeUnwrap();
  const opening = connection.newSession({ cwd: "/" });
  await test.settle();
  const session = (await opening)._unsafeUnwrap();
  expect(session.modes?.currentModeId).toBe("ask");
  const turn = read(session, "count 3");
  await test.settle();
  expect(turn.found).toEqual(["0", "1", "2", "end_turn"]);
  const waiting = read(session, "wait");
  await test.settle();
  session.ref.tell("cancel");
  await test.settle();
  expect(waiting.found).toEqual(["waiting", "cancelled"]);
  const heard: string[] = [];
  const loading = connection.loadSession(
    { sessionId: session.id, cwd: "/" },
    { onUpdate: (item) => void heard.push(item.sessionUpdate) },
  );
  await test.settle();
  expect((await loading).isOk()).toBe(true);
  expect(heard).toEqual(["user_message_chunk", "user_message_chunk"]);
  const closing = session.ref.ask("close");
  await test.settle();
  expect((await closing).isOk()).toBe(true);
});
