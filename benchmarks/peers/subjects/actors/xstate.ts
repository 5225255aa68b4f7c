import { type Actor, createActor, fromTransition, type TransitionActorLogic } from "xstate";
import type { ActorPeer, Handler } from "../../actors/peer";

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

export function open(): ActorPeer<Node> {
  return {
    spawn,
    tell: (to, payload) => to.send({ type: "take", payload }),
    hasNoAsk: true,
    ask: (to, payload) => new Promise((resolve) => to.send({ type: "take", payload, resolve })),
    stop: (actor) => void actor.stop(),
  };
}
