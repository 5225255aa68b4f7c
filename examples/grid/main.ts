/**
 * Words counted over workers, or over machines: `bun run demo:grid [--nats] [--chaos] [--workers N] [--pages N] [--threads] [--seed N]`.
 *
 *   main ── count (ask) ──▶ pool of counters ── keep (ask) ──▶ store
 *
 *   main ── count (durable) ──▶ JetStream ──▶ machine: pool of counters ── keep (ask) ──▶ machine ──▶ store in main
 *
 * The counters run in workers (worker.ts, counter.ts: the same for both), and the store in this process. Nothing acknowledged is lost, because
 *   - a page that a dead worker had is answered with `unreachable`, and is sent again, with the mark that it may repeat (over-workers.ts);
 *   - a page that a dead machine had is still in JetStream, and goes to another machine, with that mark (over-nats.ts, machine.ts);
 *   - the store takes each page once (store.ts).
 * job.ts compares the result with a count in one process.
 */
import { findNatsServer, NATS_HINT } from "../../benchmarks/harness/nats-server";
import { type Command, parseCommand, USAGE, UsageError } from "./command-line";
import { type Job, judge } from "./job";
import { countOverNats } from "./over-nats";
import { countOverWorkers } from "./over-workers";
import { reportOf } from "./report";
import { viewOn } from "./view";

/** Words of a page: some milliseconds of work. */
const WORDS = 20_000;

async function run(command: Command): Promise<number> {
  const view = viewOn(process.stdout);
  if (command.nats) {
    view.show("Looking for a server of NATS; where there is none, one is fetched.");
    if ((await findNatsServer()) === undefined) throw new UsageError(`There is no nats-server here: ${NATS_HINT}.`);
  }
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
  const outcome = await (command.nats ? countOverNats : countOverWorkers)(job);
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
