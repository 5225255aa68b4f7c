import { expect, test } from "bun:test";
import {
  AcpElicitation,
  agentOperations,
  agentText,
  authRequired,
  type Client,
  type ClientOptions,
  connectAgent,
  type SessionConfigOption,
  serveAgent,
  sessionOperations,
} from "../../src/acp/index";
import { defineProtocol } from "../../src/index";
import { channelPair, RpcError } from "../../src/rpc/index";
import type { TestSystem } from "../../src/testing/index";
import { testSystems } from "../actor/test-system";
import { ABOUT, read } from "./raw-sides";

// Both roles of envoi, for each part of the protocol that the scenario leaves out.

const { createTestSystem } = testSystems();

const Whole = defineProtocol("whole", sessionOperations);
const Agent = defineProtocol("agent", agentOperations);

const modelIs = (currentValue: string): SessionConfigOption => ({
  id: "model",
  name: "Model",
  category: "model",
  type: "select",
  currentValue,
  options: [
    { value: "small", name: "Small" },
    { value: "large", name: "Large" },
  ],
});

/** Waits for something that needs the messages of both sides. */
async function settled<Value>(test: TestSystem, promise: Promise<Value>): Promise<Value> {
  await test.settle();
  return promise;
}

/** An agent that wants a key, and knows its sessions; with its client. */
async function connected(test: TestSystem, options: Partial<ClientOptions<Record<never, never>>> = {}) {
  const known = new Map<string, string>();
  let isIn = false;
  const agent = test.system.spawn("agent", Agent, () => ({
    authenticate: ({ methodId }) => {
      isIn = methodId === "key";
    },
    logout() {
      isIn = false;
    },
    listSessions: () => ({ sessions: [...known].map(([sessionId, cwd]) => ({ sessionId, cwd })) }),
    deleteSession: ({ sessionId }) => void known.delete(sessionId),
  }));
  let client: Client | undefined;
  test.system.resolve("sessions/", (_, id) =>
    test.system.spawn(id, Whole, () => {
      let model = "small";
      return {
        async *prompt(turn) {
          client = turn.client;
          const asked = await turn.client.ref.ask("createElicitation", {
            sessionId: turn.sessionId,
            message: "Which?",
            mode: "form",
            requestedSchema: { type: "object", properties: { which: { type: "string" } } },
          });
          yield agentText(asked.isOk() ? JSON.stringify(asked.value) : asked.error.kind);
        },
        create({ sessionId, cwd }) {
          if (!isIn) throw authRequired();
          known.set(sessionId, cwd);
          return { configOptions: [modelIs(model)] };
        },
        *load() {},
        resume: ({ sessionId }) => {
          if (!known.has(sessionId)) throw new RpcError(-32_002, "It was deleted.");
          return { configOptions: [modelIs(model)] };
        },
        close() {},
        setMode() {},
        setConfigOption({ value }) {
          model = String(value);
          return { configOptions: [modelIs(model)] };
        },
      };
    }),
  );
  const [here, there] = channelPair();
  serveAgent(test.system, there, {
    name: "whole",
    version: "1.0.0",
    sessions: { prefix: "sessions/", protocol: Whole },
    agent,
    authMethods: [{ id: "key", name: "A key" }],
  });
  const connection = (await settled(test, connectAgent(test.system, here, { ...ABOUT, ...options })))._unsafeUnwrap();
  const open = () => settled(test, connection.newSession({ cwd: "/work" }));
  const enter = () => settled(test, connection.agent.ask("authenticate", { methodId: "key" }));
  return { connection, open, enter, clientOf: () => client };
}

test("a client that is asked to authenticate does so, and then opens sessions, until it logs out", async () => {
  const test = createTestSystem();
  const { connection, open, enter } = await connected(test);
  expect(connection.authMethods).toMatchObject([{ id: "key" }]);
  const codeOf = async () => {
    const opened = await open();
    const cause = opened.isErr() && opened.error.kind === "handler-failed" && opened.error.cause;
    return RpcError.is(cause) ? cause.code : opened.isOk();
  };
  expect(await codeOf()).toBe(-32_000);
  expect((await enter()).isOk()).toBe(true);
  expect(await codeOf()).toBe(true);
  expect((await settled(test, connection.agent.ask("logout", {}))).isOk()).toBe(true);
  expect(await codeOf()).toBe(-32_000);
  test.takeFailures();
});

