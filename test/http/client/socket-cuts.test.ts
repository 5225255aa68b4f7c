import { afterAll, expect, test } from "bun:test";
import { ClientStreamError, createClient } from "../../../src/http/client/index";
import { serve } from "../../../src/http/index";
import { createSystem, createTopic, defineProtocol, Type } from "../../../src/index";
import { isLong } from "../../property/runs";
import { type CuttingProxy, cuttingProxy } from "./cutting-proxy";

const Desk = defineProtocol("desk", {
  take: { payload: Type.Number(), reply: Type.Number() },
  ticks: { payload: Type.Number(), stream: Type.Number() },
});
const system = createSystem({ logger: { error() {}, warn() {} } });
const news = createTopic<number>("news");
/** How often each number was taken. */
const taken = new Map<number, number>();
const desk = system.spawn(
  "desk",
  Desk,
  () => ({
    take(n) {
      taken.set(n, (taken.get(n) ?? 0) + 1);
      return n;
    },
    async *ticks(most) {
      for (let n = 1; n <= most; n++) yield n;
    },
  }),
  { concurrency: 100 },
);
const service = serve(system, {
  port: 0,
  hostname: "127.0.0.1",
  signals: [],
  expose: { desk: { ref: desk, operations: ["take", "ticks"] } },
  topics: { news },
});
afterAll(() => service.stop({ streams: 0, timeout: 1 }));

const MOST = 40;
let last = 0;

/** Asks, streams and subscribes through a proxy, and holds each to one outcome. */
async function speakThrough(proxy: CuttingProxy, at: string): Promise<void> {
  const client = createClient<typeof service>({
    url: proxy.url,
    socket: true,
    retry: { first: 1, longest: 1, attempts: 20 },
  });
  const ask = async () => {
    const n = ++last;
    const reply = await client.desk.ask("take", n);
    const outcome = reply.match(String, ({ kind }) => kind);
    const times = taken.get(n) ?? 0;
    // What was answered was done once; what is unknown, once or never.
    const isRight = reply.isOk() ? reply.value === n && times === 1 : reply.error.kind === "unknown" && times <= 1;
    expect({ at, n, outcome, times, isRight }).toEqual({ at, n, outcome, times, isRight: true });
  };
  const stream = async () => {
    const items: number[] = [];
    let end = "end";
    try {
      for await (const item of client.desk.stream("ticks", MOST)) items.push(item);
    } catch (thrown) {
      end = thrown instanceof ClientStreamError ? thrown.kind : String(thrown);
    }
    const expected = Array.from({ length: end === "end" ? MOST : items.length }, (_, index) => index + 1);
    expect({ at, end, items }).toEqual({ at, end: end === "end" ? end : "unknown", items: expected });
  };
  const subscribe = async () => {
    const wanted = ++last;
    const read: number[] = [];
    const onGap = () => news.publish(wanted); // As often as it begins: one of them is seen.
    for await (const item of client.subscribe("news", { onGap })) {
      read.push(item);
      if (item === wanted) break;
    }
    expect({ at, read: read.filter((item) => item === wanted) }).toEqual({ at, read: [wanted] });
  };
  await Promise.all([ask(), ask(), stream(), subscribe(), ask().then(ask).then(ask), stream().then(stream)]);
  client.close();
}

for (const counted of ["responses", "requests"] as const) {
  test(`P17: a socket whose ${counted} are cut after N bytes, for each N up to the whole: each ask has its answer or its error, none twice, none hung`, async () => {
    const whole = await cuttingProxy(service.url, () => Number.POSITIVE_INFINITY, counted);
    await speakThrough(whole, "whole");
    expect(whole.longest).toBeGreaterThan(500);
    whole.close();
    for (let bytes = 0; bytes <= whole.longest; bytes += isLong ? 1 : 47) {
      const proxy = await cuttingProxy(
        service.url,
        (connection) => (connection === 0 ? bytes : Number.POSITIVE_INFINITY),
        counted,
      );
      await speakThrough(proxy, `${counted} cut after ${bytes}`);
      proxy.close();
    }
  }, 240_000);
}
