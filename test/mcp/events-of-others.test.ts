import { expect, test } from "bun:test";
import { createSystem } from "../../src/index";
import { connectMcp } from "../../src/mcp/index";

interface Message {
  readonly id?: number;
  readonly method: string;
}

/** A server over HTTP that answers each call with a stream of events. */
const serving = (events: (id: number) => ReadableStream<Uint8Array>) =>
  Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const { id, method } = (await request.json()) as Message; // The client's.
      if (id === undefined) return new Response(null, { status: 202 });
      const given = (result: object) => Response.json({ jsonrpc: "2.0", id, result });
      if (method === "initialize") {
        const serverInfo = { name: "s", version: "1" };
        return given({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo });
      }
      if (method === "tools/list") return given({ tools: [{ name: "t", inputSchema: { type: "object" } }] });
      if (method === "tools/call")
        return new Response(events(id), { headers: { "content-type": "text/event-stream" } });
      return new Response(null, { status: 404 });
    },
  });

async function called(events: (id: number) => ReadableStream<Uint8Array>): Promise<unknown> {
  const server = serving(events);
  const system = createSystem({ logger: { warn: () => {}, error: () => {} } });
  const { ref } = await connectMcp(system, { name: "s", url: server.url, limits: { message: 100_000 } });
  const reply = await ref.ask("t", undefined, { timeout: 60_000 });
  await Promise.all([system.shutdown(), server.stop(true)]);
  return reply._unsafeUnwrap();
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const stream = (...pieces: string[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(bytes(piece));
      controller.close();
    },
  });
const answer = (id: number): string =>
  JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "here" }] } });

test("P18: an event without end, of any number of lines, is not kept: its call is lost", async () => {
  let sent = 0;
  const endless = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => setImmediate(resolve));
        if (++sent > 10_000) throw new Error("Nobody stopped it.");
        controller.enqueue(bytes("data: aaaaaaaaaa\n".repeat(600)));
      },
    });
  expect(await called(endless)).toMatchObject({ ok: false, error: { kind: "lost" } });
  expect(sent).toBeLessThan(1_000);
}, 30_000);

test("P9: a call whose answer is cut short is lost at once", async () => {
  expect(await called((id) => stream(`data: ${answer(id).slice(0, 20)}`))).toMatchObject({
    ok: false,
    error: { kind: "lost" },
  });
}, 30_000);

test("an answer comes through after any number of small events and comments, and however it is cut", async () => {
  const noise =
    `: ${"b".repeat(200)}\r\n`.repeat(400) + `event: other\r\ndata: ${"c".repeat(30_000)}\r\n\r\n`.repeat(10);
  const events = (id: number) => stream(noise, `data: ${answer(id)}\r`, "\n", "\r", "\n");
  expect(await called(events)).toEqual({ ok: true, value: "here" });
}, 30_000);
