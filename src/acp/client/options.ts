import type { AskError, AskOptions, Ref, Result, SignaturesOf } from "../../index";
import type { Calls, Peer, Protocols, RpcError, Serves } from "../../rpc/index";
import type { Limits } from "../connection";
import type { AcpAgentRef, AcpElicitation, AcpFiles, AcpPermission, AcpTerminals } from "../methods";
import type {
  AgentCapabilities,
  AuthMethod,
  ClientCapabilities,
  Implementation,
  LoadSessionRequest,
  McpServer,
  NewSessionResponse,
  SessionUpdate,
} from "../schema/types";
import type { RemoteSessionRef } from "./session";

/** The client's description of itself, and the actors that it offers to an agent. */
export interface ClientOptions<Extensions extends Protocols> extends Limits {
  /** For programs, such as "some-editor". */
  readonly name: string;
  /** Its version, such as "1.0.0". */
  readonly version: string;
  /** For people. Default: the name. */
  readonly title?: string;
  /** Reads and writes files: an actor with one or both operations of `AcpFiles`, such as that of `spawnAcpFiles`. Default: none. */
  readonly files?: Ref<Partial<SignaturesOf<typeof AcpFiles>>>;
  /** Runs commands: an actor with the operations of `AcpTerminals`, such as that of `spawnAcpTerminals`. Terminals that the agent does not release are released with their session. Default: none. */
  readonly terminals?: Ref<SignaturesOf<typeof AcpTerminals>>;
  /** Asks the user whether a tool may run. Default: each question is rejected by its option that rejects once, or cancelled if it has none. */
  readonly permission?: Ref<SignaturesOf<typeof AcpPermission>>;
  /** Asks the user for input, by a form, at a URL or both. Default: none. */
  readonly elicitation?: {
    readonly ref: Ref<SignaturesOf<typeof AcpElicitation>>;
    /** Default: true. */
    readonly form?: boolean;
    /** Default: false. */
    readonly url?: boolean;
  };
  /** Further capabilities, such as `session` and `_meta`, beside those of the actors above. Default: none. */
  readonly capabilities?: Pick<ClientCapabilities, "session" | "auth" | "_meta">;
  /** Methods of one's own, whose names begin with `_`: those that the agent calls, and those of the agent. Default: none. */
  readonly extensions?: { readonly serves?: Serves; readonly calls?: Calls<Extensions> };
  /** Milliseconds that the agent has to answer `initialize`. Default: 30,000. */
  readonly startWithin?: number;
}

/** An agent's program. It is started without a shell. */
export interface AgentCommand {
  readonly command: readonly [program: string, ...args: string[]];
  /** Default: that of this process. */
  readonly cwd?: string;
  /** Its whole environment. Default: that of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A request for a session. */
export interface SessionRequest {
  /** An absolute path. */
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  /** Default: none. */
  readonly mcpServers?: readonly McpServer[];
}

/** A session that is open. */
export interface OpenedSession {
  readonly id: string;
  readonly ref: RemoteSessionRef;
  readonly modes: NewSessionResponse["modes"];
  readonly configOptions: NewSessionResponse["configOptions"];
}

/** Options for opening a session. */
export interface OpenOptions extends AskOptions {
  /** Called with each update of the conversation so far, in order. Default: none. */
  readonly onUpdate?: (update: SessionUpdate) => void;
}

/** A client that is connected to an agent. */
export interface ClientConnection<Extensions extends Protocols = Protocols> {
  /** The agent. An operation that it has not offered is `unknown-operation`. */
  readonly agent: AcpAgentRef;
  readonly info: Implementation | undefined;
  readonly capabilities: AgentCapabilities;
  readonly authMethods: readonly AuthMethod[];
  /** The references of `extensions.calls`. */
  readonly refs: Peer<Extensions>["refs"];
  /**
   * Opens a session. Errors: those of an ask; the agent's own are `handler-failed` with an `RpcError` as the cause, whose code is
   * -32000 when the agent wants `agent.ask("authenticate", { methodId })` first. Default timeout: `Infinity`.
   */
  newSession(request: SessionRequest, options?: AskOptions): Promise<Result<OpenedSession, AskError>>;
  /** Opens an earlier session, and reports its conversation. `unknown-operation` for an agent that cannot. */
  loadSession(
    request: SessionRequest & Pick<LoadSessionRequest, "sessionId">,
    options?: OpenOptions,
  ): Promise<Result<OpenedSession, AskError>>;
  /** Opens an earlier session whose conversation the client has. `unknown-operation` for an agent that cannot. */
  resumeSession(
    request: SessionRequest & Pick<LoadSessionRequest, "sessionId">,
    options?: AskOptions,
  ): Promise<Result<OpenedSession, AskError>>;
  /** Resolves once either side has ended the connection; with the error, if one ended it. */
  readonly closed: Promise<Error | undefined>;
  /** Ends the connection, its sessions, and the agent's program, if it was started here. A second call does nothing. */
  close(): void;
}

/** The outcome of `connectAgent`: an `RpcError` when the agent speaks another version. */
export type Connected<Extensions extends Protocols> = Result<ClientConnection<Extensions>, AskError | RpcError>;
