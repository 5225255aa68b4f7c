import type { Result } from "neverthrow";
import { type AnyRef, createSystem, createTopic, defineProtocol, type RefTo, Type } from "../../src";
import { createGateway, type Gateway, serve } from "../../src/http";
import { type Client, type ClientError, createClient, type JsonOf, type RemoteSession } from "../../src/http/client";
import { type Equal, expectType } from "./expect";

const Counter = defineProtocol("counter", {
  add: { payload: Type.Number(), reply: Type.Number() },
  total: { reply: Type.Number() },
  find: {
    payload: Type.Object({ text: Type.String(), most: Type.Optional(Type.Number()) }),
    reply: Type.Array(Type.Object({ id: Type.String(), note: Type.Optional(Type.String()) })),
  },
  ticks: { payload: Type.Number(), stream: Type.Number() },
  lines: { stream: Type.Object({ line: Type.String() }) },
  reset: {},
  hidden: { reply: Type.Number() },
});
const Dates = defineProtocol("dates", {
  now: { payload: Type.Unsafe<Date>({}), reply: Type.Unsafe<{ at: Date; list: Date[]; any: unknown }>({}) },
});

const system = createSystem();
declare const ref: RefTo<typeof Counter>;
declare const dates: RefTo<typeof Dates>;
declare const any: AnyRef;
declare const names: string[];
const expose = {
  counter: { ref, operations: ["add", "total", "find", "ticks", "lines", "reset"] },
  record: { ref, operations: { total: true, ticks: { resume: { for: 1_000 } } } },
  dates: { ref: dates, operations: ["now"] },
  late: { ref, operations: names },
  any: { ref: any, operations: ["anything"] },
  close: { ref, operations: ["total"] },
} as const;
const gateway = createGateway(system, { expose });
const service = serve(system, { expose });

type Reply<T> = Promise<Result<T, ClientError>>;

export async function calls(client: Client<typeof gateway>, served: Client<typeof service>): Promise<void> {
  expectType<Equal<typeof client, typeof served>>();
  const made = createClient<typeof gateway>({ url: "" });
  expectType<Equal<typeof client, typeof made>>();

  const added = client.counter.ask("add", 2, { timeout: 5 });
  expectType<Equal<typeof added, Reply<number>>>();
  const total = client.counter.ask("total");
  expectType<Equal<typeof total, Reply<number>>>();
  void client.counter.ask("total", undefined, { signal: AbortSignal.abort() });
  const found = client.counter.ask("find", { text: "a" });
  expectType<Equal<typeof found, Reply<{ id: string; note?: string }[]>>>();
  const reset = client.counter.ask("reset");
  expectType<Equal<typeof reset, Reply<void>>>();
  const told = client.counter.tell("add", 2);
  expectType<Equal<typeof told, Reply<void>>>();
  for await (const tick of client.counter.stream("ticks", 3, { repeatable: true }))
    expectType<Equal<typeof tick, number>>();
  for await (const item of client.counter.stream("lines")) expectType<Equal<typeof item, { line: string }>>();
  for await (const tick of client.record.stream("ticks", 3)) expectType<Equal<typeof tick, number>>();
  void client.record.ask("total");
  const now = client.dates.ask("now", new Date());
  expectType<Equal<typeof now, Reply<{ at: string; list: string[]; any: unknown }>>>();
  // What only run time knows.
  void client.late.ask("hidden");
  void client.any.ask("anything", { at: "all" });
  void createClient({ url: "" }).actor("anybody").ask("anything", 1);
  // A name that the client has itself.
  void client.actor("close").ask("total");
  client.close();

  // @ts-expect-error — a misspelt actor
  void client.countr;
  // @ts-expect-error — a misspelt actor
  void client.actor("countr");
  // @ts-expect-error — a misspelt operation
  void client.counter.ask("ad", 2);
  // @ts-expect-error — in the protocol, and not exposed
  void client.counter.ask("hidden");
  // @ts-expect-error — not exposed in the record
  void client.record.ask("add", 2);
  // @ts-expect-error — a payload that does not fit
  void client.counter.ask("add", "2");
  // @ts-expect-error — a payload that is missing
  void client.counter.ask("add");
  // @ts-expect-error — a payload where there is none
  void client.counter.ask("total", 2);
  // @ts-expect-error — options in the payload's place
  void client.counter.ask("total", { timeout: 5 });
  // @ts-expect-error — a misspelt option
  void client.counter.ask("total", undefined, { timout: 5 });
  // @ts-expect-error — a stream is not asked
  void client.counter.ask("ticks", 3);
  // @ts-expect-error — an ask does not stream
  client.counter.stream("total");
  // @ts-expect-error — a stream has no timeout: its signal ends it
  client.counter.stream("ticks", 3, { timeout: 5 });
  // @ts-expect-error — no reply is of this type
  expectType<Equal<typeof added, Reply<string>>>();
}