test("sessions are listed, resumed and deleted", async () => {
  const test = createTestSystem();
  const { connection, open, enter } = await connected(test);
  await enter();
  const { id } = (await open())._unsafeUnwrap();
  const list = async () => (await settled(test, connection.agent.ask("listSessions", {})))._unsafeUnwrap().sessions;
  expect(await list()).toEqual([{ sessionId: id, cwd: "/work" }]);
  const again = await settled(test, connection.resumeSession({ sessionId: id, cwd: "/work" }));
  expect(again._unsafeUnwrap().configOptions).toEqual([modelIs("small")]);
  expect((await settled(test, connection.agent.ask("deleteSession", { sessionId: id }))).isOk()).toBe(true);
  expect(await list()).toEqual([]);
  expect((await settled(test, connection.resumeSession({ sessionId: id, cwd: "/work" }))).isErr()).toBe(true);
  test.takeFailures();
});

test("models are options of a session: it tells them when it is opened, and all of them when one has changed", async () => {
  const test = createTestSystem();
  const { open, enter } = await connected(test);
  await enter();
  const { ref, configOptions } = (await open())._unsafeUnwrap();
  expect(configOptions).toEqual([modelIs("small")]);
  const changed = await settled(test, ref.ask("setConfigOption", { configId: "model", value: "large" }));
  expect(changed._unsafeUnwrap()).toEqual({ configOptions: [modelIs("large")] });
});

test("an agent asks the user for input by the client's actor, and tells it when that is done", async () => {
  const test = createTestSystem();
  const completed: string[] = [];
  const ref = test.system.spawn("user", AcpElicitation, () => ({
    createElicitation: ({ message }) => ({ action: "accept", content: { which: message } }),
    completeElicitation: ({ elicitationId }) => void completed.push(elicitationId),
  }));
  const { open, enter, clientOf } = await connected(test, { elicitation: { ref } });
  await enter();
  const session = (await open())._unsafeUnwrap();
  const { id } = session;
  const turn = read(session);
  await test.settle();
  expect(turn.found).toEqual(['{"action":"accept","content":{"which":"Which?"}}', "end_turn"]);
  const link = { message: "Log in", mode: "url", elicitationId: "one", url: "https://example.com" } as const;
  const refused = async (sessionId: string, more: object) => {
    const asked = clientOf()?.ref.ask("createElicitation", { ...link, sessionId, ...more });
    const answer = await settled(test, asked ?? Promise.reject(new Error("nobody has prompted")));
    if (answer.isOk()) return answer.value;
    const { error } = answer;
    return error.kind === "handler-failed" && RpcError.is(error.cause) ? error.cause.code : error.kind;
  };
  expect(await refused(id, {})).toBe("invalid-payload"); // The client offers forms alone.
  expect(await refused("none", { mode: "form", requestedSchema: { type: "object" } })).toBe(-32_002);
  clientOf()?.ref.tell("completeElicitation", { elicitationId: "one" });
  await test.settle();
  expect(completed).toEqual(["one"]);
  test.takeFailures();
});

test("an agent cannot ask for input where the client has no actor for it", async () => {
  const test = createTestSystem();
  const { open, enter } = await connected(test);
  await enter();
  const turn = read((await open())._unsafeUnwrap());
  await test.settle();
  expect(turn.found).toEqual(["unknown-operation", "end_turn"]);
});

test("P8: a session is an actor, which may be watched: the end of the connection ends it", async () => {
  const test = createTestSystem();
  const { connection, open, enter } = await connected(test);
  await enter();
  const { ref } = (await open())._unsafeUnwrap();
  const Watcher = defineProtocol("watcher", {});
  const ended: string[] = [];
  test.system.spawn("watcher", Watcher, (ctx) => {
    ctx.watch(ref, ({ address }) => ended.push(address));
    return {};
  });
  await test.settle();
  connection.close();
  await test.settle();
  expect(ended).toEqual([ref.address]);
});
