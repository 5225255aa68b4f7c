/**
 *   submit ── offer ──▶ workers (a pool) ── offer ──▶ results ──▶ write
 *
 * Each arrow waits while the mailbox that it leads to is full. So memory stays bounded, however many jobs there are.
 */
import { type Clock, type RefTo, receive, type System, spawnPool } from "envoi";
import { type Job, type Outcome, Results, type Summary, Worker } from "./protocols";
import { Hopeless } from "./work";

export interface PipelineOptions {
  /** Does a job. The signal is aborted when the attempt has had its time, and by nothing else. */
  readonly work: (job: Job, signal: AbortSignal) => Promise<unknown>;
  readonly write: (outcome: Outcome) => void | Promise<void>;
  /** Jobs at the same time. Default: 4. */
  readonly workers?: number;
  /** Jobs that wait for each worker. Default: 10. */
  readonly waiting?: number;
  /** How often a job is tried. Default: 3. */
  readonly attempts?: number;
  /** Longest attempt, in milliseconds. Default: 30,000. */
  readonly timeout?: number;
  /** The pause before the second attempt, in milliseconds; each further one is twice as long. Default: 1,000. */
  readonly pause?: number;
}

export interface Pipeline {
  /** Takes a line of JSON, and waits while the pipeline is full. False when the pipeline takes no more. */
  submit(line: string): Promise<boolean>;
  /** Ends the stages one after the other, with all that they still have, and counts. */
  end(): Promise<Summary>;
}

export function startPipeline(system: System, options: PipelineOptions): Pipeline {
  const { workers: size = 4, waiting: capacity = 10 } = options;
  const summary: Summary = { done: 0, failed: 0 }; // Here, so that it can be read once everything has stopped.
  const results = system.spawn("results", Results, () => resultsOf(options, summary), {
    capacity: 100,
    overflow: "wait",
    phase: 1, // It stops after the workers.
  });
  const workers = spawnPool(system, "workers", Worker, (ctx) => workerOf(ctx, results, options), {
    size,
    capacity,
    overflow: "wait",
    routing: "least-busy",
  });
  const door = receive(workers); // Jobs come from outside: their payload is validated here.

  return {
    async submit(line) {
      const job = parse(line);
      const offered = await door.offer("run", job, { timeout: Number.POSITIVE_INFINITY });
      if (offered.isOk()) return true;
      if (offered.error.kind !== "invalid-payload") return false;
      const id = idOf(job) ?? line.slice(0, 40);
      const why = offered.error.issues.map(({ path, message }) => `${path} ${message}`.trim()).join("; ");
      await results.offer("add", { id, ok: false, reason: `not a job: ${why}`, attempts: 0 });
      return true;
    },
    async end() {
      await system.stop(workers, { drain: true });
      await system.stop(results, { drain: true });
      return summary;
    },
  };
}

function workerOf(
  { clock }: { readonly clock: Clock },
  results: RefTo<typeof Results>,
  { work, attempts = 3, timeout = 30_000, pause = 1_000 }: PipelineOptions,
) {
  /**
   * One attempt. It ends at its timeout, also where the work does not heed the signal. That signal is the attempt's own: a stop
   * aborts `ctx.signal` also for the jobs that wait, and these are to be done.
   */
  async function attempt(job: Job): Promise<unknown> {
    const late = new AbortController();
    const reason = new Error(`it took longer than ${timeout} ms`);
    const timer = clock.setTimer(() => late.abort(reason), timeout);
    try {
      const ended = new Promise<never>((_resolve, reject) => {
        late.signal.addEventListener("abort", () => reject(reason), { once: true });
      });
      return await Promise.race([work(job, late.signal), ended]);
    } finally {
      timer.cancel();
    }
  }

  async function outcomeOf(job: Job): Promise<Outcome> {
    for (let count = 1; ; count++) {
      try {
        return { id: job.id, ok: true, value: await attempt(job), attempts: count };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (error instanceof Hopeless || count >= attempts) return { id: job.id, ok: false, reason, attempts: count };
      }
      await new Promise<void>((resolve) => void clock.setTimer(resolve, pause * 2 ** (count - 1)));
    }
  }

  return {
    // A job that fails is an outcome, and no failure of its worker: nothing restarts, and nothing is lost.
    async run(job: Job) {
      await results.offer("add", await outcomeOf(job), { timeout: Number.POSITIVE_INFINITY });
    },
  };
}

function resultsOf({ write }: PipelineOptions, summary: Summary) {
  return {
    async add(outcome: Outcome) {
      await write(outcome);
      summary[outcome.ok ? "done" : "failed"]++;
    },
  };
}

/** What a line says; the line itself where it is no JSON, which then does not fit the schema. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

const idOf = (job: unknown): string | undefined => {
  const { id } = (typeof job === "object" && job !== null ? job : {}) as { id?: unknown };
  return typeof id === "string" ? id : undefined;
};
