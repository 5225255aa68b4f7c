import { afterEach, expect, test } from "bun:test";
import {
  address,
  defineProtocol,
  type RefTo,
  refSchema,
  systemClock,
  type Terminated,
  Type,
  traceOf,
} from "../../src/index";
import { createPair, type Pair } from "./pair";

const Member = defineProtocol("member", { hear: { payload: Type.String() } });
const Room = defineProtocol("room", {
  add: { payload: Type.Number(), reply: Type.Number() },
  say: { payload: Type.String() },
  said: { reply: Type.Array(Type.String()) },
  join: { payload: Type.Object({ member: refSchema(Member) }), reply: Type.String() },
  self: { reply: Type.Unsafe<RefTo<typeof Member>>(refSchema(Member)) },
  home: { payload: refSchema(Member), reply: refSchema(Member) },
  any: { payload: Type.Unknown(), reply: Type.Unknown() },
  odd: { payload: Type.String(), reply: Type.Unknown() },
  count: { payload: Type.Number(), stream: Type.Number() },
  never: { reply: Type.Null() },
  fail: { reply: Type.Null() },
  context: { reply: Type.Unknown() },
  slowly: { reply: Type.Null() },
});

let pair: Pair;
afterEach(() => pair?.end());

interface Seen {
  readonly ended: string[];
  produced: number;
  aborted: PromiseWithResolvers<unknown>;
  readonly told: PromiseWithResolvers<unknown>;
}

function room(options: Parameters<typeof createPair>[0] = {}) {
  pair = createPair(options);
  const seen: Seen = { ended: [], produced: 0, aborted: Promise.withResolvers(), told: Promise.withResolvers() };
  const ref = pair.there.spawn("rooms/tea", Room, (ctx) => {
    const lines: string[] = [];
    let total = 0;
    const me = pair.there.spawn("me", Member, () => ({ hear: (text) => void lines.push(text) }));
    return {
      add: (n) => (total += n),
      say: (line) => void lines.push(line),
      said: () => lines,
      join({ member }) {
        ctx.watch(member, ({ reason }) => seen.ended.push(String(reason)));
        ctx.tell(member, "hear", "welcome");
        return member.address;
      },
      self: () => me,
      home: (member) => member,
      any: (value) => value,
      odd: (what) => (what === "bigint" ? { deep: [1n] } : "x".repeat(5_000)),
      async *count(to) {
        try {
          for (let n = 1; n <= to; n++) {
            seen.produced = n;
            yield n;
          }
        } finally {
          seen.ended.push("count");
        }
      },
      never() {
        ctx.onAbort(() => seen.aborted.resolve(ctx.signal.reason));
        return new Promise((_, reject) => ctx.onAbort(() => reject(ctx.signal.reason)));
      },
      fail() {
        throw new RangeError("the kettle is empty");
      },
      context: () => ({
        deadline: ctx.deadline !== undefined,
        metadata: ctx.metadata,
        trace: traceOf(ctx.metadata)?.traceparent,
      }),
      async slowly() {
        ctx.progress(1, 2, "half");
        await seen.told.promise;
        return null;
      },
    };
  });
  return { seen, there: ref, room: pair.reach(ref, Room) };
}

test("an ask, a tell, an offer and a stream arrive, in order", async () => {
  const { room: tea } = room();
  for (let n = 0; n < 100; n++) tea.tell("say", `line ${n}`);
  const [offered, said] = await Promise.all([tea.offer("say", "last"), tea.ask("said")]);
  expect(offered.isOk()).toBe(true);
  expect(said.unwrapOr([])).toEqual([...Array.from({ length: 100 }, (_, n) => `line ${n}`), "last"]);
  const items: number[] = [];
  for await (const n of tea.stream("count", 10)) items.push(n);
  expect(items).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect((await tea.ask("add", 2)).unwrapOr(0)).toBe(2);
});

