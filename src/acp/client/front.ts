import {
  type Context,
  defineProtocol,
  type Handlers,
  type Ref,
  receive,
  type SignaturesOf,
  type Spawner,
  traceOf,
} from "../../index";
import { FOREVER } from "../connection";
import { type AcpElicitation, type AcpPermission, type AcpTerminalsRef, CLIENT_OPERATIONS } from "../methods";
import { invalidParams, invalidRequest, notFound, replyOf } from "../refusals";
import type { CreateTerminalResponse, RequestPermissionRequest, RequestPermissionResponse } from "../schema/types";
import { UpdateLog } from "./update-log";

/** The part of a client that needs to know its sessions. */
export const ClientFront = defineProtocol("acp.client-front", {
  update: CLIENT_OPERATIONS.update,
  requestPermission: CLIENT_OPERATIONS.requestPermission,
  createElicitation: CLIENT_OPERATIONS.createElicitation,
  completeElicitation: CLIENT_OPERATIONS.completeElicitation,
  createTerminal: CLIENT_OPERATIONS.createTerminal,
  releaseTerminal: CLIENT_OPERATIONS.releaseTerminal,
  /** Handled after all updates that came before it. */
  settled: {},
});

type Signatures = SignaturesOf<typeof ClientFront>;

/** Most ids whose updates are kept while a new session is opened: its id is not known yet. */
const MOST_EARLY = 16;

/** A session, as the front knows it. */
interface Known {
  readonly log: UpdateLog;
  /** Functions that cancel its pending questions for permission. */
  readonly asked: Set<(reason: unknown) => void>;
}

/** Never sent: without terminals the method is not served. */
const NO_TERMINALS = invalidRequest("There are no terminals.");
const CANCELLED: RequestPermissionResponse = { outcome: { outcome: "cancelled" } };

/** The actors offered to the agent that the front asks. */
export interface Offered {
  readonly permission: Ref<SignaturesOf<typeof AcpPermission>> | undefined;
  readonly elicitation: Ref<SignaturesOf<typeof AcpElicitation>> | undefined;
  /** The ways in which the user may be asked for input. */
  readonly modes: ReadonlySet<string>;
  readonly terminals: AcpTerminalsRef | undefined;
}

/**
 * Passes updates to their sessions, asks the user, and releases the terminals that an agent leaves behind. It survives a restart of its
 * actor.
 */
export class Front {
  readonly #offered: Offered;
  readonly #known = new Map<string, Known>();
  readonly #early = new Map<string, UpdateLog>();
  /** The terminals of each session that the agent has not released. */
  readonly #terminals = new Map<string, Set<string>>();
  #isOver = false;
  /** New sessions that are being opened. */
  #opening = 0;
  #spawner: Spawner | undefined;

  constructor(offered: Offered) {
    this.#offered = offered;
  }

