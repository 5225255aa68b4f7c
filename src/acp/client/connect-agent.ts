import {
  type AnyRef,
  type AskError,
  type AskOptions,
  err,
  ok,
  operationsOf,
  type Result,
  type Supervision,
  type System,
  type TraceContext,
} from "../../index";
import {
  type Called,
  type Calls,
  type Channel,
  childChannel,
  createPeer,
  type Protocols,
  RpcError,
  type Served,
  type Serves,
} from "../../rpc/index";
import { AT_ONCE, connectionName, extensionsIn, FOREVER, limitsIn, madeFor } from "../connection";
import {
  AcpAgent,
  type AcpAgentRef,
  AGENT_METHODS,
  type AgentOperation,
  CANCEL_REQUEST,
  CLIENT_METHODS,
  PROTOCOL_VERSION,
} from "../methods";
import type { AgentCapabilities, InitializeRequest, NewSessionResponse } from "../schema/types";
import { ClientFront, Front } from "./front";
import type { AgentCommand, ClientConnection, ClientOptions, Connected, OpenedSession, OpenOptions } from "./options";
import { RemoteSession, remoteSession } from "./session";

const START_WITHIN = 30_000;

/** The agent's methods. Each needs the capability of its own name, except `initialize`. */
const CALLS: Readonly<Record<string, Called>> = Object.fromEntries(
  Object.entries(AGENT_METHODS).map(([operation, method]) => [
    operation,
    operation === "initialize" ? { method } : { method, needs: method },
  ]),
);

/**
 * Connects to an agent, at the other end of a channel or a program that is started for it, by version 1 of the Agent Client Protocol, and
 * sends `initialize`. The agent is offered the operations that the options have actors for.
 *
 * A session is an actor: `session.ref.stream("prompt", …)` gives the updates of a turn in order, and at last its
 * response. Leaving that loop cancels the turn. Updates of another session are never among them.
 *
 * @returns the connection; or an error of the ask, or an `RpcError` when the agent speaks no version that this client does.
 * @throws TypeError or RangeError for an invalid option; Error when the program cannot be started.
 * @example
 * const connected = await connectAgent(system, { command: ["some-agent", "--acp"] }, { name: "editor", version: "1.0.0" });
 * if (connected.isErr()) throw connected.error;
 * const opened = await connected.value.newSession({ cwd: "/work" });
 * if (opened.isErr()) throw opened.error;
 * for await (const item of opened.value.ref.stream("prompt", { prompt: [{ type: "text", text: "Hello" }] })) console.log(item);
 */
