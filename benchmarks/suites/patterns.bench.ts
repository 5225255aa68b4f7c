import { createSystem, type RefTo, type System } from "envoi";
import { bare, literal, rawAsk, rawAsks, rawFanOut, rawTells } from "../harness/floors";
import { RawMailbox } from "../harness/raw-mailbox";
import { apart, batches, counted, figures, probe, suiteOf, timed } from "../harness/rows";
import type { Floor, Prepared, Readings } from "../harness/suite";
import { watchTimer } from "../harness/timer";
import { asks, batchesIn, countedIn, Echo, Sink, tells } from "../subjects/echo";
import { unsent } from "./message-creation.bench";

const mixed = (operations: number, width: number): Prepared =>
  countedIn((system) => {
    let told = 0;
    const echo = system.spawn("echo", Echo, () => ({ say: (payload) => (payload < 0 ? told++ : payload) }));
    return async () => {
      const before = told;
      let answered = 0;
      for (let sent = 0; sent < operations; sent += width) {
        const replies = [];
        for (let i = 0; i < width / 2; i++) {
          echo.tell("say", -1);
          replies.push(echo.ask("say", i));
        }
        let index = 0;
        for (const reply of await Promise.all(replies)) if (reply.isOk() && reply.value === index++) answered++;
      }
      return told - before + answered;
    };
  });

const rawMixed = (width: number): Floor =>
  bare(
    `raw mixed, ${width} at once`,
    `${width / 2} tells and ${width / 2} asks at once, until all are handled and answered`,
    (operations) => {
      let told = 0;
      const mailbox = new RawMailbox<number>((payload) => (payload < 0 ? told++ : payload));
      return counted(async () => {
        const before = told;
        let answered = 0;
        for (let sent = 0; sent < operations; sent += width) {
          const replies: Promise<unknown>[] = [];
          for (let i = 0; i < width / 2; i++) {
            mailbox.tell(-1);
            replies.push(mailbox.ask(i));
          }
          const values = await Promise.all(replies);
          for (let i = 0; i < width / 2; i++) if (values[i] === i) answered++;
        }
        return told - before + answered;
      });
    },
  );

/** A message handed on along `length` actors; an operation is one of its hops. */
const chain = (operations: number, length: number): Prepared =>
  batchesIn(operations, length, (arrive, system) => {
    let first: RefTo<typeof Sink> | undefined;
    for (let i = 0; i < length; i++) {
      const next = first;
      first = system.spawn(`link-${i}`, Sink, () => ({
        take(payload) {
          arrive();
          next?.tell("take", payload);
        },
      }));
    }
    return (sent) => first?.tell("take", sent);
  });

const rawChain = (length: number): Floor =>
  bare(`raw chain of ${length}`, `a message handed on along ${length} of them`, (operations) =>
    batches(operations, length, (arrive) => {
      let first = new RawMailbox<number>(arrive);
      for (let i = 1; i < length; i++) {
        const next = first;
        first = new RawMailbox((payload) => {
          arrive();
          next.tell(payload);
        });
      }
      return (sent) => first.tell(sent);
    }),
  );

const fanOut = (operations: number, width: number): Prepared =>
  batchesIn(operations, width, (arrive, system) => {
    const take = () => void arrive();
    const leaves = Array.from({ length: width }, (_, i) => system.spawn(`leaf-${i}`, Sink, () => ({ take })));
    const root = system.spawn("root", Sink, () => ({
      take(payload) {
        for (const leaf of leaves) leaf.tell("take", payload);
      },
    }));
    return (sent) => root.tell("take", sent);
  });

function adder(): (payload: number) => number {
  let sum = 0;
  return (payload) => {
    const before = sum;
    sum = payload < 0 ? 0 : sum + payload;
    return before;
  };
}

const aggregation = (operations: number, width: number): Prepared =>
  countedIn((system) => {
    const aggregator = system.spawn("aggregator", Echo, () => ({ say: adder() }));
    return async () => {
      let done = 0;
      for (let sent = 0; sent < operations; sent += width) {
        for (let i = 0; i < width; i++) aggregator.tell("say", 1);
        const total = await aggregator.ask("say", -1);
        if (total.isOk() && total.value === width) done += width;
      }
      return done;
    };
  });

const rawAggregation = (width: number): Floor =>
  bare(`raw aggregation of ${width}`, `${width} tells that it adds up, then an ask for the sum`, (operations) => {
    const mailbox = new RawMailbox<number>(adder());
    return counted(async () => {
      let done = 0;
      for (let sent = 0; sent < operations; sent += width) {
        for (let i = 0; i < width; i++) mailbox.tell(1);
        if ((await mailbox.ask(-1)) === width) done += width;
      }
      return done;
    });
  });

/** Two actors that tell each other of a ball as long as it goes on; gives what serves it. */
function players(system: System, goesOn: () => boolean): () => void {
  const ping: RefTo<typeof Sink> = system.spawn("ping", Sink, () => ({
    take(ball) {
      if (goesOn()) pong.tell("take", ball);
    },
  }));
  const pong = system.spawn("pong", Sink, () => ({
    take(ball) {
      ping.tell("take", ball);
    },
  }));
  return () => pong.tell("take", 1);
}

