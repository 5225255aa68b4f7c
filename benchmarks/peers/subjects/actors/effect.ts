import { Deferred, Effect, Fiber, Queue } from "effect";
import { type ActorPeer, ASK_TIMEOUT, type Handler } from "../../actors/peer";

type Entry = { readonly payload: unknown; readonly reply?: Deferred.Deferred<unknown> };

type Node = { readonly queue: Queue.Queue<Entry>; readonly fiber: Fiber.Fiber<unknown> };

const loop = (queue: Queue.Queue<Entry>, handler: Handler) =>
  Effect.gen(function* () {
    for (;;) {
      const { payload, reply } = yield* Queue.take(queue);
      const value = handler(payload);
      const settled = value instanceof Promise ? yield* Effect.promise(() => value) : value;
      if (reply !== undefined) Deferred.doneUnsafe(reply, Effect.succeed(settled));
    }
  });

function spawn(_name: string, handler: Handler): Node {
  let own: Queue.Queue<Entry> | undefined;
  // Within the fiber: a queue that `runSync` makes would wake its takers by microtasks, and starve timers.
  const actor = Effect.flatMap(Queue.unbounded<Entry>(), (queue) => {
    own = queue;
    return loop(queue, handler);
  });
  const fiber = Effect.runFork(actor);
  if (own === undefined) throw new Error("a fiber did not start at once");
  return { queue: own, fiber };
}

const ask = (to: Node, payload: unknown, timeout: number) =>
  Effect.suspend(() => {
    const reply = Deferred.makeUnsafe<unknown>();
    Queue.offerUnsafe(to.queue, { payload, reply });
    return Effect.timeout(Deferred.await(reply), timeout);
  });

/** One program, which runs in one fiber. */
const asks = (concurrency: number | "unbounded") => () => {
  const echo = spawn("echo", (message) => message);
  const indices = Array.from({ length: 1_000 }, (_, i) => i);
  return async (count: number) => {
    const all = Effect.forEach(indices.slice(0, count), (i) => ask(echo, i, ASK_TIMEOUT), { concurrency });
    const replies = await Effect.runPromise(all);
    return replies.filter((reply, i) => reply === i).length;
  };
};

export function open(): ActorPeer<Node> {
  return {
    spawn,
    tell(to, payload) {
      Queue.offerUnsafe(to.queue, { payload });
    },
    ask: (to, payload, timeout = ASK_TIMEOUT) => Effect.runPromise(ask(to, payload, timeout)),
    stop: ({ fiber }) => Effect.runPromise(Fiber.interrupt(fiber)),
    own: {
      "ask, one after the other": asks(1),
      "ask, 100 in flight": asks("unbounded"),
    },
  };
}
