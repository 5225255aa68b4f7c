/**
 * An MCP server over a folder: `bun run examples/code-server/mcp.ts FOLDER`, and with `--http PORT` over streamable HTTP.
 *
 *   client ── files_list, files_read, files_search, files_write, files_edit ──▶ files        the folder, and nothing outside of it
 *     │                                                                           ▲
 *     └── code_run ──▶ code ── executeStream ──▶ code/sandbox ── tools.files ─────┘          code in a sandbox
 *
 * To read on: tools.ts says what is served of the folder; code-mode.ts is the tool that runs code; agent.ts serves the same actors
 * to editors, as an agent; README.md has the configuration to paste.
 */
import { createSystem } from "envoi";
import { serveMcp } from "envoi/mcp";
import { codeModeDescription, spawnCodeMode } from "./code-mode";
import { parseCommand } from "./command-line";
import { runProgram } from "./program";
import { fileTools, spawnFiles } from "./tools";

await runProgram("mcp", async () => {
  const command = parseCommand(process.argv.slice(2), "mcp", process.env);
  if (command === undefined) return false;
  const system = createSystem({ name: "code-server" });
  const files = spawnFiles(system, command);
  const tools = fileTools(files, command);
  const code = spawnCodeMode(system, { tools, time: command.time });
  const mcp = await serveMcp(system, {
    name: "code-server",
    version: "1.0.0",
    title: "Code server",
    instructions: "Files of one folder, by paths below it. Use code_run where several calls would be needed.",
    expose: { ...tools, code: { ref: code, operations: { run: { description: codeModeDescription(tools) } } } },
    files: { folder: files },
    limits: { time: command.time + 60_000 }, // A run may wait for a place first.
  });
  const giveUp = () => mcp.close(); // Calls under way would hold the end up.
  if (command.http === undefined) {
    system.shutdownOnSignals({ onSignal: giveUp });
    const { closed } = await mcp.stdio(); // Nothing else may write to stdout.
    await closed;
    await system.shutdown();
  } else {
    const server = Bun.serve({ hostname: "127.0.0.1", port: command.http, routes: { "/mcp": mcp.fetch } });
    system.shutdownOnSignals({ onSignal: giveUp, onShutdown: () => server.stop(true) });
    console.log(`It listens at ${new URL("/mcp", server.url)}`);
  }
  return true;
});
