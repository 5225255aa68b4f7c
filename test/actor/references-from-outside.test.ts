import { expect, test } from "bun:test";
import fc from "fast-check";
import { z } from "zod";
import {
  type Address,
  type AnyRef,
  address,
  createMessage,
  defineProtocol,
  type Expose,
  operationsOf,
  parseMessage,
  type Ref,
  type RefTo,
  receive,
  refSchema,
  reviveRefs,
  type SignaturesOf,
  serializeMessage,
  spawnPool,
  Type,
} from "../../src/index";
import { runs } from "../property/runs";
import { type TestSystem, testSystems } from "./test-system";
import { Wire } from "./wire";

const { createTestSystem } = testSystems();

const Guest = defineProtocol("guest", { seat: { payload: Type.Number(), reply: Type.String() } });
const Other = defineProtocol("other", { stand: {} });
const guestRef = refSchema(Guest);
const Host = defineProtocol("host", {
  welcome: { payload: Type.Object({ guest: guestRef }), reply: Type.String() },
  bare: { payload: guestRef, reply: guestRef },
  any: { payload: refSchema<{ stand: () => void }>(), reply: Type.String() },
  all: {
    payload: Type.Object({
      list: Type.Array(guestRef),
      pair: Type.Optional(Type.Tuple([Type.String(), guestRef])),
      byName: Type.Optional(Type.Record(Type.String(), guestRef)),
      either: Type.Optional(
        Type.Union([
          Type.Object({ kind: Type.Literal("text"), to: Type.String() }),
          Type.Object({ kind: Type.Literal("guest"), to: guestRef }),
          Type.Null(),
        ]),
      ),
      both: Type.Optional(Type.Intersect([Type.Object({ a: guestRef }), Type.Object({ b: guestRef })])),
      text: Type.Optional(Type.String()),
    }),
    reply: Type.Number(),
  },
  watch: { payload: Type.Object({ guest: guestRef }), stream: guestRef },
  plain: { payload: Type.Object({ text: Type.String() }) },
});

const guestAt = address("guest");
/** An operation whose schema changes its values: applied twice, it refuses them. */
const transforming = { double: { reply: z.number().transform((n) => `${n}!`) } };

/** A host that notes the payloads it gets, and two guests. */
function hosted({ system }: TestSystem) {
  const got: unknown[] = [];
  const guest = system.spawn("guest", Guest, () => ({ seat: (n) => `seat ${n}` }));
  const other = system.spawn("other", Other, () => ({ stand() {} }));
  const host = system.spawn("host", Host, () => ({
    async welcome(payload) {
      got.push(payload);
      return (await payload.guest.ask("seat", 7)).unwrapOr("no seat");
    },
    bare: (ref) => ref,
    any(ref) {
      ref.tell("stand");
      return ref.address;
    },
    all(payload) {
      got.push(payload);
      return payload.list.length;
    },
    *watch({ guest: one }) {
      yield one;
    },
    plain: (payload) => void got.push(payload),
  }));
  return { guest, other, host, got };
}

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const everything: Expose = () => true;

test("a handler gets a reference for an address that the door exposes, and can use it", async () => {
  const made = createTestSystem();
  const { host, guest, got } = hosted(made);
  const asked: Address[] = [];
  const door = receive(host, {
    expose(at) {
      asked.push(at);
      return at === guestAt;
    },
  });
  expect((await door.ask("welcome", json({ guest })))._unsafeUnwrap()).toBe("seat 7");
  expect([got, asked]).toEqual([[{ guest }], [guestAt]]);
  expect((await door.ask("bare", guestAt))._unsafeUnwrap()).toBe(guest);
  door.tell("welcome", { guest: guestAt });
  expect((await door.offer("welcome", { guest: guestAt })).isOk()).toBe(true);
  expect(await Array.fromAsync(door.stream("watch", { guest: guestAt }))).toEqual([guest]);
  await made.clock.settle();
  expect(got.length).toBe(3);
});

