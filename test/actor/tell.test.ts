import { expect, test } from "bun:test";
import { address, createMessage, defineProtocol, type RefTo, Type } from "../../src/index";
import { reasonsOf, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Note = defineProtocol("note", { say: { payload: Type.Unknown() }, size: { reply: Type.Number() } });
const Player = defineProtocol("player", { hit: { payload: Type.Number() } });

test("P4: tell and ask return before the handler runs", async () => {
  const { system, router, clock } = createTestSystem();
  const seen: unknown[] = [];
  const note = system.spawn("note", Note, () => ({ say: (it) => void seen.push(it), size: () => seen.push("size") }));
  note.tell("say", 1);
  void note.ask("size");
  void note.offer("say", 2);
  router.tell(createMessage(note.address, "say", 3));
  expect(seen).toEqual([]);
  await clock.settle();
  expect(seen).toEqual([1, "size", 2, 3]);
});

test("P4: also inside a handler, tell does not run the receiver on the sender's stack", async () => {
  const { system, clock } = createTestSystem();
  const events: string[] = [];
  const note = system.spawn("note", Note, (ctx) => ({
    say(it) {
      events.push(`begin ${it}`);
      if (it === 0) {
        ctx.self.tell("say", 1);
        other.tell("say", 2);
      }
      events.push(`end ${it}`);
    },
    size: () => 0,
  }));
  const other = system.spawn("other", Note, () => ({ say: (it) => void events.push(`other ${it}`), size: () => 0 }));
  note.tell("say", 0);
  await clock.settle();
  expect(events.slice(0, 2)).toEqual(["begin 0", "end 0"]);
  expect(events.slice(2).toSorted()).toEqual(["begin 1", "end 1", "other 2"]);
});

test("P4: tell never throws, whoever it is for", async () => {
  const { system, router, clock, deadLetters, takeLog } = createTestSystem();
  const note = system.spawn("note", Note, () => ({
    say() {
      throw new Error("no");
    },
    size: () => 0,
  }));
  note.tell("say", 1);
  note.tell("subtract" as "say", 1);
  await clock.settle();
  await system.stop(note);
  note.tell("say", 1);
  router.tell(createMessage(address("nobody"), "say", 1));
  expect(reasonsOf(deadLetters)).toEqual(["unknown-operation", "stopped", "no-recipient"]);
  expect(takeLog().map((entry) => entry.level)).toEqual(["warn", "error", "warn", "warn"]);
});

test("P4: options that refuse to be read are a TypeError of the caller, like others that cannot be one, and nothing is sent", () => {
  const { system, router } = createTestSystem();
  const Stream = defineProtocol("stream", { say: { payload: Type.Unknown() }, items: { stream: Type.Number() } });
  const ref = system.spawn("stream", Stream, () => ({ say() {}, async *items() {} }));
  const refuse = (): never => {
    throw new Error("not yours");
  };
  /** An object whose getter refuses from its read of this number on. */
  const from = (read: number, key: string): object => {
    let reads = 0;
    return new Proxy({ [key]: 1 }, { get: () => (++reads < read ? 1 : refuse()) });
  };
  const hostile = [
    new Proxy({}, { get: refuse, ownKeys: refuse, getPrototypeOf: refuse }),
    new Proxy({}, { ownKeys: refuse }),
    from(1, "user"),
    from(2, "user"), // The metadata is read again for its copy.
  ];
  for (const metadata of hostile) {
    const sends = [
      () => ref.tell("say", 1, { metadata }),
      () => ref.ask("say", 1, { metadata }),
      () => ref.offer("say", 1, { metadata }),
    ];
    for (const send of sends) expect(send).toThrow(TypeError);
  }
  const options = new Proxy({}, { get: refuse });
  const sentence = /^The options of an? (tell|ask|offer|stream) cannot be read: .*not yours/;
  for (const send of [
    () => ref.tell("say", 1, options),
    () => ref.ask("say", 1, options),
    () => ref.offer("say", 1, options),
    () => ref.stream("items", options),
  ]) {
    expect(send).toThrow(TypeError);
    expect(send).toThrow(sentence);
  }
  expect(router.audit().accepted).toBe(0);
});

test("P4: tell does not throw in the sender when a subscriber to dead letters does", async () => {
  const { router, takeLog } = createTestSystem();
  router.deadLetters.subscribe(() => {
    throw new Error("a bad subscriber");
  });
  router.tell(createMessage(address("nobody"), "say", 1));
  expect(takeLog().map((entry) => entry.level)).toEqual(["warn", "error"]);
});

test("P4: a million hops of ping-pong do not overflow the stack", async () => {
  const { system, router } = createTestSystem();
  const hops = 1_000_000;
  const over = Promise.withResolvers<number>();
  const player = (to: () => RefTo<typeof Player>) => () => ({
    hit(n: number) {
      if (n === hops) over.resolve(n);
      else to().tell("hit", n + 1);
    },
  });
  const ping: RefTo<typeof Player> = system.spawn(
    "ping",
    Player,
    player(() => pong),
  );
  const pong = system.spawn(
    "pong",
    Player,
    player(() => ping),
  );
  ping.tell("hit", 1);
  expect(await over.promise).toBe(hops);
  expect(router.audit()).toMatchObject({ accepted: hops, queued: 0 });
});

test("P4: a hundred thousand messages to oneself do not overflow the stack", async () => {
  const { system } = createTestSystem();
  const over = Promise.withResolvers<number>();
  const self = system.spawn("self", Player, (ctx) => ({
    hit: (n) => (n === 100_000 ? over.resolve(n) : ctx.self.tell("hit", n + 1)),
  }));
  self.tell("hit", 1);
  expect(await over.promise).toBe(100_000);
});

test("P4: a hundred thousand hops by handlers that are asynchronous do not overflow the stack", async () => {
  const { system } = createTestSystem();
  const over = Promise.withResolvers<number>();
  const self = system.spawn("self", Player, (ctx) => ({
    async hit(n) {
      await undefined;
      if (n === 100_000) over.resolve(n);
      else ctx.self.tell("hit", n + 1);
    },
  }));
  self.tell("hit", 1);
  expect(await over.promise).toBe(100_000);
});
