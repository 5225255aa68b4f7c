import { expect, test } from "bun:test";
import { join } from "node:path";
import {
  type AskResult,
  address,
  createMessage,
  createPool,
  createSystem,
  createTopic,
  defineProtocol,
  type RefTo,
  refSchema,
  StreamError,
  type System,
  Type,
} from "../../src/index";
import { createLink, type Link, type ManualClock } from "../../src/testing/index";
import { testSystems } from "./test-system";

// The table in ARCHITECTURE.md: what each thing that takes a reference to another system does when the link to it is cut.

const { createTestSystem } = testSystems();

const Echo = defineProtocol("echo", {
  say: { payload: Type.String(), reply: Type.String() },
  note: { payload: Type.String() },
  letters: { payload: Type.String(), stream: Type.String() },
});
const Caller = defineProtocol("caller", {
  ask: { reply: Type.String() },
  read: { reply: Type.String() },
  watch: {},
  say: { payload: Type.String(), reply: Type.String() },
  meet: { payload: Type.Object({ whom: refSchema(Echo) }) },
  greet: { reply: Type.String() },
});

interface World {
  readonly a: System;
  readonly b: System;
  readonly clock: ManualClock;
  readonly link: Link;
  readonly echo: RefTo<typeof Echo>;
  /** The reference in a to the echo of b. */
  readonly far: RefTo<typeof Echo>;
  readonly caller: RefTo<typeof Caller>;
  /** The reasons that the caller's watch was told. */
  readonly watched: unknown[];
  /** Lets time pass, and tells what became of an ask. */
  told(result: Promise<AskResult>): Promise<string>;
  /** What became of something that was sent without waiting. */
  sending(work: () => unknown): Promise<string>;
}

const at = address("b/echo");
const LIMIT = { timeout: 50 };

const makeEcho = () => ({
  say: (text: string) => text,
  note() {},
  *letters(text: string) {
    yield* text;
  },
});

const kindOf = (result: AskResult): string => (result.isOk() ? "`ok`" : `\`${result.error.kind}\``);

async function readAll(items: AsyncIterable<unknown>): Promise<string> {
  try {
    for await (const _ of items);
    return "`ok`";
  } catch (thrown) {
    return thrown instanceof StreamError ? `\`${thrown.kind}\`` : String(thrown);
  }
}

function world(): World {
  const { system: a, clock, settle, advance, deadLetters, takeLog } = createTestSystem();
  const b = createSystem({ clock });
  const link = createLink(a, b, { clock });
  const echo = b.spawn("echo", Echo, makeEcho);
  const far = link.a.attach(at, Echo, echo);
  const watched: unknown[] = [];
  const caller = a.spawn("caller", Caller, (ctx) => {
    let met = far;
    return {
      ask: async () => kindOf(await ctx.ask(far, "say", "x", LIMIT)),
      read: () => readAll(ctx.stream(far, "letters", "abc", LIMIT)),
      watch: () => void ctx.watch(far, ({ reason }) => watched.push(reason)),
      say: () => ctx.forward(far),
      meet({ whom }) {
        met = whom;
      },
      greet: async () => kindOf(await ctx.ask(met, "say", "x", LIMIT)),
    };
  });
  return {
    a,
    b,
    clock,
    link,
    echo,
    far,
    caller,
    watched,
    async told(result) {
      await advance(60);
      return kindOf(await result);
    },
    async sending(work) {
      const [{ sent: before = 0 }, letters] = [a.router.audit(), deadLetters.length];
      work();
      await settle();
      const { sent = 0 } = a.router.audit();
      const dead = deadLetters.slice(letters).map(({ reason }) => reason);
      takeLog();
      if (dead.length > 0) return `dead letter \`${dead.join()}\``;
      return sent > before ? "lost, counted as `sent`" : "nothing is sent";
    },
  };
}