test("all that leaves in a turn goes as one text, and its replies come as one", async () => {
  const clock = { ...systemClock, monotonicTime: () => 0 }; // No turn ends by its time.
  const { room: tea } = room({ systems: { clock } });
  await tea.ask("add", 0);
  pair.sent.toThere.length = pair.sent.toHere.length = 0;
  await Promise.all(Array.from({ length: 64 }, (_, n) => tea.ask("add", n)));
  expect(pair.sent.toThere.length).toBe(1);
  expect(pair.sent.toHere.length).toBe(1);
});

test("P12: a producer over there is ahead of its reader by its credit at most, and ends when the reader leaves", async () => {
  const { room: tea, seen } = room();
  let read = 0;
  for await (const n of tea.stream("count", 1_000_000, { credit: 8 })) {
    read = n;
    expect(seen.produced).toBeLessThanOrEqual(n + 8 + 2); // One is at the door, and one has been read.
    if (n === 100) break;
  }
  expect(read).toBe(100);
  while (!seen.ended.includes("count")) await new Promise(setImmediate);
  expect(pair.link.waiting).toBe(0);
  expect(pair.far.underWay).toBe(0);
});

test("P7: an ask that is given up aborts its handler over there, and so does its timeout", async () => {
  const { room: tea, seen } = room();
  const giving = new AbortController();
  const asked = tea.ask("never", { signal: giving.signal, timeout: Number.POSITIVE_INFINITY });
  await new Promise(setImmediate);
  giving.abort();
  expect((await asked)._unsafeUnwrapErr().kind).toBe("cancelled");
  await seen.aborted.promise;
  seen.aborted = Promise.withResolvers();
  expect((await tea.ask("never", { timeout: 5 }))._unsafeUnwrapErr().kind).toBe("timeout");
  await seen.aborted.promise;
  expect(pair.link.waiting).toBe(0);
  expect(pair.far.underWay).toBe(0);
});

test("metadata, the trace and the deadline travel with a message", async () => {
  const { room: tea } = room();
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const reply = await tea.ask("context", { metadata: { user: "ada", traceparent }, timeout: 1_000 });
  const metadata = { user: "ada", traceparent };
  expect(reply._unsafeUnwrap()).toEqual({ deadline: true, metadata, trace: traceparent });
});

test("an asker that listens is told the progress", async () => {
  const { room: tea, seen } = room();
  await tea.ask("slowly", { onProgress: seen.told.resolve });
  expect(await seen.told.promise).toEqual({ done: 1, total: 2, note: "half" });
});

test("P18: an error says what its sender can mend, and the text of what was thrown only to a side that is trusted", async () => {
  const { room: tea } = room();
  const withheld = (await tea.ask("fail"))._unsafeUnwrapErr();
  expect(withheld.kind).toBe("handler-failed");
  expect(withheld.message).not.toContain("kettle");
  const invalid = (await tea.ask("add", "two" as never))._unsafeUnwrapErr();
  expect(invalid).toMatchObject({ kind: "invalid-payload", issues: [{ path: "" }] });
  await pair.end();

  const { room: trusted } = room({ far: { tellsErrors: true } });
  const told = (await trusted.ask("fail"))._unsafeUnwrapErr();
  expect(told).toMatchObject({ kind: "handler-failed", cause: { name: "RangeError", message: "the kettle is empty" } });
});

test("a watcher is told that the actor over there has stopped, after all that it sent", async () => {
  const { room: tea, there } = room();
  const ends: Terminated[] = [];
  const told = Promise.withResolvers<void>();
  const Watching = defineProtocol("watching", { begin: { reply: Type.Null() } });
  const watching = pair.here.spawn("watching", Watching, (ctx) => ({
    begin() {
      ctx.watch(tea, (end) => {
        ends.push(end);
        told.resolve();
      });
      return null;
    },
  }));
  await watching.ask("begin");
  const [last] = await Promise.all([tea.ask("add", 1), pair.there.stop(there, { drain: true })]);
  await told.promise;
  expect(last.isOk()).toBe(false); // It was stopped before the message came.
  expect(ends).toMatchObject([{ address: tea.address, reason: "stopped" }]);
  expect((await tea.ask("add", 1))._unsafeUnwrapErr().kind).toBe("stopped");
});

