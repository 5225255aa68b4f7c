import { expect, test } from "bun:test";
import { createGateway } from "../../../src/http/index";
import { Type } from "../../../src/index";
import { createTestSystem } from "../../../src/testing/index";
import { bodyOf, Chat, createChat, eventsOf, firstOf, type Page, Room, type Shown } from "./chat";

const data = async (response: Response): Promise<unknown[]> =>
  (await Array.fromAsync(eventsOf(response))).map(({ event, data = "" }) => event ?? JSON.parse(data));

test("a session is made, shown, listed and deleted", async () => {
  await using room = new Room();
  const made = await room.fetch("POST", "/sessions", { metadata: { title: "A trip" } });
  expect(made.status).toBe(201);
  const at = made.headers.get("location") ?? "";
  const session = await bodyOf<Shown>(made);
  expect(session).toMatchObject({ metadata: { title: "A trip" }, messages: 0, lastEvent: 0 });
  expect(at).toBe(`/sessions/${session.id}`);
  expect(await room.show(at)).toEqual(session);
  expect(await room.list()).toEqual({ sessions: [session] });
  expect((await room.fetch("DELETE", at)).status).toBe(204);
  expect((await room.fetch("GET", at)).status).toBe(404);
  expect((await room.fetch("DELETE", at)).status).toBe(404);
  expect((await room.send(at, "heard")).status).toBe(404);
});

test("a message is answered with its stream, its reply, or nothing", async () => {
  await using room = new Room();
  const at = await room.open();
  const stream = await room.send(at, "say", "good morning");
  expect(stream.headers.get("location")).toBe(`${at}/events?message=1`);
  expect(await Array.fromAsync(eventsOf(stream))).toEqual([
    { id: "2", data: '"good"' },
    { id: "3", data: '"morning"' },
    { id: "4", event: "end", data: "{}" },
  ]);
  const reply = await room.send(at, "heard");
  expect([reply.status, await reply.json()]).toEqual([200, ["good morning"]]);
  expect((await room.send(at, "hush")).status).toBe(204);
});

test("an ask that changes nothing leaves no trace", async () => {
  await using room = new Room();
  const at = await room.open();
  await (await room.send(at, "say", "a")).text();
  const before = await room.show(at);
  expect(await (await room.send(at, "peek")).json()).toBe(1);
  expect((await room.send(at, "peek", 7)).status).toBe(400);
  expect(await room.show(at)).toEqual(before);
});

test("P18: a message that fails tells nothing of the inside, now and later", async () => {
  await using room = new Room();
  const at = await room.open();
  const key = { "idempotency-key": "one" };
  const failed = await room.send(at, "fail", undefined, key);
  const text = await failed.text();
  expect(failed.status).toBe(500);
  expect(text).not.toContain("secret");
  expect(await (await room.send(at, "fail", undefined, key)).text()).toBe(text);
  await room.test.expectFailure(undefined, "a secret");
  await room.test.expectLogged("failed for a message of its session");
});

test("the events of a session are those of all its messages, in order, from any place on", async () => {
  await using room = new Room();
  const at = await room.open();
  await (await room.send(at, "say", "a b")).text();
  await room.send(at, "heard");
  const all = await firstOf(await room.fetch("GET", `${at}/events`), 6);
  expect(all.map(({ id, event }) => [id, event])).toEqual([
    ["1", "request"],
    ["2", undefined],
    ["3", undefined],
    ["4", "end"],
    ["5", "request"],
    ["6", "reply"],
  ]);
  const header = await room.fetch("GET", `${at}/events`, undefined, { "last-event-id": "4" });
  expect(await firstOf(header, 2)).toEqual(all.slice(4));
  expect(await firstOf(await room.fetch("GET", `${at}/events?after=4`), 2)).toEqual(all.slice(4));
  expect(await data(await room.fetch("GET", `${at}/events?message=1&after=2`))).toEqual(["b", "end"]);
});

test("a reader who is there sees events live, and a session that is deleted ends it", async () => {
  await using room = new Room();
  const at = await room.open();
  const events = eventsOf(await room.fetch("GET", `${at}/events`));
  const first = events.next();
  await room.send(at, "hush");
  expect((await first).value).toMatchObject({ id: "1", event: "request" });
  expect((await events.next()).value).toMatchObject({ id: "2", event: "reply" });
  const last = events.next();
  await room.fetch("DELETE", at);
  expect((await last).value?.event ?? "error").toBe("error");
});

