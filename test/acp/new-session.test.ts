import { expect, test } from "bun:test";
import { agentText, authRequired, serveAgent, sessionOperations } from "../../src/acp/index";
import { defineProtocol } from "../../src/index";
import { channelPair } from "../../src/rpc/index";
import { testSystems } from "../actor/test-system";
import { Raw, request } from "../rpc/raw";
import { ABOUT, INITIALIZE, textOf } from "./raw-sides";

// Updates of a session that the client does not know yet.

const { createTestSystem } = testSystems();

test("updates that create sends follow the response with the session's id, in order, and hold up no others", async () => {
  const test = createTestSystem();
  const Slow = defineProtocol("slow", { prompt: sessionOperations.prompt, create: sessionOperations.create });
  const gates: (() => void)[] = [];
  test.system.resolve("sessions/", (_, id) =>
    test.system.spawn(id, Slow, () => ({
      async create({ client, sessionId, cwd }) {
        const update = (text: string): void => void client.ref.tell("update", { sessionId, update: agentText(text) });
        update("one");
        await new Promise<void>((resolve) => gates.push(resolve));
        update("two");
        if (cwd === "/refused") throw authRequired();
        queueMicrotask(() => update("three")); // The reply is on its way.
        return {};
      },
      async *prompt({ client, sessionId }) {
        client.ref.tell("update", { sessionId, update: agentText("beside") });
        yield agentText("within");
      },
    })),
  );
  const [here, there] = channelPair();
  serveAgent(test.system, here, { ...ABOUT, sessions: { prefix: "sessions/", protocol: Slow } });
  const raw = new Raw(there, test.clock);
  const open = (id: number, cwd: string): object => request(id, "session/new", { cwd, mcpServers: [] });
  /** The responses and the texts of updates that have come. */
  const come = async (): Promise<unknown[]> => {
    await test.settle();
    return raw.take().map(({ id, params }) => (params === undefined ? id : textOf(params)));
  };
  raw.say(request(1, "initialize", INITIALIZE), open(2, "/"));
  expect(await come()).toEqual([1]);
  gates.shift()?.();
  await test.settle();
  const [response, ...updates] = raw.take();
  const { sessionId } = (response?.result ?? {}) as { sessionId?: string };
  expect(updates.map(({ params }) => [(params as { sessionId: string }).sessionId, textOf(params)])).toEqual(
    ["one", "two", "three"].map((text) => [sessionId, text]),
  );
  raw.say(open(3, "/"), open(4, "/refused"));
  expect(await come()).toEqual([]);
  raw.say(request(5, "session/prompt", { sessionId, prompt: [] }));
  expect(await come()).toEqual(["beside", "within", 5]);
  for (const gate of gates.splice(0)) gate();
  expect(await come()).toEqual([3, "one", "two", "three", 4]); // Nothing of the session that there is not.
  test.takeFailures();
});

test("of the updates that create sends at most 1,000 are held back, and none is lost", async () => {
  const test = createTestSystem();
  const Many = defineProtocol("many", { prompt: sessionOperations.prompt, create: sessionOperations.create });
  const gate = Promise.withResolvers<void>();
  test.system.resolve("sessions/", (_, id) =>
    test.system.spawn(id, Many, () => ({
      async create({ client, sessionId }) {
        for (let n = 0; n < 1_500; n++) client.ref.tell("update", { sessionId, update: agentText(String(n)) });
        await gate.promise;
        return {};
      },
      async *prompt() {},
    })),
  );
  const [here, there] = channelPair();
  serveAgent(test.system, here, { ...ABOUT, sessions: { prefix: "sessions/", protocol: Many } });
  const raw = new Raw(there, test.clock);
  raw.say(request(1, "initialize", INITIALIZE));
  await test.settle();
  raw.say(request(2, "session/new", { cwd: "/", mcpServers: [] }));
  await test.settle();
  const [, ...updates] = raw.take();
  expect(updates.map(({ params }) => textOf(params))).toEqual(Array.from({ length: 1_500 }, (_, n) => String(n)));
  gate.resolve();
  await test.settle();
  expect(raw.take().map(({ id }) => id)).toEqual([2]);
});
