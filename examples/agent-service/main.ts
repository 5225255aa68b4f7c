/**
 * An agent behind HTTP: `bun run demo:service [--port N] [--data FOLDER]`, and open the address that it prints.
 *
 *   page ── POST /sessions/:id/messages ──▶ gateway ── work, goOn ──▶ sessions/:id   the agent of one session
 *     ▲                                        │                        ├── list, read, write ──▶ files   a folder of its own
 *     │                                        │                        ├── get ──▶ fetch               the URLs of --allow
 *     │                                        │ each step is stored,   └── execute ──▶ code ──────▲      in a sandbox
 *     └── GET /sessions/:id/events ────────────┘ and then sent
 *
 * Each step of the agent is an event of its session, kept in SQLite before anybody sees it. So the service may be killed at any
 * moment, with -9, too. Started again on the same folder,
 *   - it ends each message that was being answered by an `error` event, since nobody knows how much of it was done;
 *   - the agent becomes what it was by reading its log (run.ts);
 *   - the page, whose client has been trying to come back all the while, gets what it missed, and no event twice;
 *   - it then sends `goOn`, under a key that the event names, so that ten pages begin it once: the agent goes on after the last
 *     step whose result is in the log. A step without a result is done again: to write a file or to run code twice does no harm.
 *
 * With --trace, it prints the trace of each message: tracing.ts.
 *
 * To read on: service.ts puts it together; agent.ts is the loop; model.ts has `Model`, **the function where a model goes**, and one
 * that follows a plan; chat.ts has one that asks a server; page/ is what the browser gets, made with envoi/http/client.
 */
import { chatModel, endpointIn } from "./chat";
import { parseCommand, USAGE, UsageError } from "./command-line";
import { planned } from "./model";
import { CannotStart, startService } from "./service";

try {
  const command = parseCommand(process.argv.slice(2), process.env);
  if (command === undefined) process.stdout.write(USAGE);
  else {
    const endpoint = endpointIn(process.env);
    const model = endpoint === undefined ? planned : chatModel(endpoint);
    const show = (tree: string): void => void process.stdout.write(`${tree}\n`);
    // Loaded on request: without it, the packages of OpenTelemetry are not needed.
    const tracing = command.trace ? (await import("./tracing")).tracing(show) : undefined;
    const { url } = await startService({ ...command, model, ...(tracing && { tracing }) });
    process.stdout.write(`The agent is at ${url.href}\nIts sessions are kept in ${command.data}. Ctrl-C ends it.\n`);
  }
} catch (error) {
  if (!(error instanceof UsageError || error instanceof CannotStart)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
