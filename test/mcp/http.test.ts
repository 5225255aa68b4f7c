import { describe, expect, test } from "bun:test";
import { bearerTokens, guard } from "../../src/http/index";
import { testSystems } from "../actor/test-system";
import { begin, call, eventsIn, INITIALIZE, post, requestOf, send, serveDesk, settle } from "./desk";

const { createTestSystem } = testSystems();

/** Holds a response to being a refusal, as JSON-RPC. */
async function refusal(response: Response): Promise<[status: number, code: number]> {
  const { error, jsonrpc } = (await response.json()) as { jsonrpc: string; error: { code: number; message: string } }; // Looked at.
  expect([jsonrpc, error.message]).toEqual(["2.0", expect.stringMatching(/^[A-Z].*\.$/)]);
  return [response.status, error.code];
}

const CALL = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "desk_total" } };

describe("P18: a request that does not fit is refused before the SDK sees it", () => {
  test.each([
    ["a host of a stranger", { host: "evil.example" }, 403],
    ["a host with a port of a stranger", { host: "evil.example:3000" }, 403],
    ["a host that only begins as a known one", { host: "localhost.evil.example" }, 403],
    ["a host that hides behind a user", { host: "localhost@evil.example" }, 403],
    ["a page of a stranger", { origin: "http://evil.example" }, 403],
    ["a page without an origin", { origin: "null" }, 403],
    ["a page of another kind", { origin: "file://localhost" }, 403],
    ["the same host", { host: "localhost:3000", origin: "http://localhost:5173" }, 200],
    ["an address", { host: "127.0.0.1:3000" }, 200],
    ["an address of IPv6", { host: "[::1]:3000", origin: "http://[::1]" }, 200],
  ])("%s", async (_, headers, status) => {
    const mcp = await serveDesk(createTestSystem().system);
    expect((await mcp.fetch(requestOf("tools/list", {}, { headers }))).status).toBe(status);
    expect((await post(mcp, INITIALIZE, headers as Record<string, string>)).status).toBe(status); // Some of two keys.
  });

  test("hosts are those that the owner names, or any", async () => {
    const named = await serveDesk(createTestSystem().system, { hosts: ["mcp.example.com"] });
    const at = (host: string) => requestOf("tools/list", {}, { headers: { host } });
    expect((await named.fetch(at("MCP.example.com"))).status).toBe(200);
    expect((await named.fetch(at("localhost"))).status).toBe(403);
    const any = await serveDesk(createTestSystem().system, { hosts: "any" });
    expect((await any.fetch(at("whatever"))).status).toBe(200);
  });

  test.each(["GET", "PUT", "HEAD", "OPTIONS", "PATCH"])("the method %s", async (method) => {
    const mcp = await serveDesk(createTestSystem().system);
    const response = await mcp.fetch(new Request("http://localhost/mcp", { method }));
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, DELETE"]);
  });

  const deep = (levels: number) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  test.each([
    ["no JSON", "{", {}, 400, -32_700],
    ["nothing", "", {}, 400, -32_700],
    ["another type", "{}", { "content-type": "text/plain" }, 415, -32_000],
    ["another charset", "{}", { "content-type": "application/json; charset=utf-16" }, 415, -32_000],
    ["a compressed body", "{}", { "content-encoding": "gzip" }, 415, -32_000],
    ["too deep", deep(100), {}, 400, -32_600],
    ["a key __proto__", '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{"a":1}}}', {}, 400, -32_600],
    ["the same, escaped", '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"\\u005f_proto__":1}}', {}, 400, -32_600],
    ["a giant batch", `[${Array(101).fill(JSON.stringify(CALL)).join(",")}]`, {}, 400, -32_600],
    ["too much", `"${"a".repeat(3_000)}"`, {}, 413, -32_000],
  ])("a body that is %s", async (_, body, headers, status, code) => {
    const mcp = await serveDesk(createTestSystem().system, {
      limits: { body: 2_000 + 8_200 * Number(_ === "a giant batch") },
    });
    expect(await refusal(await post(mcp, body, headers as Record<string, string>))).toEqual([status, code]); // Some of two keys.
  });

  test("a body of a length that lies, of chunks without end, and one that is cut short", async () => {
    const mcp = await serveDesk(createTestSystem().system, { limits: { body: 1_000 } });
    const request = (body: ReadableStream | string, headers: Record<string, string> = {}) =>
      mcp.fetch(
        new Request("http://localhost/mcp", {
          method: "POST",
          body,
          headers: { "content-type": "application/json", ...headers },
        }),
      );
    expect(await refusal(await request("a".repeat(2_000), { "content-length": "10" }))).toEqual([413, -32_000]);
    expect(await refusal(await request("{}", { "content-length": "1e9" }))).toEqual([413, -32_000]);
    let pulled = 0;
    const endless = new ReadableStream({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(100));
      },
    });
    expect(await refusal(await request(endless))).toEqual([413, -32_000]);
    expect(pulled).toBeLessThan(30);
    const cut = new ReadableStream({ start: (controller) => controller.error(new Error("gone")) });
    expect(await refusal(await request(cut))).toEqual([400, -32_700]);
  });

  test("a body that does not come in time", async () => {
    const { system, clock } = createTestSystem();
    const mcp = await serveDesk(system, { limits: { bodyTime: 200 } });
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")) });
    const late = mcp.fetch(
      new Request("http://localhost/mcp", { method: "POST", body, headers: { "content-type": "application/json" } }),
    );
    await settle();
    await clock.advance(200);
    expect(await refusal(await late)).toEqual([408, -32_000]);
  });
});

