import { dispatch, query, type Ref, spawn, start, stop } from "nact";
import { type ActorPeer, ASK_TIMEOUT } from "../../actors/peer";

export function open(): ActorPeer<Ref<unknown>> {
  const system = start();
  return {
    spawn: (name, handler) =>
      spawn(
        system,
        (_state: unknown, message: unknown, ctx: unknown) => {
          const reply = handler(message);
          const { sender } = ctx as { readonly sender: Ref<unknown> }; // As its context is; its types do not tell.
          if (reply instanceof Promise) return reply.then((value) => dispatch(sender, value));
          if (reply !== undefined) dispatch(sender, reply);
          return undefined;
        },
        name,
      ),
    tell: (to, message) => dispatch(to, message),
    ask: (to, message, timeout = ASK_TIMEOUT) => query(to, () => message, timeout),
    stop: (actor) => stop(actor),
  };
}
