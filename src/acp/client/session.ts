import { type Context, defineProtocol, type Handlers, type RefTo, type SignaturesOf, traceOf } from "../../index";
import { FOREVER } from "../connection";
import { replyOf } from "../refusals";
import { itemSchema, paramsSchema as params, replySchema as reply, updateSchema } from "../schema/message-schema";
import { RemoteTurn, type TurnParts } from "./remote-turn";

/** A session of an agent elsewhere, as its client has it. */
export const RemoteSession = defineProtocol("acp.remote-session", {
  /**
   * A turn: its updates in order, and at last the response, `{ stopReason }`. Leaving the loop cancels it. A second prompt waits for the
   * end of the first. A turn fails as its request does: the `cause` of an agent's error is an `RpcError`.
   */
  prompt: { payload: params("PromptRequest"), stream: itemSchema("PromptResponse") },
  /** The updates from now on, within turns and outside of them. The first reader also gets the unread ones from before. */
  updates: { stream: updateSchema },
  setMode: { payload: params("SetSessionModeRequest") },
  setConfigOption: {
    payload: params("SetSessionConfigOptionRequest"),
    reply: reply("SetSessionConfigOptionResponse"),
  },
  /** Ends the turns under way: each ends with `{ stopReason: "cancelled" }`. Its pending questions for permission are cancelled, too. */
  cancel: {},
  /** Ends the session, also at the agent if the agent can. Its actor stops. */
  close: {},
});

/** A reference to a session of an agent elsewhere. */
export type RemoteSessionRef = RefTo<typeof RemoteSession>;

type Signatures = SignaturesOf<typeof RemoteSession>;

/** The parts of the connection that a session needs. */
export interface SessionParts extends TurnParts {
  /** True when the agent takes `session/close`. */
  readonly canClose: boolean;
  /** Called when the session has ended. */
  readonly forget: () => void;
}

/** The behaviour of a session's actor. */
export function remoteSession(
  ctx: Context<Signatures>,
  parts: SessionParts,
): Handlers<Signatures> & { onStop(): void } {
  const { sessionId, agent, log } = parts;
  /** Settles when the agent has answered the last prompt. Never rejects. */
  let last: Promise<void> = Promise.resolve();
  return {
    prompt(payload) {
      const turn = new RemoteTurn(parts, ctx.clock, traceOf(ctx.handsOn));
      ctx.onAbort(() => turn.leave());
      const items = turn.items(payload, last);
      last = turn.ended;
      return items;
    },
    updates() {
      const reader = log.read(true);
      ctx.onAbort(() => reader.end());
      return reader;
    },
    async setMode(payload) {
      replyOf(await ctx.ask(agent, "setMode", { ...payload, sessionId }, FOREVER));
    },
    async setConfigOption(payload) {
      return replyOf(await ctx.ask(agent, "setConfigOption", { ...payload, sessionId }, FOREVER));
    },
    cancel: () => parts.cancel(traceOf(ctx.handsOn)),
    async close() {
      parts.cancel(traceOf(ctx.handsOn));
      if (parts.canClose) replyOf(await ctx.ask(agent, "closeSession", { sessionId }, FOREVER));
      ctx.stop();
    },
    onStop() {
      log.end(new Error("The session was closed."));
      parts.forget();
    },
  };
}