describe("callers", () => {
  const authenticate = bearerTokens({
    "ada-s3cr3t-0123456789": "ada",
    "bob-s3cr3t-0123456789": { id: "bob", metadata: { role: "guest" } },
  });
  const as = (name: string) => ({ authorization: `Bearer ${name}-s3cr3t-0123456789` });

  test("are asked who they are before the body is read, and their actors know", async () => {
    const mcp = await serveDesk(createTestSystem().system, { authenticate });
    expect((await post(mcp, "{", {})).status).toBe(401);
    expect((await post(mcp, INITIALIZE, as("eve"))).status).toBe(401);
    const { result } = await send(mcp, "tools/call", { name: "desk_told" }, { headers: as("bob") });
    expect(result).toMatchObject({ structuredContent: { value: { role: "guest", caller: "bob" } } });
    const session = await begin(mcp, as("ada"));
    const events = eventsIn(await (await post(mcp, { ...CALL, params: { name: "desk_told" } }, session)).text());
    expect(events).toMatchObject([{ result: { structuredContent: { value: { caller: "ada" } } } }]);
  });

  test("may keep their lists to themselves", async () => {
    const mcp = await serveDesk(createTestSystem().system, { authenticate });
    const { result } = await send(mcp, "tools/list", {}, { headers: as("ada") });
    expect(result).toMatchObject({ cacheScope: "private" });
  });

  test("cannot use the session of another one", async () => {
    const mcp = await serveDesk(createTestSystem().system, { authenticate });
    const session = await begin(mcp, as("ada"));
    expect((await post(mcp, CALL, { ...session, ...as("bob") })).status).toBe(404);
    expect((await post(mcp, CALL, session)).status).toBe(200);
  });

  test("whose metadata names a caller do not become that one", async () => {
    const mcp = await serveDesk(createTestSystem().system);
    const { result } = await send(mcp, "tools/call", { name: "desk_told", _meta: { caller: "ada" } });
    expect(result).toMatchObject({ structuredContent: { value: {} } });
  });

  test("hear nothing of an authenticate that throws", async () => {
    const test = createTestSystem();
    const mcp = await serveDesk(test.system, {
      authenticate: () => {
        throw new Error("the secret of /home");
      },
    });
    const response = await post(mcp, INITIALIZE);
    expect(await refusal(response)).toEqual([500, -32_603]);
    expect(test.takeLog()).toHaveLength(1);
  });
});