test("P18: a session of another owner is not there", async () => {
  await using room = new Room();
  const eve = { authorization: "eve" };
  const at = await room.open();
  await (await room.send(at, "say", "a")).text();
  const asked = [
    room.fetch("GET", at, undefined, eve),
    room.fetch("DELETE", at, undefined, eve),
    room.send(at, "heard", undefined, eve),
    room.fetch("GET", `${at}/events`, undefined, { ...eve, "last-event-id": "1" }),
    room.fetch("DELETE", `${at}/messages/1`, undefined, eve),
    room.fetch("GET", "/sessions/no-such-session"),
  ];
  const answers = await Promise.all(asked);
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
  const texts = await Promise.all(answers.map((answer) => answer.json()));
  expect(texts[0]).toEqual(texts[5]); // A stranger cannot tell whether it is there.
  expect(await room.list("", eve)).toEqual({ sessions: [] });
  expect((await room.fetch("GET", at)).status).toBe(200);
});

test("P18: what is remembered of a session that was asked is for its owner alone, and ends with the session", async () => {
  await using room = new Room();
  const at = await room.open();
  const peek = async (user?: string) => {
    const answer = await room.send(at, "peek", undefined, user === undefined ? {} : { authorization: user });
    const told = await bodyOf<number | { readonly kind: string }>(answer);
    return typeof told === "number" ? told : told.kind;
  };
  expect([await peek("eve"), await peek(), await peek("eve"), await peek()]).toEqual(["not-found", 0, "not-found", 0]);
  await room.fetch("DELETE", at);
  expect(await peek()).toBe("not-found");
});

test("a list comes in pages, each session once, while others are made and deleted", async () => {
  await using room = new Room();
  const all: string[] = [];
  for (let n = 0; n < 25; n++) {
    all.unshift(await room.open({ n }));
    if (n % 5 === 0) await room.test.advance(10);
  }
  const seen: string[] = [];
  let next: string | undefined = "";
  while (next !== undefined) {
    const page: Page = await room.list(next === "" ? "?limit=10" : `?limit=10&after=${next}`);
    seen.push(...page.sessions.map(({ id }) => `/sessions/${id}`));
    next = page.next;
    if (seen.length === 10) {
      await room.open(); // Newer than all of them.
      await room.fetch("DELETE", seen[9] ?? ""); // The one that the next page follows.
    }
  }
  expect(seen).toEqual(all);
});

test("a request with an Idempotency-Key may be repeated", async () => {
  await using room = new Room();
  const key = { "idempotency-key": "a-key" };
  const twice = await Promise.all([room.open({ n: 1 }, key), room.open({ n: 1 }, key)]);
  expect(twice[1]).toBe(twice[0] ?? "");
  expect(await room.open({ n: 1 }, key)).toBe(twice[0] ?? "");
  expect((await room.fetch("POST", "/sessions", { metadata: { n: 2 } }, key)).status).toBe(409);
  expect(await room.open({ n: 1 }, { ...key, authorization: "eve" })).not.toBe(twice[0] ?? "");

  const [at = ""] = twice;
  const both = await Promise.all([room.send(at, "say", "a b", key), room.send(at, "say", "a b", key)]);
  const texts = await Promise.all(both.map((response) => response.text()));
  expect(texts[1]).toBe(texts[0] ?? "");
  const again = await room.send(at, "say", "a b", { ...key, "last-event-id": "2" });
  expect(await data(again)).toEqual(["b", "end"]);
  expect((await room.send(at, "say", "c", key)).status).toBe(409);
  expect(await (await room.send(at, "heard")).json()).toEqual(["a b"]); // Handled once.
  const asks = await Promise.all([1, 2].map(() => room.send(at, "heard", undefined, { "idempotency-key": "ask" })));
  expect(await Promise.all(asks.map((ask) => ask.json()))).toEqual([["a b"], ["a b"]]);
});

test("an actor is made at the first message, stopped when it is idle, and restores itself from the events", async () => {
  await using room = new Room({ idle: 1_000 });
  const at = await room.open();
  expect(room.test.system.inspect()).toEqual([]);
  await (await room.send(at, "say", "one")).text();
  await (await room.send(at, "say", "two")).text();
  expect(room.test.system.inspect().length).toBe(1);
  await room.test.advance(3_000);
  expect(room.test.system.inspect()).toEqual([]);
  expect(await (await room.send(at, "heard")).json()).toEqual(["one", "two"]);
});

test("Prefer: respond-async answers at once, and the events follow at the location", async () => {
  await using room = new Room();
  const at = await room.open();
  const taken = await room.send(at, "say", "later", { prefer: "respond-async" });
  expect(taken.status).toBe(202);
  expect(await data(await room.fetch("GET", taken.headers.get("location") ?? ""))).toEqual(["later", "end"]);
});

