import { afterAll, expect, test } from "bun:test";
import { createClient } from "../../../src/http/client/index";
import { serve } from "../../../src/http/index";
import { createSystem, defineProtocol, Type } from "../../../src/index";
import { isLong } from "../../property/runs";
import { cuttingProxy } from "./cutting-proxy";

const Chat = defineProtocol("chat", {
  say: { payload: Type.String(), stream: Type.String() },
  hang: { stream: Type.Number() },
  heard: { reply: Type.Number(), hints: { readOnly: true } },
  note: { payload: Type.String(), reply: Type.Object({ at: Type.Unsafe<Date>({}), text: Type.String() }) },
});
const system = createSystem({ logger: { error() {}, warn() {} } });
let said = 0;
const service = serve(system, {
  port: 0,
  hostname: "127.0.0.1",
  signals: [],
  expose: {},
  sessions: {
    protocol: Chat,
    operations: ["say", "hang", "heard", "note"],
    metadata: Type.Object({ title: Type.Optional(Type.String()) }),
    path: ":memory:",
    name: "chats",
    factory: (ctx) => {
      let heard = 0;
      return {
        async *say(text) {
          said++;
          heard++;
          yield* text.split(" ");
        },
        async *hang() {
          yield 1;
          await new Promise<void>((resolve) => ctx.onAbort(resolve));
        },
        heard: () => heard,
        note: (text) => ({ at: new Date(0), text }),
      };
    },
  },
});
afterAll(() => service.stop({ streams: 0, timeout: 1 }));
const clientOf = (url: string | URL) =>
  createClient<typeof service>({ url, sessions: "chats", retry: { first: 1, longest: 2, attempts: 20 } }).sessions;
const client = clientOf(service.url);

test("a session is made, spoken to, shown, listed, read and deleted", async () => {
  const session = (await client.create({ title: "A trip" }))._unsafeUnwrap();
  expect(await Array.fromAsync(session.stream("say", "good morning"))).toEqual(["good", "morning"]);
  expect((await session.ask("heard"))._unsafeUnwrap()).toBe(1);
  expect((await session.ask("note", "hm"))._unsafeUnwrap()).toEqual({ at: "1970-01-01T00:00:00.000Z", text: "hm" });
  const shown = (await session.show())._unsafeUnwrap();
  expect(shown).toMatchObject({
    id: session.id,
    metadata: { title: "A trip" },
    messages: 2,
    running: 0,
    firstEvent: 1,
  });
  expect((await client.list())._unsafeUnwrap()).toEqual({ sessions: [shown] });
  const events = await Array.fromAsync(session.events({ message: 1 }));
  expect(events.filter(({ event }) => event === "message").map(({ data }) => data)).toEqual(["good", "morning"]);
  const live = session.events({ after: shown.lastEvent });
  const next = live.next();
  await Array.fromAsync(session.stream("say", "hello"));
  expect((await next).value).toMatchObject({
    message: 3,
    event: "request",
    data: { operation: "say", payload: "hello" },
  });
  await live.return?.();
  expect((await session.delete()).isOk()).toBe(true);
  const error = (await session.ask("heard"))._unsafeUnwrapErr();
  expect(error).toMatchObject({ kind: "not-found", status: 404, message: "There is no such session: check its id." });
});