function rawPlayers(goesOn: () => boolean): () => void {
  const ping: RawMailbox<number> = new RawMailbox((ball) => {
    if (goesOn()) pong.tell(ball);
  });
  const pong: RawMailbox<number> = new RawMailbox((ball) => ping.tell(ball));
  return () => pong.tell(1);
}

const pingPong = (operations: number): Prepared =>
  batchesIn(operations, operations, (arrive, system) => players(system, arrive));

export const rawPingPong = bare("raw ping-pong", "round trips between two, one after the other", (operations) =>
  batches(operations, operations, rawPlayers),
);

const volley = (milliseconds: number, open: (goesOn: () => boolean) => () => void): Promise<Readings> =>
  watchTimer(milliseconds, (isOver) => {
    const { promise, resolve } = Promise.withResolvers<number>();
    let hops = 0;
    const serve = open(() => {
      hops += 2;
      if (!isOver()) return true;
      resolve(hops);
      return false;
    });
    serve();
    return promise;
  });

export const fairness = (milliseconds: number): Promise<Readings> =>
  volley(milliseconds, (goesOn) => players(createSystem(), goesOn));
export const rawFairness = (milliseconds: number): Promise<Readings> => volley(milliseconds, rawPlayers);

/** An actor spawned under a new name, found at its address, stopped, the stop awaited, and its address free again. */
const spawnStop = (operations: number): Prepared =>
  countedIn((system) => {
    const { router } = system;
    let made = 0;
    return async () => {
      let done = 0;
      for (let i = 0; i < operations; i++) {
        const actor = system.spawn(`actor-${made++}`, Echo, () => ({ say: (payload) => payload }));
        const { address } = actor;
        const wasThere = router.has(address);
        await system.stop(actor);
        if (wasThere && !router.has(address)) done++;
      }
      return done;
    };
  });

const rawSpawnStop = bare(
  "raw spawn and stop",
  "made, put in a `Map` by name, told to stop, the stop awaited, taken out of the `Map`",
  (operations) => {
    let made = 0;
    const directory = new Map<string, RawMailbox<string>>();
    return counted(async () => {
      let done = 0;
      for (let i = 0; i < operations; i++) {
        const name = `actor-${made++}`;
        const mailbox = new RawMailbox<string>((message) => message === "stop");
        directory.set(name, mailbox);
        if ((await mailbox.ask("stop")) === true && directory.delete(name)) done++;
      }
      return done;
    });
  },
);

const HOP = "a hop starts an actor's turn, a message takes an envelope, an ask a deadline";
const ACTOR = "an actor is a cell, a behaviour, a context and a name, made and taken apart in order";

const pattern = (
  name: string,
  per: number,
  floor: Floor,
  work: (operations: number) => Prepared,
  ...most: [number, number]
) => timed(name, floor, work, [...most, HOP], { per });

const BESIDE = { smoke: 20, full: 200 };

export const suite = suiteOf(
  "patterns",
  "Warm actors and references in the shapes that programs are made of, each until its last message is handled or answered.",
  [
    pattern("concurrent: 10 tells", 10, rawTells(10), (all) => tells(all, 10), 3.2, 1.5),
    pattern("concurrent: 100 tells", 100, rawTells(100), (all) => tells(all, 100), 3.2, 2),
    pattern("concurrent: 10 asks", 10, rawAsks(10), (all) => asks(all, 10), 2.1, 1.3),
    pattern("concurrent: 100 asks", 100, rawAsks(100), (all) => asks(all, 100), 2.1, 1.1),
    pattern("mixed: 50 tells + 50 asks", 100, rawMixed(100), (all) => mixed(all, 100), 3, 1.5),
    pattern("throughput: 1k messages, sequential", 1_000, rawAsk, asks, 2.2, 1.25),
    pattern("throughput: 1k messages, batches of 100", 1_000, rawAsks(100), (all) => asks(all, 100), 1.9, 1.1),
    pattern("throughput: 10k messages, batches of 100", 10_000, rawAsks(100), (all) => asks(all, 100), 1.9, 1.1),
    pattern("actor to actor: 10 chained messages", 10, rawChain(10), (all) => chain(all, 10), 2.2, 1.2),
    pattern("fan-out: 1 to 10 actors", 10, rawFanOut(10), (all) => fanOut(all, 10), 3.3, 1.5),
    pattern("aggregation: 100 messages to 1 actor", 100, rawAggregation(100), (all) => aggregation(all, 100), 3.3, 1.5),
    pattern("memory: create 1k messages, unsent", 1_000, literal, (all) => unsent(all, all), 1.4, 1.1),
    pattern("ping-pong, a round trip between two actors", 1, rawPingPong, pingPong, 2.2, 1.5),
    timed("spawn and stop, both confirmed", rawSpawnStop, spawnStop, [1.8, 1.2, ACTOR]),
    probe(
      "5 ms timer while two actors volley for 200 ms",
      [...figures("", "ticks"), ...figures("ms", "gap"), ...figures("", "hops", "ticks when idle")],
      { name: "raw, the worst case", measure: apart(import.meta.url, "rawFairness", BESIDE) },
      apart(import.meta.url, "fairness", BESIDE),
      [
        ["ticks", "atLeast", 36, 40, "no actor, however busy, starves timers (P5)"],
        ["gap", "atMost", 8, 8, "a turn is bounded to about a millisecond (P5)"],
      ],
    ),
  ],
);
