/**
 * An agent of the Agent Client Protocol over a folder, for editors: `bun run examples/code-server/agent.ts FOLDER`.
 *
 *   editor ── session/prompt ──▶ sessions/ID        the agent of one session
 *     ▲                            ├── files_list, files_read, files_search, files_write ──▶ files      the folder
 *     │                            │                                                          ▲
 *     │                            └── code_run ──▶ code ── executeStream ──▶ sandbox ────────┘
 *     └── session/request_permission ── before anything is written: by the agent, or by code that it runs
 *
 * To read on: session.ts is the loop; permission.ts asks the user; commands.ts is the model that needs no network. With
 * OPENAI_BASE_URL and OPENAI_MODEL, the model of examples/agent-service/chat.ts takes what is no command.
 */
import { createSystem } from "envoi";
import { serveAgent } from "envoi/acp";
import { stdioChannel } from "envoi/rpc";
import { chatModel, endpointIn } from "../agent-service/chat";
import { parseCommand } from "./command-line";
import { commands } from "./commands";
import { runProgram } from "./program";
import { Session, sessionOf } from "./session";
import { spawnFiles } from "./tools";

await runProgram("agent", async () => {
  const command = parseCommand(process.argv.slice(2), "agent", process.env);
  if (command === undefined) return false;
  const endpoint = endpointIn(process.env);
  const model = commands(endpoint && chatModel(endpoint));
  const system = createSystem({ name: "code-server" });
  const files = spawnFiles(system, command);
  const options = { files, command, model };
  system.resolve("sessions/", (_, id) => system.spawn(id, Session, sessionOf(options)), { idle: 3_600_000 });
  const { closed, close } = serveAgent(system, stdioChannel(), {
    name: "code-server",
    version: "1.0.0",
    title: "Code server",
    sessions: { prefix: "sessions/", protocol: Session },
  });
  system.shutdownOnSignals({ onSignal: close }); // Turns under way would hold the end up.
  await closed;
  await system.shutdown();
  return true;
});
