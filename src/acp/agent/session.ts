import { defineProtocol, type Ref, type SignaturesOf, type StandardSchemaV1 } from "../../index";
import type { AcpClientRef, AcpFiles, AcpTerminals } from "../methods";
import { itemSchema, messageSchema as message, replySchema as reply } from "../schema/message-schema";
import type {
  ClientCapabilities,
  Implementation,
  LoadSessionRequest,
  McpServer,
  PromptRequest,
  PromptResponse,
  SessionUpdate,
  StopReason,
} from "../schema/types";

/** The client of a connection, as the agent sees it. */
export interface Client {
  /** The client's name and version. Undefined when it gave none. */
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
  /** Its operations. An operation that it has not offered is `unknown-operation`. */
  readonly ref: AcpClientRef;
  /** Its files. Undefined unless it both reads and writes them; use `ref` for a client that does only one. */
  readonly files: Ref<SignaturesOf<typeof AcpFiles>> | undefined;
  /** Its terminals. Undefined when it has none. */
  readonly terminals: Ref<SignaturesOf<typeof AcpTerminals>> | undefined;
}

/** The directories and the MCP servers of a session. */
export interface Workspace {
  /** An absolute path on the client's machine. */
  readonly cwd: string;
  /** Further roots. */
  readonly additionalDirectories?: readonly string[];
  /** The MCP servers that the client asks the agent to connect to. */
  readonly mcpServers: readonly McpServer[];
}

/** The beginning of a session, or its return. */
export interface Opening extends LoadSessionRequest {
  readonly client: Client;
}

/** A prompt, and what a session needs for its turn. */
export interface Turn extends PromptRequest {
  readonly client: Client;
  readonly workspace: Workspace;
}

/** The clients of `serveAgent`. A message from outside cannot have one. */
export const clients = new WeakSet<Client>();

/** Accepts values that `serveAgent` made of a message that it has validated. */
const fromConnection = <Value>(): StandardSchemaV1<Value> => ({
  "~standard": {
    version: 1,
    vendor: "acp",
    validate: (value) =>
      typeof value === "object" && value !== null && "client" in value && clients.has(value.client as Client) // Looked up only.
        ? { value: value as Value } // Made in `serveAgent`, by this type.
        : { issues: [{ message: "must come from a connection of serveAgent" }] },
  },
});

const withoutSchema = { schema: { payload: { type: "object" } } };

/**
 * The operations of a session, to build its protocol from. Operations that the protocol leaves out are not offered to clients.
 *
 * | operation | method | include it when |
 * | --- | --- | --- |
 * | `prompt` | `session/prompt` | always |
 * | `create` | | it handles `session/new`, to give modes and options, and may send updates |
 * | `load` | `session/load` | the client may come back, and gets the conversation again |
 * | `resume` | `session/resume` | the client may come back, and gets nothing again |
 * | `close` | `session/close` | it is told when the client is done with it, for now at least |
 * | `setMode` | `session/set_mode` | it has modes |
 * | `setConfigOption` | `session/set_config_option` | it has options |
 *
 * @example
 * const Poet = defineProtocol("poet", { prompt: sessionOperations.prompt, setMode: sessionOperations.setMode });
 */
export const sessionOperations = {
  /**
   * A turn. Its items are updates, which go to the client in order, and at last the response, `{ stopReason }`, which ends it.
   * Default of the response: `{ stopReason: "end_turn" }`. When the client cancels, the stream is left: `ctx.signal` aborts, and the
   * client gets `cancelled`.
   */
  prompt: { payload: fromConnection<Turn>(), stream: itemSchema("PromptResponse"), ...withoutSchema },
  /** The session is new. Updates that its handler sends by `client.ref` go after the response that has the session's id. */
  create: { payload: fromConnection<Opening>(), reply: reply("LoadSessionResponse"), ...withoutSchema },
  /** The client has come back: the items are the conversation so far, and at last modes and options, if it has any. */
  load: { payload: fromConnection<Opening>(), stream: itemSchema("LoadSessionResponse"), ...withoutSchema },
  /** The client has come back, and remembers the conversation. */
  resume: { payload: fromConnection<Opening>(), reply: reply("ResumeSessionResponse"), ...withoutSchema },
  close: {},
  setMode: { payload: message("SetSessionModeRequest") },
  setConfigOption: {
    payload: message("SetSessionConfigOptionRequest"),
    reply: reply("SetSessionConfigOptionResponse"),
  },
} as const;

/** The smallest session: one that answers prompts. */
export const AcpSession = defineProtocol("acp.session", { prompt: sessionOperations.prompt });

const WholeSession = defineProtocol("acp.session", sessionOperations);
/** The signatures of a session that has all operations. */
export type SessionSignatures = SignaturesOf<typeof WholeSession>;
/** The signatures that a session may have: `prompt`, and any of the others. */
export type SomeSession = Pick<SessionSignatures, "prompt"> & Partial<SessionSignatures>;

/**
 * The operations of an agent beside its sessions, to build its protocol from. Operations that the protocol leaves out are not offered to
 * clients.
 *
 * @example
 * const Poets = defineProtocol("poets", { listSessions: agentOperations.listSessions });
 */
export const agentOperations = {
  /** The client has chosen one of the `authMethods`. A throw of `authRequired()` refuses it. */
  authenticate: { payload: message("AuthenticateRequest") },
  logout: {},
  listSessions: { payload: message("ListSessionsRequest"), reply: reply("ListSessionsResponse") },
  deleteSession: { payload: message("DeleteSessionRequest") },
} as const;

const WholeAgent = defineProtocol("acp.agent-actor", agentOperations);
/** The signatures of an agent that has all operations. */
export type AgentSignatures = SignaturesOf<typeof WholeAgent>;

/**
 * The response that ends a turn for another reason than `end_turn`. Yield it as the last item.
 *
 * @example
 * yield turnEnd("max_tokens");
 */
export const turnEnd = (stopReason: StopReason): PromptResponse => ({ stopReason });

/** An update with a piece of the agent's text. Most items of a turn are such updates. */
export const agentText = (text: string): SessionUpdate => ({
  sessionUpdate: "agent_message_chunk",
  content: { type: "text", text },
});