export async function connectAgent<Extensions extends Protocols = Record<never, never>>(
  system: System,
  to: Channel | AgentCommand,
  options: ClientOptions<Extensions>,
): Promise<Connected<Extensions>> {
  const { permission, elicitation, terminals } = options;
  const extensions = extensionsIn(options.extensions);
  const name = connectionName(system, "client");
  const front = new Front({ permission, elicitation: elicitation?.ref, modes: modesOf(elicitation), terminals });
  // The sessions are children. An error of the agent fails their askers, and does not restart them.
  const supervision: Supervision = { decide: () => "resume" };
  const ref = system.spawn(`${name}/front`, ClientFront, (ctx) => front.handlers(ctx), { ...AT_ONCE, supervision });
  const calls: Calls = { ...extensions.calls, agent: { protocol: AcpAgent, methods: CALLS } };
  const serves: Serves = { ...servedBy(options, ref, front), ...extensions.serves };
  const peer = madeFor(system, ref, () =>
    overChannel(to, (channel) =>
      createPeer(system, channel, {
        ...limitsIn(options),
        name,
        serves,
        calls,
        cancel: CANCEL_REQUEST,
        maxBatch: 0, // The protocol has none.
      }),
    ),
  );
  let isOver = false;
  void peer.closed.then(() => {
    isOver = true;
    front.end();
    return system.stop(ref);
  });
  const agent = peer.refs["agent"] as unknown as AcpAgentRef; // By `calls`.
  const begun = await agent.ask("initialize", aboutOf(options), { timeout: options.startWithin ?? START_WITHIN });
  if (begun.isErr() || begun.value.protocolVersion !== PROTOCOL_VERSION) {
    peer.close();
    if (begun.isErr()) return err(begun.error);
    return err(
      new RpcError(-32_600, `The agent speaks version ${begun.value.protocolVersion} of the protocol, not 1.`),
    );
  }
  const { agentCapabilities: capabilities = {}, agentInfo, authMethods = [] } = begun.value;
  for (const method of offeredBy(capabilities)) peer.capabilities.add(method);
  const open = new Map<string, OpenedSession>();
  let sessions = 0;

  /** Makes the actor of a session that the agent has opened. */
  function opened(sessionId: string, { modes, configOptions }: Omit<NewSessionResponse, "sessionId">): OpenedSession {
    const known = open.get(sessionId);
    if (known !== undefined) return { ...known, modes, configOptions };
    const parts = {
      sessionId,
      agent,
      log: front.add(sessionId),
      settled: () => ref.ask("settled", FOREVER),
      cancel(trace?: TraceContext) {
        if (!isOver) agent.tell("cancel", { sessionId }, trace === undefined ? {} : { metadata: trace });
        front.cancel(sessionId);
      },
      canClose: peer.capabilities.has(AGENT_METHODS.closeSession),
      forget() {
        open.delete(sessionId);
        front.forget(sessionId);
      },
    };
    const session = front.spawner.spawn(
      `session-${++sessions}`,
      RemoteSession,
      (ctx) => remoteSession(ctx, parts),
      AT_ONCE,
    );
    const found: OpenedSession = { id: sessionId, ref: session, modes, configOptions };
    open.set(sessionId, found);
    return found;
  }

  /** Opens an earlier session. Reports its updates meanwhile. */
  async function reopen<Reply extends Omit<NewSessionResponse, "sessionId">>(
    sessionId: string,
    asked: Promise<Result<Reply, AskError>>,
    onUpdate: OpenOptions["onUpdate"],
  ): Promise<Result<OpenedSession, AskError>> {
    const reader = front.add(sessionId).read();
    const heard = (async () => {
      for await (const update of reader) onUpdate?.(update);
    })();
    heard.catch(() => {}); // It is awaited below.
    const result = await asked;
    await ref.ask("settled", FOREVER);
    reader.end();
    await heard;
    if (result.isOk()) return ok(opened(sessionId, result.value));
    if (!open.has(sessionId)) front.forget(sessionId);
    return err(result.error);
  }

  const connection: ClientConnection<Extensions> = {
    agent,
    info: agentInfo ?? undefined,
    capabilities,
    authMethods,
    refs: peer.refs as unknown as ClientConnection<Extensions>["refs"], // It has those, and `agent` beside them.
    async newSession(request, asking: AskOptions = {}) {
      const end = front.opening();
      const result = await agent.ask("newSession", { mcpServers: [], ...request }, { ...FOREVER, ...asking });
      await ref.ask("settled", FOREVER); // Updates of the session may have come before its id.
      try {
        return result.map(({ sessionId, ...others }) => opened(sessionId, others));
      } finally {
        end();
      }
    },
    loadSession(request, { onUpdate, ...asking } = {}) {
      const asked = agent.ask("loadSession", { mcpServers: [], ...request }, { ...FOREVER, ...asking });
      return reopen(request.sessionId, asked, onUpdate);
    },
    resumeSession(request, asking = {}) {
      const asked = agent.ask("resumeSession", { mcpServers: [], ...request }, { ...FOREVER, ...asking });
      return reopen(request.sessionId, asked, undefined);
    },
    closed: peer.closed,
    close: () => peer.close(),
  };
  return ok(connection);
}

/**
 * Opens a channel to an agent, and starts its program if need be. Closes it again when `use` throws. The program's standard error is
 * that of this process.
 */
