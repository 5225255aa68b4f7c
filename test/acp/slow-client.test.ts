import { expect, test } from "bun:test";
import { agentText, serveAgent, sessionOperations } from "../../src/acp/index";
import { defineProtocol } from "../../src/index";
import { channelPair } from "../../src/rpc/index";
import { testSystems } from "../actor/test-system";
import { Raw, request } from "../rpc/raw";
import { ABOUT, INITIALIZE } from "./raw-sides";

const { createTestSystem } = testSystems();

const SESSIONS = 10;
const UPDATES = 5;

test("P12: turns of many sessions share what a slow client has room for: each update comes, in order, before its response", async () => {
  const test = createTestSystem();
  const Own = defineProtocol("own", { prompt: sessionOperations.prompt, load: sessionOperations.load });
  async function* talk() {
    for (let index = 0; index < UPDATES; index++) yield agentText(`${index} ${"x".repeat(500)}`);
  }
  test.system.resolve("sessions/", (_prefix, id) => test.system.spawn(id, Own, () => ({ prompt: talk, load: talk })));
  const [here, there] = channelPair();
  serveAgent(test.system, here, { ...ABOUT, sessions: { prefix: "sessions/", protocol: Own }, maxUnsent: 2_000 });
  const raw = new Raw(there, test.clock);
  raw.say(request(0, "initialize", INITIALIZE));
  const workspace = { cwd: "/", mcpServers: [] };
  const ids = Array.from({ length: SESSIONS }, (_, index) => `s${index}`);
  for (const sessionId of ids) raw.say(request(`load ${sessionId}`, "session/load", { ...workspace, sessionId }));
  const got = new Map<string, string[]>();
  let answered = 0;
  /** Reads a little, again and again. */
  async function readAll(): Promise<void> {
    answered = 0;
    got.clear();
    for (let look = 0; look < 200 && answered < SESSIONS; look++) {
      raw.channel.pause();
      await test.advance(20);
      raw.channel.resume();
      await test.settle();
      for (const { id, params, error } of raw.take()) {
        expect(error).toBeUndefined();
        const update = params as { sessionId: string; update: { content: { text: string } } } | undefined;
        if (update !== undefined) {
          const texts = got.get(update.sessionId) ?? [];
          got.set(update.sessionId, [...texts, update.update.content.text.slice(0, 1)]);
        } else if (id !== 0) answered++;
      }
    }
    expect(answered).toBe(SESSIONS);
    expect(Object.fromEntries(got)).toEqual(Object.fromEntries(ids.map((id) => [id, ["0", "1", "2", "3", "4"]])));
  }
  raw.channel.pause();
  await readAll();
  for (const sessionId of ids) raw.say(request(`turn ${sessionId}`, "session/prompt", { sessionId, prompt: [] }));
  await readAll();
});

test("P9: a turn fails whose update cannot be sent, and the next one goes on", async () => {
  const test = createTestSystem();
  const Own = defineProtocol("own", { prompt: sessionOperations.prompt, load: sessionOperations.load });
  let size = 2_000;
  async function* talk() {
    yield agentText("first");
    yield agentText("x".repeat(size));
  }
  test.system.resolve("sessions/", (_prefix, id) => test.system.spawn(id, Own, () => ({ prompt: talk, load: talk })));
  const [here, there] = channelPair();
  serveAgent(test.system, here, { ...ABOUT, sessions: { prefix: "sessions/", protocol: Own }, maxBytes: 1_000 });
  const raw = new Raw(there, test.clock);
  const prompt = { sessionId: "s", prompt: [] };
  const load = { sessionId: "s", cwd: "/", mcpServers: [] };
  raw.say(request(0, "initialize", INITIALIZE), request(1, "session/load", load));
  await test.settle();
  const answers = () =>
    raw.take().flatMap(({ id, result, error }) => (id === undefined ? [] : [error?.code ?? result]));
  expect(answers().at(-1)).toBe(-32_603);
  size = 10;
  raw.say(request(2, "session/load", load));
  await test.settle();
  expect(answers()).toEqual([{}]);
  size = 2_000;
  raw.say(request(3, "session/prompt", prompt));
  await test.settle();
  expect(answers()).toEqual([-32_603]);
  size = 10;
  raw.say(request(4, "session/prompt", prompt));
  await test.settle();
  expect(answers()).toEqual([{ stopReason: "end_turn" }]);
  expect(test.takeLog().filter(({ message }) => message.includes("more than maxBytes"))).not.toBeEmpty();
  test.takeFailures();
});