/** What the handler of a caller said. */
const said = async ({ clock }: World, result: Promise<AskResult>): Promise<string> => {
  await clock.advance(60);
  return String((await result)._unsafeUnwrap());
};

type Act = () => Promise<string>;

/** What is prepared while the link is there, and done once it is cut. */
const ROWS: Record<string, (of: World) => Act | Promise<Act>> = {
  ask: (of) => () => of.told(of.far.ask("say", "x", LIMIT)),
  tell: (of) => () => of.sending(() => of.far.tell("note", "x")),
  offer: (of) => () => of.told(of.far.offer("note", "x", LIMIT) as Promise<AskResult>), // Only its kind is looked at.
  stream: (of) => async () => {
    const read = readAll(of.far.stream("letters", "abc", LIMIT));
    await of.clock.advance(60);
    return read;
  },
  "ctx.ask": (of) => () => said(of, of.caller.ask("ask")),
  "ctx.stream": (of) => () => said(of, of.caller.ask("read")),
  "ctx.watch": async (of) => {
    of.caller.tell("watch");
    await of.clock.settle();
    return async () => {
      await of.clock.settle();
      return of.watched.length === 0 ? "nothing is told" : `told, with the reason \`${of.watched.join()}\``;
    };
  },
  "ctx.forward": (of) => () => of.told(of.caller.ask("say", "x", LIMIT)),
  topic: (of) => {
    const topic = createTopic<string>("news");
    topic.subscribe(of.far, "note");
    return async () => {
      const became = await of.sending(() => topic.publish("x"));
      return topic.size === 0 ? "its subscription has ended" : became;
    };
  },
  pool: async (of) => {
    const near = of.a.spawn("near", Echo, makeEcho);
    const pool = createPool(of.a, "pool", Echo, [near, of.far]);
    await of.clock.settle();
    return async () => {
      const asked = [pool.ref.ask("say", "x", LIMIT), pool.ref.ask("say", "y", LIMIT)];
      const kinds = await Promise.all(asked.map((each) => of.told(each)));
      const failed = kinds.filter((kind) => kind !== "`ok`");
      return failed.length === 0 ? "the other workers have it" : `${failed.join()} for its share`;
    };
  },
  refSchema: async (of) => {
    const expose = (given: string) => (given === of.echo.address ? of.far : undefined);
    const callerOfB = of.link.b.attach(address("a/caller"), Caller, of.caller, { expose });
    callerOfB.tell("meet", { whom: of.echo });
    await of.clock.settle();
    return () => said(of, of.caller.ask("greet"));
  },
  "router.ask": (of) => () => of.told(of.a.router.ask(createMessage(at, "say", "x"), LIMIT)),
  interceptor: (of) => {
    let seen = "";
    of.a.router.use(async (message, next) => {
      const passage = await next(message);
      seen = kindOf(passage as AskResult);
      return passage;
    });
    return async () => {
      await of.told(of.a.router.ask(createMessage(at, "say", "x"), LIMIT));
      return `sees ${seen}`;
    };
  },
};

const page = await Bun.file(join(import.meta.dir, "../../ARCHITECTURE.md")).text();
const table = new Map(
  [...page.matchAll(/^\| `([\w.]+)` +\| (.+?) +\| (.+?) +\|$/gm)].map(([, name = "", cut = "", ended = ""]) => [
    name,
    [cut, ended],
  ]),
);

test.each(Object.entries(ROWS))(
  "P17: %s does what the table in ARCHITECTURE.md says, and works while the link is there",
  async (name, row) => {
    const outcomes: string[] = [];
    for (const how of ["there", "cut", "ended"] as const) {
      const of = world();
      const act = await row(of);
      if (how === "cut") of.link.cut();
      if (how === "ended") of.link.disconnect();
      outcomes.push(await act());
      await of.b.shutdown();
    }
    const [there, ...rest] = outcomes;
    expect(there).not.toContain("timeout");
    expect({ name, rest }).toEqual({ name, rest: table.get(name) ?? [] });
  },
);
