import type { Protocol, Ref } from "../../index";
import type { Calls, Peer, Protocols, Serves } from "../../rpc/index";
import type { Limits } from "../connection";
import type { AuthMethod, McpCapabilities, PromptCapabilities } from "../schema/types";
import type { AgentSignatures, Client, SomeSession } from "./session";

/** The agent's description of itself, and its actors. */
export interface AgentOptions<
  Session extends SomeSession,
  Agent extends Partial<AgentSignatures>,
  Extensions extends Protocols,
> extends Limits {
  /** For programs, such as "poet". */
  readonly name: string;
  /** Its version, such as "1.0.0". */
  readonly version: string;
  /** For people. Default: the name. */
  readonly title?: string;
  /**
   * Its sessions: actors below a prefix that ends with a slash, such as "sessions/". `system.resolve` spawns each by its id (letters, digits,
   * `-` and `_`) when it is first called. Give a session a `concurrency` above 1 if its modes or options change while it answers.
   */
  readonly sessions: {
    readonly prefix: string;
    /** The sessions' protocol, made of `sessionOperations`. Clients are offered its operations. */
    readonly protocol: Protocol<string, Session>;
  };
  /** An actor with some of `agentOperations`. Default: none of them. */
  readonly agent?: Ref<Agent>;
  /** The ways in which a client may authenticate; `authenticate` of `agent` gets the choice. Default: none. */
  readonly authMethods?: readonly AuthMethod[];
  /** The kinds of content that prompts may have beside text and links. Others are refused. Default: none. */
  readonly promptCapabilities?: PromptCapabilities;
  /** The kinds of MCP servers that sessions take beside those over stdio. Others are refused. Default: none. */
  readonly mcpCapabilities?: McpCapabilities;
  /** True when sessions work in further directories beside `cwd`. Default: false. */
  readonly additionalDirectories?: boolean;
  /** Methods of one's own, whose names begin with `_`: those that the client calls, and those of the client. Default: none. */
  readonly extensions?: { readonly serves?: Serves; readonly calls?: Calls<Extensions> };
  /** Most sessions that a client has open at one time. Default: 100. */
  readonly maxSessions?: number;
  /** Most prompts of one session that wait for their turn, the one under way included. Default: 16. */
  readonly maxTurns?: number;
}

/** An agent at work for one client. */
export interface AgentConnection<Extensions extends Protocols = Protocols> {
  /** Resolves once the client has sent `initialize`. Never settles if it does not. */
  readonly client: Promise<Client>;
  /** The references of `extensions.calls`. */
  readonly refs: Peer<Extensions>["refs"];
  /** Resolves once either side has closed the channel; with the error, if one closed it. */
  readonly closed: Promise<Error | undefined>;
  /** Ends the connection, the turns under way, and the sessions that can be neither loaded nor resumed. A second call does nothing. */
  close(): void;
}
