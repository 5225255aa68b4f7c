import { type AskResult, createSystem, defineProtocol, type RefTo, Type } from "envoi";
import type { ActorPeer } from "../../actors/peer";

const Node = defineProtocol("node", {
  take: { payload: Type.Unknown() },
  say: { payload: Type.Unknown(), reply: Type.Unknown() },
});

export function open(): ActorPeer<RefTo<typeof Node>> {
  const system = createSystem({ logger: { ...console, error: () => {}, warn: () => {} } });
  return {
    spawn: (name, handler) => system.spawn(name, Node, () => ({ take: handler, say: handler })),
    tell: (to, message) => to.tell("take", message),
    ask: (to, message, timeout) =>
      timeout === undefined ? to.ask("say", message) : to.ask("say", message, { timeout }),
    replyIn(answer) {
      const result = answer as AskResult<unknown>; // What `ask` gave.
      if (result.isErr()) throw new Error(result.error.kind);
      return result.value;
    },
    stop: (actor) => system.stop(actor),
  };
}
