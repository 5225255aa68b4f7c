/**
 * Does the jobs of a file, or of standard input: `bun start jobs.jsonl > results.jsonl`. Ctrl-C takes no more jobs, and finishes
 * those that were taken; a second one ends at once. Status 1: some job failed. Status 2: the jobs cannot be read.
 */
import { createSystem } from "envoi";
import { startPipeline } from "./pipeline";
import { work } from "./work";

const system = createSystem({ name: "jobs" });
system.shutdownOnSignals({ drain: true, timeout: 60_000 });

const pipeline = startPipeline(system, { work, write: (outcome) => console.log(JSON.stringify(outcome)) });

const [path] = process.argv.slice(2);
const input = path === undefined ? Bun.stdin.stream() : Bun.file(path).stream();
let rest = "";
let isOpen = true;
let unread = "";
try {
  for await (const text of input.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (isOpen && line.trim() !== "") isOpen = await pipeline.submit(line);
    if (!isOpen) break;
  }
  if (isOpen && rest.trim() !== "") await pipeline.submit(rest);
} catch (error) {
  unread = `The jobs cannot be read: ${error instanceof Error ? error.message : error}. `; // Those that were taken are done.
}

const { done, failed } = await pipeline.end();
console.error(`${unread}${done} done, ${failed} failed.`);
await system.shutdown();
process.exitCode = unread !== "" ? 2 : failed === 0 ? 0 : 1;
