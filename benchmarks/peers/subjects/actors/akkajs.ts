// @ts-expect-error It has no types.
import akkajs from "akkajs";
import type { ActorPeer, Handler } from "../../actors/peer";

type AkkaRef = { tell(message: unknown): void; kill(): void };

const { Actor, ActorSystem, Configuration } = akkajs as {
  Actor: new () => object;
  ActorSystem: { create(name: string, config: unknown): { spawn(actor: object): AkkaRef } };
  Configuration: new (text: string) => { get(): unknown };
};

class Question {
  constructor(
    readonly payload: unknown,
    readonly resolve: (reply: unknown) => void,
  ) {}
}

class Node extends Actor {
  readonly stopped = Promise.withResolvers<void>();
  readonly postStop = this.stopped.resolve;
  name = "";
  handler: Handler = () => {};

  readonly receive = (message: unknown): void => {
    if (message instanceof Question) message.resolve(this.handler(message.payload));
    else this.handler(message);
  };
}

type Spawned = { readonly ref: AkkaRef; readonly node: Node };

export function open(): ActorPeer<Spawned> {
  const quiet = new Configuration('akka { loglevel = "OFF", stdout-loglevel = "OFF" }');
  const system = ActorSystem.create("peers", quiet.get());
  return {
    spawn(name, handler) {
      const node = Object.assign(new Node(), { name, handler });
      return { ref: system.spawn(node), node };
    },
    tell: ({ ref }, message) => ref.tell(message),
    hasNoAsk: true,
    ask: ({ ref }, message) => new Promise((resolve) => ref.tell(new Question(message, resolve))),
    stop({ ref, node }) {
      ref.kill();
      return node.stopped.promise;
    },
  };
}
