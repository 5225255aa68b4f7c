import { expect, test } from "bun:test";
import { Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { createSystem } from "../../src/index";
import { connectMcp } from "../../src/mcp/index";

/** A server of protocol 2025-11-25, made with the official SDK: it has one session, and its tool tells which. */
function startOld() {
  let transport: WebStandardStreamableHTTPServerTransport | undefined;
  let begun = 0;
  const begin = async () => {
    const number = ++begun;
    const server = new Server({ name: "old", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({
      tools: [{ name: "session", inputSchema: { type: "object" as const } }],
    }));
    server.setRequestHandler("tools/call", () => ({ content: [{ type: "text" as const, text: String(number) }] }));
    const made = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => crypto.randomUUID() });
    await server.connect(made);
    transport = made;
    return made;
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const isNew = request.method === "POST" && !request.headers.has("mcp-session-id");
      const isInitialize = isNew && (await request.clone().text()).includes('"initialize"');
      const at = isInitialize ? await begin() : transport;
      return at?.handleRequest(request) ?? new Response(null, { status: 404 });
    },
  });
  /** The next session is another one: what is known of the last is gone, as after a restart. */
  const forget = async (): Promise<void> => {
    await transport?.close();
    transport = undefined;
  };
  return { url: server.url, forget, begun: () => begun, stop: () => server.stop(true) };
}

test("P9: a session that its server has forgotten is lost, and its actor begins another one", async () => {
  const old = startOld();
  const system = createSystem({ logger: { warn() {}, error() {} } });
  const tools = await connectMcp(system, { name: "old", url: old.url });
  const session = async () => (await tools.ref.ask("session", undefined, { timeout: 20_000 }))._unsafeUnwrap();
  expect(tools.server?.protocolVersion).toBe("2025-11-25");
  const first = await session();
  expect(first).toMatchObject({ ok: true });
  await old.forget();
  expect(await session()).toMatchObject({ ok: false, error: { kind: "lost" } });
  let next = await session();
  while ((next as { ok: boolean }).ok !== true) next = await session();
  expect(next).not.toEqual(first);
  expect(system.restarts).toBe(1);
  await tools.close();
  await system.shutdown();
  await old.stop();
}, 30_000);
