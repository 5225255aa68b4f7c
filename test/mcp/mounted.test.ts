import { describe, expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { bearerTokens, createGateway, guard } from "../../src/http/index";
import { createSystem } from "../../src/index";
import { testSystems } from "../actor/test-system";
import { begin, createDesk, Desk, eventsIn, post, requestOf, send, serveDesk } from "./desk";

const { createTestSystem } = testSystems();
const authenticate = bearerTokens({ "ada-s3cr3t-0123456789": "ada", "bob-s3cr3t-0123456789": "bob" });
const as = (name: string) => ({ authorization: `Bearer ${name}-s3cr3t-0123456789` });

describe("a server that is mounted beside a gateway, behind a guard", () => {
  test("serves an official client of either protocol, as the caller that the guard has found", async () => {
    await using system = createSystem();
    const mcp = await serveDesk(system);
    const gateway = createGateway(system, {
      expose: { other: { ref: system.spawn("o", Desk, createDesk), operations: ["total"] } },
    });
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      routes: { "/mcp": guard(mcp.fetch, { system, authenticate, limits: { time: 120_000 } }), ...gateway.routes },
    });
    const url = new URL("/mcp", server.url);
    for (const mode of ["auto", "legacy"] as const) {
      const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: as("ada") } }));
      const { structuredContent } = await client.callTool({ name: "desk_told", arguments: {} });
      expect([mode, structuredContent]).toEqual([mode, { value: { caller: "ada" } }]);
      await client.close();
    }
    const stranger = await fetch(url, { method: "POST", body: "{}", headers: { "content-type": "application/json" } });
    expect(stranger.status).toBe(401);
    expect((await fetch(new URL("/actors/other/total", server.url), { method: "POST" })).status).toBe(200);
    await Promise.all([mcp.close(), server.stop(true)]);
  }, 30_000);

  test("keeps a session, and its lists, for the caller that the guard has found", async () => {
    const { system } = createTestSystem();
    const mcp = await serveDesk(system);
    const guarded = { fetch: guard(mcp.fetch, { system, authenticate }) };
    const session = await begin(guarded, as("ada"));
    const told = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "desk_told" } };
    expect((await post(guarded, told, { ...session, ...as("bob") })).status).toBe(404);
    expect(eventsIn(await (await post(guarded, told, session)).text())).toMatchObject([
      { result: { structuredContent: { value: { caller: "ada" } } } },
    ]);
    const { result } = await send(guarded, "tools/list", {}, { headers: as("bob") });
    expect(result).toMatchObject({ cacheScope: "private" });
    expect((await send(mcp, "tools/list")).result).toMatchObject({ cacheScope: "public" });
  });

  test("its own authenticate goes before what the guard has found", async () => {
    const { system } = createTestSystem();
    const mcp = await serveDesk(system, { authenticate: () => ({ id: "eve" }) });
    const guarded = { fetch: guard(mcp.fetch, { system, authenticate }) };
    const { result } = await send(guarded, "tools/call", { name: "desk_told" }, { headers: as("ada") });
    expect(result).toMatchObject({ structuredContent: { value: { caller: "eve" } } });
  });

  test("lets a call take longer than the silence for which Bun keeps a connection", async () => {
    const told: number[] = [];
    const bun = { timeout: (_: Request, seconds: number) => void told.push(seconds), requestIP: () => null };
    for (const time of [90_000, Number.POSITIVE_INFINITY]) {
      const { system } = createTestSystem();
      const { fetch } = await serveDesk(system, { limits: { time } });
      await fetch(requestOf("tools/list"), bun);
      expect(told.at(-1)).toBe(time === 90_000 ? 100 : 0);
      told.length = 0;
      await guard(fetch, { system, limits: { time: 120_000 } })(requestOf("tools/list"), bun);
      expect(told).toContain(time === 90_000 ? 100 : 0);
    }
  });
});