test("P18: nothing is exposed unless the door says so, and what it refuses is invalid-payload", async () => {
  const made = createTestSystem();
  const { host, guest } = hosted(made);
  const doors = {
    "none by default": receive(host),
    "only another": receive(host, { expose: (at) => at === "@(other)" }),
    "an actor with other operations": receive(host, { expose: everything }),
  };
  const payloads: [keyof typeof doors, unknown][] = [
    ["none by default", { guest: guestAt }],
    ["only another", { guest: guestAt }],
    ["an actor with other operations", { guest: "@(other)" }],
    ["an actor with other operations", { guest: "@(nobody)" }],
    ["an actor with other operations", { guest: "guest" }],
    ["an actor with other operations", { guest: "@(guest )" }],
    ["an actor with other operations", { guest: `@(${"g".repeat(1_000_000)})` }],
    ["an actor with other operations", { guest: { address: guestAt } }],
    ["an actor with other operations", { guest: null }],
  ];
  for (const [door, payload] of payloads) {
    const error = (await doors[door].ask("welcome", payload))._unsafeUnwrapErr();
    expect(error).toMatchObject({
      kind: "invalid-payload",
      issues: [{ path: "/guest", message: 'must be a reference to an actor that has the operations of "guest"' }],
    });
  }
  expect((await receive(host).ask("welcome", { guest })).isOk()).toBe(true); // A reference of this process needs no door.
});

test("P18: a message by address exposes nothing", async () => {
  const made = createTestSystem();
  hosted(made);
  const text = serializeMessage(createMessage(address("host"), "welcome", { guest: guestAt }, { pattern: "ask" }));
  const message = parseMessage(text._unsafeUnwrap())._unsafeUnwrap();
  expect((await made.router.ask(message))._unsafeUnwrapErr().kind).toBe("invalid-payload");
});

test("references are revived in objects, arrays, tuples, records, unions and intersections; texts stay texts", async () => {
  const made = createTestSystem();
  const { host, guest, got } = hosted(made);
  const payload = {
    list: [guestAt, guestAt],
    pair: [guestAt, guestAt],
    byName: { a: guestAt, b: guestAt },
    either: { kind: "guest", to: guestAt },
    both: { a: guestAt, b: guestAt },
    text: guestAt,
    unknown: guestAt,
  };
  const before = structuredClone(payload);
  const door = receive(host, { expose: everything });
  expect((await door.ask("all", payload))._unsafeUnwrap()).toBe(2);
  expect(got.pop()).toEqual({
    list: [guest, guest],
    pair: [guestAt, guest],
    byName: { a: guest, b: guest },
    either: { kind: "guest", to: guest },
    both: { a: guest, b: guest },
    text: guestAt,
    unknown: guestAt,
  });
  expect(payload).toEqual(before); // The sender's own is not changed.
  await door.ask("all", { list: [], either: { kind: "text", to: guestAt } });
  expect(got.pop()).toEqual({ list: [], either: { kind: "text", to: guestAt } });
  await door.ask("all", { list: [], either: null });
  expect(got.pop()).toEqual({ list: [], either: null });
});

test("the message keeps the payload that was sent, and an error tells of its other faults alone", async () => {
  const made = createTestSystem();
  const { host } = hosted(made);
  const door = receive(host, { expose: (at) => at === guestAt });
  const payload = { list: [guestAt, "@(stranger)"], text: 7 };
  const error = (await door.ask("all", payload))._unsafeUnwrapErr();
  expect(error.undelivered.payload).toBe(payload);
  expect(error.kind === "invalid-payload" && error.issues.map(({ path }) => path).sort()).toEqual(["/list/1", "/text"]);
});

test("expose is called once for each address of a payload, and may give any reference", async () => {
  const made = createTestSystem();
  const { host, guest, got } = hosted(made);
  const pool = spawnPool(made.system, "pool", Guest, () => ({ seat: (n) => `pool ${n}` }), { size: 1 });
  let calls = 0;
  const door = receive(host, {
    expose(at) {
      calls++;
      return at === guestAt ? guest : pool;
    },
  });
  await door.ask("all", { list: Array.from({ length: 1_000 }, (_, i) => (i % 2 === 0 ? guestAt : "@(elsewhere/1)")) });
  expect(calls).toBe(2);
  expect((got[0] as { list: unknown[] }).list.slice(0, 2)).toEqual([guest, pool]);
  expect((await door.ask("welcome", { guest: "@(elsewhere/2)" }))._unsafeUnwrap()).toBe("pool 7");
});

