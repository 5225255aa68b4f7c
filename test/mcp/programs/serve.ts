/** Serves a desk: over stdio, or over HTTP with its URL as the first line. For tests, in a process of its own. */
import { Volume } from "memfs";
import { createSystem } from "../../../src/index";
import { spawnFileSystem } from "../../../src/tools/index";
import { createDesk, Desk, serveDesk } from "../desk";

const system = createSystem();
const volume = Volume.fromJSON({ "/notes/tea.md": "# Tea" });
const greeter = system.spawn("greeter", Desk, createDesk);
const mcp = await serveDesk(system, {
  files: { notes: spawnFileSystem(system, { root: "/notes", volume }) },
  prompts: { greet: { ref: greeter, operation: "greet" } },
});
if (process.argv[2] === "stdio") {
  const { closed } = await mcp.stdio();
  await closed;
  await system.shutdown();
} else {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", routes: { "/mcp": mcp.fetch } });
  console.log(new URL("/mcp", server.url).href);
}