  handlers(ctx: Context<Signatures>): Handlers<Signatures> {
    this.#spawner = ctx;
    const { elicitation, modes, terminals } = this.#offered;
    return {
      update: ({ sessionId, update }) => this.#logOf(sessionId)?.push(update),
      requestPermission: (request) => this.#permit(ctx, request),
      createElicitation: async (request) => {
        if (elicitation === undefined) return { action: "decline" };
        // Without a session id it concerns a request.
        if ("sessionId" in request && !this.knows(request.sessionId)) throw notFound(String(request.sessionId));
        if (!modes.has(request.mode)) throw invalidParams("The client takes no input in this mode.");
        return replyOf(await ctx.ask(elicitation, "createElicitation", request, FOREVER));
      },
      completeElicitation(request) {
        if (elicitation !== undefined) ctx.tell(elicitation, "completeElicitation", request);
      },
      createTerminal: async (request) => {
        if (terminals === undefined) throw NO_TERMINALS;
        const { sessionId } = request;
        // `ctx.ask` would lose the reply when the connection ends, and the new terminal would stay.
        const metadata = traceOf(ctx.handsOn);
        const beside = metadata === undefined ? FOREVER : { ...FOREVER, metadata };
        const asked = await receive(terminals).ask("createTerminal", request, beside);
        const made = replyOf(asked) as CreateTerminalResponse; // By the protocol of terminals.
        const all = this.#terminals.get(sessionId) ?? new Set();
        this.#terminals.set(sessionId, all.add(made.terminalId));
        if (this.#isOver || !this.knows(sessionId)) this.#release(sessionId);
        return made;
      },
      releaseTerminal: async (request) => {
        if (terminals === undefined) throw NO_TERMINALS;
        const { sessionId, terminalId } = request;
        const all = this.#terminals.get(sessionId);
        all?.delete(terminalId);
        if (all?.size === 0) this.#terminals.delete(sessionId);
        return replyOf(await ctx.ask(terminals, "releaseTerminal", request, FOREVER));
      },
      settled() {},
    };
  }

  /** Spawns the sessions below the front's actor. */
  get spawner(): Spawner {
    if (this.#spawner === undefined) throw new Error("The front of a client has no actor yet.");
    return this.#spawner;
  }

  /** True for a session that is open, or for any id while a new session is being opened. */
  knows(sessionId: unknown): boolean {
    return typeof sessionId === "string" && (this.#opening > 0 || this.#known.has(sessionId));
  }

  /** The log of a session. While a new session is opened, an unknown id gets one, too. */
  #logOf(sessionId: string): UpdateLog | undefined {
    const log = this.#known.get(sessionId)?.log ?? this.#early.get(sessionId);
    if (log !== undefined || this.#opening === 0 || this.#early.size >= MOST_EARLY) return log;
    const early = new UpdateLog();
    this.#early.set(sessionId, early);
    return early;
  }

  /** Notes that a new session is being opened, until the returned function is called. */
  opening(): () => void {
    this.#opening++;
    return () => {
      if (--this.#opening === 0) this.#early.clear();
    };
  }

  /** Makes a session known, and returns its log. */
  add(sessionId: string): UpdateLog {
    const known = this.#known.get(sessionId);
    if (known !== undefined) return known.log;
    const log = this.#early.get(sessionId) ?? new UpdateLog();
    this.#early.delete(sessionId);
    this.#known.set(sessionId, { log, asked: new Set() });
    return log;
  }

  forget(sessionId: string): void {
    this.cancel(sessionId);
    this.#known.delete(sessionId);
    this.#release(sessionId);
  }

  /** The connection has ended. */
  end(): void {
    this.#isOver = true;
    for (const sessionId of this.#terminals.keys()) this.#release(sessionId);
  }

  #release(sessionId: string): void {
    const all = this.#terminals.get(sessionId);
    this.#terminals.delete(sessionId);
    const { terminals } = this.#offered;
    if (all === undefined || terminals === undefined) return;
    // A release of a terminal that is gone already does no harm.
    for (const terminalId of all) void receive(terminals).ask("releaseTerminal", { sessionId, terminalId });
  }

  /** Cancels the permissions that a session waits for. */
  cancel(sessionId: string): void {
    for (const giveUp of this.#known.get(sessionId)?.asked ?? []) giveUp("the turn was cancelled");
  }

  async #permit(ctx: Context<Signatures>, request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const { sessionId, options } = request;
    const { permission } = this.#offered;
    if (!this.knows(sessionId)) throw notFound(sessionId);
    if (permission === undefined) {
      const reject = options.find(({ kind }) => kind === "reject_once");
      return reject === undefined ? CANCELLED : { outcome: { outcome: "selected", optionId: reject.optionId } };
    }
    const asked = this.#known.get(sessionId)?.asked ?? new Set<(reason: unknown) => void>();
    let isCancelled = false;
    let forget = (): void => {};
    const canceller = (giveUp: (reason: unknown) => void): void => {
      const cancel = (reason: unknown): void => {
        isCancelled = true;
        giveUp(reason);
      };
      asked.add(cancel);
      forget = () => asked.delete(cancel);
    };
    const result = await ctx.ask(permission, "requestPermission", request, { ...FOREVER, canceller });
    forget();
    return isCancelled ? CANCELLED : replyOf(result);
  }
}
