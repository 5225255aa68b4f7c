import { quote, type System } from "../../index";
import { loadClient } from "../sdk";
import { type ConnectMcpOptions, checkConnecting, type McpTools } from "./options";
import { RemoteServer } from "./remote-server";

/**
 * Connects to another MCP server, a program or a URL, and makes its tools one actor: `@(mcp/NAME/tools)`, with one operation for each tool, which
 * replies with `{ ok: true, value }` or `{ ok: false, error }`. The connection is made anew when it is lost, as its actor's supervisor decides.
 * The list of tools is followed: the event `mcp:tools` of the system tells of a change. It needs the package `@modelcontextprotocol/client`.
 *
 * @throws TypeError or RangeError (as a rejection) when an option is invalid; Error when the package is missing, or the first connection
 * cannot be made.
 * @example
 * const time = await connectMcp(system, { name: "time", command: ["uvx", "mcp-server-time"] });
 * const reply = await time.ref.ask("get_current_time", { timezone: "Europe/Berlin" });
 */
export async function connectMcp(system: System, options: ConnectMcpOptions): Promise<McpTools> {
  if (typeof system?.resolve !== "function") {
    throw new TypeError(`Tools belong to a system: connectMcp(system, options); got ${quote(system)}.`);
  }
  checkConnecting(options);
  const remote = new RemoteServer(system, await loadClient(), options);
  await remote.open();
  return {
    get ref() {
      return system.ref(remote.address, remote.protocol);
    },
    get protocol() {
      return remote.protocol;
    },
    get server() {
      return remote.server;
    },
    close: () => remote.close(),
  };
}
