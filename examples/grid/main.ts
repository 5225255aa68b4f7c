/**
 * Words counted over workers: `bun run demo:grid [--chaos] [--workers N] [--pages N] [--threads]`.
 *
 *   main ── count (ask) ──▶ pool of counters ── keep (ask) ──▶ store
 *
 * The counters run in workers (worker.ts), and the store in this process. What a worker that was killed had is answered with
 * `unreachable`, and is sent again, with the mark that it may repeat. The store takes each page once. job.ts compares the result with a
 * count in one process.
 */
import { type Command, parseCommand, USAGE, UsageError } from "./command-line";
import { type Job, judge } from "./job";
import { countOverWorkers } from "./over-workers";
import { reportOf } from "./report";

/** Words of a page: some milliseconds of work. */
const WORDS = 20_000;

async function run(command: Command): Promise<number> {
  const job: Job = { ...command, words: WORDS, say: (line) => void process.stdout.write(`${line}\n`) };
  const outcome = await countOverWorkers(job);
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
