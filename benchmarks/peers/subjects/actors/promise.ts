import type { ActorPeer, Handler } from "../../actors/peer";

export function open(): ActorPeer<Handler> {
  return {
    spawn: (_name, handler) => handler,
    tell(to, message) {
      void Promise.resolve(message).then(to);
    },
    ask: (to, message) => Promise.resolve(message).then(to),
  };
}
