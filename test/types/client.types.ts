import type { Result } from "neverthrow";
import { type AnyRef, createSystem, defineProtocol, type RefTo, Type } from "../../src";
import { createGateway, serve } from "../../src/http";
import { type Client, type ClientError, createClient, type JsonOf } from "../../src/http/client";
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

expectType<Equal<JsonOf<Date>, string>>();
expectType<Equal<JsonOf<[Date, 1?]>, [string, 1?]>>();
expectType<Equal<JsonOf<readonly { readonly a?: Date }[]>, readonly { readonly a?: string }[]>>();
expectType<Equal<JsonOf<"a" | null | Date>, "a" | null | string>>();
