import {
  type AskResult,
  address,
  createMessage,
  createRouter,
  createSystem,
  defineProtocol,
  type Router,
  type System,
  type SystemOptions,
  Type,
} from "envoi";
import { spawnProgram } from "envoi/tools";
import { rawAsk, rawAsks, rawInside, rawTell } from "../harness/raw-floors";
import { Completion, type Floor, type Prepared, type Row, type Suite } from "../harness/suite";
import { prepareAsks } from "../subjects/asks";
import { whyNot } from "../subjects/code";
import { Echo, Sink } from "../subjects/echo";
import { prepareTells } from "../subjects/tells";

const OPERATIONS = 1000;
const to = address("program");

const Program = defineProtocol("program", {
  run: { payload: Type.Number(), reply: Type.Unknown() },
  /** How many it has run. */
  count: { reply: Type.Number() },
});

const sum = (count: number): number => {
  let total = 0;
  for (let i = 1; i <= count; i++) total += i;
  return total;
};

/** Asks of a plain handler behind a router, each in a message of its own. */
function routed(name: string, width: number): Row {
  return {
    kind: "timed",
    name,
    operations: OPERATIONS,
    per: width,
    floor: width === 1 ? rawAsk : rawAsks(width),
    setup: () => {
      const router = createRouter();
      router.register(to, (message) => message.payload);
      return prepareAsks({
        operations: OPERATIONS,
        width,
        ask: (index) => router.ask(createMessage(to, "run", index)),
        reply: (index) => index,
        teardown: () => router.unregister(to),
      });
    },
  };
}

/**
 * Asks of an actor through its reference. The loop is the floor's, with the reference in the mailbox's place: a closure for
 * each ask and its reply, as the rows above have, would be measured with it.
 */
function referred(name: string, width: number): Row {
  return {
    kind: "timed",
    name,
    operations: OPERATIONS,
    per: 1,
    floor: width === 1 ? rawAsk : rawAsks(width),
    setup: () => {
      const system = createSystem();
      const echo = system.spawn("echo", Echo, () => ({ say: (payload) => payload }));
      let completed = 0;
      const inSequence = async () => {
        for (let i = 0; i < OPERATIONS; i++) {
          const reply = await echo.ask("say", i);
          if (reply.isOk() && reply.value === i) completed++;
        }
      };
      const inFlight = async () => {
        for (let sent = 0; sent < OPERATIONS; sent += width) {
          const asks: Promise<AskResult<number>>[] = [];
          for (let i = 0; i < width; i++) asks.push(echo.ask("say", i));
          const replies = await Promise.all(asks);
          for (let i = 0; i < width; i++) {
            const reply = replies[i];
            if (reply?.isOk() && reply.value === i) completed++;
          }
        }
      };
      return {
        run: width === 1 ? inSequence : inFlight,
        completed: () => completed,
        teardown: () => system.shutdown(),
      };
    },
  };
}

const SUM = "(n) => { let total = 0; for (let i = 1; i <= (n & 15); i++) total += i; return total }";

/** A program actor that counts what it runs; what it runs is source text, as trusted code. */
function spawnCounted(system: System, source: string): void {
  const behaviour = `let count = 0; const work = ${source}; ({ run: (n) => (count++, work(n)), count: () => count })`;
  spawnProgram(system, "program", behaviour, { isolation: "trusted", protocol: Program });
}

/** Asks of a program actor through the router, each in a message of its own. */
function programmed(name: string, source: string, reply: (payload: number) => unknown): Row {
  return {
    kind: "timed",
    name,
    operations: OPERATIONS,
    per: 1,
    floor: rawAsk,
    setup: () => {
      const system = createSystem();
      const { router } = system;
      spawnCounted(system, source);
      return prepareAsks({
        operations: OPERATIONS,
        width: 1,
        ask: (index) => router.ask(createMessage(to, "run", index)),
        reply,
        teardown: () => system.shutdown(),
      });
    },
  };
}

