import { PassThrough } from "node:stream";
import { createSystem, defineProtocol, Type } from "envoi";
import { type McpServing, serveMcp } from "envoi/mcp";
import { type Declared, type Most, needing, slowSteps, suiteOf, timed } from "../harness/rows";
import type { Floor, Prepared } from "../harness/suite";

// The same echo on both sides, by the same requests: the SDK is loaded by the first of them, since most runs are of other suites.

const ARGUMENTS = { text: "a dozen of the brown ones", count: 12, tags: ["fresh", "brown"], nested: { at: [1, 2, 3] } };
const Echoed = Type.Object({
  text: Type.String(),
  count: Type.Integer(),
  tags: Type.Array(Type.String()),
  nested: Type.Object({ at: Type.Array(Type.Number()) }),
});
const SCHEMA = {
  type: "object" as const,
  properties: {
    text: { type: "string" },
    count: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
    nested: { type: "object", properties: { at: { type: "array", items: { type: "number" } } }, required: ["at"] },
  },
  required: ["text", "count", "tags", "nested"],
};
const INFO = { name: "echo", version: "1.0.0" };
const TOOL = "desk_echo";

const sdk = () => import("@modelcontextprotocol/server");

/** The function that answers a side's requests. */
type Fetch = (request: Request) => Promise<Response>;

/** The SDK's own echo, by its low level: it validates nothing of the arguments. */
async function lowLevel() {
  const { Server } = await sdk();
  return () => {
    const server = new Server(INFO, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({
      tools: [{ name: TOOL, inputSchema: SCHEMA, outputSchema: SCHEMA }],
    }));
    server.setRequestHandler("tools/call", ({ params }) => ({
      content: [{ type: "text", text: JSON.stringify(params.arguments) }],
      structuredContent: params.arguments ?? {},
    }));
    return server;
  };
}

/** The SDK's own echo, by its high level and zod, as its guide has it. */
async function highLevel() {
  const [{ McpServer }, { z }] = await Promise.all([sdk(), import("zod")]);
  const schema = z.object({
    text: z.string(),
    count: z.int(),
    tags: z.array(z.string()),
    nested: z.object({ at: z.array(z.number()) }),
  });
  return () => {
    const server = new McpServer(INFO);
    server.registerTool(TOOL, { inputSchema: schema, outputSchema: schema }, (args) => ({
      content: [{ type: "text", text: JSON.stringify(args) }],
      structuredContent: args,
    }));
    return server;
  };
}

/** A server of ours whose actor echoes, with so many tools. */
async function ours(count = 1): Promise<{ readonly mcp: McpServing; readonly end: () => Promise<unknown> }> {
  const system = createSystem();
  const names = ["echo", ...Array.from({ length: count - 1 }, (_, number) => `other${number}`)];
  const operation = { payload: Echoed, reply: Echoed };
  const Desk = defineProtocol("desk", Object.fromEntries(names.map((name) => [name, operation])));
  const handlers = Object.fromEntries(names.map((name) => [name, (payload: unknown) => payload]));
  // There is a handler for each operation, whose names are known at run time alone.
  const ref = system.spawn("desk", Desk, () => handlers as never);
  const mcp = await serveMcp(system, { ...INFO, expose: { desk: { ref, operations: names } } });
  return { mcp, end: () => mcp.close().then(() => system.shutdown()) };
}

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const message = (method: string, params: object, id = 1): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });
const PARAMS = { name: TOOL, arguments: ARGUMENTS };
const MODERN = message("tools/call", { ...PARAMS, _meta: ENVELOPE });
const LEGACY = message("tools/call", PARAMS);
const URL_OF_BOTH = "http://localhost/mcp";
const ACCEPT = { "content-type": "application/json", accept: "application/json, text/event-stream" };
/** The headers that a client of HTTP sends by itself. */
const headersOf = (body: string) => ({ host: "localhost", "content-length": String(Buffer.byteLength(body)) });
const headers = {
  ...ACCEPT,
  ...headersOf(MODERN),
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": TOOL,
};

const isRight = (text: string): boolean => text.includes('"structuredContent":{"text":"a dozen');

/** Awaits what takes a while to load once, in the first round of the warm-up. */
function late<Side>(load: () => Promise<Side>): () => Promise<Side> {
  let side: Promise<Side> | undefined;
  return () => {
    side ??= load();
    return side;
  };
}

/** Calls over HTTP, by protocol 2026-07-28. */
function modernCalls(operations: number, load: () => Promise<{ fetch: Fetch; end?: () => unknown }>): Prepared {
  const side = late(load);
  const call = async () => {
    const { fetch } = await side();
    const response = await fetch(new Request(URL_OF_BOTH, { method: "POST", body: MODERN, headers }));
    return isRight(await response.text());
  };
  return slowSteps(operations, call, { teardown: async () => (await side()).end?.() });
}