test.each<[string, () => unknown]>([
  [
    "throws",
    () => {
      throw new Error("broken");
    },
  ],
  ["gives a promise", () => Promise.resolve(true)],
  ["gives a text", () => "yes"],
])("P18: an expose that %s exposes nothing, and is logged", async (_, expose) => {
  const made = createTestSystem();
  const { host } = hosted(made);
  const door = receive(host, { expose: expose as Expose }); // What the compiler refuses.
  expect((await door.ask("welcome", { guest: guestAt }))._unsafeUnwrapErr().kind).toBe("invalid-payload");
  expect(made.takeLog().map(({ message }) => message)).toEqual([
    expect.stringContaining("The expose of a door failed for @(guest)"),
  ]);
});

test("an address that is opened when it is needed becomes a reference by address, where the schema names a protocol", async () => {
  const made = createTestSystem();
  const { host } = hosted(made);
  let opened = 0;
  made.system.resolve("guests/", async (_, id) => {
    opened++;
    return made.system.spawn(id, Guest, () => ({ seat: (n) => `${id} ${n}` }));
  });
  const door = receive(host, { expose: everything });
  const asked = door.ask("any", "@(guests/1)");
  expect((await asked)._unsafeUnwrapErr().kind).toBe("invalid-payload");
  expect(opened).toBe(0);
  const welcomed = door.ask("welcome", { guest: "@(guests/1)" });
  expect((await welcomed)._unsafeUnwrap()).toBe("guests/1 7");
  expect(opened).toBe(1);
});

test("what was revived is not validated again when it is forwarded, handed on by a pool, or waits for its address", async () => {
  const made = createTestSystem({ validate: "boundary" });
  const { host, guest } = hosted(made);
  const Relay = defineProtocol("relay", {
    welcome: { payload: Type.Object({ guest: guestRef }), reply: Type.String() },
  });
  const relay = made.system.spawn("relay", Relay, (ctx) => ({ welcome: () => ctx.forward(host) }));
  const pool = spawnPool(made.system, "pool", Relay, (ctx) => ({ welcome: () => ctx.forward(relay) }), { size: 2 });
  made.system.resolve("late/", async () => pool);
  const late = made.system.ref(address("late/1"), Relay);
  for (const ref of [relay, pool, late] as RefTo<typeof Relay>[]) {
    const door = receive(ref, { expose: (at) => (at === guestAt ? guest : undefined) });
    expect((await door.ask("welcome", { guest: guestAt }))._unsafeUnwrap()).toBe("seat 7");
  }
});

