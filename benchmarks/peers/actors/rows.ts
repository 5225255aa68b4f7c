import { heapOfEach } from "../../harness/heap";
import { Completion } from "../../harness/suite";
import { watchTimer } from "../../harness/timer";
import type { Definition, Reading, TimedRow, Work } from "../room";
import { checking } from "./checks";
import { type ActorPeer, candidates, type Handler, type Make, type RowName } from "./peer";

/** How many leaves a skynet has. */
const LEAVES = 10_000;
const CHILDREN = 10;
const RING = 100;
const FAN = 1_000;
/** How long two actors volley, in milliseconds. */
const VOLLEY = 200;
const IDLE = 10_000;

type Prepare = TimedRow<ActorPeer>["prepare"];

/** Waits until `count` messages have arrived that `send` sends. */
const completed = (completion: Completion, send: (count: number) => void): Work => {
  return async (count) => {
    const before = completion.completed();
    const done = completion.expect(count);
    send(count);
    await done;
    return completion.completed() - before;
  };
};

const spawn = (peer: ActorPeer, name: string, handler: Handler): unknown => {
  if (peer.spawn === undefined) throw new Error("its actors take no handler of this process");
  return peer.spawn(name, handler);
};

const tells: Prepare = async (peer) => {
  const completion = new Completion();
  const sink = await spawn(peer, "sink", () => {
    completion.arrive();
  });
  return completed(completion, (count) => {
    for (let i = 0; i < count; i++) peer.tell(sink, i);
  });
};

const asks =
  (width: number): Prepare =>
  async (peer) => {
    const echo = await spawn(peer, `echo-${width}`, (message) => message);
    if (width === 1)
      return async (count) => {
        let right = 0;
        for (let i = 0; i < count; i++) if (peer.valueOf(await peer.ask(echo, i)) === i) right++;
        return right;
      };
    return async (count) => {
      const replies: Promise<unknown>[] = [];
      for (let i = 0; i < count; i++) replies.push(peer.ask(echo, i));
      let right = 0;
      let index = 0;
      for (const reply of await Promise.all(replies)) if (peer.valueOf(reply) === index++) right++;
      return right;
    };
  };

const pingPong: Prepare = async (peer) => {
  const completion = new Completion();
  const pair: { ping?: unknown; pong?: unknown } = {};
  pair.ping = await spawn(peer, "ping", (ball) => {
    if (completion.arrive()) peer.tell(pair.pong, ball);
  });
  pair.pong = await spawn(peer, "pong", (ball) => {
    peer.tell(pair.ping, ball);
  });
  return completed(completion, () => peer.tell(pair.pong, 1));
};

const fanOut: Prepare = async (peer) => {
  const completion = new Completion();
  const leaves: unknown[] = [];
  for (let i = 0; i < FAN; i++) leaves.push(await spawn(peer, `leaf-${i}`, () => void completion.arrive()));
  const root = await spawn(peer, "root", (message) => {
    for (const leaf of leaves) peer.tell(leaf, message);
  });
  return completed(completion, () => peer.tell(root, 1));
};

const spawnAndStop: Prepare = (peer) => {
  const stop = peer.stop?.bind(peer);
  if (stop === undefined) throw new Error("its actors cannot be stopped");
  let made = 0;
  return async (count) => {
    let stopped = 0;
    for (let i = 0; i < count; i++) {
      // To await what is no promise would cost as much as some peers do.
      const spawned = spawn(peer, `actor-${made++}`, (message) => message);
      const actor = spawned instanceof Promise ? await spawned : spawned;
      const gone = stop(actor);
      if (gone instanceof Promise) await gone;
      stopped++;
    }
    return stopped;
  };
};

/** Savina's thread ring: a token that is handed on, as often as it says. */
const ring: Prepare = async (peer) => {
  const completion = new Completion();
  const actors: unknown[] = [];
  for (let i = 0; i < RING; i++) {
    const next = (i + 1) % RING;
    actors.push(
      await spawn(peer, `ring-${i}`, (token) => {
        if (completion.arrive()) peer.tell(actors[next], token);
      }),
    );
  }
  return completed(completion, () => peer.tell(actors[0], 1));
};

type SkynetMessage = { readonly first: number; readonly leaves: number } | { readonly sum: number };