const Chat = defineProtocol("chat", {
  say: { payload: Type.String(), stream: Type.Object({ word: Type.String() }) },
  heard: { reply: Type.Array(Type.String()) },
  tidy: {},
  hidden: { reply: Type.Number() },
});
const changes = createTopic<{ total: number; at: Date }>("changes");
const talking = createGateway(system, {
  expose: {},
  topics: { changes, names: createTopic<string>("names") },
  authenticate: ({ headers }) => ({ id: headers.get("x-user") ?? "" }),
  sessions: {
    protocol: Chat,
    operations: ["say", "heard", "tidy"],
    metadata: Type.Object({ title: Type.String(), model: Type.Optional(Type.String()) }),
    factory(ctx, session) {
      expectType<Equal<typeof session.metadata, { title: string; model?: string }>>();
      return {
        async *say(text) {
          expectType<Equal<typeof text, string>>();
          yield { word: text + ctx.self.address };
        },
        heard: () => [],
        tidy() {},
        hidden: () => 1,
      };
    },
  },
});
const served = serve(system, {
  expose: {},
  sessions: {
    protocol: Chat,
    operations: ["say"],
    factory: () => ({ say: () => [], heard: () => [], tidy() {}, hidden: () => 1 }),
  },
});

const chosen = serve(system, {
  expose: {},
  sessions: {
    protocol: Chat,
    operations: { say: { format: "ai-sdk" }, tidy: true },
    factory: () => ({ say: () => [], heard: () => [], tidy() {}, hidden: () => 1 }),
  },
});

export async function sessions(client: Client<typeof talking>, plain: Client<typeof served>): Promise<void> {
  const made = await client.sessions.create({ title: "A trip" });
  const session = made._unsafeUnwrap();
  const at = client.sessions.at("7");
  expectType<Equal<typeof session, typeof at>>();
  const heard = session.ask("heard", undefined, { key: "one" });
  expectType<Equal<typeof heard, Reply<string[]>>>();
  for await (const item of session.stream("say", "hello", { onMessage: (message) => message + 1 }))
    expectType<Equal<typeof item, { word: string }>>();
  const told = session.tell("say", "hello");
  expectType<Equal<typeof told, Reply<number>>>();
  void session.tell("tidy");
  const { metadata } = (await session.show())._unsafeUnwrap();
  expectType<Equal<typeof metadata, { title: string; model?: string }>>();
  const page = (await client.sessions.list({ limit: 5 }))._unsafeUnwrap();
  expectType<Equal<typeof page.next, string | undefined>>();
  for await (const { data } of session.events({ after: 3 })) expectType<Equal<typeof data, unknown>>();
  // The operations of a record.
  const other = createClient<typeof chosen>({ url: "" }).sessions.at("7");
  void other.ask("tidy");
  other.stream("say", "hello");
  // @ts-expect-error — not in the record
  void other.ask("heard");
  // Without a schema of metadata, any object, or none.
  void plain.sessions.create();
  void plain.sessions.create({ any: "thing" });
  // A gateway of which nothing is known has any operations.
  const any: RemoteSession = createClient({ url: "" }).sessions.at("7");
  void any.ask("anything", 1);
  void createClient<Gateway>({ url: "" }).sessions.at("7").stream("anything");

  // @ts-expect-error — in the protocol, and not exposed
  void session.ask("hidden");
  // @ts-expect-error — a stream is not asked
  void session.ask("say", "hello");
  // @ts-expect-error — an ask does not stream
  session.stream("heard");
  // @ts-expect-error — a payload that does not fit
  session.stream("say", 7);
  // @ts-expect-error — a misspelt operation
  void session.tell("sya", "hello");
  // @ts-expect-error — the metadata needs a title
  void client.sessions.create();
  // @ts-expect-error — the metadata of another schema
  void client.sessions.create({ title: 7 });
  // @ts-expect-error — not exposed there
  void plain.sessions.at("7").ask("heard");
  // @ts-expect-error — that gateway has no sessions
  void createClient<typeof gateway>({ url: "" }).sessions.create();
}

export async function topics(client: Client<typeof talking>): Promise<void> {
  for await (const change of client.subscribe("changes", { onGap: (missed) => void missed }))
    expectType<Equal<typeof change, { total: number; at: string }>>();
  for await (const name of client.subscribe("names")) expectType<Equal<typeof name, string>>();
  for await (const item of createClient({ url: "" }).subscribe("anything")) expectType<Equal<typeof item, unknown>>();
  // @ts-expect-error — a misspelt topic
  client.subscribe("chnges");
  // @ts-expect-error — a misspelt option
  client.subscribe("names", { ongap() {} });
  // @ts-expect-error — that gateway has no topics
  createClient<typeof gateway>({ url: "" }).subscribe("changes");
}

export function wrongSessions(): void {
  const handlers = { say: () => [], heard: () => [], tidy() {}, hidden: () => 1 };
  // @ts-expect-error — a misspelt operation
  createGateway(system, { expose: {}, sessions: { protocol: Chat, operations: ["sya"], factory: () => handlers } });
  // @ts-expect-error — a handler is missing
  createGateway(system, { expose: {}, sessions: { protocol: Chat, operations: [], factory: () => ({ tidy() {} }) } });
  // @ts-expect-error — a misspelt option
  serve(system, { expose: {}, sessions: { protocol: Chat, operations: [], factory: () => handlers, pth: "" } });
  // @ts-expect-error — no topic
  serve(system, { expose: {}, topics: { changes: Chat } });
}

expectType<Equal<JsonOf<Date>, string>>();
expectType<Equal<JsonOf<[Date, 1?]>, [string, 1?]>>();
expectType<Equal<JsonOf<readonly { readonly a?: Date }[]>, readonly { readonly a?: string }[]>>();
expectType<Equal<JsonOf<"a" | null | Date>, "a" | null | string>>();
