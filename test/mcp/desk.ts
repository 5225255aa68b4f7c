import { expect } from "bun:test";
import { defineProtocol, type Factory, type SignaturesOf, type System, Type } from "../../src/index";
import { Content, type McpServing, PromptReply, type ServeMcpOptions, serveMcp } from "../../src/mcp/index";
import { outcomeSchema } from "../../src/tools/index";

const Node = Type.Cyclic({ Node: Type.Object({ name: Type.String(), below: Type.Array(Type.Ref("Node")) }) }, "Node");

export const Desk = defineProtocol("desk", {
  add: {
    description: "Adds two numbers.",
    hints: { readOnly: true, idempotent: true },
    payload: Type.Object({ a: Type.Number(), b: Type.Number() }),
    reply: Type.Object({ sum: Type.Number() }),
  },
  double: { payload: Type.Number(), reply: Type.Number() },
  shout: { payload: Type.Union([Type.String(), Type.Undefined()]), reply: Type.String() },
  reset: { hints: { destructive: true } },
  total: { reply: Type.Integer() },
  find: {
    payload: Type.Union([Type.Object({ id: Type.Integer() }), Type.Object({ name: Type.String() })]),
    reply: outcomeSchema(
      Type.Object({ found: Type.String() }),
      Type.Object({ kind: Type.Literal("missing"), message: Type.String() }),
    ),
  },
  count: { payload: Type.Object({ to: Type.Integer() }), stream: Type.Integer() },
  lines: { stream: outcomeSchema(Type.String(), Type.Object({ message: Type.String() })) },
  picture: { reply: Content },
  told: { reply: Type.Unknown() },
  fail: { payload: Type.Union([Type.String(), Type.Undefined()]) },
  never: { reply: Type.Null() },
  work: { payload: Type.Object({ steps: Type.Integer() }), reply: Type.String() },
  odd: { reply: Type.Unknown() },
  tree: { payload: Node, reply: Node },
  secret: { reply: Type.String() },
  greet: {
    description: "Greets somebody.",
    payload: Type.Object({
      who: Type.String({ description: "The name." }),
      how: Type.Optional(Type.String()),
    }),
    reply: Type.String(),
  },
  scene: { reply: PromptReply },
  broken: { reply: Type.String() },
});

export const SECRET = "the secret of /home/desk";

/** Aborts that its handlers have heard of. */
export const aborted: string[] = [];

/** A desk that adds, finds, streams, fails, never replies, and tells how far it is. */
export const createDesk: Factory<SignaturesOf<typeof Desk>> = (ctx) => {
  let total = 0;
  return {
    add({ a, b }) {
      total += a + b;
      return { sum: a + b };
    },
    double: (n) => 2 * n,
    shout: (text) => `${text ?? "hey"}!`,
    reset() {
      total = 0;
    },
    total: () => total,
    find: (by) =>
      "id" in by && by.id === 7
        ? { ok: true, value: { found: "seven" } }
        : { ok: false, error: { kind: "missing", message: "There is no such thing." } },
    async *count({ to }) {
      for (let n = 1; n <= to; n++) yield n;
    },
    async *lines() {
      yield { ok: true, value: "one" };
      yield { ok: false, error: { message: "The paper is out." } };
    },
    picture: () => [
      { type: "text", text: "a dot" },
      { type: "image", data: "aGVsbG8=", mimeType: "image/png" },
    ],
    told: () => ctx.metadata,
    fail(text) {
      throw new Error(text ?? SECRET);
    },
    never: () =>
      new Promise<null>((_, reject) => {
        ctx.onAbort(() => {
          aborted.push("never");
          reject(ctx.signal.reason);
        });
      }),
    async work({ steps }) {
      for (let step = 0; step <= steps; step++) {
        ctx.progress(step, steps, `step ${step}`);
        await new Promise<void>((resolve) => void ctx.clock.setTimer(resolve, 50));
      }
      return "done with it";
    },
    odd: () => 10n,
    tree: (node) => node,
    secret: () => SECRET,
    greet: ({ who, how }) => `${how ?? "Hello"}, ${who}`,
    scene: () => ({
      description: "Two of them.",
      messages: [
        { role: "user", content: { type: "text", text: "Who is there?" } },
        { role: "assistant", content: { type: "text", text: "It is me." } },
      ],
    }),
    broken() {
      throw new Error(SECRET);
    },
  };
};

