import { expect, test } from "bun:test";
import { createSystem, defineProtocol, Type } from "../../src/index";
import { connectMcp } from "../../src/mcp/index";
import { testSystems } from "../actor/test-system";
import { type Result, requestOf, serveDesk } from "./desk";

const { createTestSystem } = testSystems();

const TRACE = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "vendor=1" };
const OTHER = { traceparent: "00-1af7651916cd43dd8448eb211c80319c-c7ad6b7169203331-01" };

test("a call from here carries the trace of the handler that makes it to the handler there, over HTTP, and nothing else", async () => {
  await using far = createSystem();
  const served = await serveDesk(far);
  using server = Bun.serve({ port: 0, fetch: (request) => served.fetch(request) });
  await using near = createSystem();
  const tools = await connectMcp(near, { name: "far", url: `http://localhost:${server.port}/mcp` });
  const Asker = defineProtocol("asker", { go: { reply: Type.Any() } });
  const asker = near.spawn("asker", Asker, (ctx) => ({
    go: async () => (await ctx.ask(tools.ref, "desk_told")).unwrapOr("nothing"),
  }));
  const told = async (metadata: object) => (await asker.ask("go", { metadata: { ...metadata } }))._unsafeUnwrap();
  const carried = { ...TRACE, baggage: "user=ada", user: "Ada" };
  expect(await told(carried)).toEqual({ ok: true, value: { value: TRACE } });
  expect(await told({ user: "Ada" })).toEqual({ ok: true, value: { value: {} } });
  expect(await told({ traceparent: "00-1-2-01" })).toEqual({ ok: true, value: { value: {} } });
  await tools.close();
  await served.close();
});

test("P18: a client's trace is that of the message, or else of its request; one that is not well formed is dropped, and the caller stays", async () => {
  const { system } = createTestSystem();
  const served = await serveDesk(system, { authenticate: () => ({ id: "ada", metadata: { traceparent: "own" } }) });
  const told = async (_meta: object, headers: Record<string, string>): Promise<unknown> => {
    const request = requestOf("tools/call", { name: "desk_told", _meta }, { headers });
    const { result } = (await (await served.fetch(request)).json()) as { result: Result };
    return (result.structuredContent as { value: unknown }).value; // A reply that is no object of a schema.
  };
  const ada = { caller: "ada" };
  expect(await told(TRACE, OTHER)).toEqual({ ...ada, ...TRACE });
  expect(await told({}, OTHER)).toEqual({ ...ada, ...OTHER });
  expect(await told({ traceparent: 7 }, {})).toEqual({ ...ada, traceparent: "own" });
  const two = `${TRACE.traceparent}, ${OTHER.traceparent}`;
  expect(await told({ traceparent: "00-0-0-00" }, { traceparent: two })).toEqual({ ...ada, traceparent: "own" });
});
