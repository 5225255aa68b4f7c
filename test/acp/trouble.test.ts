import { expect, test } from "bun:test";
import { join } from "node:path";
import {
  AcpPermission,
  type AcpSession,
  agentText,
  connectAgent,
  type RequestPermissionResponse,
  serveAgent,
  sessionOperations,
} from "../../src/acp/index";
import { createSystem, defineProtocol, Type } from "../../src/index";
import { channelPair, childChannel } from "../../src/rpc/index";
import { testSystems } from "../actor/test-system";
import { notice, Raw, request } from "../rpc/raw";
import { ABOUT, connectRaw, INITIALIZE, read, serveScenario, textOf, update } from "./raw-sides";
import { Scenario } from "./scenario-agent";

// Failures between two sides, and attacks by one of them.

const { createTestSystem } = testSystems();

test("P3: a client that closes in the middle of a prompt ends its turn, and the session is there for the next client", async () => {
  const test = createTestSystem();
  const { ask, open, prompt, raw, said, connection } = serveScenario(test);
  await ask("initialize", INITIALIZE);
  const sessionId = await open();
  raw.say(prompt("a", sessionId, "wait"), prompt("b", sessionId, "count 1"));
  await test.settle();
  raw.channel.close();
  await test.settle();
  expect(await connection.closed).toBeUndefined();
  const [here, there] = channelPair();
  serveAgent(test.system, here, { ...ABOUT, sessions: { prefix: "sessions/", protocol: Scenario } });
  const next = new Raw(there, test.clock);
  next.say(
    request(1, "initialize", INITIALIZE),
    request(2, "session/resume", { sessionId, cwd: "/" }),
    prompt(3, sessionId, "count 1"),
  );
  await test.settle();
  next.say(prompt(4, sessionId, "count 1"));
  await test.settle();
  expect(next.take().at(-1)).toMatchObject({ id: 4, result: { stopReason: "end_turn" } });
  expect(said.get(`sessions/${sessionId}`)).toEqual(["wait", "count 1"]); // The first of the next client came too early.
  test.takeFailures();
  test.takeLog();
});

test("two prompts at once in one session are answered one after the other, and a second cancellation cancels nothing", async () => {
  const test = createTestSystem();
  const { ask, open, prompt, raw } = serveScenario(test);
  await ask("initialize", INITIALIZE);
  const sessionId = await open();
  raw.say(prompt("a", sessionId, "count 2"), prompt("b", sessionId, "count 3"));
  await test.settle();
  expect(raw.take().map(({ id, params }) => id ?? textOf(params))).toEqual(["0", "1", "a", "0", "1", "2", "b"]);
  raw.say(prompt("c", sessionId, "wait"));
  await test.settle();
  raw.take();
  const cancel = notice("session/cancel", { sessionId });
  raw.say(cancel, cancel, prompt("d", sessionId, "count 1"));
  await test.settle();
  expect(raw.take().filter(({ id }) => id !== undefined)).toMatchObject([
    { id: "c", result: { stopReason: "cancelled" } },
    { id: "d", result: { stopReason: "end_turn" } },
  ]);
});

test("P18: what is about a session that is not there is refused, and a notification about it changes nothing", async () => {
  const test = createTestSystem();
  const { ask, open, prompt, raw } = serveScenario(test);
  await ask("initialize", INITIALIZE);
  const sessionId = await open();
  raw.say(prompt("a", sessionId, "wait"));
  await test.settle();
  raw.take();
  for (const id of ["none", "", "__proto__", "../agent", "x".repeat(100_000)]) {
    raw.say(notice("session/cancel", { sessionId: id }));
    expect(await ask("session/set_mode", { sessionId: id, modeId: "ask" })).toBe(-32002);
    expect(await ask("session/set_config_option", { sessionId: id, configId: "a", value: "b" })).toBe(-32002);
    expect(await ask("session/close", { sessionId: id })).toBe(-32002);
    expect(await ask("session/prompt", { sessionId: id, prompt: [] })).toBe(-32002);
  }
  expect(raw.take()).toEqual([]); // The turn waits on.
  raw.say(notice("session/cancel", { sessionId }));
  await test.settle();
  test.takeFailures();
});