test("a message is ended by its owner, and its readers are told", async () => {
  await using room = new Room();
  const at = await room.open();
  const events = eventsOf(await room.send(at, "hang"));
  expect((await events.next()).value?.data).toBe("1");
  expect((await room.fetch("DELETE", `${at}/messages/1`)).status).toBe(204);
  const { value } = await events.next();
  expect(value?.event).toBe("error");
  expect(JSON.parse(value?.data ?? "")).toMatchObject({ kind: "cancelled" });
  expect((await events.next()).done).toBe(true);
});

test("a stream that nobody reads goes on for a while, and is ended then", async () => {
  await using room = new Room({ unread: 5_000 });
  const at = await room.open();
  await firstOf(await room.send(at, "hang"), 1);
  await room.test.advance(4_000);
  expect(await room.show(at)).toMatchObject({ running: 1 });
  const reader = eventsOf(await room.fetch("GET", `${at}/events?message=1`)); // Comes back.
  await reader.next();
  await room.test.advance(60_000);
  expect(await room.show(at)).toMatchObject({ running: 1 });
  await reader.return(undefined);
  await room.test.advance(6_000);
  expect(await room.show(at)).toMatchObject({ running: 0 });
  expect(await data(await room.fetch("GET", `${at}/events?message=1`))).toEqual([1, "error"]);
});

test("the newest events of a session are kept, and a reader of older ones is told that they are gone", async () => {
  await using room = new Room({ keep: { events: 100 } });
  const at = await room.open();
  await (await room.send(at, "count", 30)).text();
  for (let n = 0; n < 4; n++) await (await room.send(at, "count", 40)).text();
  const { firstEvent, lastEvent } = await room.show(at);
  expect(lastEvent).toBe(32 + 4 * 42);
  expect(lastEvent - firstEvent).toBeLessThan(110);
  expect((await room.fetch("GET", `${at}/events?after=1`)).status).toBe(410);
  expect((await room.fetch("GET", `${at}/events?message=1`)).status).toBe(410);
  expect((await room.fetch("GET", `${at}/events?message=9`)).status).toBe(404);
  const [first] = await firstOf(await room.fetch("GET", `${at}/events`), 1);
  expect(first?.id).toBe(String(firstEvent));
});

test("a slow reader pauses a stream that is longer than what is kept, and misses nothing", async () => {
  await using room = new Room({ keep: { events: 100 } });
  const at = await room.open();
  const response = await room.send(at, "count", 5_000);
  await room.test.settle();
  const { lastEvent } = await room.show(at);
  expect(lastEvent).toBeLessThan(5_000);
  const items = await data(response);
  expect(items.slice(0, -1)).toEqual(Array.from({ length: 5_000 }, (_, n) => n));
  expect(items.at(-1)).toBe("end");
});

test("old events and unused sessions are deleted by and by", async () => {
  const HOUR = 3_600_000;
  await using room = new Room({ keep: { age: 24 * HOUR, idle: 72 * HOUR } });
  const [old, used] = [await room.open(), await room.open()];
  await (await room.send(used, "say", "one")).text();
  await room.test.advance(20 * HOUR);
  await (await room.send(used, "say", "two")).text();
  await room.test.advance(10 * HOUR);
  expect(await room.show(used)).toMatchObject({ firstEvent: 4, lastEvent: 6 });
  expect((await room.fetch("GET", `${used}/events?after=1`)).status).toBe(410);
  await room.test.advance(50 * HOUR);
  expect((await room.fetch("GET", old)).status).toBe(404);
  expect(await room.show(used)).toMatchObject({ firstEvent: 7, lastEvent: 6 });
  await (await room.send(used, "say", "three")).text();
  await room.test.advance(90 * HOUR);
  expect(await room.list()).toEqual({ sessions: [] });
});

test("P18: sessions, messages and metadata are bounded, and refusals leave nothing behind", async () => {
  await using room = new Room({ sessions: 2, messages: 2 });
  const made = await Promise.all(Array.from({ length: 5 }, () => room.fetch("POST", "/sessions")));
  expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 429, 429, 429]);
  expect((await room.fetch("POST", "/sessions", {}, { authorization: "eve" })).status).toBe(201);
  const at = made[0]?.headers.get("location") ?? "";
  const hanging = [await room.send(at, "hang"), await room.send(at, "hang")];
  expect((await room.send(at, "hang")).status).toBe(429);
  const long = { metadata: { title: "x".repeat(20_000) } };
  expect((await room.fetch("POST", "/sessions", long)).status).toBe(413);
  const { lastEvent } = await room.show(at);
  const bad: [unknown, Record<string, string>, number][] = [
    [{ operation: "say", payload: 7 }, {}, 400],
    [{ operation: "toString" }, {}, 404],
    [{ operation: 1 }, {}, 404],
    [{ operation: "say", payload: "a", more: 1 }, {}, 400],
    [[], {}, 400],
    [{ operation: "say", payload: "a" }, { "idempotency-key": "has space" }, 400],
    [{ operation: "say", payload: "a" }, { "last-event-id": "x" }, 400],
  ];
  for (const [body, headers, status] of bad) {
    expect((await room.fetch("POST", `${at}/messages`, body, headers)).status).toBe(status);
  }
  for (const query of ["after=-1", "after=1e3", "message=x"]) {
    expect((await room.fetch("GET", `${at}/events?${query}`)).status).toBe(400);
  }
  expect((await room.fetch("GET", `${at}/events?after=999999`)).status).toBe(410); // An id that was never given.
  expect((await room.fetch("GET", "/sessions?limit=1000")).status).toBe(400);
  expect((await room.show(at)).lastEvent).toBe(lastEvent);
  for (const response of hanging) await response.body?.cancel();
  await room.fetch("DELETE", at);
});