/** Tells to a program actor through the router, until it says that it has run them all. */
const programmedTell: Row = {
  kind: "timed",
  name: "router.tell() to echo program",
  operations: OPERATIONS,
  per: 1,
  floor: rawTell,
  setup: () => {
    const system = createSystem();
    const { router } = system;
    spawnCounted(system, "(n) => n");
    let completed = 0;
    let before = 0;
    const run = async () => {
      for (let i = 0; i < OPERATIONS; i++) router.tell(createMessage(to, "run", i));
      const count = await router.ask(createMessage(to, "count", undefined));
      if (count.isErr()) return;
      completed += Number(count.value) - before;
      before = Number(count.value);
    };
    return { run, completed: () => completed, teardown: () => system.shutdown() };
  },
};

/** Tells through a router, until the last of them is handled. */
function tellThrough(router: Router, operations: number): Prepared {
  const completion = new Completion();
  router.register(to, (message) => {
    completion.arrive();
    return message.payload;
  });
  return prepareTells({
    operations,
    width: operations,
    completion,
    tell: (index) => router.tell(createMessage(to, "run", index)),
    teardown: () => router.unregister(to),
  });
}

/** Asks through a router, each awaited before the next. */
function askThrough(router: Router, operations: number): Prepared {
  router.register(to, (message) => message.payload);
  let completed = 0;
  const run = async () => {
    for (let i = 0; i < operations; i++) {
      const reply = await router.ask(createMessage(to, "run", i));
      if (reply.isOk() && reply.value === i) completed++;
    }
  };
  return { run, completed: () => completed, teardown: () => router.unregister(to) };
}

/** A router with one interceptor, which counts what it lets pass and looks at nothing. */
function interceptedRouter(): { readonly router: Router; readonly passed: () => number } {
  const router = createRouter();
  let passed = 0;
  router.use((_, next) => {
    passed++;
    return next();
  });
  return { router, passed: () => passed };
}

/** The same through a router with an interceptor; its floor is one that has none. */
function intercepted(name: string, floor: string, prepare: (router: Router, operations: number) => Prepared): Row {
  return {
    kind: "timed",
    name,
    operations: OPERATIONS,
    per: 1,
    floor: {
      name: `baseline: ${floor}`,
      about: "the same, without an interceptor",
      setup: (operations) => prepare(createRouter(), operations),
    },
    setup: () => {
      const { router, passed } = interceptedRouter();
      const prepared = prepare(router, OPERATIONS);
      return { ...prepared, completed: () => Math.min(passed(), prepared.completed()) };
    },
  };
}

/** Asks or tells of an actor whose system looks at each message and does nothing; the floor is a system that does not. */
function observed(
  name: string,
  floor: string,
  prepare: (system: System, operations: number) => Prepared,
  install: (system: System) => void,
  options: SystemOptions = {},
): Row {
  return {
    kind: "timed",
    name,
    operations: 10_000,
    per: 1,
    floor: {
      name: `baseline: ${floor}`,
      about: "the same, without it",
      setup: (operations) => prepare(createSystem(), operations),
    },
    setup: () => {
      const system = createSystem(options);
      install(system);
      return prepare(system, 10_000);
    },
  };
}

function tellsIn(system: System, operations: number): Prepared {
  const completion = new Completion();
  const sink = system.spawn("sink", Sink, () => ({
    take() {
      completion.arrive();
    },
  }));
  const run = async () => {
    const done = completion.expect(operations);
    for (let i = 0; i < operations; i++) sink.tell("take", i);
    await done;
  };
  return { run, completed: completion.completed, teardown: () => system.shutdown() };
}

function asksIn(system: System, operations: number): Prepared {
  const echo = system.spawn("echo", Echo, () => ({ say: (payload) => payload }));
  let completed = 0;
  const run = async () => {
    for (let i = 0; i < operations; i++) {
      const reply = await echo.ask("say", i);
      if (reply.isOk() && reply.value === i) completed++;
    }
  };
  return { run, completed: () => completed, teardown: () => system.shutdown() };
}

const around = (system: System): void => void system.around((_, run) => run());
const onSend = (system: System): void => void system.onSend(() => undefined);

const COUNTERS: SystemOptions = { metrics: { sample: Number.POSITIVE_INFINITY } };

const observedRows: readonly Row[] = [
  observed("ref.tell inside of system.around", "ref.tell", tellsIn, around),
  observed("ref.ask inside of system.around", "ref.ask", asksIn, around),
  observed("ref.tell with system.onSend", "ref.tell", tellsIn, onSend),
  observed("ref.ask with system.onSend", "ref.ask", asksIn, onSend),
  observed("ref.tell with metrics", "ref.tell", tellsIn, () => undefined, { metrics: true }),
  observed("ref.ask with metrics", "ref.ask", asksIn, () => undefined, { metrics: true }),
  observed("ref.tell with metrics that only count", "ref.tell", tellsIn, () => undefined, COUNTERS),
  observed("ref.ask with metrics that only count", "ref.ask", asksIn, () => undefined, COUNTERS),
];

