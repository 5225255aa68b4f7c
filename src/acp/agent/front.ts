import {
  type Address,
  type AskResult,
  address,
  type Context,
  type Handlers,
  isDeliveryError,
  type Ref,
  type SignaturesOf,
  StreamError,
} from "../../index";
import { FOREVER } from "../connection";
import { type AcpAgent, type AcpClientRef, PROTOCOL_VERSION } from "../methods";
import { invalidParams, invalidRequest, notFound, refusalIn, replyOf } from "../refusals";
import type {
  ContentBlock,
  InitializeRequest,
  InitializeResponse,
  LoadSessionResponse,
  McpServer,
  NewSessionResponse,
  PromptRequest,
  PromptResponse,
  SessionUpdate,
} from "../schema/types";
import type { HoldingChannel } from "./holding-channel";
import { type AgentSignatures, type Client, clients, type Opening, type SessionSignatures } from "./session";
import { isUpdate, OpenSession, Turn } from "./turns";

type Signatures = SignaturesOf<typeof AcpAgent>;

/** The parts of the connection that the front of an agent needs. */
export interface FrontParts {
  readonly about: Omit<InitializeResponse, "protocolVersion">;
  /** The reference to the session with an id. */
  readonly sessionAt: (at: Address) => Ref<SessionSignatures>;
  readonly prefix: string;
  /** True for an operation that sessions have. */
  readonly isOfSession: (operation: string) => boolean;
  /** The agent. It is asked only for operations that it has (`isOfAgent`). */
  readonly agent: Ref<AgentSignatures> | undefined;
  /** True for an operation that the agent has. */
  readonly isOfAgent: (operation: string) => boolean;
  /** Stops the actor of a session that can be neither loaded nor resumed. */
  readonly discard: (ref: Ref<SessionSignatures>) => void;
  readonly maxSessions: number;
  readonly maxTurns: number;
  readonly clientRef: () => AcpClientRef;
  /** Called once, with the client, after `initialize`. */
  readonly begin: (client: Client) => void;
  /** Holds back the updates of a new session, until the client has its id. */
  readonly updates: Pick<HoldingChannel, "hold" | "drop">;
  /** Sends an update. When the client takes no more for now, sends nothing and returns a promise of room. */
  readonly send: (sessionId: string, update: SessionUpdate) => Promise<void> | undefined;
}

/** Made once, so that refusing a stranger collects no stack. */
const TOO_EARLY = invalidRequest("The connection has not begun: send initialize first.");
const TOO_LATE = invalidRequest("The connection has begun already.");

const isId = (id: string): boolean => /^[\w-]{1,128}$/.test(id);
const isAbsolute = (path: string): boolean => /^(?:\/|\\\\|[A-Za-z]:[\\/])/.test(path);

/**
 * Handles the calls of one connection's client, and passes them on to the agent and its sessions. It holds its actor's state, which
 * survives a restart.
 */
export class AgentFront {
  readonly #parts: FrontParts;
  readonly #open = new Map<string, OpenSession>();
  /** Sessions that are being opened. They count towards `maxSessions`. */
  #opening = 0;
  #client: Client | undefined;
  #isOver = false;

  constructor(parts: FrontParts) {
    this.#parts = parts;
  }