test.each([
  ["tells its error", true],
  ["tells none", false],
])(
  "a watcher behind two links is told unreachable where the actor's side is gone, and so are later senders (the side between them %s)",
  async (_, tellsErrors) => {
    pair = createPair({ far: { tellsErrors } });
    const nothing = (): void => undefined;
    const far = pair.there.attach(address("third/guest"), Member, {
      send: nothing,
      cancel: nothing,
      credit: nothing,
      close: nothing,
    });
    const guest = pair.reach(far.ref, Member);
    const Watching = defineProtocol("watching", { begin: { reply: Type.Null() } });
    const end = Promise.withResolvers<Terminated>();
    const watching = pair.here.spawn("watching", Watching, (ctx) => ({
      begin() {
        ctx.watch(guest, end.resolve);
        return null;
      },
    }));
    await watching.ask("begin");
    const cause = new Error("the third side is gone");
    await new Promise(setImmediate); // Its number has come.
    far.end("unreachable", cause);
    const error = tellsErrors ? { message: cause.message } : undefined;
    expect(await end.promise).toMatchObject({ address: guest.address, reason: "unreachable", error });
    expect((await guest.offer("hear", "are you there?"))._unsafeUnwrapErr().kind).toBe("unreachable");
    const late = pair.link.ref(far.ref.address, Room); // Attached after the end: a number that is opened now.
    expect((await late.ask("said"))._unsafeUnwrapErr().kind).toBe("unreachable");
    expect(pair.taken).not.toContain(false);
  },
);

test("a reference in a payload is a reference over there, is watched, and its end is told", async () => {
  const { room: tea, seen } = room();
  const heard: string[] = [];
  const ada = pair.here.spawn("ada", Member, () => ({ hear: (text) => void heard.push(text) }));
  expect((await tea.ask("join", { member: ada }))._unsafeUnwrap()).toBe("@(here/ada)");
  while (heard.length === 0) await new Promise(setImmediate);
  expect(heard).toEqual(["welcome"]);
  await pair.here.stop(ada);
  while (seen.ended.length === 0) await new Promise(setImmediate);
  expect(seen.ended).toEqual(["stopped"]);
});

test("a reference in a reply works here, and one that comes home is the actor itself", async () => {
  const { room: tea } = room();
  const me = (await tea.ask("self"))._unsafeUnwrap();
  expect(me.address).toBe(address("there/me"));
  me.tell("hear", "over there");
  expect((await tea.ask("said")).unwrapOr([])).toEqual(["over there"]);
  const ada = pair.here.spawn("ada", Member, () => ({ hear() {} }));
  expect((await tea.ask("home", ada))._unsafeUnwrap()).toBe(ada as never);
  expect((await tea.ask("home", me))._unsafeUnwrap()).toBe(me);
});

test("P18: an address that was never exposed is no reference, and reaches nobody", async () => {
  const { room: tea } = room();
  pair.there.spawn("secret", Member, () => ({ hear() {} }));
  const secret = pair.link.ref(address("secret"), Member);
  expect((await secret.offer("hear", "psst"))._unsafeUnwrapErr().kind).toBe("no-recipient");
  expect((await tea.ask("home", secret))._unsafeUnwrapErr().kind).toBe("invalid-payload");
  expect((await tea.ask("home", "@(secret)" as never))._unsafeUnwrapErr().kind).toBe("invalid-payload");
});

test("the references that went to the other side are bounded", async () => {
  const { room: tea } = room({ mostRefs: 2 });
  const refs = [1, 2, 3].map((n) => pair.here.spawn(`m${n}`, Member, () => ({ hear() {} })));
  const [a, b, c] = refs as [(typeof refs)[0], (typeof refs)[0], (typeof refs)[0]];
  expect((await tea.ask("join", { member: a })).isOk()).toBe(true);
  expect((await tea.ask("join", { member: b })).isOk()).toBe(true);
  expect((await tea.ask("join", { member: c }))._unsafeUnwrapErr().kind).toBe("invalid-payload");
  await pair.here.stop(a);
  await new Promise(setImmediate);
  expect((await tea.ask("join", { member: c })).isOk()).toBe(true);
});

