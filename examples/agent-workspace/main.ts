/**
 * An agent at work in a folder: `bun run demo [folder] [--task TEXT] [--planner scripted|model] [--record FILE]`.
 *
 *   main ── work ──▶ agent ── plan ──▶ agent/planner      what to do next: thoughts, then one step
 *                      │
 *                      ├── list, read, write ──▶ files     the folder, and nothing outside of it
 *                      │                           ▲
 *                      └── execute ──▶ agent/code ─┘       code in a sandbox, which calls `tools.files.read({ path })`
 *
 * Each arrow is a typed message. `work` and `plan` are streams: what the planner thinks is printed while it thinks it.
 * `files` and `code` are the actors of envoi/tools; the others are those of protocols.ts. To read on:
 *   - work.ts puts the actors together; agent.ts is the loop of planning, doing and observing; perform.ts does each step
 *   - tools.ts and permission.ts say what code can call, and what it may write: below report/, and nowhere else
 *   - scripted/ is a planner that goes by rules, so that nothing of this needs a network: it chooses the table and its
 *     columns by the words of the task and the first lines of the tables, writes code, and mends it where it throws
 *   - model/ is a planner that asks a model, at any endpoint which speaks the protocol of chat completions
 *
 * A planner keeps nothing: it is sent all that has happened. One that fails by what may pass (the endpoint is busy, or
 * cuts its answer off) is restarted by its supervisor after a while, and asked again, three times in all; one that fails
 * by what does not pass, such as a wrong key, is stopped, and the agent says why. What it proposes is held to a schema
 * before anything is done.
 */
import { join } from "node:path";
import { type Command, parseCommand, USAGE, UsageError } from "./command-line";
import { modelPlanner } from "./model/planner";
import { printable } from "./printable";
import type { Happening } from "./protocols";
import { scriptedPlanner } from "./scripted/planner";
import { transcriptOn } from "./transcript";
import { CannotServe, work } from "./work";
import { sampleWorkspace } from "./workspace";

const INTERRUPTED = 130;
const print = (text: string): void => void process.stdout.write(text);

async function run({ folder: given, task, endpoint, record }: Command): Promise<number> {
  const interrupt = new AbortController();
  process.once("SIGINT", () => interrupt.abort()); // Once: a second Ctrl-C ends the program at once.
  const folder = given ?? sampleWorkspace();
  const by = endpoint === undefined ? "rules (scripted)" : `the model ${endpoint.model} at ${endpoint.baseUrl}`;
  print(`Folder: ${printable(folder)}\nTask: ${printable(task)}\nPlanned by ${printable(by)}\n`);

  const transcript = transcriptOn(print);
  let last: Happening | undefined;
  try {
    const planner = endpoint === undefined ? scriptedPlanner : modelPlanner(endpoint);
    for await (const happening of work({ folder, task, planner, record, signal: interrupt.signal })) {
      transcript.show(happening);
      last = happening;
    }
  } catch (thrown) {
    if (!interrupt.signal.aborted) throw thrown;
    print("\nStopped.\n");
    return INTERRUPTED;
  }
  if (record !== undefined) print(`\nThe run is recorded in ${printable(record)}.\n`);
  if (last?.kind !== "finished") return 1;
  print(`\nThe report is ${printable(join(folder, last.report))}. It begins:\n\n`);
  print(`${last.content.split("\n").slice(0, 12).map(printable).join("\n")}\n`);
  return 0;
}

try {
  const command = parseCommand(process.argv.slice(2), process.env);
  if (command === undefined) print(USAGE);
  else process.exitCode = await run(command);
} catch (error) {
  if (!(error instanceof UsageError || error instanceof CannotServe)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
