/** A process that measures the timed rows of a suite with one build. The class starts one, and the program below runs in it. */
import { join } from "node:path";
import type { Subprocess } from "bun";
import { descendants, endDescendants, signalAll } from "../harness/processes";
import { Sampler } from "../harness/sampling";
import { ascending, quantile, SAMPLES_FOR_P99 } from "../harness/statistics";
import type { Prepared, Readings, Suite } from "../harness/suite";

/** A process does one thing at a time, and answers each order. */
type Order =
  | { readonly order: "begin"; readonly row: string; readonly warmUp: number } // Milliseconds, as below.
  | { readonly order: "turn"; readonly length: number }
  | { readonly order: "end" };
type Answer = { readonly readings: Readings } | { readonly failed: string };

/** Milliseconds for an order to be followed. */
const PATIENCE = 60_000;
/** Milliseconds for a process to put away what it made. */
const GRACE = 2_000;
const MS = 1e6;
/**
 * The share of a turn's samples that lie below its time. Two like builds, on a machine with six other things to do, were half as far
 * apart by their first decile as by their median.
 */
const QUICKEST = 0.1;

export class BuildProcess {
  readonly #child: Subprocess<"ignore", "ignore", "pipe">;
  #answered = Promise.withResolvers<Answer>();
  /** Why no more is to be expected of it. */
  #end: string | undefined;

  /** @param signal Ends it once aborted. */
  constructor(
    build: string,
    suite: string,
    private readonly signal: AbortSignal,
  ) {
    signal.throwIfAborted();
    this.#child = Bun.spawn([process.execPath, join(build, "benchmarks/compare/worker.ts"), suite], {
      cwd: build,
      env: { ...process.env, TMPDIR: build }, // The build is removed.
      stdio: ["ignore", "ignore", "pipe"],
      detached: true, // A terminal's Ctrl-C reaches it by the signal alone.
      signal,
      ipc: (answer: Answer) => this.#answered.resolve(answer),
    });
    void this.#watch();
  }

  async #watch(): Promise<void> {
    const [text] = await Promise.all([this.#child.stderr.text(), this.#child.exited]);
    const words = text.trim().slice(-500);
    this.#end = `its process ended (${this.#child.signalCode ?? this.#child.exitCode})${words && `: ${words}`}`;
    this.#answered.resolve({ failed: this.#end });
  }

  /** @throws Error with the reason that the process gave, or the signal's reason once that is aborted. */
  async ask(order: Order): Promise<Readings> {
    this.signal.throwIfAborted();
    if (this.#end !== undefined) throw new Error(this.#end);
    this.#answered = Promise.withResolvers();
    this.#child.send(order);
    const failed = `it was given up after ${PATIENCE / 1_000} s`;
    const timer = setTimeout(() => this.#answered.resolve({ failed }), PATIENCE);
    const answer = await this.#answered.promise;
    clearTimeout(timer);
    this.signal.throwIfAborted();
    if ("failed" in answer) throw new Error(answer.failed);
    return answer.readings;
  }

  /** Lets it put away what it made, and ends it where it does not. */
  async stop(): Promise<void> {
    if (this.#end === undefined) this.#child.disconnect();
    const { pid } = this.#child;
    const timer = setTimeout(() => signalAll([pid, ...descendants(pid)], "SIGKILL"), GRACE);
    await this.#child.exited;
    clearTimeout(timer);
  }
}

/** What the program does. */
class Worker {
  readonly #suite: Promise<{ readonly suite: Suite }>;
  #prepared: Prepared | undefined;
  #sampler: Sampler | undefined;
  #turns: (readonly number[])[] = [];
  /** Operations that one figure covers. */
  #per = 1;

  constructor(name: string) {
    this.#suite = import(join(import.meta.dir, "../suites", `${name}.bench.ts`));
  }

  async follow(order: Order): Promise<Readings> {
    if (order.order === "end") return this.#end();
    if (order.order === "begin") await this.#begin(order.row, order.warmUp);
    else if (this.#sampler) this.#turns.push((await this.#sampler.turn(order.length * MS)).samples);
    return {};
  }

  async #begin(name: string, warmUp: number): Promise<void> {
    const row = (await this.#suite).suite.rows.find((each) => each.name === name);
    if (row?.kind !== "timed") throw new Error("there is no such row");
    this.#turns = [];
    this.#per = row.per;
    this.#prepared = await row.setup();
    this.#sampler = new Sampler(name, row.operations, this.#prepared);
    await this.#sampler.warmUp(warmUp * MS);
    Bun.gc(true);
  }

  async #end(): Promise<Readings> {
    await this.putAway();
    const all = ascending(this.#turns.flat());
    // Disturbances make a turn longer, so the shortest is the least disturbed.
    const time = Math.min(...this.#turns.map((turn) => quantile(ascending(turn), QUICKEST))) * this.#per;
    return { time, ...(all.length >= SAMPLES_FOR_P99 && { p99: quantile(all, 0.99) * this.#per }) };
  }

  async putAway(): Promise<void> {
    const prepared = this.#prepared;
    this.#prepared = this.#sampler = undefined;
    await prepared?.teardown?.();
  }
}

if (import.meta.main) {
  const worker = new Worker(process.argv[2] ?? "");
  process.on("message", async (order: Order) => {
    let answer: Answer;
    try {
      answer = { readings: await worker.follow(order) };
    } catch (error) {
      answer = { failed: error instanceof Error ? error.message : String(error) };
    }
    process.send?.(answer);
  });
  // Rows and what they share remove their files when they end, or when the process exits as it should.
  const leave = (): void =>
    void worker.putAway().finally(() => {
      endDescendants("SIGTERM");
      process.exit(0);
    });
  for (const event of ["disconnect", "SIGTERM"]) process.on(event, leave);
}