const cycle: Record<string, unknown> = {};
cycle["self"] = cycle;
test.each([
  ["a bigint", { a: [1n] }, "/a/0"],
  ["a function", { a: () => 1 }, "/a"],
  ["a symbol", { a: Symbol("s") }, "/a"],
  ["a map", { a: { b: new Map([[1, 2]]) } }, "/a/b"],
  ["a set", new Set([1]), ""],
  ["no number", { a: Number.NaN }, "/a"],
  ["an infinity", [Number.POSITIVE_INFINITY], "/0"],
  ["a cycle", cycle, "/self"],
  ["binary data", { a: new Uint8Array(3) }, "/a"],
])("a payload with %s is refused with its path, and nothing is sent", async (_, payload, path) => {
  const { room: tea } = room();
  await tea.ask("add", 0);
  pair.sent.toThere.length = 0;
  const refused = (await tea.ask("any", payload))._unsafeUnwrapErr();
  expect(refused).toMatchObject({ kind: "invalid-payload", issues: [{ path }] });
  expect(pair.sent.toThere).toEqual([]);
});

test("a reply that cannot be written fails its ask and says why; a stream ends so", async () => {
  const { room: tea } = room({ far: { maxBytes: 2_000 } });
  const odd = (await tea.ask("odd", "bigint"))._unsafeUnwrapErr();
  expect(odd).toMatchObject({ kind: "handler-failed", cause: expect.stringContaining("/deep/0") });
  const large = (await tea.ask("odd", "large"))._unsafeUnwrapErr();
  expect(large).toMatchObject({ kind: "handler-failed", cause: expect.stringContaining("larger") });
  expect(pair.far.underWay).toBe(0);
});

test("a payload over the limit is payload-too-large before it is sent; what leaves together is split", async () => {
  const { room: tea } = room({ maxBytes: 200, far: { maxBytes: 200 } }); // A longer text of the other side is none.
  expect((await tea.ask("any", "é".repeat(100)))._unsafeUnwrapErr()).toMatchObject({
    kind: "payload-too-large",
    limit: 200,
  });
  const replies = await Promise.all(Array.from({ length: 50 }, () => tea.ask("any", "é".repeat(10))));
  expect(replies.every((reply) => reply.isOk())).toBe(true);
  expect(pair.sent.toThere.length).toBeGreaterThan(5);
  for (const text of pair.sent.toThere) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(200);
});

test("P17: what waits when the connection is lost fails as its owner says, and what comes later is unreachable", async () => {
  for (const kind of ["timeout", "unreachable"] as const) {
    const { room: tea, seen } = room();
    const waiting = [tea.ask("never"), tea.ask("never", { timeout: Number.POSITIVE_INFINITY })];
    while (pair.far.underWay < 2) await new Promise(setImmediate);
    const cause = new Error("the cable is out");
    const late = tea.ask("add", 1); // Not sent yet.
    pair.link.lost(cause, kind);
    pair.far.lost(cause, kind);
    for (const result of await Promise.all(waiting)) expect(result._unsafeUnwrapErr()).toMatchObject({ kind });
    expect((await late)._unsafeUnwrapErr().kind).toBe("unreachable");
    expect((await tea.ask("add", 1))._unsafeUnwrapErr()).toMatchObject({ kind: "unreachable", cause });
    await seen.aborted.promise;
    expect(pair.link.waiting + pair.far.underWay).toBe(0);
    await pair.end();
  }
});

test("a reference lives on over a loss; those of payloads end", async () => {
  const { room: tea } = room();
  const me = (await tea.ask("self"))._unsafeUnwrap();
  pair.link.lost(new Error("gone"), "unreachable");
  pair.far.lost(new Error("gone"), "unreachable");
  pair.link.resume();
  pair.far.resume();
  expect((await tea.ask("add", 3)).unwrapOr(0)).toBe(3);
  expect((await me.offer("hear", "are you there?"))._unsafeUnwrapErr().kind).toBe("unreachable");
});

