import { heapOfEach } from "../../harness/heap";
import { Completion } from "../../harness/suite";
import { watchTimer } from "../../harness/timer";
import { Lacks, type Room, type Task, type Timed, timed, type Work } from "../room";
import { YIELDS } from "../standing";
import { checks } from "./checks";
import { type ActorPeer, candidates, type Handler } from "./peer";

const FAN = 1_000;
const VOLLEY = 1_000; // Milliseconds.
/** A peer that leaves a timer less than this share of the ticks that it gets when idle starves it: it gets one or none then. */
const FAIR = 0.25;

type Prepare = Timed<ActorPeer>["prepare"];

const completed = (completion: Completion, send: (count: number) => void): Work => {
  return async (count) => {
    const before = completion.completed();
    const done = completion.expect(count);
    send(count);
    await done;
    return completion.completed() - before;
  };
};

const tells: Prepare = async (peer) => {
  const completion = new Completion();
  const sink = await peer.spawn("sink", () => void completion.arrive());
  return completed(completion, (count) => {
    for (let i = 0; i < count; i++) peer.tell(sink, i);
  });
};

const asks =
  (isInSequence: boolean): Prepare =>
  async (peer) => {
    const echo = await peer.spawn(`echo-${isInSequence}`, (message) => message);
    const replyIn = peer.replyIn ?? ((answer: unknown) => answer);
    return async (count) => {
      const replies: Promise<unknown>[] = [];
      let right = 0;
      for (let i = 0; i < count; i++) {
        const reply = peer.ask(echo, i);
        if (!isInSequence) replies.push(reply);
        else if (replyIn(await reply) === i) right++;
      }
      let index = 0;
      for (const reply of await Promise.all(replies)) if (replyIn(reply) === index++) right++;
      return right;
    };
  };

/** Savina's thread ring: a token is handed on. It is counted by each actor, or by the first alone: a round trip. */
const ring =
  (size: number, isOfRounds = false): Prepare =>
  async (peer) => {
    const completion = new Completion();
    const actors: unknown[] = [];
    for (let i = 0; i < size; i++) {
      const next = (i + 1) % size;
      const count: Handler = (token) => {
        if (completion.arrive()) peer.tell(actors[next], token);
      };
      const pass: Handler = (token) => {
        peer.tell(actors[next], token);
      };
      actors.push(await peer.spawn(`ring-${size}-${i}`, isOfRounds && i > 0 ? pass : count));
    }
    return completed(completion, () => peer.tell(actors[isOfRounds ? 1 : 0], 1));
  };

const fanOut: Prepare = async (peer) => {
  const completion = new Completion();
  const leaves: unknown[] = [];
  for (let i = 0; i < FAN; i++) leaves.push(await peer.spawn(`leaf-${i}`, () => void completion.arrive()));
  const root = await peer.spawn("root", (message) => {
    for (const leaf of leaves) peer.tell(leaf, message);
  });
  return completed(completion, () => peer.tell(root, 1));
};

const spawnAndStop: Prepare = (peer) => {
  const stop = peer.stop?.bind(peer);
  if (stop === undefined) throw new Lacks("it has nothing to stop");
  let made = 0;
  return async (count) => {
    let stopped = 0;
    for (; stopped < count; stopped++) {
      // To await what is no promise would cost as much as some peers do.
      const spawned = peer.spawn(`actor-${made++}`, (message) => message);
      const gone = stop(spawned instanceof Promise ? await spawned : spawned);
      if (gone instanceof Promise) await gone;
    }
    return stopped;
  };
};

const rows: readonly Timed<ActorPeer>[] = [
  { row: "tell, 1,000 at once", operations: 1_000, prepare: tells },
  { row: "ask, one after the other", operations: 1_000, prepare: asks(true) },
  { row: "ask, 100 in flight", operations: 100, prepare: asks(false) },
  { row: "ping-pong, a round trip", operations: 1_000, prepare: ring(2, true) },
  { row: "fan-out to 1,000, a message", operations: FAN, prepare: fanOut },
  { row: "spawn and stop", operations: 200, prepare: spawnAndStop },
  { row: "thread ring of 100, a hop", operations: 1_000, prepare: ring(100) },
];

const heap: Task<ActorPeer> = {
  name: "heap",
  heads: [{ table: "time", row: "heap of an idle actor", unit: "B" }],
  kind: "read",
  prepare: (peer) => async () => {
    let made = 0;
    const { bytes = Number.NaN } = await heapOfEach(10_000, async (count) => {
      const actors: unknown[] = [];
      for (let i = 0; i < count; i++) actors.push(await peer.spawn(`idle-${made++}`, (message) => message));
      return actors;
    });
    return [[bytes]];
  },
};

const fairness: Task<ActorPeer> = {
  name: "fairness",
  heads: [
    { table: "time", row: "a 5 ms timer while two actors volley, a tick", unit: "ns" },
    { table: "checks", row: YIELDS, unit: "" },
  ],
  kind: "tried",
  prepare: (peer) => async () => {
    const readings = await watchTimer(VOLLEY, async (isOver) => {
      const over = Promise.withResolvers<void>();
      const actors: unknown[] = [];
      let hops = 0;
      for (const other of [1, 0]) {
        const handler: Handler = (ball) => {
          hops++;
          if (isOver()) over.resolve();
          else peer.tell(actors[other], ball);
        };
        actors.push(await peer.spawn(`volley-${other}`, handler));
      }
      peer.tell(actors[0], 1);
      await over.promise;
      return hops;
    });
    const { ticks = 0, "ticks when idle": idle = 0 } = readings;
    return [ticks === 0 ? { says: "never" } : { median: (VOLLEY * 1e6) / ticks }, { holds: ticks >= FAIR * idle }];
  },
};

const timedRow = ({ prepare, ...row }: Timed<ActorPeer>): Task<ActorPeer> =>
  timed({ ...row, prepare: (peer, root) => peer.own?.[row.row]?.() ?? prepare(peer, root) });

export const actors: Room<ActorPeer> = { candidates, tasks: [...rows.map(timedRow), heap, ...checks, fairness] };