test("a permission that is answered after the turn was cancelled reaches nobody, and the next turn has its own", async () => {
  const test = createTestSystem();
  const { ask, open, prompt, raw } = serveScenario(test);
  await ask("initialize", INITIALIZE);
  const sessionId = await open();
  raw.say(prompt("a", sessionId, "permit"));
  await test.settle();
  const [first] = raw.take();
  raw.say(notice("session/cancel", { sessionId }));
  await test.settle();
  expect(raw.take().filter(({ id }) => id === "a")).toMatchObject([{ result: { stopReason: "cancelled" } }]);
  const answer = (id: unknown, optionId: string) =>
    raw.say({ jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId } } });
  raw.say(prompt("b", sessionId, "permit"));
  await test.settle();
  answer(first?.id, "yes");
  await test.settle();
  const second = raw.take().find(({ method }) => method === "session/request_permission");
  answer(second?.id, "no");
  answer(second?.id, "yes"); // Twice.
  await test.settle();
  const [said, end] = raw.take();
  expect(textOf(said?.params)).toBe("no");
  expect(end).toMatchObject({ id: "b", result: { stopReason: "end_turn" } });
  test.takeLog();
});

test("a user who permits after the turn was cancelled is not heard: the agent got its one answer before", async () => {
  const test = createTestSystem();
  const { promise, resolve } = Promise.withResolvers<RequestPermissionResponse>();
  const permission = test.system.spawn("user", AcpPermission, () => ({
    requestPermission: () => promise,
  }));
  const { raw, open } = await connectRaw(test, {}, { permission });
  const session = await open("one");
  raw.say(request("a", "session/request_permission", { sessionId: "one", toolCall: { toolCallId: "a" }, options: [] }));
  await test.settle();
  session.ref.tell("cancel");
  await test.settle();
  resolve({ outcome: { outcome: "selected", optionId: "yes" } });
  await test.settle();
  expect(raw.take().filter(({ id }) => id === "a")).toMatchObject([{ result: { outcome: { outcome: "cancelled" } } }]);
  test.takeLog(); // The user's reply was late.
});

test("P18: a prompt of a million blocks is left out unread; one of many that fits in its bound is taken whole, or refused by one answer", async () => {
  const test = createTestSystem();
  const { ask, open, raw, said } = serveScenario(test);
  await ask("initialize", INITIALIZE);
  const sessionId = await open();
  const many = (count: number, ...more: object[]): object => ({
    sessionId,
    prompt: [
      { type: "text", text: "count 1" },
      ...Array.from({ length: count }, () => ({ type: "text", text: "" })),
      ...more,
    ],
  });
  raw.say(request("a", "session/prompt", many(1_000_000)));
  await test.settle();
  expect(raw.take()).toMatchObject([{ id: "a", error: { code: -32600 } }]);
  raw.say(request("b", "session/prompt", many(100_000, { type: "text", text: 7 })));
  await test.settle();
  expect(raw.texts.join("").length).toBeLessThan(1_000);
  expect(raw.take()).toMatchObject([{ id: "b", error: { code: -32602 } }]);
  raw.say(request("c", "session/prompt", many(100_000)));
  await test.settle();
  expect(raw.take().at(-1)).toMatchObject({ id: "c", result: { stopReason: "end_turn" } });
  expect(said.get(`sessions/${sessionId}`)).toHaveLength(100_001);
});

test("P18: an agent that tells of sessions that nobody opened keeps nothing in its client", async () => {
  const test = createTestSystem();
  const { raw, connection, open, answer } = await connectRaw(test);
  const opening = connection.newSession({ cwd: "/" });
  await test.settle();
  const [asked] = raw.take();
  for (let i = 0; i < 1_000; i++) raw.say(update(`s${i}`, "early"));
  answer(asked?.id, { sessionId: "s999" });
  await test.settle();
  const late = (await opening)._unsafeUnwrap();
  const turn = read(late);
  await test.settle();
  answer(raw.take()[0]?.id, { stopReason: "end_turn" });
  await test.settle();
  expect(turn.found).toEqual(["end_turn"]); // Only the updates of 16 sessions were kept until then.
  const other = read(await open("s3"));
  await test.settle();
  answer(raw.take()[0]?.id, { stopReason: "end_turn" });
  await test.settle();
  expect(other.found).toEqual(["end_turn"]);
});

test("P9: a session that crashes in a turn fails its prompt alone, and the next prompt is answered", async () => {
  const test = createTestSystem();
  const { ask, open, prompt, raw } = serveScenario(test);
  await ask("initialize", INITIALIZE);
  const [one, two] = [await open(), await open()];
  raw.say(prompt("a", one, "fail"), prompt("b", two, "count 1"), prompt("c", one, "count 1"));
  await test.settle();
  const ends = raw.take().filter(({ id }) => id !== undefined);
  expect(Object.fromEntries(ends.map(({ id, error, result }) => [id, error?.code ?? result]))).toEqual({
    a: -32603,
    b: { stopReason: "end_turn" },
    c: { stopReason: "end_turn" },
  });
  test.takeFailures();
  test.takeLog();
});