const LISTED = [
  ...["add", "double", "shout", "reset", "total", "find", "count", "lines", "picture", "told", "fail", "never", "work"],
  ...["odd", "tree"],
];

/** Serves all of a desk but its secret. */
export function serveDesk(system: System, more: Partial<ServeMcpOptions> = {}): Promise<McpServing> {
  const ref = system.spawn("desk", Desk, createDesk, { concurrency: 100 });
  return serveMcp(system, {
    name: "desk",
    version: "1.2.3",
    expose: { desk: { ref, operations: LISTED } },
    ...more,
  });
}

/** Lets all that does not wait for the clock go on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export interface Answer {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A request of protocol 2026-07-28. */
export function requestOf(method: string, params: Record<string, unknown> = {}, init: RequestInit = {}): Request {
  const { name, uri, _meta } = params;
  const named = typeof name === "string" ? name : typeof uri === "string" ? uri : undefined;
  return new Request("http://localhost/mcp", {
    method: "POST",
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: { ...params, _meta: { ...META, ...Object(_meta) } },
    }),
    ...init,
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(named !== undefined && { "mcp-name": named }),
      ...(init.headers as Record<string, string>), // All tests here write them so.
    },
  });
}

/** Sends a request of protocol 2026-07-28, and gives its answer. */
export async function send(
  mcp: Pick<McpServing, "fetch">,
  method: string,
  params: Record<string, unknown> = {},
  init: RequestInit = {},
): Promise<Answer> {
  const response = await mcp.fetch(requestOf(method, params, init));
  const text = await response.text();
  expect(text).not.toMatch(/the secret of|\/home\/(desk|notes)|\.ts:\d+/);
  return JSON.parse(text) as Answer; // The tests look at the parts.
}

export interface Result {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

/** Calls a tool. */
export async function call(mcp: Pick<McpServing, "fetch">, name: string, args?: object): Promise<Result> {
  const { result, error } = await send(mcp, "tools/call", { name, ...(args !== undefined && { arguments: args }) });
  if (error !== undefined) throw new Error(`${error.code}: ${error.message}`);
  return result as unknown as Result; // The tests look at the parts.
}

/** The text of a result that is an error. */
export async function refused(mcp: Pick<McpServing, "fetch">, name: string, args?: object): Promise<string> {
  const { content, structuredContent, isError } = await call(mcp, name, args);
  expect([isError, structuredContent, content.length, content[0]?.type]).toEqual([true, undefined, 1, "text"]);
  return content[0]?.text ?? "";
}

/** Sends a message of protocol 2025-11-25, and gives the response. */
export const post = (
  mcp: Pick<McpServing, "fetch">,
  body: unknown,
  headers: Record<string, string> = {},
  url = "http://localhost/mcp",
): Promise<Response> =>
  mcp.fetch(
    new Request(url, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    }),
  );

export const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

/** Begins a session of protocol 2025-11-25, and gives the headers that go with each message of it. */
export async function begin(mcp: Pick<McpServing, "fetch">, headers: Record<string, string> = {}) {
  const response = await post(mcp, INITIALIZE, headers);
  expect(response.status).toBe(200);
  await response.text();
  const id = response.headers.get("mcp-session-id") ?? "";
  expect(id).toMatch(/^[\w-]{20,}$/);
  const own = { ...headers, "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" };
  expect((await post(mcp, { jsonrpc: "2.0", method: "notifications/initialized" }, own)).status).toBe(202);
  return own;
}

/** The messages in a body of server-sent events. */
export const eventsIn = (text: string): Answer[] =>
  [...text.matchAll(/^data: (.+)$/gm)].map(([, data = ""]) => JSON.parse(data) as Answer); // The tests look at the parts.
