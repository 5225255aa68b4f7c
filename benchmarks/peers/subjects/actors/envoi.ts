import { type AskResult, createSystem, defineProtocol, type Factory, type RefTo, type SignaturesOf, Type } from "envoi";
import type { ActorPeer, Handler, Make } from "../../actors/peer";

const Node = defineProtocol("node", {
  take: { payload: Type.Unknown() },
  say: { payload: Type.Unknown(), reply: Type.Unknown() },
});
type NodeRef = RefTo<typeof Node>;
type NodeFactory = Factory<SignaturesOf<typeof Node>>;

const always =
  (handler: Handler): NodeFactory =>
  () => ({ take: handler, say: handler });

const parentOf =
  (make: Make<NodeRef>): NodeFactory =>
  (ctx) => {
    const handler = make({
      actor: ctx.self,
      spawn: (name, child) => ctx.spawn(name, Node, parentOf(child)),
      stop: () => ctx.stop(),
    });
    return { take: handler, say: handler };
  };

export async function open(): Promise<ActorPeer<NodeRef>> {
  const system = createSystem({ logger: { ...console, error: () => {}, warn: () => {} } });
  return {
    spawn: (name, handler) => system.spawn(name, Node, always(handler)),
    spawnParent: (name, make) => system.spawn(name, Node, parentOf(make)),
    tell: (to, message) => to.tell("take", message),
    ask: (to, message, timeout) =>
      timeout === undefined ? to.ask("say", message) : to.ask("say", message, { timeout }),
    valueOf(answer) {
      const result = answer as AskResult<unknown>; // What `ask` gave.
      if (result.isErr()) throw new Error(result.error.kind);
      return result.value;
    },
    stop: (actor) => system.stop(actor),
  };
}
