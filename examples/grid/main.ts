/**
 * Words counted over workers: `bun run demo:grid [--chaos] [--workers N] [--pages N] [--threads] [--seed N]`.
 *
 *   main ── count (ask) ──▶ pool of counters ── keep (ask) ──▶ store
 *
 * The counters run in workers (worker.ts), and the store in this process. A page that a dead worker had is answered with
 * `unreachable`, and is sent again, with the mark that it may repeat. The store takes each page once. job.ts compares the result with a
 * count in one process.
 */
import { type Command, parseCommand, USAGE, UsageError } from "./command-line";
import { type Job, judge } from "./job";
import { countOverWorkers } from "./over-workers";
import { reportOf } from "./report";
import { viewOn } from "./view";

/** Words of a page: some milliseconds of work. */
const WORDS = 20_000;

async function run(command: Command): Promise<number> {
  const view = viewOn(process.stdout);
  const interrupt = new AbortController();
  let exitCode = 0;
  const onSignal = (signal: "SIGINT" | "SIGTERM"): void => {
    exitCode = signal === "SIGINT" ? 130 : 143;
    if (interrupt.signal.aborted) process.exit(exitCode); // The second Ctrl-C.
    interrupt.abort();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  const job: Job = { ...command, words: WORDS, say: view.say, show: view.show, signal: interrupt.signal };
  const outcome = await countOverWorkers(job);
  process.off("SIGINT", onSignal);
  process.off("SIGTERM", onSignal);
  view.end();
  if (interrupt.signal.aborted) return exitCode;
  const verdict = judge(job, outcome);
  process.stdout.write(reportOf(job, outcome, verdict));
  return verdict.isRight ? 0 : 1;
}

try {
  const command = parseCommand(process.argv.slice(2));
  if (command === undefined) process.stdout.write(USAGE);
  else process.exitCode = await run(command);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