test("P17: an agent that is killed while a client waits ends its turns, its sessions and the connection", async () => {
  const logged: string[] = [];
  const log = (text: string) => void logged.push(text);
  await using system = createSystem({ logger: { warn: log, error: log } });
  const program = join(import.meta.dir, "programs/envoi-agent.ts");
  const child = Bun.spawn([process.execPath, program], { stdin: "pipe", stdout: "pipe", stderr: "ignore" });
  const connection = (await connectAgent(system, childChannel(child), ABOUT))._unsafeUnwrap();
  const session = (await connection.newSession({ cwd: "/" }))._unsafeUnwrap();
  const found: unknown[] = [];
  const reading = (async () => {
    for await (const item of session.ref.stream("prompt", { prompt: [{ type: "text", text: "wait" }] })) {
      found.push(item);
      child.kill("SIGKILL");
    }
  })();
  expect(await reading.catch((error: Error) => error.name)).toBe("StreamError");
  expect(found).toHaveLength(1);
  await connection.closed;
  const later = await connection.newSession({ cwd: "/" });
  expect(later.isErr() && later.error.kind).toBe("unreachable");
  const mode = await session.ref.ask("setMode", { modeId: "ask" });
  expect(mode.isErr() && mode.error.kind).toBe("stopped");
  expect(logged).toEqual([]); // The end of the turn is no news to an agent that is gone.
}, 30_000);

test("a session may stream without end: the client ends it by leaving, and the handler's generator is closed", async () => {
  const test = createTestSystem();
  const Endless = defineProtocol("endless", { prompt: sessionOperations.prompt });
  let isClosed = false;
  test.system.resolve("sessions/", (_, id) =>
    test.system.spawn(id, Endless, (ctx) => ({
      async *prompt() {
        try {
          for (let i = 0; ; i++) {
            yield agentText(String(i));
            await new Promise<void>((resolve) => ctx.clock.setTimer(resolve, 1));
          }
        } finally {
          isClosed = true;
        }
      },
    })),
  );
  const [here, there] = channelPair();
  serveAgent(test.system, there, { ...ABOUT, sessions: { prefix: "sessions/", protocol: Endless } });
  const connecting = connectAgent(test.system, here, ABOUT);
  await test.settle();
  const connection = (await connecting)._unsafeUnwrap();
  const opening = connection.newSession({ cwd: "/" });
  await test.settle();
  const turn = read((await opening)._unsafeUnwrap());
  await test.advance(50);
  expect(turn.found.length).toBeGreaterThan(10);
  await turn.leave();
  await test.advance(1); // It was waiting when it was left.
  expect(isClosed).toBe(true);
  connection.close();
  await test.settle();
});

test("P17: an agent whose client was killed in the middle of a turn ends with it", async () => {
  const program = join(import.meta.dir, "programs/envoi-agent.ts");
  const child = Bun.spawn([process.execPath, program], { stdin: "pipe", stdout: "pipe", stderr: "ignore" });
  const say = (...messages: object[]): void => {
    for (const message of messages) child.stdin.write(`${JSON.stringify(message)}\n`);
    child.stdin.flush();
  };
  say(request(1, "initialize", INITIALIZE), request(2, "session/new", { cwd: "/", mcpServers: [] }));
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of child.stdout) {
    text += decoder.decode(bytes, { stream: true });
    const sessionId = /"sessionId":"([\w-]+)"/.exec(text)?.[1];
    if (text.includes("waiting")) break; // Nobody reads any more.
    if (sessionId === undefined || text.includes("session/update")) continue;
    say(request(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: "wait" }] }));
  }
  child.stdin.end();
  expect(await child.exited).toBe(0);
}, 30_000);

test("an agent whose sessions take no prompts is refused at once, with what to write", () => {
  const { system } = createTestSystem();
  const Mute = defineProtocol("mute", { create: sessionOperations.create });
  const Other = defineProtocol("other", { prompt: { payload: Type.String(), reply: Type.String() } });
  for (const protocol of [Mute, Other]) {
    const sessions = { prefix: "sessions/", protocol: protocol as unknown as typeof AcpSession }; // As a program without types has it.
    expect(() => serveAgent(system, channelPair()[0], { ...ABOUT, sessions })).toThrow(
      "{ prompt: sessionOperations.prompt }",
    );
  }
});
