import type { Router, System, SystemOptions } from "envoi";
import { address, createMessage, createRouter, createSystem, defineProtocol, Type } from "envoi";
import { spawnProgram } from "envoi/tools";
import { bare, rawAsk, rawAsks, rawTell } from "../harness/floors";
import { RawMailbox } from "../harness/raw-mailbox";
import { batches, type Declared, type Most, needing, suiteOf, timed } from "../harness/rows";
import type { Floor, Prepared } from "../harness/suite";
import { whyNot } from "../subjects/code";
import { asks, batchesIn, countedIn, routerAsks, Sink, tells } from "../subjects/echo";

const to = address("program");
const TELLS = { operations: 100_000 };

// By the reference.

const TELL = "a tell adds accounting and a turn budget to the bare mailbox, and an envelope";
const ASK = "an ask costs the promise that it must create, and a deadline in the shared timer wheel";

const Two = defineProtocol("two", { take: { payload: Type.Number() }, put: { payload: Type.Number() } });

/** Tells of two operations in turn: what goes straight into the mailbox for one operation does not for these. */
const tellsOfTwo = (operations: number): Prepared =>
  batchesIn(operations, operations, (arrive, system) => {
    const heard = (): void => void arrive();
    const two = system.spawn("two", Two, () => ({ take: heard, put: heard }));
    return () => {
      for (let i = 0; i < operations; i += 2) {
        two.tell("take", i);
        two.tell("put", i);
      }
    };
  });

const tellsFromInside = (operations: number): Prepared =>
  batchesIn(operations, operations, (arrive, system) => {
    const sink = system.spawn("sink", Sink, () => ({ take: () => void arrive() }));
    const teller = system.spawn("teller", Sink, () => ({
      take(count) {
        for (let i = 0; i < count; i++) sink.tell("take", i);
      },
    }));
    return () => teller.tell("take", operations);
  });

const rawInside = bare("raw tell from inside", "one tells another so often in one turn", (operations) =>
  batches(operations, operations, (arrive) => {
    const sink = new RawMailbox<number>(arrive);
    const teller = new RawMailbox<number>((count) => {
      for (let i = 0; i < count; i++) sink.tell(i);
    });
    return () => teller.tell(operations);
  }),
);

// By the router, a message object each.

const ROUTED = "the dynamic path adds a message object and a look-up by address";
const IN_SEQUENCE: Most = [3.5, 1.8, ROUTED];

const tellThrough = (router: Router, operations: number): Prepared =>
  batches(
    operations,
    operations,
    (arrive) => {
      router.register(to, (message) => {
        arrive();
        return message.payload;
      });
      return () => {
        for (let i = 0; i < operations; i++) router.tell(createMessage(to, "run", i));
      };
    },
    () => router.unregister(to),
  );

function askThrough(router: Router, operations: number, width = 1): Prepared {
  router.register(to, (message) => message.payload);
  return routerAsks(router, to, operations, width, () => router.unregister(to));
}

// To program actors, whose behaviour is source text.

const PROGRAM = "a program's handler is run behind the checks of its protocol, its values made JSON and back";
const SUM = "(n) => { let total = 0; for (let i = 1; i <= (n & 15); i++) total += i; return total }";
const Program = defineProtocol("program", {
  run: { payload: Type.Number(), reply: Type.Unknown() },
  count: { reply: Type.Number() },
});

function withProgram(source: string): System {
  const system = createSystem();
  const behaviour = `let count = 0; const work = ${source}; ({ run: (n) => (count++, work(n)), count: () => count })`;
  spawnProgram(system, "program", behaviour, { isolation: "trusted", protocol: Program });
  return system;
}

const asBaseline = (floor: Floor): Floor => ({ ...floor, name: `baseline: ${floor.name}` });

const programmed = (name: string, source: string, reply: (payload: number) => unknown, most: Most): Declared =>
  timed(
    name,
    asBaseline(rawAsk),
    (operations) => {
      const system = withProgram(source);
      return routerAsks(system.router, to, operations, 1, () => system.shutdown(), reply);
    },
    most,
  );

/** Tells to a program, until it says that it has run them all. */
const toldProgram = (operations: number): Prepared =>
  countedIn(({ router }) => {
    let before = 0;
    return async () => {
      for (let i = 0; i < operations; i++) router.tell(createMessage(to, "run", i));
      const count = Number((await router.ask(createMessage(to, "count", undefined))).unwrapOr(before));
      const done = count - before;
      before = count;
      return done;
    };
  }, withProgram("(n) => n"));

// What looks at each message, and does nothing; the baseline is the same without it.

const beside = (
  name: string,
  plain: (operations: number) => Prepared,
  work: typeof plain,
  most: Most,
  operations: number,
) =>
  timed(name, { name: `baseline: ${name.split(" ", 1)}`, about: "the same, without it", setup: plain }, work, most, {
    operations,
  });

