import { afterEach, expect, test } from "bun:test";
import { address, createSystem, defineProtocol, refSchema, Type } from "../../src/index";
import { createLink } from "../../src/link/index";
import { createPair, type Pair, SILENT } from "./pair";

const Guest = defineProtocol("guest", { hear: { payload: Type.String() } });
const House = defineProtocol("house", {
  enter: { payload: Type.Object({ guest: refSchema(Guest), beside: Type.Unknown() }), reply: Type.Null() },
  lead: { payload: Type.Number(), reply: Type.Object({ guest: refSchema(Guest), beside: Type.Unknown() }) },
  rooms: { reply: Type.Number() },
});

let pair: Pair;
afterEach(() => pair?.end());

function house(options: Parameters<typeof createPair>[0] = {}) {
  pair = createPair(options);
  const there = pair.there.spawn("house", House, () => {
    const guests = [0, 1, 2].map((n) => pair.there.spawn(`guest-${n}`, Guest, () => ({ hear() {} })));
    return {
      enter: () => null,
      lead: (n) => ({ guest: guests[n % 3] ?? null, beside: n > 0 ? 1n : null }) as never, // A reply that cannot be written.
      rooms: () => 3,
    };
  });
  return pair.reach(there, House);
}

test("a reference beyond those that the other side lets in says so, and one that is made anew later works", async () => {
  pair = createPair({ far: { mostRefs: 1 } });
  const make = (name: string) => {
    const there = pair.there.spawn(name, House, () => ({
      enter: () => null,
      lead: (): never => null as never,
      rooms: () => 1,
    }));
    return { there, ref: pair.reach(there, House) };
  };
  const first = make("first");
  expect((await first.ref.ask("rooms")).isOk()).toBe(true);
  const { ref: second } = make("second");
  const refused = (await second.ask("rooms"))._unsafeUnwrapErr();
  expect(refused).toMatchObject({ kind: "unreachable", cause: expect.stringContaining("mostRefs") });
  await pair.there.stop(first.there);
  expect((await make("third").ref.ask("rooms")).isOk()).toBe(true);
});

test.each([
  ["could not be written", 1n, undefined, "invalid-payload"],
  ["was too large", "x".repeat(5_000), undefined, "payload-too-large"],
  ["had metadata that cannot travel", null, JSON.parse('{"a":{"__proto__":1}}'), "invalid-payload"],
])("the references of a payload that %s are not counted as lent", async (_, beside, metadata, kind) => {
  const there = house({ mostRefs: 1, maxBytes: 2_000 });
  const [a, b] = [1, 2].map((n) => pair.here.spawn(`guest-${n}`, Guest, () => ({ hear() {} })));
  const refused = await there.ask("enter", { guest: a as never, beside }, metadata === undefined ? {} : { metadata });
  expect(refused._unsafeUnwrapErr().kind).toBe(kind as never);
  expect((await there.ask("enter", { guest: b as never, beside: null })).isOk()).toBe(true);
});

test("the references of a reply that could not be written are not counted as lent", async () => {
  const there = house({ far: { mostRefs: 1 } });
  expect((await there.ask("lead", 1))._unsafeUnwrapErr().kind).toBe("handler-failed");
  expect((await there.ask("lead", 0)).isOk()).toBe(true);
});

test("a message that leaves while its own sending loses the connection fails as unreachable", async () => {
  const system = createSystem({ name: "here", logger: SILENT });
  const link = createLink({
    system,
    prefix: "there/",
    maxBytes: 200,
    send() {
      link.lost(new Error("the cable is out"), "unreachable");
      return true;
    },
    exposed: () => undefined,
  });
  const ref = link.ref(address("house"), Guest);
  const sent = [1, 2, 3].map((n) => ref.offer("hear", String(n).repeat(120)));
  for (const result of await Promise.all(sent)) expect(result._unsafeUnwrapErr().kind).toBe("unreachable");
  expect(link.waiting).toBe(0);
  await system.shutdown();
});

test("an actor that was called before it was there is watched once it is", async () => {
  const late = createPair();
  const Clerk = defineProtocol("clerk", { work: { reply: Type.Number() } });
  const Watching = defineProtocol("watching", { begin: { reply: Type.Null() } });
  const clerk = late.there.spawn("clerk", Clerk, () => ({ work: () => 1 }));
  const remote = late.link.ref(clerk.address, Clerk); // Nothing is exposed yet.
  expect((await remote.ask("work"))._unsafeUnwrapErr().kind).toBe("no-recipient");
  late.reach(clerk, Clerk);
  expect((await remote.ask("work"))._unsafeUnwrap()).toBe(1);
  const ended = Promise.withResolvers<string>();
  const watching = late.here.spawn("watching", Watching, (ctx) => ({
    begin() {
      ctx.watch(remote, ({ reason }) => ended.resolve(reason));
      return null;
    },
  }));
  await watching.ask("begin");
  await late.there.stop(clerk);
  expect(await ended.promise).toBe("stopped");
  await late.end();
});
