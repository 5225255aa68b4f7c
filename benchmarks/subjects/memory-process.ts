import {
  type AskResult,
  address,
  createMessage,
  createSystem,
  defineProtocol,
  type RefTo,
  type System,
  Type,
} from "envoi";
import { createManualClock } from "envoi/testing";
import { allocationOfEach, growth, heapOfEach, slopes, type Work } from "../harness/heap";
import { type Charted, Completion, type Readings } from "../harness/suite";
import { Echo, Sink } from "./echo";

// What the probes about memory run in a process of its own.

/** Heap of an idle actor: spawned under a name, with a handler of its own. */
export const idleHeap = (count: number): Promise<Readings> =>
  heapOfEach(count, (many) => {
    const system = createSystem();
    for (let i = 0; i < many; i++) system.spawn(`idle-${i}`, Echo, () => ({ say: (payload) => payload }));
    return system;
  });

/** Memory of the first messages told to one actor, all of them handled. */
export const messageGrowth = (messages: number): Promise<Readings> => growth(messages, told(createSystem()));

/** What a tell allocates, until it is handled; a hundred at once. */
export const tellAllocation = (messages: number): Promise<Readings> => allocationOfEach(messages, told(createSystem()));

/** What an ask allocates, with the wait for its reply. */
export const askAllocation = (asks: number): Promise<Readings> => {
  const echo = spawnEcho(createSystem());
  return allocationOfEach(
    asks,
    answered((i) => echo.ask("say", i)),
  );
};

/** What an ask by message through the router allocates, the message included. */
export const routedAllocation = (asks: number): Promise<Readings> => {
  const { router } = createSystem();
  const to = address("program");
  router.register(to, (message) => message.payload);
  return allocationOfEach(
    asks,
    answered((i) => router.ask(createMessage(to, "run", i))),
  );
};

/** Messages, half of them told and half of them asked, a hundred at once. */
export const messages = (count: number): Promise<Charted> => {
  const system = createSystem();
  const tell = told(system);
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
    for (let begun = 0; begun < some; begun += 100) {
      const actors: RefTo<typeof Sink>[] = [];
      for (let i = begun; i < Math.min(begun + 100, some); i++) {
        const take = () => {
          handled++;
        };
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

const Mute = defineProtocol("mute", { say: { payload: Type.Number(), reply: Type.Unknown() } });
/** Asks in a second, of an actor that takes half as many at once: the others time out in its mailbox. */
const ASKS = 100;

/** Asks that time out, a hundred in each second of virtual time, after a quarter of one to a whole one. */
export const timeouts = (seconds: number): Promise<Charted> => {
  const clock = createManualClock();
  const system = createSystem({ clock });
  const mute = system.spawn(
    "mute",
    Mute,
    (ctx) => ({
      say: () => new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve())),
    }),
    { concurrency: ASKS / 2 },
  );
  return slopes("asks", seconds * ASKS, async (some) => {
    for (let asked = 0; asked < some; asked += ASKS) {
      const due: Promise<AskResult>[] = [];
      for (let i = asked; i < Math.min(asked + ASKS, some); i++) {
        due.push(mute.ask("say", i, { timeout: 250 + 250 * (i % 4) }));
      }
      await clock.advance(1_000);
      for (const result of await Promise.all(due)) {
        if (!(result.isErr() && result.error.kind === "timeout")) throw new Error("an ask did not time out");
      }
    }
    expectIdle(system);
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
      timers.fixedDelay("delay", PERIOD, () => {
        delayed++;
      });
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

const spawnEcho = (system: System): RefTo<typeof Echo> =>
  system.spawn("echo", Echo, () => ({ say: (payload) => payload }));

/** Tells of one actor, a hundred at once, until each is handled. */
function told(system: System): Work {
  const completion = new Completion();
  const sink = system.spawn("sink", Sink, () => ({
    take() {
      completion.arrive();
    },
  }));
  return async (count) => {
    for (let sent = 0; sent < count; sent += 100) {
      const width = Math.min(100, count - sent);
      const done = completion.expect(width);
      for (let i = 0; i < width; i++) sink.tell("take", i);
      await done;
    }
  };
}

/** Asks one after the other, each of which must come back with what it said. */
const answered =
  (ask: (index: number) => Promise<AskResult>): Work =>
  async (count) => {
    for (let i = 0; i < count; i++) expectReply(await ask(i), i);
  };

function expectReply(reply: AskResult, value: number): void {
  if (reply.isErr()) throw new Error(reply.error.message);
  if (reply.value !== value) throw new Error(`the reply to ${value} was ${String(reply.value)}`);
}

function expectIdle({ router }: System): void {
  const { accepted, handled, failed, dead, queued, running } = router.audit();
  if (queued + running > 0 || accepted !== handled + failed + dead) {
    throw new Error(`the audit does not balance: ${JSON.stringify(router.audit())}`);
  }
}