describe("sessions of protocol 2025-11-25", () => {
  test("begin with initialize, carry calls, and end with DELETE", async () => {
    const mcp = await serveDesk(createTestSystem().system);
    const session = await begin(mcp);
    const events = eventsIn(await (await post(mcp, CALL, session)).text());
    expect(events).toEqual([
      { jsonrpc: "2.0", id: 5, result: { content: [{ type: "text", text: "0" }], structuredContent: { value: 0 } } },
    ] as never);
    const end = new Request("http://localhost/mcp", { method: "DELETE", headers: session });
    expect((await mcp.fetch(end)).status).toBe(200);
    expect((await post(mcp, CALL, session)).status).toBe(404);
  });

  test("P7: a call is given up by notifications/cancelled", async () => {
    const mcp = await serveDesk(createTestSystem().system, { limits: { calls: 1 } });
    const session = await begin(mcp);
    const hanging = await post(mcp, { ...CALL, id: 9, params: { name: "desk_never" } }, session);
    await settle();
    expect(await call(mcp, "desk_total")).toMatchObject({ isError: true });
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 9, reason: "enough" } };
    expect((await post(mcp, cancelled, session)).status).toBe(202);
    await settle();
    expect(await call(mcp, "desk_total")).toMatchObject({ structuredContent: { value: 0 } });
    void hanging.body?.cancel();
  });

  test("P7: a call that is given up keeps no stream open, and takes none from others", async () => {
    const mcp = await serveDesk(createTestSystem().system);
    const session = await begin(mcp);
    const cancel = (requestId: unknown) => ({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId },
    });
    const never = { ...CALL, id: "a", params: { name: "desk_never" } };
    const hanging = await post(mcp, never, session);
    expect((await post(mcp, cancel("none"), session)).status).toBe(202);
    expect((await post(mcp, cancel("a"), session)).status).toBe(202);
    expect(await hanging.text()).toBe("");
    const both = await post(mcp, [never, CALL], session);
    await settle();
    expect((await post(mcp, [cancel("a"), cancel({})], session)).status).toBe(202);
    const events = eventsIn(await both.text()) as { id: unknown }[]; // Of its two requests.
    expect(events.map(({ id }) => id).sort()).toEqual([5, "a"]);
  });

  test("are told to begin anew after a restart, and without one", async () => {
    const first = await serveDesk(createTestSystem().system);
    const session = await begin(first);
    const second = await serveDesk(createTestSystem().system);
    expect(await refusal(await post(second, CALL, session))).toEqual([404, -32_001]);
    expect(await refusal(await post(second, CALL, { "mcp-session-id": "__proto__" }))).toEqual([404, -32_001]);
    expect(await refusal(await post(second, CALL))).toEqual([400, -32_000]);
    expect((await post(second, CALL, await begin(second))).status).toBe(200);
  });

  test("end when they are not used, and others stay", async () => {
    const { system, clock } = createTestSystem();
    const mcp = await serveDesk(system, { limits: { idle: 1_000 } });
    const [idle, used] = [await begin(mcp), await begin(mcp)];
    await clock.advance(600);
    expect((await post(mcp, CALL, used)).status).toBe(200);
    await clock.advance(600);
    expect([(await post(mcp, CALL, idle)).status, (await post(mcp, CALL, used)).status]).toEqual([404, 200]);
    await mcp.close();
    expect(clock.timers).toBe(0);
  });

  test("are bounded in number: one that was not used for a while gives way, and else the new one waits", async () => {
    const { system, clock } = createTestSystem();
    const mcp = await serveDesk(system, { limits: { sessions: 2 } });
    const [first, second] = [await begin(mcp), await begin(mcp)];
    expect(await refusal(await post(mcp, INITIALIZE))).toEqual([503, -32_000]);
    await clock.advance(61_000);
    expect((await post(mcp, CALL, first)).status).toBe(200);
    const third = await begin(mcp);
    expect((await post(mcp, CALL, second)).status).toBe(404);
    expect([(await post(mcp, CALL, first)).status, (await post(mcp, CALL, third)).status]).toEqual([200, 200]);
    await mcp.close();
  });

  test("do not give way while a call of theirs may be under way", async () => {
    const { system, clock } = createTestSystem();
    const mcp = await serveDesk(system, { limits: { sessions: 1, time: 300_000 } });
    const session = await begin(mcp);
    const hanging = await post(mcp, { ...CALL, params: { name: "desk_never" } }, session);
    await clock.advance(61_000);
    expect(await refusal(await post(mcp, INITIALIZE))).toEqual([503, -32_000]);
    await clock.advance(300_000);
    await begin(mcp);
    void hanging.body?.cancel();
    await mcp.close();
  });

  test("do not begin with an initialize that is malformed", async () => {
    const mcp = await serveDesk(createTestSystem().system, { limits: { sessions: 1 } });
    for (const params of [undefined, {}, { protocolVersion: 3 }]) {
      const response = await post(mcp, { ...INITIALIZE, params });
      expect([response.status >= 400, response.headers.get("mcp-session-id")]).toEqual([true, null]);
      await response.text();
    }
    await begin(mcp);
  });
});

test("a gateway's guard stands before it: its limits hold, and what it lets through is served", async () => {
  const { system } = createTestSystem();
  const mcp = await serveDesk(system);
  const guarded = { fetch: guard(mcp.fetch, { system, rateLimit: "3/s", limits: { body: 1_000 } }) };
  expect(await call(guarded, "desk_double", { value: 2 })).toMatchObject({ structuredContent: { value: 4 } });
  expect(
    (await guarded.fetch(requestOf("tools/call", { name: "desk_shout", arguments: { value: "a".repeat(2_000) } })))
      .status,
  ).toBe(413);
  expect((await guarded.fetch(requestOf("tools/list"))).status).toBe(200);
  expect((await guarded.fetch(requestOf("tools/list"))).status).toBe(429);
});