test("P18: hostile payloads are refused, or change nothing but themselves", async () => {
  const made = createTestSystem();
  const { host, got, guest } = hosted(made);
  const door = receive(host, { expose: everything });
  await door.ask("all", JSON.parse('{ "list": [], "byName": { "__proto__": "@(guest)", "constructor": "@(guest)" } }'));
  const { byName } = got.pop() as { byName: Record<string, unknown> };
  expect(Object.getPrototypeOf(byName)).toBe(Object.prototype);
  expect([Object.keys(byName).sort(), Object.getOwnPropertyDescriptor(byName, "__proto__")?.value]).toEqual([
    ["__proto__", "constructor"],
    guest,
  ]);
  expect(({} as { guest?: unknown }).guest).toBeUndefined();
  let reads = 0;
  const changing = {
    get guest() {
      reads++;
      return reads < 3 ? guestAt : "@(nobody)";
    },
  };
  const throwing = {
    get guest() {
      throw new Error("no");
    },
  };
  for (const payload of [changing, throwing, new Proxy({}, { get: () => guestAt }), { guest: [[[[guestAt]]]] }]) {
    const result = await door.ask("welcome", payload);
    // A handler never sees a text in the place of a reference.
    expect(result.isOk() ? result.value : result.error.kind).toBeOneOf(["seat 7", "invalid-payload"]);
  }
  const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`);
  expect((await door.ask("all", { list: [deep] }))._unsafeUnwrapErr().kind).toBe("invalid-payload");
});

test("P18: any JSON in place of a payload is refused, or comes with references in all their places", async () => {
  const made = createTestSystem();
  const { host, got } = hosted(made);
  const door = receive(host, { expose: everything });
  const value = fc.oneof(fc.constant(guestAt), fc.constant("@(nobody)"), fc.jsonValue({ maxDepth: 3 }));
  const payload = fc.record(
    {
      list: fc.oneof(fc.array(value), value),
      pair: fc.oneof(fc.tuple(fc.string(), value), value),
      byName: fc.dictionary(fc.oneof(fc.string(), fc.constant("__proto__")), value),
      either: fc.oneof(fc.record({ kind: fc.constantFrom("text", "guest"), to: value }), value),
      both: fc.record({ a: value, b: value }),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(payload, async (sent) => {
      got.length = 0;
      const before = JSON.stringify(sent);
      const result = await door.ask("all", sent);
      expect(JSON.stringify(sent)).toBe(before);
      if (result.isErr()) {
        expect([result.error.kind, got]).toEqual(["invalid-payload", []]);
        return;
      }
      expect(operationsOf(host)?.["all"]?.payload.parse(got[0]).isOk()).toBe(true); // As one that came from within.
      expect(JSON.stringify(got[0])).toBe(before);
    }),
    runs(300),
  );
});

test("reviveRefs does for replies and items what a door does for payloads", () => {
  const made = createTestSystem();
  const { host, guest } = hosted(made);
  const operations = operationsOf(host);
  const { reply } = operations?.["bare"] ?? expect.unreachable();
  const { item } = operations?.["watch"] ?? expect.unreachable();
  expect(reviveRefs(host, reply, guestAt, everything)._unsafeUnwrap()).toBe(guest);
  expect(reviveRefs(host, item, guestAt, everything)._unsafeUnwrap()).toBe(guest);
  expect(reviveRefs(host, reply, guestAt, () => false).isErr()).toBe(true);
  expect(reviveRefs(host, reply, guest, () => false)._unsafeUnwrap()).toBe(guest);
  expect(reply.parse(guestAt).isErr()).toBe(true); // Outside of a door, an address is a text.
  expect(() => reviveRefs({} as AnyRef, reply, guestAt, everything)).toThrow("no reference");
});

test("an attached reference gives references for the addresses in replies and items, among what it exposes", async () => {
  const made = createTestSystem();
  const { guest } = hosted(made);
  const Far = defineProtocol("far", {
    find: { reply: Type.Object({ guest: guestRef }) },
    all: { stream: guestRef },
    ...transforming,
  });
  for (const validate of ["boundary", "always"] as const) {
    const other = createTestSystem({ validate });
    const near = other.system.spawn("guest", Guest, () => ({ seat: (n) => `near ${n}` }));
    const wire = new Wire();
    wire.answer = (out) => {
      if (out.type === "find") out.complete({ guest: "@(guest)" });
      else if (out.type === "double") out.complete(2);
      else {
        out.produce(["@(guest)"]);
        out.end();
      }
    };
    const { ref } = other.system.attach(address("node/far"), Far, wire, { expose: (at) => at === guestAt });
    expect((await ref.ask("find"))._unsafeUnwrap()).toEqual({ guest: near });
    expect(await Array.fromAsync(ref.stream("all"))).toEqual([near]);
    expect((await ref.ask("double"))._unsafeUnwrap()).toBe("2!"); // The schema of another library is applied once.
    const closed = other.system.attach(address("node/closed"), Far, wire).ref;
    expect((await closed.ask("find"))._unsafeUnwrapErr().kind).toBe("handler-failed");
  }
  expect(guest.address).toBe(guestAt);
  expect(() => made.system.attach(address("a"), Far, new Wire(), { expose: [] as never })).toThrow("is a function");
});

test("recursive schemas take references from within, and no addresses", async () => {
  const made = createTestSystem();
  const { guest } = hosted(made);
  const Tree = Type.Cyclic({ Node: Type.Object({ guest: guestRef, next: Type.Optional(Type.Ref("Node")) }) }, "Node");
  const Forest = defineProtocol("forest", { plant: { payload: Tree } });
  const ref: AnyRef = made.system.spawn("forest", Forest, () => ({ plant() {} }));
  const door = receive(ref, { expose: everything });
  expect((await door.ask("plant", { guest: guestAt, next: { guest: guestAt } }))._unsafeUnwrapErr().kind).toBe(
    "invalid-payload",
  );
  expect((await door.ask("plant", { guest, next: { guest } })).isOk()).toBe(true);
});

test("a bad expose is told at once", () => {
  const made = createTestSystem();
  const { host } = hosted(made);
  expect(() => receive(host, { expose: ["@(guest)"] as never })).toThrow("The expose of a door is a function");
});

test("a schema with references is typed end to end", () => {
  type Payload = Parameters<SignaturesOf<typeof Host>["welcome"]>[0];
  const typed: (payload: Payload) => Ref<SignaturesOf<typeof Guest>> = ({ guest }) => guest;
  expect(typed).toBeFunction();
});
