import { type AskResult, createSystem, type RefTo, type System } from "envoi";
import { createManualClock } from "envoi/testing";
import { allocationOfEach, growth, heapOfEach, NO_COLLECTION, slopes, type Work } from "../harness/heap";
import { MEMORY_ROW } from "../harness/published";
import { RawMailbox } from "../harness/raw-mailbox";
import { apart, type Declared, figures, probe, suiteOf, withRatio } from "../harness/rows";
import { type Charted, Completion, type Scale } from "../harness/suite";
import { Sink, spawnEcho } from "../subjects/echo";

// What is exported here is called in a process of its own, with how much it is to do.

// Heap of an idle one: under a name, with a handler of its own.

export const idleHeap = (count: number) =>
  heapOfEach(count, (many) => {
    const system = createSystem();
    for (let i = 0; i < many; i++) spawnEcho(system, `idle-${i}`);
    return system;
  });

export const rawIdleHeap = (count: number) =>
  heapOfEach(count, (many) => {
    const directory = new Map<string, RawMailbox<number>>();
    for (let i = 0; i < many; i++) directory.set(`idle-${i}`, new RawMailbox((payload) => payload));
    return directory;
  });

// Messages, a hundred at once, until each is handled; and asks, one after the other, each of which must come back with what it said.

function told(open: (arrive: () => boolean) => (width: number) => void): Work {
  const completion = new Completion();
  const send = open(completion.arrive);
  return async (count) => {
    for (let sent = 0; sent < count; sent += 100) {
      const width = Math.min(100, count - sent);
      const done = completion.expect(width);
      send(width);
      await done;
    }
  };
}

const toldIn = (system: System): Work =>
  told((arrive) => {
    const sink = system.spawn("sink", Sink, () => ({ take: () => void arrive() }));
    return (width) => {
      for (let i = 0; i < width; i++) sink.tell("take", i);
    };
  });

const toldRaw = (): Work =>
  told((arrive) => {
    const mailbox = new RawMailbox<number>(arrive);
    return (width) => {
      for (let i = 0; i < width; i++) mailbox.tell(i);
    };
  });

function expectReply(reply: AskResult, value: number): void {
  if (reply.isErr()) throw new Error(reply.error.message);
  if (reply.value !== value) throw new Error(`the reply to ${value} was ${String(reply.value)}`);
}

export const messageGrowth = (messages: number) => growth(messages, toldIn(createSystem()));
export const rawGrowth = (messages: number) => growth(messages, toldRaw());
export const tellAllocation = (messages: number) => allocationOfEach(messages, toldIn(createSystem()));
export const rawTellAllocation = (messages: number) => allocationOfEach(messages, toldRaw());

export const askAllocation = (asks: number) => {
  const echo = spawnEcho(createSystem());
  return allocationOfEach(asks, async (count) => {
    for (let i = 0; i < count; i++) expectReply(await echo.ask("say", i), i);
  });
};

export const rawAskAllocation = (asks: number) => {
  const mailbox = new RawMailbox<number>((payload) => payload);
  return allocationOfEach(asks, async (count) => {
    for (let i = 0; i < count; i++) if ((await mailbox.ask(i)) !== i) throw new Error("a reply was wrong");
  });
};

// What is left for good.

export const messages = (count: number): Promise<Charted> => {
  const system = createSystem();
  const tell = toldIn(system);
  const echo = spawnEcho(system);
  return slopes("messages", count, async (some) => {
    const asked = Math.floor(some / 2);
    await tell(some - asked);
    for (let sent = 0; sent < asked; sent += 100) {
      const replies: Promise<AskResult<number>>[] = [];
      for (let i = sent; i < Math.min(sent + 100, asked); i++) replies.push(echo.ask("say", i));
      let index = sent;
      for (const reply of await Promise.all(replies)) expectReply(reply, index++);
    }
  });
};

/** Actors spawned under a new name each, told something, and stopped; a hundred live at once. */
export const spawned = (count: number): Promise<Charted> => {
  const system = createSystem();
  let made = 0;
  return slopes("actors", count, async (some) => {
    let handled = 0;
    const take = () => void handled++;
    for (let begun = 0; begun < some; begun += 100) {
      const actors: RefTo<typeof Sink>[] = [];
      for (let i = begun; i < Math.min(begun + 100, some); i++) {
        const actor = system.spawn(`actor-${made++}`, Sink, () => ({ take }));
        actor.tell("take", i);
        actors.push(actor);
      }
      await Promise.all(actors.map((actor) => system.stop(actor, { drain: true })));
    }
    if (handled !== some) throw new Error(`${handled} of ${some} messages were handled`);
    if (system.inspect().length > 0) throw new Error(`${system.inspect().length} actors did not stop`);
  });
};

