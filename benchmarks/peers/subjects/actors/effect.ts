import { Deferred, Effect, Fiber, Queue } from "effect";
import { type ActorPeer, ASK_TIMEOUT, type Handler, parentsBy } from "../../actors/peer";

interface Entry {
  readonly payload: unknown;
  readonly reply?: Deferred.Deferred<unknown>;
}

interface Node {
  readonly queue: Queue.Queue<Entry>;
  readonly fiber: Fiber.Fiber<unknown>;
}

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

const inSequence = () => {
  const echo = spawn("echo", (message) => message);
  return (count: number) =>
    Effect.runPromise(
      Effect.gen(function* () {
        let right = 0;
        for (let i = 0; i < count; i++) if ((yield* ask(echo, i, ASK_TIMEOUT)) === i) right++;
        return right;
      }),
    );
};

const inFlight = () => {
  const echo = spawn("echo", (message) => message);
  const indices = Array.from({ length: 100 }, (_, i) => i);
  return async (count: number) => {
    const all = Effect.forEach(indices.slice(0, count), (i) => ask(echo, i, ASK_TIMEOUT), { concurrency: "unbounded" });
    const replies = await Effect.runPromise(all);
    return replies.filter((reply, i) => reply === i).length;
  };
};

const spawnAndStop = () => (count: number) =>
  Effect.runPromise(
    Effect.gen(function* () {
      let stopped = 0;
      for (; stopped < count; stopped++) {
        const queue = yield* Queue.unbounded<Entry>();
        const fiber = yield* Effect.forkDetach(
          loop(queue, (message) => message),
          { startImmediately: true },
        );
        yield* Fiber.interrupt(fiber);
      }
      return stopped;
    }),
  );

export async function open(): Promise<ActorPeer<Node>> {
  return {
    spawn,
    spawnParent: parentsBy(spawn, ({ fiber }) => fiber.interruptUnsafe()),
    tell(to, payload) {
      Queue.offerUnsafe(to.queue, { payload });
    },
    ask: (to, payload, timeout = ASK_TIMEOUT) => Effect.runPromise(ask(to, payload, timeout)),
    valueOf: (answer) => answer,
    stop: ({ fiber }) => Effect.runPromise(Fiber.interrupt(fiber)),
    own: {
      "ask, one after the other": inSequence,
      "ask, 100 in flight": inFlight,
      "spawn and stop": spawnAndStop,
    },
  };
}
