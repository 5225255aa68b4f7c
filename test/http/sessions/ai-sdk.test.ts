import { describe, expect, test } from "bun:test";
import { DefaultChatTransport, type UIMessage } from "ai";
import { createGateway, type Gateway, type SessionStreamOptions } from "../../../src/http/index";
import { defineProtocol, Type } from "../../../src/index";
import { createTestSystem } from "../../../src/testing/index";
import { Chat } from "../streams/ai-chat";
import { Pushed } from "../streams/feeds";
import { bodyOf, eventsOf, type Received, type Shown } from "./chat";

const Assistant = defineProtocol("assistant", {
  chat: {
    payload: Type.Object({ id: Type.Optional(Type.String()), text: Type.String() }),
    stream: Type.Unknown(),
  },
  title: { reply: Type.String() },
});

/** Sessions with one operation in the AI SDK's form, on a clock that stands still. What is said names the reply that a test pushes. */
class Assistants implements AsyncDisposable {
  readonly test = createTestSystem();
  readonly gateway: Gateway;
  readonly #replies = new Map<string, Pushed>();

  constructor(options: true | SessionStreamOptions = { format: "ai-sdk" }, events = 10_000) {
    this.gateway = createGateway(this.test.system, {
      expose: {},
      authenticate: ({ headers }) => ({ id: headers.get("authorization") ?? "ada" }),
      sessions: {
        protocol: Assistant,
        path: ":memory:",
        operations: { chat: options, title: true },
        keep: { events },
        actor: { concurrency: 4 },
        factory: (ctx) => ({
          chat: ({ text }) => this.replyTo(text).items(ctx.signal),
          title: () => "A chat",
        }),
      },
    });
  }

  replyTo(text: string): Pushed {
    const reply = this.#replies.get(text) ?? new Pushed();
    this.#replies.set(text, reply);
    return reply;
  }

  fetch(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const all = { "content-type": "application/json", ...headers };
    return this.gateway.fetch(new Request(`http://x${path}`, { method, headers: all, ...text }));
  }

  async open(): Promise<string> {
    return (await this.fetch("POST", "/sessions", {})).headers.get("location") ?? "";
  }

  send(at: string, text: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.fetch("POST", `${at}/messages`, { operation: "chat", payload: { text } }, headers);
  }

  /** A hook of a page that shows a session. */
  chat(at: string, id: string, messages: UIMessage[] = []): Chat {
    const transport = new DefaultChatTransport<UIMessage>({
      api: `http://x${at}/messages`,
      fetch: Object.assign((url: unknown, init?: RequestInit) => this.gateway.fetch(new Request(String(url), init)), {
        preconnect() {}, // Bun's type of fetch has it.
      }),
      prepareSendMessagesRequest: ({ messages: all }) => {
        const [part] = all.at(-1)?.parts ?? [];
        const text = part?.type === "text" ? part.text : "";
        return { body: { operation: "chat", payload: { id, text } } };
      },
    });
    return new Chat(id, messages, transport);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.test.system.shutdown();
    await this.gateway.close();
    await this.test[Symbol.asyncDispose]();
  }
}

const allOf = (response: Response): Promise<Received[]> => Array.fromAsync(eventsOf(response));

/** Two texts around a chunk of a tool: five stored events beside the request. */
function pushStory(reply: Pushed): void {
  reply.push("Once ", "upon ", { type: "data-weather", data: "rain" }, "a time");
  reply.end();
}