test("a list comes in pages, and a session is reached by its id", async () => {
  const ids = [];
  for (let n = 0; n < 3; n++) ids.unshift((await client.create())._unsafeUnwrap().id);
  const first = (await client.list({ limit: 2 }))._unsafeUnwrap();
  expect(first.sessions.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  const second = (await client.list({ limit: 2, after: first.next ?? "" }))._unsafeUnwrap();
  expect({ ...second, sessions: second.sessions.map(({ id }) => id) }).toEqual({ sessions: ids.slice(2) });
  for (const id of ids) {
    expect((await client.at(id).ask("heard"))._unsafeUnwrap()).toBe(0);
    await client.at(id).delete();
  }
});

test("a message is told and followed by its number, and stopped", async () => {
  const session = (await client.create())._unsafeUnwrap();
  const told = (await session.tell("say", "a b"))._unsafeUnwrap();
  const events = await Array.fromAsync(session.events({ message: told }));
  expect(events.map(({ event }) => event)).toEqual(["message", "message", "end"]);
  expect(events.map(({ message }) => message)).toEqual([told, told, told]);
  // All of it has been read before: nothing comes, and it ends.
  expect(await Array.fromAsync(session.events({ message: told, after: events.at(-1)?.id ?? "" }))).toEqual([]);
  let message = 0;
  const hanging = session.stream("hang", undefined, { onMessage: (number) => (message = number) });
  expect((await hanging.next()).value).toBe(1);
  expect(message).toBe(told + 1);
  expect((await session.stop(message)).isOk()).toBe(true);
  expect(await Array.fromAsync(hanging).catch((error) => error.kind)).toBe("cancelled");
  expect((await session.stop(99))._unsafeUnwrapErr()).toMatchObject({ kind: "not-found" });
  const asked = (await session.tell("heard"))._unsafeUnwrap(); // It is stored, though it changes nothing: its answer is read later.
  expect(await Array.fromAsync(session.events({ message: asked }))).toMatchObject([{ event: "reply", message: asked }]);
  await session.delete();
});

test("a key says that it is the same message, or the same session", async () => {
  const made = [
    (await client.create({}, { key: "k1" }))._unsafeUnwrap().id,
    (await client.create({}, { key: "k1" }))._unsafeUnwrap().id,
  ];
  expect(made[0]).toBe(made[1] ?? "");
  const session = client.at(made[0] ?? "");
  const before = said;
  for (let n = 0; n < 2; n++)
    expect(await Array.fromAsync(session.stream("say", "a b", { key: "m1" }))).toEqual(["a", "b"]);
  expect(said - before).toBe(1);
  expect((await session.ask("note", "other", { key: "m1" }))._unsafeUnwrapErr()).toMatchObject({
    kind: "conflict",
    status: 409,
  });
  expect(() => session.ask("heard", undefined, { timeout: 0 })).toThrow(RangeError);
  expect(() => client.list({ timeout: -1 })).toThrow(RangeError);
  await session.delete();
});

test("a message whose connection is cut after N bytes, for each N up to the whole: it is handled once, and each item is shown once", async () => {
  const session = (await client.create())._unsafeUnwrap();
  const text = "one two three four";
  const measured = await cuttingProxy(service.url, () => Number.POSITIVE_INFINITY);
  await Array.fromAsync(clientOf(measured.url).at(session.id).stream("say", text));
  measured.close();
  expect(measured.longest).toBeGreaterThan(300);
  for (let bytes = 0; bytes <= measured.longest; bytes += isLong ? 1 : 37) {
    const proxy = await cuttingProxy(service.url, (connection) =>
      connection === 0 ? bytes : Number.POSITIVE_INFINITY,
    );
    const before = said;
    const items = await Array.fromAsync(clientOf(proxy.url).at(session.id).stream("say", text));
    expect({ bytes, items, said: said - before }).toEqual({ bytes, items: text.split(" "), said: 1 });
    proxy.close();
  }
  await session.delete();
}, 60_000);

test("events whose every connection is cut after N bytes: each comes once, in order", async () => {
  const session = (await client.create())._unsafeUnwrap();
  const told = (await session.tell("say", "a b c d e f g h"))._unsafeUnwrap();
  const whole = await Array.fromAsync(session.events({ message: told }));
  const measured = await cuttingProxy(service.url, () => Number.POSITIVE_INFINITY);
  await Array.fromAsync(clientOf(measured.url).at(session.id).events({ message: told }));
  measured.close();
  // From the length of the head and one event on: with less, nothing would ever come.
  for (let bytes = measured.longest - 160; bytes <= measured.longest; bytes += isLong ? 1 : 19) {
    const proxy = await cuttingProxy(service.url, () => bytes);
    const events = await Array.fromAsync(clientOf(proxy.url).at(session.id).events({ message: told }));
    expect({ bytes, events }).toEqual({ bytes, events: whole });
    proxy.close();
  }
  await session.delete();
}, 60_000);
