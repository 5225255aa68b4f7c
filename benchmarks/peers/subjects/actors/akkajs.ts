// @ts-expect-error It has no types.
import akkajs from "akkajs";
import type { ActorPeer, Handler, Make } from "../../actors/peer";

/** What one sees of it; it has no types. */
interface AkkaRef {
  tell(message: unknown): void;
  kill(): void;
}
interface AkkaActor {
  self(): AkkaRef;
  spawn(actor: AkkaActor): AkkaRef;
}

const { Actor, ActorSystem, Configuration } = akkajs as {
  Actor: new () => AkkaActor;
  ActorSystem: { create(name: string, config: unknown): { spawn(actor: AkkaActor): AkkaRef } };
  Configuration: new (text: string) => { get(): unknown };
};

/** A message that is answered. */
class Question {
  constructor(
    readonly payload: unknown,
    readonly resolve: (reply: unknown) => void,
  ) {}
}

class Node extends Actor {
  #confirm = (): void => {};
  readonly stopped = new Promise<void>((resolve) => {
    this.#confirm = resolve;
  });

  constructor(
    readonly name: string,
    private readonly handler: Handler,
  ) {
    super();
  }

  readonly receive = (message: unknown): void => {
    if (message instanceof Question) message.resolve(this.handler(message.payload));
    else this.handler(message);
  };

  readonly postStop = (): void => this.#confirm();
}

interface Spawned {
  readonly ref: AkkaRef;
  readonly node?: Node;
}

function parentOf(name: string, make: Make<Spawned>): Node {
  let handler: Handler | undefined;
  const node: Node = new Node(name, (message) => {
    handler ??= make({
      actor: { ref: node.self() },
      spawn: (child, makeChild) => ({ ref: node.spawn(parentOf(child, makeChild)) }),
      stop: () => node.self().kill(),
    });
    return handler(message);
  });
  return node;
}

export async function open(): Promise<ActorPeer<Spawned>> {
  const quiet = new Configuration('akka { loglevel = "OFF", stdout-loglevel = "OFF" }');
  const system = ActorSystem.create("peers", quiet.get());
  const spawn = (node: Node): Spawned => ({ ref: system.spawn(node), node });
  return {
    spawn: (name, handler) => spawn(new Node(name, handler)),
    spawnParent: (name, make) => spawn(parentOf(name, make)),
    tell: ({ ref }, message) => ref.tell(message),
    ask: ({ ref }, message) => new Promise((resolve) => ref.tell(new Question(message, resolve))),
    valueOf: (answer) => answer,
    stop({ ref, node }) {
      ref.kill();
      return node?.stopped;
    },
  };
}
