import { checkOptions, type OptionChecks, option, quote, type System } from "../index";
import { Calls } from "./calls";
import { HttpDoor } from "./door";
import { checkHosts } from "./hosts";
import { checkLimits, limitsOf } from "./limits";
import type { KnownExposed, McpConnection, McpExposing, McpLimits, McpServing, ServeMcpOptions } from "./options";
import { Prompts } from "./prompts";
import { Resources } from "./resources";
import { loadServer, loadServerStdio } from "./sdk";
import { ServerFactory } from "./server";
import { toolsOf } from "./tools";

const CHECKS: OptionChecks<ServeMcpOptions> = {
  name: option.text,
  version: option.text,
  title: option.text,
  instructions: option.text,
  expose: option.any,
  files: option.any,
  prompts: option.any,
  authenticate: option.function(),
  hosts: checkHosts,
  limits: checkLimits,
};
const OWNER = "an MCP server";
const EXAMPLE = '{ name: "notes", version: "1.0.0", expose: { notes: { ref, operations: ["read"] } } }';

/**
 * Serves operations of actors as the tools of an MCP server, over stdio and streamable HTTP: of the protocol 2026-07-28, and of 2025-11-25 and
 * before for older clients. Operations that are not listed cannot be reached. It needs the package `@modelcontextprotocol/server`.
 *
 * @throws TypeError or RangeError (as a rejection) when an option is invalid, or two tools would have one name; Error when the package is
 * missing.
 * @example
 * const mcp = await serveMcp(system, { name: "notes", version: "1.0.0", expose: { notes: { ref: files, operations: ["read", "search"] } } });
 * Bun.serve({ port: 3000, hostname: "127.0.0.1", routes: { "/mcp": mcp.fetch } });
 */
export async function serveMcp<const E extends McpExposing = McpExposing>(
  system: System,
  options: ServeMcpOptions & { readonly expose?: E & KnownExposed<E> },
): Promise<McpServing> {
  if (typeof system?.inspect !== "function") {
    throw new TypeError(`An MCP server belongs to a system: serveMcp(system, options); got ${quote(system)}.`);
  }
  checkOptions(options, CHECKS, OWNER, EXAMPLE);
  for (const name of ["name", "version"] as const) CHECKS[name](options[name], name, OWNER); // Both must be there.
  const limits = limitsOf(options.limits);
  const tools = toolsOf(options.expose ?? {});
  const sdk = await loadServer();
  const offer = {
    tools,
    calls: new Calls(tools, limits),
    resources: options.files === undefined ? null : new Resources(options.files, sdk, limits),
    prompts: options.prompts === undefined ? null : new Prompts(options.prompts, sdk, limits),
  };
  const factory = new ServerFactory(sdk, offer, system.clock, options);
  const door = new HttpDoor(system, sdk, factory, limits, options);
  const connections = new Set<McpConnection>();
  let isClosed = false;
  return {
    tools: [...tools.keys()],
    fetch: door.fetch,
    async stdio(streams) {
      if (isClosed) throw new Error("This MCP server was closed: make another one.");
      const connection = await connect(factory, limits, streams);
      connections.add(connection);
      void connection.closed.then(() => connections.delete(connection));
      return connection;
    },
    async close() {
      isClosed = true;
      await Promise.all([door.close(), ...[...connections].map((connection) => connection.close())]);
    },
  };
}

async function connect(
  factory: ServerFactory,
  { body }: McpLimits,
  { input, output }: NonNullable<Parameters<McpServing["stdio"]>[0]> = { input: process.stdin, output: process.stdout },
): Promise<McpConnection> {
  const { serveStdio, StdioServerTransport } = await loadServerStdio();
  const transport = new StdioServerTransport(input, output, { maxBufferSize: body });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const serving = serveStdio(factory.make, { transport });
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    resolve();
  };
  return { closed, close: () => serving.close() };
}
