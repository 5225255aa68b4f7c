import { describe, expect, test } from "bun:test";
import { DefaultChatTransport, type UIMessage } from "ai";
import { createClient } from "../../../src/http/client/index";
import { serve } from "../../../src/http/index";
import { createSystem, defineProtocol, Type } from "../../../src/index";
import { Chat } from "./ai-chat";
import { post } from "./event-reader";
import { Pushed } from "./feeds";

const Assistant = defineProtocol("assistant", {
  /** The payload is what `useChat` sends. */
  chat: {
    payload: Type.Object({ id: Type.String(), messages: Type.Array(Type.Unknown()) }),
    stream: Type.Unknown(),
  },
});

function assistant(isKept = true) {
  const replies = new Map<string, Pushed>();
  const replyTo = (id: string): Pushed => {
    const reply = replies.get(id) ?? new Pushed();
    replies.set(id, reply);
    return reply;
  };
  const system = createSystem();
  const ref = system.spawn("assistant", Assistant, (ctx) => ({ chat: ({ id }) => replyTo(id).items(ctx.signal) }), {
    concurrency: 100,
  });
  const { url, stop } = serve(system, {
    port: 0,
    signals: [],
    expose: { assistant: { ref, operations: { chat: { format: "ai-sdk", ...(isKept && { resume: {} }) } } } },
  });
  const api = `${url.origin}/actors/assistant/chat`;
  const chat = (id: string, messages: UIMessage[] = []): Chat =>
    new Chat(id, messages, new DefaultChatTransport({ api }));
  return { replyTo, chat, api, stop: () => stop({ streams: 0 }) };
}

describe("A stream in the AI SDK's form", () => {
  test.each([true, false])("shows strings as text to its hooks (kept for resumption: %p)", async (isKept) => {
    const { replyTo, chat, stop, api } = assistant(isKept);
    replyTo("one").push("Hello, ", "world");
    replyTo("one").end();
    const first = chat("one");
    await first.sendMessage({ text: "Say hello" });
    expect(first.error).toBeUndefined();
    expect(first.lastMessage?.role).toBe("assistant");
    expect(first.parts).toEqual(["Hello, world"]);
    const raw = await fetch(post(api, { id: "one", messages: [] }));
    expect(raw.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
    expect(await raw.text()).toEndWith("data: [DONE]\n\n");
    await stop();
  });

  test("passes on the chunks of its protocol, between texts, too", async () => {
    const { replyTo, chat, stop } = assistant();
    replyTo("two").push(
      { type: "start", messageId: "m1" },
      "Looking it up. ",
      { type: "tool-input-available", toolCallId: "t1", toolName: "search", input: { q: "envoi" } },
      { type: "tool-output-available", toolCallId: "t1", output: ["found"] },
      "Found.",
    );
    replyTo("two").end();
    const second = chat("two");
    await second.sendMessage({ text: "Search" });
    expect(second.error).toBeUndefined();
    expect(second.lastMessage?.id).toBe("m1");
    expect(second.parts).toEqual(["Looking it up. ", "tool-search", "Found."]);
    await stop();
  });

  test("without an item is an answer that has begun and ended", async () => {
    const { replyTo, api, stop } = assistant();
    replyTo("none").end();
    const text = await (await fetch(post(api, { id: "none", messages: [] }))).text();
    expect(text.match(/data: .*/g)).toEqual(['data: {"type":"start"}', 'data: {"type":"finish"}', "data: [DONE]"]);
    await stop();
  });

  test("shows our client no goodbye as an item", async () => {
    const { replyTo, api, stop } = assistant();
    replyTo("five").push("Hel");
    const client = createClient({ url: new URL(api).origin, retry: { first: 1, attempts: 1 } });
    const items: unknown[] = [];
    const read = (async () => {
      for await (const item of client.actor("assistant").stream("chat", { id: "five", messages: [] })) {
        items.push(item);
        if (items.length === 3) void stop();
      }
    })();
    await read.catch(() => {}); // The service has gone.
    expect(items).toEqual([
      { type: "start" },
      { type: "text-start", id: "text" },
      { type: "text-delta", id: "text", delta: "Hel" },
    ]);
  });

  test("is resumed by another hook of the same chat; where nothing runs, there is nothing to resume", async () => {
    const { replyTo, chat, stop } = assistant();
    const reply = replyTo("three");
    reply.push("Once ", "upon ");
    const first = chat("three");
    const sent = first.sendMessage({ text: "Tell a story" });
    await first.shows("Once upon ");
    await first.stop(); // Leaves, as a page does that is loaded anew.
    await sent;
    const again = chat("three", first.messages.slice(0, 1));
    const resumed = again.resumeStream();
    await again.shows("Once upon ");
    reply.push("a time");
    reply.end();
    await resumed;
    expect(again.error).toBeUndefined();
    expect(again.parts).toEqual(["Once upon a time"]);
    const idle = chat("three");
    await idle.resumeStream();
    expect([idle.error, idle.status]).toEqual([undefined, "ready"]);
    await stop();
  });

  test("refuses what it cannot take, and tells its hooks when the server goes away", async () => {
    const { replyTo, chat, api, stop } = assistant();
    const wrong = await fetch(api, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
    expect(wrong.status).toBe(400);
    const left = chat("four");
    replyTo("four").push("Hel");
    const sent = left.sendMessage({ text: "Hello" });
    await left.shows("Hel");
    await stop();
    await sent;
    expect(left.error?.message).toBe("The server goes away: come back in a moment.");
  });
});
