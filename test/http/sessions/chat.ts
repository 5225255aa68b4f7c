import { type Caller, createGateway, type Gateway } from "../../../src/http/index";
import { MEMORY } from "../../../src/http/sessions/database";
import type { SessionsOptions } from "../../../src/http/sessions/options";
import { defineProtocol, type SignaturesOf, type System, Type } from "../../../src/index";
import { createTestSystem, type TestSystem } from "../../../src/testing/index";

/** A protocol of sessions for tests. */
export const Chat = defineProtocol("chat", {
  say: { payload: Type.String(), stream: Type.String() },
  heard: { reply: Type.Array(Type.String()) },
  peek: { reply: Type.Number(), hints: { readOnly: true } },
  count: { payload: Type.Number(), stream: Type.Number() },
  hang: { stream: Type.Number() },
  fail: { reply: Type.Number() },
  hush: {},
});
export type ChatOptions = SessionsOptions<SignaturesOf<typeof Chat>>;

export const createChat: ChatOptions["factory"] = (ctx, session) => {
  const heard: string[] = [];
  for (const { event, data } of session.events()) {
    if (event !== "request") continue;
    const { operation, payload } = data as { operation: string; payload: string }; // As it was sent.
    if (operation === "say") heard.push(payload);
  }
  return {
    async *say(text) {
      heard.push(text);
      for (const word of text.split(" ")) yield word;
    },
    heard: () => heard,
    peek: () => heard.length,
    async *count(to) {
      for (let n = 0; n < to; n++) yield n;
    },
    async *hang() {
      yield 1;
      await new Promise<void>((resolve) => ctx.onAbort(resolve));
    },
    fail() {
      throw new Error("a secret");
    },
    hush: () => undefined,
  };
};

/** A caller for each token. */
const authenticate = (request: Request): Caller => ({ id: request.headers.get("authorization") ?? "ada" });

export const gatewayOf = (system: System, options: Partial<ChatOptions> = {}): Gateway =>
  createGateway(system, {
    expose: {},
    authenticate,
    sessions: {
      protocol: Chat,
      factory: createChat,
      operations: ["say", "heard", "peek", "count", "hang", "fail", "hush"],
      path: MEMORY,
      ...options,
    },
  });

/** A session as a client sees it. */
export interface Shown {
  readonly id: string;
  readonly metadata: unknown;
  readonly firstEvent: number;
  readonly lastEvent: number;
  readonly messages: number;
  readonly running: number;
}

export interface Page {
  readonly sessions: readonly Shown[];
  readonly next?: string;
}

/** A body, of which the test knows what it is. */
export const bodyOf = async <Body>(response: Response): Promise<Body> => (await response.json()) as Body;

/** A gateway with sessions in memory, on a clock that stands still. */
export class Room implements AsyncDisposable {
  readonly test: TestSystem = createTestSystem();
  readonly gateway: Gateway;

  constructor(options: Partial<ChatOptions> = {}) {
    this.gateway = gatewayOf(this.test.system, options);
  }

  fetch(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const json = body === undefined ? {} : { "content-type": "application/json" };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    return this.gateway.fetch(new Request(`http://x${path}`, { method, headers: { ...json, ...headers }, ...text }));
  }

  /** Makes a session, and gives its path. */
  async open(metadata: unknown = {}, headers: Record<string, string> = {}): Promise<string> {
    const response = await this.fetch("POST", "/sessions", { metadata }, headers);
    return response.headers.get("location") ?? "";
  }

  send(session: string, operation: string, payload?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return this.fetch("POST", `${session}/messages`, { operation, payload }, headers);
  }

  async show(session: string): Promise<Shown> {
    return bodyOf(await this.fetch("GET", session));
  }

  async list(query = "", headers: Record<string, string> = {}): Promise<Page> {
    return bodyOf(await this.fetch("GET", `/sessions${query}`, undefined, headers));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.test.system.shutdown();
    await this.gateway.close();
    await this.test[Symbol.asyncDispose]();
  }
}

export interface Received {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
}

/** The events of a stream as they come. */
export async function* eventsOf({ body }: Response): AsyncGenerator<Received> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const parts = text.split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) {
      const lines = part.split("\n").flatMap((line) => {
        const colon = line.indexOf(":");
        return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 2)]] : [];
      });
      if (lines.length > 0) yield Object.fromEntries(lines);
    }
  }
}

/** The first events of a stream, which is left then. */
export async function firstOf(response: Response, count: number): Promise<Received[]> {
  const events: Received[] = [];
  for await (const event of eventsOf(response)) if (events.push(event) === count) break;
  return events;
}
