/**
 * Starts the agent for an editor: `bun start`; its tools for a client of MCP: `bun start --mcp`. Both speak over stdin and stdout,
 * so nothing else may write there: log to `console.error`.
 */
import { run } from "./agent";

await run(process.argv.includes("--mcp") ? "mcp" : "acp");
