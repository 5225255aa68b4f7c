import { expect, test } from "bun:test";
import { createSystem } from "../../../src";
import { type FetchRule, spawnFetch } from "../../../src/tools";
import { serve } from "./kit";

const TRACE = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "vendor=1" };

test("a request carries its trace to the servers whose rule says so, also as a stream, and to no other, nor over a redirect", async () => {
  await using own = serve((request) =>
    request.url.endsWith("/away") ? Response.redirect(`http://127.0.0.1:${other.port}/there`) : new Response("hello"),
  );
  await using other = serve();
  await using system = createSystem();
  const addresses = ["127.0.0.1"];
  const traced = { url: `http://127.0.0.1:${own.port}/*`, addresses, trace: true };
  const fetch = spawnFetch(system, { allow: [traced, { url: `http://127.0.0.1:${other.port}/*`, addresses }] });
  const metadata = { ...TRACE, baggage: "user=ada", user: "Ada" };
  const get = async (port: number, path: string, beside: object): Promise<void> => {
    const reply = await fetch.ask("get", { url: `http://127.0.0.1:${port}${path}` }, beside);
    expect(reply._unsafeUnwrap().ok).toBe(true);
  };
  await get(own.port, "/a", { metadata });
  await get(own.port, "/b", {});
  await get(own.port, "/c", { metadata: { traceparent: "00-1-2-01\r\nx: 1" } });
  await get(other.port, "/d", { metadata });
  await get(own.port, "/away", { metadata });
  for await (const item of fetch.stream("requestStream", { url: `http://127.0.0.1:${own.port}/e` }, { metadata })) {
    expect(item.ok).toBe(true);
  }
  const traces = ({ heard }: typeof own) =>
    heard.map(({ path, headers: { traceparent, tracestate, baggage } }) => [path, traceparent, tracestate, baggage]);
  expect(traces(own)).toEqual([
    ["/a", TRACE.traceparent, TRACE.tracestate, undefined],
    ["/b", undefined, undefined, undefined],
    ["/c", undefined, undefined, undefined],
    ["/away", TRACE.traceparent, TRACE.tracestate, undefined],
    ["/e", TRACE.traceparent, TRACE.tracestate, undefined],
  ]);
  expect(traces(other)).toEqual([
    ["/d", undefined, undefined, undefined],
    ["/there", undefined, undefined, undefined],
  ]);
});

test("P18: a rule for any host cannot send traces", () => {
  const refused: [FetchRule, string][] = [
    [{ url: "https://*/*", trace: true }, 'would be sent to any host by "https://*/*"; name the host.'],
    [{ url: "https://api.example.com/*", trace: 1 as never }, "The trace of a rule is true or false; got 1."],
  ];
  const system = createSystem();
  for (const [rule, sentence] of refused) expect(() => spawnFetch(system, { allow: [rule] })).toThrow(sentence);
  return system.shutdown();
});