/** Calls over HTTP in one session of protocol 2025-11-25. */
function sessionCalls(operations: number, load: () => Promise<{ fetch: Fetch; end?: () => unknown }>): Prepared {
  const side = late(async () => {
    const { fetch, end } = await load();
    const clientInfo = { name: "bench", version: "1" };
    const begin = message("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    const response = await fetch(new Request(URL_OF_BOTH, { method: "POST", body: begin, headers: ACCEPT }));
    await response.text();
    const id = response.headers.get("mcp-session-id") ?? "";
    const own = { ...ACCEPT, ...headersOf(LEGACY), "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" };
    return { fetch, end, own };
  });
  const call = async () => {
    const { fetch, own } = await side();
    const response = await fetch(new Request(URL_OF_BOTH, { method: "POST", body: LEGACY, headers: own }));
    return isRight(await response.text());
  };
  return slowSteps(operations, call, { teardown: async () => (await side()).end?.() });
}

/** Calls over stdio, by protocol 2026-07-28: lines through a pair of streams in this process. */
function stdioCalls(
  operations: number,
  start: (streams: { input: PassThrough; output: PassThrough }) => Promise<() => unknown>,
): Prepared {
  const streams = { input: new PassThrough(), output: new PassThrough() };
  const side = late(() => start(streams));
  let arrive: (text: string) => void = () => {};
  streams.output.on("data", (chunk: Buffer) => arrive(chunk.toString()));
  const call = async () => {
    await side();
    const { promise, resolve } = Promise.withResolvers<string>();
    arrive = resolve;
    streams.input.write(`${MODERN}\n`);
    return isRight(await promise);
  };
  return slowSteps(operations, call, { teardown: async () => (await side())() });
}

const modernOf = (load: () => ReturnType<typeof lowLevel | typeof highLevel>) => async () => {
  const { createMcpHandler } = await sdk();
  return { fetch: createMcpHandler(await load()).fetch as Fetch };
};

const overHttp: Floor = {
  name: "the SDK's echo, HTTP",
  about: "`createMcpHandler` of `@modelcontextprotocol/server` with a low-level `Server` that gives back the arguments",
  setup: (operations) => modernCalls(operations, modernOf(lowLevel)),
};
const highHttp: Floor = {
  name: "the SDK's McpServer, HTTP",
  about: "the same with an `McpServer` and zod, which validate the arguments and the result, as envoi does",
  setup: (operations) => modernCalls(operations, modernOf(highLevel)),
};
const inSession: Floor = {
  name: "the SDK's echo, a session",
  about: "`WebStandardStreamableHTTPServerTransport` with the same low-level `Server`, in one session",
  setup: (operations) =>
    sessionCalls(operations, async () => {
      const { WebStandardStreamableHTTPServerTransport: Transport } = await sdk();
      const transport = new Transport({ sessionIdGenerator: () => crypto.randomUUID() });
      await (await lowLevel())().connect(transport);
      return { fetch: (request) => transport.handleRequest(request), end: () => transport.close() };
    }),
};
const overStdio: Floor = {
  name: "the SDK's echo, stdio",
  about: "`serveStdio` with the same low-level `Server`, through the same pair of streams",
  setup: (operations) =>
    stdioCalls(operations, async ({ input, output }) => {
      const { serveStdio, StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
      const serving = serveStdio(await lowLevel(), { transport: new StdioServerTransport(input, output) });
      return () => serving.close();
    }),
};
const oneTool: Floor = {
  name: "envoi with one tool",
  about: "the same call of a server that has no other tool",
  setup: (operations) => modernCalls(operations, () => ourFetch(1)),
};

async function ourFetch(count: number) {
  const { mcp, end } = await ours(count);
  return { fetch: mcp.fetch, end };
}

const MOST: Most = [1.25, 1.15, "the actor and its validation are little beside the protocol"];
/** The compiler is done with both sides after some 20,000 calls, which take a fifth of the time of the first 2,000. */
const SOME = { operations: 200, warmUp: 100 };

const rows: readonly Declared[] = [
  timed("a tool call, HTTP", overHttp, (operations) => modernCalls(operations, () => ourFetch(1)), MOST, SOME),
  ...needing(lacking("zod"), [
    timed(
      "a tool call, HTTP, beside McpServer",
      highHttp,
      (operations) => modernCalls(operations, () => ourFetch(1)),
      [1, 0.5, "both validate, and no validator is made for each request"],
      SOME,
    ),
  ]),
  timed(
    "a tool call, HTTP, in a session of 2025-11-25",
    inSession,
    (operations) => sessionCalls(operations, () => ourFetch(1)),
    MOST,
    SOME,
  ),
  timed(
    "a tool call, stdio",
    overStdio,
    (operations) =>
      stdioCalls(operations, async (streams) => {
        const { mcp, end } = await ours();
        await mcp.stdio(streams);
        return end;
      }),
    MOST,
    SOME,
  ),
  ...[100, 1_000].map((count) =>
    timed(
      `a tool call, HTTP, of one of ${count.toLocaleString("en")} tools`,
      oneTool,
      (operations) => modernCalls(operations, () => ourFetch(count)),
      [1.15, 1.05, "nothing of a call grows with the number of tools"],
      SOME,
    ),
  ),
];

export const suite = suiteOf(
  "mcp",
  [
    "An MCP server of envoi beside servers made with the official SDK alone, over the same transport and in the same process: the same tool is called with",
    "the same arguments, and gives them back as text and as structured content. envoi validates the arguments, sends them to an actor, and asks who sent",
    "them (host, origin, size, depth); the SDK's low level validates nothing of them, and its high level (`McpServer`) does, by zod.",
  ].join("\n"),
  needing(lacking("@modelcontextprotocol/server"), rows),
);

/** The reason why rows that need a package are left out; undefined where it is installed. */
function lacking(name: string): string | undefined {
  try {
    Bun.resolveSync(name, import.meta.dir);
    return undefined;
  } catch {
    return `the package \`${name}\` is not installed`;
  }
}
