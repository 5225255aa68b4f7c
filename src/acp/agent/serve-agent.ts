import { type Address, operationsOf, type Ref, type System } from "../../index";
import { type Calls, type Channel, createPeer, type Protocols, type Serves } from "../../rpc/index";
import { AT_ONCE, connectionName, extensionsIn, limitsIn, madeFor } from "../connection";
import {
  AcpAgent,
  AcpClient,
  type AcpClientRef,
  AGENT_METHODS,
  type AgentOperation,
  CANCEL_REQUEST,
  CLIENT_METHODS,
} from "../methods";
import { AgentFront } from "./front";
import { HoldingChannel } from "./holding-channel";
import { aboutOf, offeredBy, servedBy } from "./offers";
import type { AgentConnection, AgentOptions } from "./options";
import type { AgentSignatures, Client, SessionSignatures, SomeSession } from "./session";

const UNSENDABLE = "An update cannot be sent: it has more than maxBytes, or is not JSON.";

/** The capability of a connection that has begun. The others are methods. */
const BEGUN = "begun";

/** Requests that may last for as long as a person or a model takes. */
const ENDLESS: ReadonlySet<AgentOperation> = new Set(["prompt", "authenticate", "loadSession"]);

/** Each method of a client needs the capability of its own name. */
const CALLS = Object.fromEntries(
  Object.entries(CLIENT_METHODS).map(([operation, method]) => [operation, { method, needs: method }]),
);

/**
 * Serves an agent to the client at the other end of a channel, by version 1 of the Agent Client Protocol. (Version 2 is a draft, and not
 * spoken; a client that asks for it is offered 1.) The sessions are actors that `system.resolve` opens; clients are offered the
 * operations that their protocol has.
 *
 * The updates that a turn yields reach the client in order, and all before the response of its prompt. A prompt that was cancelled is
 * answered with `cancelled`, and no updates of it follow. Updates of another connection's sessions never come here.
 *
 * A session sends updates outside of a turn by `client.ref.tell("update", { sessionId, update })`. Updates during `create`, such as its
 * commands, go right after the response that tells the client its id (1,000 at most are held back). Updates during `load` and `resume`
 * go at once: the client knows the id, and gets the conversation before the response, too.
 *
 * When the connection ends, or the client closes a session, a session that clients can load or resume stays, and stops itself when it likes.
 * Any other session is stopped: clients cannot come back to it.
 *
 * | refused | code |
 * | --- | --- |
 * | before `initialize`, a second one, too many sessions or prompts | -32600 |
 * | a method that the agent lacks, or that belongs to clients | -32601 |
 * | params that do not fit, a relative `cwd`, content or servers that are not offered | -32602 |
 * | a session that is not open | -32002 |
 * | an `RpcError` that a handler throws | its own |
 * | any other failure | -32603, without its text |
 *
 * @throws TypeError or RangeError for an invalid option.
 * @example
 * system.resolve("sessions/", (_, id) =>
 *   system.spawn(id, AcpSession, () => ({
 *     async *prompt({ prompt }) {
 *       yield agentText(`You said ${prompt.length} things.`);
 *     },
 *   })),
 * );
 * serveAgent(system, stdioChannel(), {
 *   name: "echo",
 *   version: "1.0.0",
 *   sessions: { prefix: "sessions/", protocol: AcpSession },
 * });
 */
export function serveAgent<
  Session extends SomeSession,
  Agent extends Partial<AgentSignatures> = AgentSignatures,
  Extensions extends Protocols = Record<never, never>,
>(system: System, channel: Channel, options: AgentOptions<Session, Agent, Extensions>): AgentConnection<Extensions> {
  const { sessions, agent, authMethods = [], maxSessions = 100, maxTurns = 16 } = options;
  if (!sessions.prefix.endsWith("/")) throw new TypeError('The prefix of sessions ends with a slash: "sessions/".');
  if (sessions.protocol.operations["prompt"]?.isStream !== true) {
    throw new TypeError(
      "The protocol of sessions has no prompt: defineProtocol(name, { prompt: sessionOperations.prompt }) makes one that has it.",
    );
  }
  const extensions = extensionsIn(options.extensions);
  const name = connectionName(system, "agent");
  const isOfSession = (operation: string): boolean => operation in sessions.protocol.operations;
  const isOfAgent = (operation: string): boolean => agent !== undefined && operation in (operationsOf(agent) ?? {});
  const begun = Promise.withResolvers<Client>();
  const paced = new HoldingChannel(channel, system.clock, options.maxUnsent);

  const front = new AgentFront({
    about: aboutOf(options, isOfSession, isOfAgent),
    // The front asks only for operations that the protocol has.
    sessionAt: (at: Address) => system.ref(at, sessions.protocol) as unknown as Ref<SessionSignatures>,
    isOfSession,
    agent: agent as unknown as Ref<AgentSignatures> | undefined, // Likewise.
    isOfAgent,
    prefix: sessions.prefix,
    discard: (session) => void system.stop(session),
    maxSessions,
    maxTurns,
    clientRef: () => client,
    updates: paced,
    begin(found) {
      for (const method of [BEGUN, ...offeredBy(found.capabilities)]) peer.capabilities.add(method);
      begun.resolve(found);
    },
    send(sessionId, update) {
      const { room } = paced;
      if (room !== undefined) return room;
      const { sent } = paced;
      client.tell("update", { sessionId, update });
      // A turn that goes on without it would look whole.
      if (paced.sent === sent && !paced.isClosed) throw new Error(UNSENDABLE);
      return undefined;
    },
  });
  const ref = system.spawn(`${name}/front`, AcpAgent, (ctx) => front.handlers(ctx), AT_ONCE);
  const serves: Serves = Object.fromEntries([
    ...servedBy(isOfSession, isOfAgent, authMethods.length > 0).map((operation) => [
      AGENT_METHODS[operation],
      { ref, operation, ...(ENDLESS.has(operation) && { longest: Number.POSITIVE_INFINITY }) },
    ]),
    ...Object.entries(extensions.serves).map(([method, served]) => [method, { needs: BEGUN, ...served }]),
  ]);
  const calls: Calls = { ...extensions.calls, client: { protocol: AcpClient, methods: CALLS } };
  const peer = madeFor(system, ref, () =>
    createPeer(system, paced, {
      ...limitsIn(options),
      name,
      serves,
      calls,
      cancel: CANCEL_REQUEST,
      maxBatch: 0, // The protocol has none.
    }),
  );
  const client = peer.refs["client"] as unknown as AcpClientRef; // By `calls`.
  void peer.closed.then(() => {
    front.end();
    return system.stop(ref);
  });
  return {
    client: begun.promise,
    refs: peer.refs as unknown as AgentConnection<Extensions>["refs"], // It has those, and `client` beside them.
    closed: peer.closed,
    close: () => peer.close(),
  };
}