/** A tree of actors, ten children each, down to the leaves, whose numbers are added up; each stops when it has told its parent. */
const skynet: Prepare = async (peer) => {
  if (peer.spawnParent === undefined) throw new Error("its actors make no others");
  let finish = (_sum: number): void => {};
  const top = await spawn(peer, "top", (message) => finish((message as { sum: number }).sum)); // Sent by nodes alone.
  let made = 0;
  return async (count) => {
    const done = new Promise<number>((resolve) => {
      finish = resolve;
    });
    const node = await peer.spawnParent?.(`skynet-${made++}`, nodeOf(peer, top));
    peer.tell(node, { first: 0, leaves: count } satisfies SkynetMessage);
    return (await done) === (count * (count - 1)) / 2 ? count : 0;
  };
};

const nodeOf =
  (peer: ActorPeer, parent: unknown): Make<unknown> =>
  (self) => {
    let missing = CHILDREN;
    let total = 0;
    const report = (sum: number): void => {
      peer.tell(parent, { sum });
      self.stop();
    };
    return (each) => {
      const message = each as SkynetMessage; // Nodes are told nothing else.
      if ("sum" in message) {
        total += message.sum;
        if (--missing === 0) report(total);
      } else if (message.leaves === 1) report(message.first);
      else {
        const leaves = message.leaves / CHILDREN;
        for (let i = 0; i < CHILDREN; i++) {
          const start: SkynetMessage = { first: message.first + i * leaves, leaves };
          const child = self.spawn(`${i}`, nodeOf(peer, self.actor));
          if (child instanceof Promise) void child.then((actor) => peer.tell(actor, start));
          else peer.tell(child, start);
        }
      }
    };
  };

const timed: readonly (TimedRow<ActorPeer> & { readonly row: RowName })[] = [
  { row: "tell, 1,000 at once", operations: 1_000, prepare: tells },
  { row: "ask, one after the other", operations: 1_000, inSequence: true, prepare: asks(1) },
  { row: "ask, 100 in flight", operations: 100, prepare: asks(100) },
  { row: "ping-pong, a round trip", operations: 1_000, inSequence: true, prepare: pingPong },
  { row: "fan-out to 1,000, a message", operations: FAN, prepare: fanOut },
  { row: "spawn and stop", operations: 1_000, inSequence: true, prepare: spawnAndStop },
  { row: "thread ring of 100, a hop", operations: 1_000, inSequence: true, prepare: ring },
  { row: "skynet, a leaf", operations: LEAVES, prepare: skynet },
];

/** Bytes of heap that an actor keeps while it idles. */
export async function readHeap(peer: ActorPeer): Promise<number> {
  let made = 0;
  const { bytes = Number.NaN } = await heapOfEach(IDLE, async (count) => {
    const actors: unknown[] = [];
    for (let i = 0; i < count; i++) {
      const actor = spawn(peer, `idle-${made++}`, (message) => message);
      actors.push(actor instanceof Promise ? await actor : actor);
    }
    return actors;
  });
  return bytes;
}

/** What a 5 ms timer gets while two actors volley. */
export async function readFairness(peer: ActorPeer): Promise<{ ticks: number; gap: number; idle: number }> {
  const volley = await peer.own?.["ping-pong, a round trip"]?.();
  const readings = await watchTimer(VOLLEY, async (isOver) => {
    let hops = 0;
    if (volley !== undefined) {
      while (!isOver()) hops += await volley(1);
      return hops;
    }
    let finish = (): void => {};
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const pair: { ping?: unknown; pong?: unknown } = {};
    pair.ping = await spawn(peer, "ping", (ball) => {
      hops++;
      if (isOver()) finish();
      else peer.tell(pair.pong, ball);
    });
    pair.pong = await spawn(peer, "pong", (ball) => {
      hops++;
      peer.tell(pair.ping, ball);
    });
    peer.tell(pair.pong, 1);
    await done;
    return hops;
  });
  return { ticks: readings["ticks"] ?? 0, gap: readings["gap"] ?? Number.NaN, idle: readings["ticks when idle"] ?? 0 };
}

const readings: readonly Reading<ActorPeer>[] = [
  {
    name: "heap",
    rows: [{ row: "heap of an idle actor", unit: "B", isMoreBetter: false, figure: "heap" }],
    read: async (peer) => ({ heap: await readHeap(peer) }),
  },
  {
    name: "fairness",
    rows: [
      {
        row: "ticks of a 5 ms timer while two actors volley for 200 ms",
        unit: "",
        isMoreBetter: true,
        figure: "ticks",
      },
      { row: "the longest gap between them", unit: "ms", isMoreBetter: false, figure: "gap" },
    ],
    read: readFairness,
  },
];

/** Libraries of actors beside each other, and the floors. */
export const actors: Definition<ActorPeer> = {
  room: "actors",
  candidates,
  timed,
  readings,
  trials: { check: checking },
  own: (peer, row) => peer.own?.[row as RowName]?.(), // Others are not in it.
};
