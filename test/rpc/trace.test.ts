import { expect, test } from "bun:test";
import { defineProtocol, type Metadata, type System, Type } from "../../src/index";
import { channelPair, createPeer, type PeerOptions } from "../../src/rpc/index";
import { testSystems } from "../actor/test-system";
import { Raw, request } from "./raw";

// The trace of a message travels with it, both ways.

const { createTestSystem } = testSystems();

const TRACE = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "vendor=1" };
const CARRIED: Metadata = { ...TRACE, baggage: "user=ada", user: "Ada" };

/** Refuses members that it does not know. */
const closed = { additionalProperties: false };
const Far = defineProtocol("far", {
  say: { payload: Type.Object({ text: Type.String() }), reply: Type.String() },
  list: { payload: Type.Array(Type.String()), reply: Type.Number() },
  count: { reply: Type.Number() },
  note: { payload: Type.Object({ text: Type.String() }, closed) },
});
const Near = defineProtocol("near", { go: { payload: Type.String(), reply: Type.Any() } });
const methods = { say: "say", list: "list", count: "count", note: "note" } as const;

function spawnFar(system: System) {
  const seen: [string, unknown, Metadata][] = [];
  const ref = system.spawn("far", Far, (ctx) => {
    const note = (name: string, payload?: unknown) => void seen.push([name, payload, ctx.metadata]);
    return {
      say(payload) {
        note("say", payload);
        ctx.progress(1);
        return payload.text;
      },
      list(payload) {
        note("list", payload);
        return payload.length;
      },
      count() {
        note("count");
        return 1;
      },
      note: (payload) => note("note", payload),
    };
  });
  const served = (operation: string) => ({ ref, operation });
  const serves = { say: served("say"), list: served("list"), count: served("count"), note: served("note") };
  return { seen, serves };
}

/** An actor whose handler asks the other side of a connection. */
function joined(options: PeerOptions = {}) {
  const test = createTestSystem();
  const { seen, serves } = spawnFar(test.system);
  const [here, there] = channelPair();
  createPeer(test.system, there, { ...options, serves });
  const peer = createPeer(test.system, here, { ...options, calls: { far: { protocol: Far, methods } } });
  const { far } = peer.refs;
  const near = test.system.spawn("near", Near, (ctx) => ({
    async go(how) {
      if (how === "note") return ctx.tell(far, "note", { text: how });
      if (how === "list") return (await ctx.ask(far, "list", [how])).unwrapOr(0);
      if (how === "count") return (await ctx.ask(far, "count")).unwrapOr(0);
      const onProgress = how === "progress" ? { onProgress: () => undefined } : {};
      return (await ctx.ask(far, "say", { text: how }, onProgress)).unwrapOr("");
    },
  }));
  return { ...test, near, seen };
}

test("a request and a notification carry the trace of the handler that sends them, and nothing else of its metadata", async () => {
  const { near, seen, settle } = joined();
  for (const how of ["say", "progress", "count", "note"]) await near.ask("go", how, { metadata: CARRIED });
  await settle();
  expect(seen).toEqual([
    ["say", { text: "say" }, TRACE],
    ["say", { text: "progress", _meta: { progressToken: expect.any(Number) } }, TRACE],
    ["count", undefined, TRACE],
    ["note", { text: "note" }, TRACE],
  ]);
});

test("params that are an array carry none; nor does a message without a trace, or with one that is not well formed", async () => {
  const { near, seen } = joined();
  await near.ask("go", "list", { metadata: CARRIED });
  await near.ask("go", "say");
  await near.ask("go", "say", { metadata: { traceparent: "00-1-2-01" } });
  expect(seen).toEqual([
    ["list", ["list"], {}],
    ["say", { text: "say" }, {}],
    ["say", { text: "say" }, {}],
  ]);
});

test("with trace: false, none is sent and none is taken", async () => {
  const { near, seen } = joined({ trace: false });
  await near.ask("go", "say", { metadata: CARRIED });
  expect(seen).toEqual([["say", { text: "say" }, {}]]);
  const { system, settle } = createTestSystem();
  const far = spawnFar(system);
  const [here, there] = channelPair();
  createPeer(system, there, { trace: false, serves: { count: far.serves.count } });
  const raw = new Raw(here, system.clock);
  raw.say(request(1, "count", { _meta: TRACE }));
  await settle();
  expect(raw.take()).toMatchObject([{ id: 1, error: { code: -32_602 } }]);
  expect(() => createPeer(system, channelPair()[0], { trace: 1 as never })).toThrow(
    "The trace of a peer is true or false; got 1.",
  );
});

test("P18: what another side writes as its trace is dropped where it is not well formed, and the rest of its _meta comes as it was", async () => {
  const { system, settle } = createTestSystem();
  const Any = defineProtocol("any", { take: { payload: Type.Any(), reply: Type.Null() } });
  const seen: unknown[] = [];
  const ref = system.spawn("any", Any, (ctx) => ({
    take(payload) {
      seen.push([payload, ctx.metadata]);
      return null;
    },
  }));
  const [here, there] = channelPair();
  createPeer(system, there, { serves: { take: { ref, operation: "take" } } });
  const raw = new Raw(here, system.clock);
  const bad = { traceparent: `00-${"0".repeat(32)}-b7ad6b7169203331-01` };
  raw.say(
    request(1, "take", { a: 1, _meta: { ...TRACE, own: 1 } }),
    request(2, "take", { a: 2, _meta: bad }),
    request(3, "take", { a: 3, _meta: { traceparent: 7 } }),
    request(4, "take", { a: 4, _meta: "text" }),
    request(5, "take", { a: 5, _meta: { traceparent: TRACE.traceparent, tracestate: "no" } }),
  );
  await settle();
  expect(seen).toEqual([
    [{ a: 1, _meta: { own: 1 } }, TRACE],
    [{ a: 2, _meta: bad }, {}],
    [{ a: 3, _meta: { traceparent: 7 } }, {}],
    [{ a: 4, _meta: "text" }, {}],
    [{ a: 5 }, { traceparent: TRACE.traceparent }],
  ]);
});