/** Actors with timers of each kind, and one that is set anew again and again. */
const CLOCKS = 20;
/** Milliseconds until a timer is due. */
const PERIOD = 5_000;

/** The calls of timers, along seconds of virtual time. */
export const timers = (seconds: number): Promise<Charted> => {
  const clock = createManualClock();
  const system = createSystem({ clock });
  let once = 0;
  let delayed = 0;
  let ticked = 0;
  for (let i = 0; i < CLOCKS; i++) {
    system.spawn(`clock-${i}`, Sink, ({ timers }) => {
      const again = () => {
        once++;
        timers.once("once", PERIOD, again);
        timers.once("replaced", 2 * PERIOD, () => {
          throw new Error("what was replaced came all the same");
        });
      };
      again();
      timers.fixedDelay("delay", PERIOD, () => void delayed++);
      timers.fixedRate("rate", PERIOD, (ticks) => {
        ticked += ticks;
      });
      return { take() {} };
    });
  }
  let passed = 0;
  return slopes("seconds", seconds, async (some) => {
    await clock.advance(some * 1_000);
    passed += some * 1_000;
    const due = CLOCKS * Math.floor(passed / PERIOD);
    if (once !== due + CLOCKS || delayed !== due || ticked !== due) {
      throw new Error(`${once - CLOCKS}, ${delayed} and ${ticked} calls came where ${due} of each were due`);
    }
  });
};

type Sizes = Readonly<Record<Scale, number>>;

function bytes(
  name: string,
  subject: string,
  floor: string,
  sizes: Sizes,
  kept: readonly [most: number, aim: number, reason: string],
  environment?: Readonly<Record<string, string>>,
): Declared {
  const at = (exported: string) => apart(import.meta.url, exported, sizes, environment);
  const under = { name: "raw", measure: at(floor) };
  return probe(name, withRatio("B", "bytes"), under, at(subject), [["bytes", "atMost", ...kept]]);
}

const PIECES = { smoke: 20_000, full: 200_000 };
const allocated = (name: string, subject: string, floor: string, kept: readonly [number, number, string]) =>
  bytes(`allocated by ${name}`, subject, floor, PIECES, kept, NO_COLLECTION);

/** Three processes, and the middle one counts: by chance, 3 in a hundred flat slopes had a least one above 0. */
export const lasting = (name: string, subject: string, sizes: Sizes, module = import.meta.url) =>
  probe(
    name,
    ["heap", "RSS"].flatMap((memory) =>
      figures("B", ...["", ", least", ", most"].map((end) => `${memory} slope${end}`)),
    ),
    "what leaks nothing stands at 0",
    apart<Charted>(module, subject, sizes),
    ["heap", "RSS"].map((memory) => [
      `${memory} slope, least`,
      "atMost",
      0,
      0,
      "a leak is a slope that is surely above 0",
    ]),
    { rounds: 3 },
  );

const GROWN = { smoke: 100, full: 10_000 };
const IDLE = "idle actors are cheap enough to have one for each user, session or file";
const ASK = "one envelope, the promise that must be made, and its result";

export const suite = suiteOf(
  "memory",
  "What messages and actors allocate, and what they leave after a forced collection. Growth is that of the first 10,000 messages, code and shapes included. A slope is what each of them leaves for good, in bytes: the trend of 50 readings by Theil and Sen, with the ends of an interval of 99 %. A leak is a slope whose least is above 0.",
  [
    probe(
      MEMORY_ROW,
      figures("MB", "heap growth", "RSS growth"),
      { name: "raw", measure: apart(import.meta.url, "rawGrowth", GROWN) },
      apart(import.meta.url, "messageGrowth", GROWN),
      [["heap growth", "atMost", 0.3, 0.2, "the code of the first messages, and nothing of the messages"]],
    ),
    bytes("heap of an idle actor", "idleHeap", "rawIdleHeap", { smoke: 1_000, full: 100_000 }, [430, 350, IDLE]),
    allocated("a tell", "tellAllocation", "rawTellAllocation", [10, 6, "one envelope, and its place in the mailbox"]),
    allocated("an ask and its reply", "askAllocation", "rawAskAllocation", [250, 200, ASK]),
    lasting("10,000,000 messages, told and asked", "messages", { smoke: 10_000, full: 10_000_000 }),
    lasting("5,000,000 actors spawned and stopped", "spawned", { smoke: 1_000, full: 5_000_000 }),
    lasting("a day of timers, 60 of 5 s each", "timers", { smoke: 500, full: 86_400 }),
  ],
);