function intercepted(name: string, prepare: (router: Router, operations: number) => Prepared, most: Most): Declared {
  const work = (operations: number) => {
    const router = createRouter();
    let passed = 0;
    router.use((_, next) => {
      passed++;
      return next();
    });
    const prepared = prepare(router, operations);
    return { ...prepared, completed: () => Math.min(passed, prepared.completed()) };
  };
  return beside(name, (operations) => prepare(createRouter(), operations), work, most, 1_000);
}

const INTERCEPTED = "an interceptor is a closure and a promise for each message";
const OBSERVED = "an observer is called for each message, and one message in 16 is timed by three looks at the clock";
const COUNTERS: SystemOptions = { metrics: { sample: Number.POSITIVE_INFINITY } };

/** A tell and an ask in a system that is looked into; by how many times they may take longer, and what would be good. */
function observed(
  by: string,
  install: (system: System) => unknown,
  options: SystemOptions,
  ...mosts: readonly (readonly [atMost: number, aim: number])[]
): Declared[] {
  const prepare = (index: number, operations: number, system: System) =>
    index === 0 ? tells(operations, operations, system) : asks(operations, 1, system);
  return mosts.map(([most, aim], index) => {
    const work = (operations: number) => {
      const system = createSystem(options);
      install(system);
      return prepare(index, operations, system);
    };
    const name = `${index === 0 ? "ref.tell" : "ref.ask"} ${by}`;
    return beside(name, (all) => prepare(index, all, createSystem()), work, [most, aim, OBSERVED], 10_000);
  });
}

const nothing = (): void => {};

export const suite = suiteOf(
  "routing",
  "Sending through the router, a message object each, and through a reference; all of it warm. A tell costs least in a burst of one operation; with two in turn, it is what programs see; *mixed* of the suite patterns has it beside asks. Programs are program actors in `trusted`, whose behaviour is source text; compute adds up 1 to n.",
  [
    // Programs are read by a parser that not everybody installs.
    ...needing(await whyNot("trusted"), [
      timed("router.tell() to echo program", asBaseline(rawTell), toldProgram, [215, 60, PROGRAM]),
      programmed("router.ask() to echo program", "(n) => n", (payload) => payload, [19, 8, PROGRAM]),
      programmed("router.ask() to noop program", "() => {}", () => undefined, [17, 8, PROGRAM]),
      // The sum of 1 to n.
      programmed("router.ask() to compute program", SUM, (n) => ((n & 15) * ((n & 15) + 1)) / 2, [20, 8, PROGRAM]),
    ]),
    timed("router.tell() to echo handler", rawTell, (all) => tellThrough(createRouter(), all), [15.5, 6, ROUTED]),
    timed("ask round trip (echo)", rawAsk, (all) => askThrough(createRouter(), all), [4.2, 2, ROUTED]),
    timed("sequential: 10 asks", rawAsk, (all) => askThrough(createRouter(), all), [3.8, 2, ROUTED], { per: 10 }),
    timed("concurrent: 10 asks", rawAsks(10), (all) => askThrough(createRouter(), all, 10), [3.5, 2, ROUTED], {
      per: 10,
    }),
    timed("ref.tell of two operations in turn, 100,000 to completion", rawTell, tellsOfTwo, [4, 2, TELL], TELLS),
    timed("ref.tell, 100,000 to completion", rawTell, tells, [4.1, 1.3, TELL], TELLS),
    timed("ref.tell from inside an actor, 100,000 in a turn", rawInside, tellsFromInside, [3.7, 2, TELL], TELLS),
    timed("ref.ask in sequence, sync handler, default timeout", rawAsk, asks, [2, 1.25, ASK]),
    timed("ref.ask, 100 in flight", rawAsks(100), (all) => asks(all, 100), [1.7, 1.1, ASK]),
    timed("router.ask(createMessage(…)) in sequence", rawAsk, (all) => askThrough(createRouter(), all), IN_SEQUENCE),
    intercepted("router.tell through one passing interceptor", tellThrough, [2.5, 1.2, INTERCEPTED]),
    intercepted("router.ask through one passing interceptor", askThrough, [4.3, 1.5, INTERCEPTED]),
    ...observed("inside of system.around", (system) => system.around((_, run) => run()), {}, [3.5, 2], [1.8, 1.25]),
    ...observed("with system.onSend", (system) => system.onSend(() => undefined), {}, [3.5, 2.5], [1.5, 1.2]),
    ...observed("with metrics", nothing, { metrics: true }, [3, 2.2], [1.5, 1.15]),
    ...observed("with metrics that only count", nothing, COUNTERS, [1.3, 1.1], [1.35, 1.03]),
  ],
);
