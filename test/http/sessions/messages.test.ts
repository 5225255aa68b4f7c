import { expect, test } from "bun:test";
import { SessionStore } from "../../../src/http/sessions/store";
import { systemClock } from "../../../src/index";
import { createChat, eventsOf, firstOf, Room } from "./chat";

const statusesOf = async (answers: readonly Promise<Response>[]): Promise<number[]> =>
  (await Promise.all(answers)).map(({ status }) => status);

test("as many asks of a session are answered at one time as its option says", async () => {
  const { promise, resolve } = Promise.withResolvers<string[]>();
  await using room = new Room({
    messages: 4,
    actor: { concurrency: 4 },
    factory: (ctx, session) => ({ ...createChat(ctx, session), heard: () => promise }),
  });
  const at = await room.open();
  const asks = Array.from({ length: 3 }, () => room.send(at, "heard"));
  await room.test.settle();
  asks.push(room.send(at, "heard"));
  await room.test.settle();
  expect((await room.send(at, "heard")).status).toBe(429);
  resolve([]);
  expect(await statusesOf(asks)).toEqual([200, 200, 200, 200]);
});

test("an ask whose client waits is not ended because nobody reads the session", async () => {
  const { promise, resolve } = Promise.withResolvers<string[]>();
  await using room = new Room({
    unread: 5_000,
    actor: { concurrency: 2 },
    factory: (ctx, session) => ({ ...createChat(ctx, session), heard: () => promise }),
  });
  const at = await room.open();
  expect((await room.send(at, "hang", undefined, { prefer: "respond-async" })).status).toBe(202);
  const asking = room.send(at, "heard");
  await room.test.advance(10_000);
  expect(await room.show(at)).toMatchObject({ running: 1 }); // The stream is ended.
  resolve(["a"]);
  expect(await (await asking).json()).toEqual(["a"]);
});

test("a stream is not ended for those that nobody has read for longer", async () => {
  await using room = new Room({ unread: 5_000, actor: { concurrency: 2 } });
  const at = await room.open();
  await room.send(at, "hang", undefined, { prefer: "respond-async" });
  await room.test.advance(4_000);
  await room.send(at, "hang", undefined, { prefer: "respond-async" });
  await room.test.advance(2_000);
  expect(await room.show(at)).toMatchObject({ running: 2 });
  await room.test.advance(3_000);
  expect(await room.show(at)).toMatchObject({ running: 0 });
});

test("an ask that changes nothing is stored where its client reads the answer later", async () => {
  await using room = new Room();
  const at = await room.open();
  const told = await room.send(at, "peek", undefined, { prefer: "respond-async" });
  expect(told.status).toBe(202);
  const [reply] = await Array.fromAsync(eventsOf(await room.fetch("GET", told.headers.get("location") ?? "")));
  expect(reply).toEqual({ id: "2", event: "reply", data: "0" });
});

test("a message whose key is not known any more is not handled again for a client that resumes it", async () => {
  await using room = new Room({ keep: { age: 10_000 } });
  const at = await room.open();
  const key = { "idempotency-key": "one" };
  const [first] = await firstOf(await room.send(at, "say", "a b", key), 1);
  await room.test.advance(30_000);
  expect((await room.send(at, "say", "a b", { ...key, "last-event-id": first?.id ?? "" })).status).toBe(410);
  expect((await room.send(at, "say", "a b", { "last-event-id": "2" })).status).toBe(400); // It has no key at all.
  expect(await room.show(at)).toMatchObject({ messages: 1 });
  const anew = await room.send(at, "say", "a b", { ...key, "last-event-id": "0" });
  expect([anew.status, (await Array.fromAsync(eventsOf(anew))).length]).toEqual([200, 3]);
});

test("P18: long events are read a few at a time", async () => {
  const store = new SessionStore(":memory:", "normal", systemClock, "{}");
  const { number } = await store.create("one", "ada", null, "{}");
  const long = "x".repeat(50_000);
  const events = Array.from({ length: 10 }, (_, n) => ({ id: n + 1, data: n < 4 ? long : "1" }));
  await store.write([store.begin(number, 1, null, 0), ...store.append(number, 1, 1, events)], () => false);
  await store.write([store.end(number, 1, 10)], () => false);
  const idsOf = (read: (after: number) => readonly { id: number }[]) =>
    [0, 2, 4, 10].map((after) => read(after).map(({ id }) => id));
  const expected = [[1, 2], [3, 4], [5, 6, 7, 8, 9, 10], []];
  expect(idsOf((after) => store.events(number, after, 100))).toEqual(expected);
  expect(idsOf((after) => store.eventsOf(number, 1, after, 100))).toEqual(expected);
  expect(idsOf((after) => store.endedEvents(number, after, 100))).toEqual(expected);
  await store.close();
});

test("a message of a session, and what is answered later, is in the trace of its request", async () => {
  const seen: unknown[] = [];
  await using room = new Room({
    factory(ctx, session) {
      const chat = createChat(ctx, session);
      const note = (): void => void seen.push(ctx.metadata);
      return {
        ...chat,
        say(text) {
          note();
          return chat.say(text);
        },
        heard() {
          note();
          return [];
        },
      };
    },
  });
  const at = await room.open();
  const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "vendor=1" };
  expect((await room.send(at, "heard", undefined, trace)).status).toBe(200);
  expect((await room.send(at, "say", "hello", { ...trace, prefer: "respond-async" })).status).toBe(202);
  await room.test.settle();
  expect((await room.send(at, "heard", undefined, { traceparent: "00-0-0-00" })).status).toBe(200);
  const ada = { caller: "ada" };
  expect(seen).toEqual([{ ...ada, ...trace }, { ...ada, ...trace }, ada]);
});