function overChannel<Used>(to: Channel | AgentCommand, use: (channel: Channel) => Used): Used {
  if (!("command" in to)) return use(to);
  const { command, cwd, env } = to;
  const child = Bun.spawn([...command], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env: { ...env } }),
  });
  try {
    return use(childChannel(child));
  } catch (thrown) {
    child.kill();
    throw thrown;
  }
}

/** The options that describe a client. */
type Described = Omit<ClientOptions<Protocols>, "extensions">;

/** The client's description of itself in `initialize`. */
function aboutOf(options: Described): InitializeRequest {
  const { name, version, title, files, terminals, elicitation, capabilities } = options;
  const modes = modesOf(elicitation);
  return {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name, version, ...(title !== undefined && { title }) },
    clientCapabilities: {
      ...capabilities,
      fs: { readTextFile: has(files, "readTextFile"), writeTextFile: has(files, "writeTextFile") },
      terminal: terminals !== undefined,
      ...(elicitation !== undefined && { elicitation: Object.fromEntries([...modes].map((mode) => [mode, {}])) }),
    },
  };
}

/** The ways in which the user may be asked for input. */
function modesOf(elicitation: Described["elicitation"]): ReadonlySet<string> {
  if (elicitation === undefined) return new Set();
  const { form = true, url = false } = elicitation;
  return new Set([...(form ? ["form"] : []), ...(url ? ["url"] : [])]);
}

const has = (ref: AnyRef | undefined, operation: string): boolean =>
  ref !== undefined && operation in (operationsOf(ref) ?? {});

/** The client's methods: those it has actors for. */
function servedBy({ files, terminals, elicitation }: Described, own: AnyRef, front: Front): Serves {
  const ofSession =
    (ref: AnyRef): Served["ref"] =>
    (params) =>
      typeof params === "object" && params !== null && "sessionId" in params && front.knows(params.sessionId)
        ? ref
        : undefined;
  const longest = Number.POSITIVE_INFINITY; // A person answers, or a command ends.
  const serves: [operation: keyof typeof CLIENT_METHODS, served: Omit<Served, "operation">][] = [
    ["update", { ref: own }],
    ["requestPermission", { ref: own, longest }],
  ];
  if (files !== undefined) {
    const ref = ofSession(files);
    if (has(files, "readTextFile")) serves.push(["readTextFile", { ref }]);
    if (has(files, "writeTextFile")) serves.push(["writeTextFile", { ref }]);
  }
  if (terminals !== undefined) {
    const [ref, kept] = [ofSession(terminals), ofSession(own)];
    serves.push(["createTerminal", { ref: kept }], ["terminalOutput", { ref }], ["killTerminal", { ref }]);
    serves.push(["releaseTerminal", { ref: kept }], ["waitForTerminalExit", { ref, longest }]);
  }
  if (elicitation !== undefined) {
    serves.push(["createElicitation", { ref: own, longest }], ["completeElicitation", { ref: own }]);
  }
  return Object.fromEntries(serves.map(([operation, served]) => [CLIENT_METHODS[operation], { ...served, operation }]));
}

/** The methods that an agent offers, with those that every agent has. */
function offeredBy({ loadSession, sessionCapabilities, auth }: AgentCapabilities): readonly string[] {
  const { list, delete: remove, resume, close } = sessionCapabilities ?? {};
  const offers: Readonly<Record<Exclude<AgentOperation, "initialize">, boolean>> = {
    authenticate: true,
    newSession: true,
    prompt: true,
    cancel: true,
    setMode: true,
    setConfigOption: true,
    logout: auth?.logout != null,
    loadSession: loadSession === true,
    listSessions: list != null,
    deleteSession: remove != null,
    resumeSession: resume != null,
    closeSession: close != null,
  };
  // The keys are those of the type.
  return (Object.keys(offers) as (keyof typeof offers)[])
    .filter((operation) => offers[operation])
    .map((operation) => AGENT_METHODS[operation]);
}