describe("A streamed operation of sessions in the AI SDK's form", () => {
  test("shows strings as text to its hooks, and chunks between them", async () => {
    await using service = new Assistants();
    pushStory(service.replyTo("Tell a story"));
    const chat = service.chat(await service.open(), "one");
    await chat.sendMessage({ text: "Tell a story" });
    expect(chat.error).toBeUndefined();
    expect(chat.parts).toEqual(["Once upon ", "data-weather", "a time"]);
  });

  test("is resumed by another hook of the same chat, which is told of none once it has ended", async () => {
    await using service = new Assistants();
    const at = await service.open();
    const reply = service.replyTo("Tell a story");
    reply.push("Once ", "upon ");
    const first = service.chat(at, "one");
    const sent = first.sendMessage({ text: "Tell a story" });
    await first.shows("Once upon ");
    await first.stop(); // Leaves, as a page does that is loaded anew.
    await sent;
    const again = service.chat(at, "one", first.messages.slice(0, 1));
    const resumed = again.resumeStream();
    await again.shows("Once upon ");
    reply.push("a time");
    reply.end();
    await resumed;
    expect([again.error, again.parts]).toEqual([undefined, ["Once upon a time"]]);
    expect((await service.fetch("GET", `${at}/messages/one/stream`)).status).toBe(204);
  });

  test("P18: is there for its owner's chat alone", async () => {
    await using service = new Assistants();
    const at = await service.open();
    const body = { operation: "chat", payload: { id: "one", text: "Hello" } };
    const open = await service.fetch("POST", `${at}/messages`, body);
    const statusOf = async (path: string, headers = {}): Promise<number> => {
      const response = await service.fetch("GET", path, undefined, headers);
      await response.body?.cancel();
      return response.status;
    };
    expect(await statusOf(`${at}/messages/one/stream`)).toBe(200);
    expect(await statusOf(`${at}/messages/two/stream`)).toBe(204);
    expect(await statusOf(`${at}/messages/one/stream`, { authorization: "eve" })).toBe(404);
    service.replyTo("Hello").end();
    await open.text();
  });

  test("has the newest message of a chat where several are answered", async () => {
    await using service = new Assistants();
    const at = await service.open();
    const open = [await service.send(at, "first"), await service.send(at, "second")];
    service.replyTo("second").push("2");
    service.replyTo("second").end();
    const text = await (await service.fetch("GET", `${at}/messages/any/stream`)).text();
    expect(text).toContain('"delta":"2"');
    service.replyTo("first").end();
    await Promise.all(open.map((each) => each.text()));
  });

  test("resumes behind each of its events: none is missed, and none comes twice", async () => {
    await using service = new Assistants();
    const at = await service.open();
    pushStory(service.replyTo("Tell a story"));
    const headers = { "idempotency-key": "one" };
    const whole = await service.send(at, "Tell a story", headers);
    expect(whole.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
    const location = whole.headers.get("location") ?? "";
    expect(location).toBe(`${at}/events?message=1&format=ai-sdk`);
    const all = await allOf(whole);
    expect(all.map(({ data = "" }) => (data === "[DONE]" ? data : JSON.parse(data).type))).toEqual([
      ...["start", "text-start", "text-delta", "text-delta", "text-end", "data-weather"],
      ...["text-start", "text-delta", "text-end", "finish", "[DONE]"],
    ]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const [index, { id = "" }] of all.slice(0, -1).entries()) {
      const again = { ...headers, "last-event-id": id };
      expect(await allOf(await service.send(at, "Tell a story", again))).toEqual(all.slice(index + 1));
      expect(await allOf(await service.fetch("GET", location, undefined, again))).toEqual(all.slice(index + 1));
    }
    expect((await service.send(at, "Tell a story", { ...headers, "last-event-id": all.at(-1)?.id ?? "" })).status).toBe(
      204,
    );
  });

  test("resumes also where events of other messages lie between its own", async () => {
    await using service = new Assistants();
    const at = await service.open();
    const [first, second] = [service.send(at, "first", { "idempotency-key": "1" }), service.send(at, "second")];
    for (const text of ["a", "b"]) {
      service.replyTo("second").push("between");
      await service.test.settle();
      service.replyTo("first").push(text);
      await service.test.settle();
    }
    for (const text of ["first", "second"]) service.replyTo(text).end();
    const all = await allOf(await first);
    await (await second).text();
    for (const [index, { id = "" }] of all.slice(0, -1).entries()) {
      const rest = await allOf(await service.fetch("GET", `${at}/events?message=1&format=ai-sdk&after=${id}`));
      expect(rest).toEqual(all.slice(index + 1));
    }
  });

  test("keeps its items as they are: for the events of the session, and for its actor", async () => {
    await using service = new Assistants();
    const at = await service.open();
    service.replyTo("Hello").push("Hi");
    service.replyTo("Hello").end();
    await (await service.send(at, "Hello")).text();
    const plain = await allOf(await service.fetch("GET", `${at}/events?message=1`));
    expect(plain).toEqual([
      { id: "2", data: '"Hi"' },
      { id: "3", event: "end", data: "{}" },
    ]);
    expect(await bodyOf<Shown>(await service.fetch("GET", at))).toMatchObject({ lastEvent: 3, running: 0 });
    for (const query of ["format=ai-sdk", "message=1&format=csv"]) {
      expect((await service.fetch("GET", `${at}/events?${query}`)).status).toBe(400);
    }
  });

  test("ends with an error chunk where it fails or is stopped, or where what is read is not kept any more", async () => {
    await using service = new Assistants({ format: "ai-sdk" }, 100);
    const at = await service.open();
    service.replyTo("one").push("Hel");
    const stopped = await service.send(at, "one");
    await service.fetch("DELETE", `${at}/messages/1`);
    const last = (await allOf(stopped)).slice(-3).map(({ data }) => data);
    expect(last).toEqual([
      '{"type":"text-end","id":"text"}',
      '{"type":"abort","reason":"A client ended this message."}',
      "[DONE]",
    ]);
    const deleted = await service.send(at, "two");
    await service.fetch("DELETE", at);
    const chunks = (await allOf(deleted)).map(({ data = "" }) => data);
    expect([JSON.parse(chunks[0] ?? "").type, chunks[1]]).toEqual(["error", "[DONE]"]);
  });

  test("is an option of streams alone, by a name that there is", async () => {
    await using test = createTestSystem();
    const { system } = test;
    const factory = () => ({ chat: () => [], title: () => "" });
    const of = (operations: unknown) => () =>
      createGateway(system, {
        expose: {},
        sessions: { protocol: Assistant, factory, operations: operations as [] }, // It is wrong.
      });
    expect(of({ title: { format: "ai-sdk" } })).toThrow("no stream");
    expect(of({ chat: { format: "csv" } })).toThrow('is "sse" or "ai-sdk"; got "csv"');
    expect(of({ chat: { resume: {} } })).toThrow('There is no option "resume"');
    expect(of({ sing: true })).toThrow("sing");
    const reply = () =>
      createGateway(system, {
        expose: {},
        // @ts-expect-error A reply is no stream.
        sessions: { protocol: Assistant, factory, operations: { title: { format: "sse" } } },
      });
    expect(reply).toThrow("no stream");
    const misspelt = () =>
      createGateway(system, {
        expose: {},
        // @ts-expect-error A misspelt operation beside one that there is.
        sessions: { protocol: Assistant, factory, operations: { chat: true, titel: true } },
      });
    expect(misspelt).toThrow("titel");
  });
});
