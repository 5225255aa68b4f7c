import { dispatch, query, type Ref, spawn, start, stop } from "nact";
import { type ActorPeer, ASK_TIMEOUT, type Handler, type Make } from "../../actors/peer";

type Actor = Ref<unknown>;

/** Its context, of which its types do not tell the sender. */
interface Context {
  readonly self: Actor;
  readonly sender: Actor;
}

export async function open(): Promise<ActorPeer<Actor>> {
  const system = start();
  const answering = (handler: Handler) => (_state: unknown, message: unknown, ctx: unknown) => {
    const reply = handler(message);
    const { sender } = ctx as Context; // As its context is.
    if (reply instanceof Promise) return reply.then((value) => dispatch(sender, value));
    if (reply !== undefined) dispatch(sender, reply);
    return undefined;
  };
  const spawnParent = (parent: Parameters<typeof spawn>[0], name: string, make: Make<Actor>): Actor => {
    let handler: Handler | undefined;
    const actor: Actor = spawn(
      parent,
      (_state: unknown, message: unknown, ctx: { readonly self: Parameters<typeof spawn>[0] }) => {
        handler ??= make({
          actor,
          spawn: (child, makeChild) => spawnParent(ctx.self, child, makeChild),
          stop: () => stop(actor),
        });
        handler(message);
      },
      name,
    );
    return actor;
  };
  return {
    spawn: (name, handler) => spawn(system, answering(handler), name),
    spawnParent: (name, make) => spawnParent(system, name, make),
    tell: (to, message) => dispatch(to, message),
    ask: (to, message, timeout = ASK_TIMEOUT) => query(to, () => message, timeout),
    valueOf: (answer) => answer,
    stop: (actor) => stop(actor),
  };
}
