import { type Actor, type ActorRef, createSystem } from "comedy";
import type { ActorPeer, Handler, Make } from "../../actors/peer";

const parentOf = (make: Make<ActorRef>) => {
  let handler: Handler | undefined;
  return {
    initialize(actor: Actor) {
      handler = make({
        actor,
        spawn: (_name, child) => Promise.resolve(actor.createChild(parentOf(child), { mode: "in-memory" })),
        stop: () => void actor.destroy(),
      });
    },
    take: (message: unknown) => handler?.(message),
  };
};

export async function open(): Promise<ActorPeer<ActorRef>> {
  const system = createSystem({ test: true }); // Without its log.
  const root = await system.rootActor();
  const create = (behaviour: object): Promise<ActorRef> =>
    Promise.resolve(root.createChild(behaviour, { mode: "in-memory" }));
  return {
    spawn: (_name, handler) => create({ take: handler }),
    spawnParent: (_name, make) => create(parentOf(make)),
    tell(to, message) {
      void to.send("take", message);
    },
    ask: (to, message) => to.sendAndReceive("take", message),
    valueOf: (answer) => answer,
    async stop(actor) {
      await actor.destroy();
    },
  };
}