  handlers(ctx: Context<Signatures>): Handlers<Signatures> {
    const { agent, isOfAgent } = this.#parts;
    const ask = async <Reply>(asked: Promise<AskResult<Reply>>): Promise<Reply> => replyOf(await asked);
    return {
      initialize: (request) => this.#initialize(request),
      authenticate: async (request) => {
        this.#begun();
        if (!this.#parts.about.authMethods?.some(({ id }) => id === request.methodId)) {
          throw invalidParams("There is no such way to authenticate.");
        }
        // The client itself handles some ways, such as a login in a terminal. They may need nothing here.
        if (agent !== undefined && isOfAgent("authenticate")) {
          await ask(ctx.ask(agent, "authenticate", request, FOREVER));
        }
        return {};
      },
      logout: async () => {
        this.#begun();
        if (agent !== undefined) await ask(ctx.ask(agent, "logout", FOREVER));
        return {};
      },
      listSessions: async (request) => {
        this.#begun();
        return agent === undefined ? { sessions: [] } : ask(ctx.ask(agent, "listSessions", request, FOREVER));
      },
      deleteSession: async (request) => {
        this.#begun();
        this.#open.get(request.sessionId)?.cancel();
        this.#open.delete(request.sessionId);
        if (agent !== undefined) await ask(ctx.ask(agent, "deleteSession", request, FOREVER));
        return {};
      },
      newSession: (request) => {
        const sessionId = crypto.randomUUID();
        return this.#admit(request, sessionId, async (opening, ref): Promise<NewSessionResponse> => {
          if (!this.#parts.isOfSession("create")) return { sessionId };
          this.#parts.updates.hold(sessionId);
          try {
            return { ...(await ask(ctx.ask(ref, "create", opening, FOREVER))), sessionId };
          } catch (error) {
            this.#parts.discard(ref); // Nobody has heard of its id.
            this.#parts.updates.drop(sessionId);
            throw error;
          }
        });
      },
      resumeSession: (request) => {
        const whole = { mcpServers: [], ...request };
        return this.#admit(whole, request.sessionId, (opening, ref) =>
          found(request.sessionId, ask(ctx.ask(ref, "resume", opening, FOREVER))),
        );
      },
      loadSession: (request) =>
        this.#admit(request, request.sessionId, (opening, ref) =>
          found(request.sessionId, this.#replay(request.sessionId, ctx.stream(ref, "load", opening))),
        ),
      closeSession: async ({ sessionId }) => {
        const session = this.#session(sessionId);
        session.cancel();
        const closed = ctx.ask(session.ref, "close", FOREVER);
        this.#open.delete(sessionId);
        await session.settled();
        await ask(closed);
        this.#leave(session);
        return {};
      },
      setMode: async (request) => {
        await ask(ctx.ask(this.#session(request.sessionId).ref, "setMode", request, FOREVER));
        return {};
      },
      setConfigOption: (request) =>
        ask(ctx.ask(this.#session(request.sessionId).ref, "setConfigOption", request, FOREVER)),
      prompt: (request) => this.#prompt(ctx, request),
      cancel: ({ sessionId }) => this.#open.get(sessionId)?.cancel(),
    };
  }

  /** The connection has ended. */
  end(): void {
    this.#isOver = true;
    for (const session of this.#open.values()) this.#leave(session);
  }

  /** Handles the end of a session for this client. A session that can be loaded or resumed stays. */
  #leave({ ref }: OpenSession): void {
    const { isOfSession, discard } = this.#parts;
    if (!isOfSession("load") && !isOfSession("resume")) discard(ref);
  }

  #begun(): Client {
    if (this.#client === undefined) throw TOO_EARLY;
    return this.#client;
  }

  #session(id: string): OpenSession {
    this.#begun();
    const session = this.#open.get(id);
    if (session === undefined) throw notFound(id);
    return session;
  }

  #initialize({ clientInfo, clientCapabilities = {} }: InitializeRequest): InitializeResponse {
    if (this.#client !== undefined) throw TOO_LATE;
    const { fs, terminal } = clientCapabilities;
    const ref = this.#parts.clientRef();
    const client: Client = {
      info: clientInfo ?? undefined,
      capabilities: clientCapabilities,
      ref,
      files: fs?.readTextFile === true && fs.writeTextFile === true ? ref : undefined,
      terminals: terminal === true ? ref : undefined,
    };
    clients.add(client);
    this.#client = client;
    this.#parts.begin(client);
    return { protocolVersion: PROTOCOL_VERSION, ...this.#parts.about };
  }

  /** Opens a session, unless the client has too many, and keeps it once its actor has agreed. */
  #admit<Reply>(
    request: Omit<Opening, "client" | "sessionId">,
    sessionId: string,
    open: (opening: Opening, ref: Ref<SessionSignatures>) => Promise<Reply>,
  ): Promise<Reply> {
    const client = this.#begun();
    const { maxSessions, prefix, sessionAt } = this.#parts;
    if (!isId(sessionId)) throw notFound(sessionId);
    if (!isAbsolute(request.cwd)) throw invalidParams("cwd must be an absolute path.");
    this.#checkServers(request.mcpServers);
    if (!this.#open.has(sessionId) && this.#open.size + this.#opening >= maxSessions) {
      throw invalidRequest(`There are ${maxSessions} sessions open; close one first.`);
    }
    const ref = sessionAt(address(prefix + sessionId));
    const { cwd, additionalDirectories, mcpServers } = request;
    const workspace = { cwd, mcpServers, ...(additionalDirectories !== undefined && { additionalDirectories }) };
    this.#opening++;
    return open({ ...request, sessionId, client }, ref).then(
      (reply) => {
        this.#opening--;
        this.#open.get(sessionId)?.cancel(); // It was open already: its turns are those of before.
        const session = new OpenSession(sessionId, ref, workspace);
        this.#open.set(sessionId, session);
        if (this.#isOver) this.#leave(session);
        return reply;
      },
      (error) => {
        this.#opening--;
        throw error;
      },
    );
  }

  /** Sends the conversation so far, and returns the response. */
  async #replay(
    sessionId: string,
    items: AsyncIterable<SessionUpdate | LoadSessionResponse>,
  ): Promise<LoadSessionResponse> {
    for await (const item of items) {
      if (!isUpdate(item)) return item;
      for (let room = this.#parts.send(sessionId, item); room !== undefined; room = this.#parts.send(sessionId, item)) {
        await room;
      }
    }
    return {};
  }

  #prompt(ctx: Context<Signatures>, request: PromptRequest): Promise<PromptResponse> {
    const session = this.#session(request.sessionId);
    const client = this.#begun();
    this.#checkContent(request.prompt);
    if (session.turns >= this.#parts.maxTurns) throw invalidRequest("The session has too many prompts; wait for one.");
    const turn = new Turn(ctx.stream(session.ref, "prompt", { ...request, client, workspace: session.workspace }));
    let isGivenUp = false;
    const forget = ctx.onAbort(() => {
      isGivenUp = true;
      turn.cancel();
    });
    const send = (update: SessionUpdate): Promise<void> | undefined => this.#parts.send(session.id, update);
    return session
      .take(turn, send)
      .then((response) => {
        if (isGivenUp) throw ctx.signal.reason; // The request was cancelled, and not the turn: nobody waits for a response.
        return response;
      })
      .finally(forget);
  }

  #checkContent(content: readonly ContentBlock[]): void {
    const { image, audio, embeddedContext } = this.#parts.about.agentCapabilities?.promptCapabilities ?? {};
    const offered: Readonly<Record<string, boolean | undefined>> = { image, audio, resource: embeddedContext };
    const refused = content.find(({ type }) => Object.hasOwn(offered, type) && offered[type] !== true);
    if (refused !== undefined) throw invalidParams(`The agent takes no content of the type ${refused.type}.`);
  }

  #checkServers(servers: readonly McpServer[]): void {
    const offered = this.#parts.about.agentCapabilities?.mcpCapabilities ?? {};
    for (const server of servers) {
      const type = "type" in server ? server.type : "stdio";
      if ((type === "http" || type === "sse") && offered[type] !== true) {
        throw invalidParams(`The agent takes no MCP servers of the type ${type}.`);
      }
    }
  }
}

/** Says `-32002` when there is no actor for the session. */
const found = <Reply>(sessionId: string, reply: Promise<Reply>): Promise<Reply> =>
  reply.catch((thrown: unknown) => {
    const error = thrown instanceof StreamError ? thrown.error : thrown;
    throw isDeliveryError(error) && error.kind === "no-recipient" ? notFound(sessionId) : refusalIn(thrown);
  });