const routedTell: Row = {
  kind: "timed",
  name: "router.tell() to echo handler",
  operations: OPERATIONS,
  per: 1,
  floor: rawTell,
  setup: () => tellThrough(createRouter(), OPERATIONS),
};

const tell = (name: string, floor: Floor, setup: (operations: number) => Prepared): Row => ({
  kind: "timed",
  name,
  operations: TELLS,
  per: 1,
  floor,
  setup: () => setup(TELLS),
});

const TELLS = 100_000;
const Two = defineProtocol("two", { take: { payload: Type.Number() }, put: { payload: Type.Number() } });

/** Tells of two operations in turn: what goes straight into the mailbox for one operation does not for these. */
function tellsOfTwo(operations: number): Prepared {
  const system = createSystem();
  const completion = new Completion();
  const arrive = (): void => void completion.arrive();
  const two = system.spawn("two", Two, () => ({ take: arrive, put: arrive }));
  const run = async () => {
    const done = completion.expect(operations);
    for (let i = 0; i < operations; i += 2) {
      two.tell("take", i);
      two.tell("put", i);
    }
    await done;
  };
  return { run, completed: completion.completed, teardown: () => system.shutdown() };
}

/** Tells out of a turn of another actor. */
function tellsFromInside(operations: number): Prepared {
  const system = createSystem();
  const completion = new Completion();
  const sink = system.spawn("sink", Sink, () => ({ take: () => void completion.arrive() }));
  const teller = system.spawn("teller", Sink, () => ({
    take(count) {
      for (let i = 0; i < count; i++) sink.tell("take", i);
    },
  }));
  const run = () => {
    const done = completion.expect(operations);
    teller.tell("take", operations);
    return done;
  };
  return { run, completed: completion.completed, teardown: () => system.shutdown() };
}

const tellRows: readonly Row[] = [
  tell("ref.tell of two operations in turn, 100,000 to completion", rawTell, tellsOfTwo),
  tell("ref.tell, 100,000 to completion", rawTell, (operations) => tellsIn(createSystem(), operations)),
  tell("ref.tell from inside an actor, 100,000 in a turn", rawInside, tellsFromInside),
];

const routedAsk: Row = {
  kind: "timed",
  name: "router.ask(createMessage(…)) in sequence",
  operations: OPERATIONS,
  per: 1,
  floor: rawAsk,
  setup: () => askThrough(createRouter(), OPERATIONS),
};

const programs: readonly Row[] = [
  programmedTell,
  programmed("router.ask() to echo program", "(n) => n", (payload) => payload),
  programmed("router.ask() to noop program", "() => {}", () => undefined),
  programmed("router.ask() to compute program", SUM, (payload) => sum(payload & 15)),
];
/** Programs are read by a parser that not everybody installs. */
const whyNoPrograms = await whyNot("trusted");

export const suite: Suite = {
  name: "routing",
  about:
    "Sending through the router, a message object each, and through a reference; all of it warm. A tell costs least in a burst of one operation; with two in turn, it is what programs see; *mixed* of the suite patterns has it beside asks. Programs are program actors in `trusted`, whose behaviour is source text; compute adds up 1 to n.",
  rows: [
    ...(whyNoPrograms === undefined ? programs : []),
    routedTell,
    routed("ask round trip (echo)", 1),
    { ...routed("sequential: 10 asks", 1), per: 10 },
    routed("concurrent: 10 asks", 10),
    ...tellRows,
    referred("ref.ask in sequence, sync handler, default timeout", 1),
    referred("ref.ask, 100 in flight", 100),
    routedAsk,
    intercepted("router.tell through one passing interceptor", "router.tell", tellThrough),
    intercepted("router.ask through one passing interceptor", "router.ask", askThrough),
    ...observedRows,
  ],
  leftOut: whyNoPrograms === undefined ? [] : programs.map(({ name }) => ({ row: name, why: whyNoPrograms })),
};