test("what an actor kept elsewhere is deleted with its session, once the actor has stopped", async () => {
  const deleted: unknown[] = [];
  let isBroken = true;
  await using room: Room = new Room({
    keep: { idle: 1_000 },
    async onDelete(session) {
      if (isBroken) throw new Error("a secret");
      deleted.push(session, ...room.test.system.inspect());
    },
  });
  const [at, unused] = [await room.open(), await room.open({}, { authorization: "eve" })];
  const events = eventsOf(await room.send(at, "hang"));
  await events.next();
  const failed = await room.fetch("DELETE", at);
  expect([failed.status, (await failed.text()).includes("secret")]).toEqual([500, false]);
  await room.test.expectLogged("The gateway failed");
  expect((await room.fetch("GET", at)).status).toBe(200); // It is still there, to be deleted again.
  isBroken = false;
  expect((await room.fetch("DELETE", at)).status).toBe(204);
  const [id, other] = [at, unused].map((path) => path.slice("/sessions/".length));
  expect(deleted).toEqual([{ id, owner: "ada" }]);
  await room.test.advance(2_000);
  expect(deleted.slice(1)).toEqual([{ id: other, owner: "eve" }]);
});

test("the metadata of a session fits its schema", async () => {
  await using room = new Room({ metadata: Type.Object({ model: Type.String() }) });
  expect((await room.fetch("POST", "/sessions", { metadata: { model: 1 } })).status).toBe(400);
  expect((await room.fetch("POST", "/sessions", { metadata: { model: "small" } })).status).toBe(201);
});

test("the compiler knows the operations of the protocol", async () => {
  await using test = createTestSystem();
  const { system } = test;
  const factory = createChat;
  const unknown = () =>
    createGateway(system, {
      expose: {},
      // @ts-expect-error There is no such operation.
      sessions: { protocol: Chat, factory, operations: ["say", "sing"] },
    });
  expect(unknown).toThrow("sing");
  const other = () =>
    createGateway(system, {
      expose: {},
      // @ts-expect-error The factory is of another protocol.
      sessions: { protocol: Chat, factory: () => ({ sing: () => 1 }), operations: ["sing"] },
    });
  expect(other).toThrow("sing");
});

test.each([
  [{ path: "" }, "The path of sessions is a text that is not empty"],
  [{ name: "a/b" }, "The name of sessions is made of letters, digits"],
  [{ idle: 0 }, "The idle of sessions is a number from 1"],
  [{ keep: { events: -1 } }, "The events of the keep of sessions is a number from 1"],
  [{ keep: { evnts: 1 } as object }, 'no option "evnts" for the keep of sessions; write one of events, age, idle'],
  [{ durability: "never" as "power" }, 'The durability of sessions is "process" or "power"; got "never"'],
  [{ operations: ["sing" as "say"] }, "write one of say, heard"],
  [{ operations: "say" as unknown as ["say"] }, "The operations of sessions are an array of names"],
  [{ protocol: {} as typeof Chat }, "The protocol of sessions is made by defineProtocol()"],
  [{ factory: 7 as unknown as typeof createChat }, "The factory of sessions is a function"],
  [{ pathe: "a" } as object, 'no option "pathe" for sessions; write one of protocol'],
])("an option that cannot be one is refused when the gateway is made: %p", (options, sentence) => {
  expect(() => new Room(options)).toThrow(sentence);
});

test("sessions without what they need are refused, with a sentence", async () => {
  await using test = createTestSystem();
  const make = (sessions: object) => () =>
    createGateway(test.system, { expose: {}, sessions: sessions as typeof CHATS });
  expect(make({})).toThrow("Sessions need the option protocol, beside factory and operations.");
  expect(make({ protocol: Chat, operations: [] })).toThrow("Sessions need the option factory");
  expect(make([])).toThrow("The options of sessions are an object, such as { protocol: Chat");
});

const CHATS = { protocol: Chat, factory: createChat, operations: ["say"] as const };
