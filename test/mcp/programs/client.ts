/**
 * An official client that uses a desk, in a process of its own: `client.ts v1|v2|v2-auto COMMAND…`, or with a URL. It prints what it saw as JSON.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [, , kind, first = "", ...rest] = process.argv;
const isHttp = first.startsWith("http");
const info = { name: "test", version: "1" };

/** The part of both clients that is used here. */
interface AnyClient {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: object, ...more: unknown[]): Promise<Record<string, unknown>>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  readResource(params: { uri: string }): Promise<{ contents: { text?: string }[] }>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  getPrompt(params: { name: string; arguments: object }): Promise<{ messages: { content: { text?: string } }[] }>;
  close(): Promise<void>;
}

const isOld = kind === "v1";
// Their types differ, and what is used of them does not.
const client = (isOld
  ? new OldClient(info)
  : new Client(
      info,
      kind === "v2-auto" ? { versionNegotiation: { mode: "auto", probe: { timeoutMs: 20_000 } } } : {},
    )) as unknown as AnyClient;
const program = { command: first, args: rest };
const transport = isOld
  ? isHttp
    ? new OldHttp(new URL(first))
    : new OldStdio(program)
  : isHttp
    ? new StreamableHTTPClientTransport(new URL(first))
    : new StdioClientTransport(program);

const call = (name: string, args: object, options?: object) =>
  isOld
    ? client.callTool({ name, arguments: args }, undefined, options)
    : client.callTool({ name, arguments: args }, options);

await client.connect(transport);
const { tools } = await client.listTools();
const progress: number[] = [];
const giveUp = new AbortController();
const never = call("desk_never", {}, { signal: giveUp.signal }).then(
  () => "answered",
  () => "given up",
);
const work = call(
  "desk_work",
  { steps: 5 },
  { onprogress: (step: { progress: number }) => void progress.push(step.progress) },
);
const add = await call("desk_add", { a: 1, b: 2 });
giveUp.abort();
const { resources } = await client.listResources();
const { contents } = await client.readResource({ uri: resources[0]?.uri ?? "" });
const { prompts } = await client.listPrompts();
const { messages } = await client.getPrompt({ name: prompts[0]?.name ?? "", arguments: { who: "Ada" } });
const seen = {
  resources: resources.map(({ uri }) => uri),
  contents: contents.map(({ text }) => text),
  prompts: prompts.map(({ name }) => name),
  messages: messages.map(({ content }) => content.text),
  version: client instanceof Client ? client.getNegotiatedProtocolVersion() : "old",
  tools: tools.length,
  add: add["structuredContent"],
  wrong: (await call("desk_add", { a: 1 }))["isError"],
  missing: (await call("desk_find", { name: "x" }))["isError"],
  count: (await call("desk_count", { to: 3 }))["structuredContent"],
  unknown: await call("desk_secret", {}).then(
    () => "answered",
    (error: { code?: unknown }) => error.code,
  ),
  work: (await work)["structuredContent"],
  // On a busy machine some come too close to each other, or to the reply, to be told.
  progress: progress.length > 0 && progress.every((step, index) => step > (progress[index - 1] ?? -1)),
  never: await never,
};
await client.close();
console.log(JSON.stringify(seen));
process.exit(0);
