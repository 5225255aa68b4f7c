import { createSystem, type System } from "envoi";
import { serveAgent } from "envoi/acp";
import { serveMcp } from "envoi/mcp";
import { type Channel, stdioChannel } from "envoi/rpc";
import { Session, sessionOf } from "./session";
import { createTasks, Tasks } from "./tasks";

const ABOUT = { name: "agent", version: "0.1.0" };

/** Serves the agent to one editor. A session is an actor, made when it is first called. */
export function serveEditor(system: System, channel: Channel) {
  const tasks = system.spawn("tasks", Tasks, createTasks);
  system.resolve("sessions/", (_, id) => system.spawn(id, Session, sessionOf(tasks)), { idle: 3_600_000 });
  return serveAgent(system, channel, { ...ABOUT, sessions: { prefix: "sessions/", protocol: Session } });
}

/** Serves the tool to clients of MCP: over stdio, or over HTTP by its `fetch`. */
export function serveTools(system: System) {
  const tasks = system.spawn("tasks", Tasks, createTasks);
  return serveMcp(system, { ...ABOUT, expose: { tasks: { ref: tasks, operations: ["add", "list", "remove"] } } });
}

/** Serves the client that has started this process, until it leaves or a signal comes. */
export async function run(door: "acp" | "mcp"): Promise<void> {
  const system = createSystem({ name: ABOUT.name });
  const { closed, close } =
    door === "mcp" ? await (await serveTools(system)).stdio() : serveEditor(system, stdioChannel());
  system.shutdownOnSignals({ onSignal: () => close() }); // What is under way is given up, and not waited for.
  await closed;
  await system.shutdown();
}