test("an ended link tells the watchers, and its references stay dead", async () => {
  const { room: tea } = room();
  const end = Promise.withResolvers<Terminated>();
  const Watching = defineProtocol("watching", { begin: { reply: Type.Null() } });
  const watching = pair.here.spawn("watching", Watching, (ctx) => ({
    begin() {
      ctx.watch(tea, (terminated) => end.resolve(terminated));
      return null;
    },
  }));
  await watching.ask("begin");
  const waiting = tea.ask("never");
  await new Promise(setImmediate);
  pair.link.end(new Error("over"));
  expect((await end.promise).reason).toBe("unreachable");
  expect((await waiting)._unsafeUnwrapErr().kind).toBe("timeout");
  pair.link.resume();
  expect((await tea.ask("add", 3))._unsafeUnwrapErr().kind).toBe("unreachable");
});

test("items that a producer gives at once leave in few texts, and none is late", async () => {
  const { room: tea } = room();
  expect(await Array.fromAsync(tea.stream("count", 100, { credit: 256 }))).toHaveLength(100);
  const texts = pair.sent.toHere.length;
  expect(texts).toBeLessThan(20);
  const slowly: number[] = [];
  for await (const number of tea.stream("count", 10, { credit: 1 })) slowly.push(number);
  expect(slowly).toHaveLength(10);
});

test.each([
  ["without a bound", Number.POSITIVE_INFINITY, 3],
  ["in texts of 200 bytes", 200, 8],
])(
  "items of one stream that leave together share a frame, and all arrive in order: of several streams, with answers between, %s",
  async (_, maxBytes, most) => {
    const Mixed = defineProtocol("mixed", {
      list: { payload: Type.Array(Type.Unknown()), stream: Type.Unknown() },
      echo: { payload: Type.Unknown(), reply: Type.Unknown() },
    });
    pair = createPair({ maxBytes, far: { maxBytes } });
    const there = pair.there.spawn(
      "mixed",
      Mixed,
      () => ({
        *list(items) {
          for (const item of items) yield item === "nothing" ? undefined : item;
        },
        echo: (value) => value,
      }),
      { concurrency: 10 },
    );
    const mixed = pair.reach(there, Mixed);
    const framesOf = (texts: readonly string[]) =>
      texts.flatMap((text) => JSON.parse(text) as unknown[][]).filter(([code]) => code === 12);
    const many = Array.from({ length: 30 }, (__, n) => "é],".repeat(n % 4));
    for (const items of [many.slice(0, 15), many.slice(15)]) {
      pair.sent.toHere.length = 0;
      expect(await Array.fromAsync(mixed.stream("list", items, { credit: 64 }))).toEqual(items);
      expect(framesOf(pair.sent.toHere).length).toBeLessThanOrEqual(most);
      for (const text of pair.sent.toHere) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
    }
    const odd = [1, "nothing", "nothing", 2, 3, null, "nothing", [4, 5]];
    const [first, second, third, echoes] = await Promise.all([
      Array.fromAsync(mixed.stream("list", odd, { credit: 64 })),
      Array.fromAsync(mixed.stream("list", odd.toReversed(), { credit: 64 })),
      Array.fromAsync(mixed.stream("list", odd, { credit: 2 })),
      Promise.all(odd.map((value) => mixed.ask("echo", value))),
    ]);
    const got = odd.map((item) => (item === "nothing" ? undefined : item));
    expect([first, second, third]).toEqual([got, got.toReversed(), got]);
    expect(echoes.map((result) => result._unsafeUnwrap())).toEqual(odd);
    expect(pair.taken).not.toContain(false);
  },
);

test("a text that could not be sent is unreachable, for all that was in it", async () => {
  const { room: tea } = room();
  await tea.ask("add", 0);
  pair.shut();
  tea.tell("say", "lost");
  const [asked, offered] = await Promise.all([tea.ask("add", 1), tea.offer("say", "hello")]);
  expect(asked._unsafeUnwrapErr().kind).toBe("unreachable");
  expect(offered._unsafeUnwrapErr().kind).toBe("unreachable");
  expect(pair.here.router.audit().dead).toBe(3);
  expect(pair.link.waiting).toBe(0);
});
