import { type Actor, createActor, fromTransition, type TransitionActorLogic } from "xstate";
import { type ActorPeer, type Handler, parentsBy } from "../../actors/peer";

interface Take {
  readonly type: "take" | "xstate.stop";
  readonly payload: unknown;
  readonly resolve?: (reply: unknown) => void;
}
type Node = Actor<TransitionActorLogic<undefined, Take, undefined>>;

function spawn(id: string, handler: Handler): Node {
  const logic = fromTransition<undefined, Take, never, undefined>((state, event) => {
    if (event.type !== "take") return state; // It is told of its own stop, too.
    const reply = handler(event.payload);
    event.resolve?.(reply);
    return state;
  }, undefined);
  return createActor(logic, { id }).start();
}

export async function open(): Promise<ActorPeer<Node>> {
  return {
    spawn,
    // A transition is given no way to spawn: a child is an actor that its parent starts.
    spawnParent: parentsBy(spawn, (actor) => void actor.stop()),
    tell: (to, payload) => to.send({ type: "take", payload }),
    ask: (to, payload) => new Promise((resolve) => to.send({ type: "take", payload, resolve })),
    valueOf: (answer) => answer,
    stop(actor) {
      actor.stop();
    },
  };
}
