import { type ClientOptions, connectAgent, type OpenedSession, serveAgent } from "../../src/acp/index";
import { channelPair } from "../../src/rpc/index";
import type { TestSystem } from "../../src/testing/index";
import { notice, Raw, request } from "../rpc/raw";
import { resolveScenario, Scenario } from "./scenario-agent";

// Each role of envoi, with another side that writes what it likes.

export const INITIALIZE = { protocolVersion: 1, clientCapabilities: {} };
export const ABOUT = { name: "client", version: "1.0.0" };

/** The text of an update. */
export const textOf = (params: unknown): unknown =>
  (params as { update: { content: { text: string } } }).update.content.text;

/** The scenario's agent, and a client that has not begun. */
export function serveScenario(
  test: TestSystem,
  options: { readonly maxSessions?: number; readonly maxTurns?: number } = {},
) {
  const said = resolveScenario(test.system, "sessions/");
  const [here, there] = channelPair();
  const connection = serveAgent(test.system, here, {
    name: "agent",
    version: "1.0.0",
    sessions: { prefix: "sessions/", protocol: Scenario },
    ...options,
  });
  const raw = new Raw(there, test.clock);
  /** Sends a request, and gives the answer once it has come; what came before it stays. */
  async function ask(method: string, params?: unknown): Promise<unknown> {
    const id = ++asked;
    raw.say(request(id, method, params));
    await test.settle();
    const index = raw.texts.findIndex((text) => JSON.parse(text).id === id);
    const { result, error } = JSON.parse(raw.texts.splice(index, 1)[0] ?? "{}");
    return error?.code ?? result;
  }
  let asked = 0;
  /** The id of a new session. */
  async function open(): Promise<string> {
    const { sessionId } = (await ask("session/new", { cwd: "/", mcpServers: [] })) as { sessionId: string };
    return sessionId;
  }
  const prompt = (id: unknown, sessionId: string, text: string): object =>
    request(id, "session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  return { connection, raw, said, ask, open, prompt };
}

/** A client, and an agent that has answered `initialize`. */
export async function connectRaw(
  test: TestSystem,
  capabilities: object = {},
  options: Partial<ClientOptions<Record<never, never>>> = {},
) {
  const [here, there] = channelPair();
  const raw = new Raw(there, test.clock);
  const connecting = connectAgent(test.system, here, { ...ABOUT, ...options });
  await test.settle();
  const [initialize] = raw.take();
  raw.say({ jsonrpc: "2.0", id: initialize?.id, result: { protocolVersion: 1, agentCapabilities: capabilities } });
  await test.settle();
  const connected = await connecting;
  if (connected.isErr()) throw connected.error;
  const connection = connected.value;
  const answer = (id: unknown, result: unknown): void => raw.say({ jsonrpc: "2.0", id, result });
  /** A session that the agent has opened. */
  async function open(sessionId: string): Promise<OpenedSession> {
    const opening = connection.newSession({ cwd: "/" });
    await test.settle();
    answer(raw.take()[0]?.id, { sessionId });
    await test.settle();
    return (await opening)._unsafeUnwrap();
  }
  return { raw, connection, initialize, answer, open };
}

export const update = (sessionId: string, text: string): object =>
  notice("session/update", {
    sessionId,
    update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
  });

/** Reads a turn, in the background. */
export function read({ ref }: OpenedSession, text = "hi"): { readonly found: string[]; leave(): Promise<unknown> } {
  const found: string[] = [];
  const items = ref.stream("prompt", { prompt: [{ type: "text", text }] });
  void (async () => {
    try {
      for await (const item of items) {
        if (!("sessionUpdate" in item)) found.push(item.stopReason);
        else if ("content" in item && item.content != null && "text" in item.content) found.push(item.content.text);
        else found.push(item.sessionUpdate);
      }
    } catch (error) {
      found.push(error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error));
    }
  })();
  return { found, leave: () => items.return() };
}
