/** A process that measures rows with one build: the class starts one, and the program below is what runs in it. */
import { join } from "node:path";
import { Sampler } from "../harness/sampling";
import { ascending, quantile, SAMPLES_FOR_P99 } from "../harness/statistics";
import type { LeftOut, Prepared, Probe, ProbeFigure, Readings, Row, Suite } from "../harness/suite";
import type { Build } from "./build";
import type { Workshop } from "./workshop";

/** What a process is told to do; it does one thing at a time, and answers each. */
type Order =
  | { readonly order: "load"; readonly suite: string }
  /** Prepares a timed row, and warms it up for so many nanoseconds. */
  | { readonly order: "begin"; readonly row: string; readonly warmUp: number }
  /** Runs the row that was begun for so many nanoseconds. */
  | { readonly order: "turn"; readonly nanoseconds: number }
  /** Ends the row that was begun: its time, and its p99 where it has the samples. */
  | { readonly order: "end" }
  | { readonly order: "probe"; readonly row: string };

interface Answers {
  readonly load: { readonly rows: readonly Outline[]; readonly leftOut: readonly LeftOut[] };
  readonly begin: null;
  readonly turn: null;
  readonly end: Readings;
  readonly probe: Readings;
}
type Answer = { readonly value: Answers[Order["order"]] } | { readonly failed: string };

/** A row, as far as one must know it to order it. */
export interface Outline {
  readonly row: string;
  readonly kind: "timed" | "probe";
  readonly figures: readonly ProbeFigure[];
}
export type Loaded = Answers["load"];

/** For an order to be followed, in milliseconds: the longest probe takes half a minute on a busy machine. */
const PATIENCE = 120_000;
/** Of a process that died, the end of what it said, in characters. */
const LAST_WORDS = 500;

export class BuildProcess {
  readonly #child: ReturnType<Workshop["start"]>;
  #answered = Promise.withResolvers<Answer>();
  #hasEnded = false;

  constructor(
    private readonly workshop: Workshop,
    build: Build,
  ) {
    const program = join(build.folder, "benchmarks/compare/worker.ts");
    // Its temporary files go where they end with the workshop.
    const env = { TMPDIR: join(build.folder, "tmp") };
    const onMessage = (message: unknown): void => this.#answered.resolve(message as Answer); // Sent below.
    this.#child = workshop.start(build.folder, [program], env, onMessage);
    void this.#watch();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  async #watch(): Promise<void> {
    const [text] = await Promise.all([new Response(this.#child.stderr).text(), this.#child.exited]);
    this.#hasEnded = true;
    const { exitCode, signalCode } = this.#child;
    const words = text.trim().slice(-LAST_WORDS);
    this.#answered.resolve({ failed: `its process ended (${signalCode ?? exitCode})${words && `: ${words}`}` });
  }

  /** @throws Error with the reason that the process gave, or the signal's reason once that is aborted. */
  async ask<Name extends Order["order"]>(order: Extract<Order, { order: Name }>): Promise<Answers[Name]> {
    this.workshop.signal.throwIfAborted();
    if (!this.#hasEnded) {
      this.#answered = Promise.withResolvers();
      this.#child.send(order);
    }
    const timer = setTimeout(() => {
      this.#answered.resolve({ failed: `it was given up after ${PATIENCE / 1_000} s` });
      void this.stop();
    }, PATIENCE);
    const answer = await this.#answered.promise;
    clearTimeout(timer);
    this.workshop.signal.throwIfAborted();
    if ("failed" in answer) throw new Error(answer.failed);
    return answer.value as Answers[Name]; // The program below answers an order with what is its answer.
  }

  stop(): Promise<void> {
    this.#hasEnded = true;
    return this.workshop.end(this.#child);
  }
}

/** What the program does. */
class Worker {
  #suite: Suite | undefined;
  #begun: { readonly row: Row; readonly prepared: Prepared; readonly sampler: Sampler } | undefined;
  #turns: (readonly number[])[] = [];

  follow(order: Order): Promise<Answers[Order["order"]]> {
    switch (order.order) {
      case "load":
        return this.#load(order.suite);
      case "begin":
        return this.#begin(order.row, order.warmUp);
      case "turn":
        return this.#turn(order.nanoseconds);
      case "end":
        return this.end();
      case "probe":
        return this.#probe(order.row);
    }
  }

  async #load(name: string): Promise<Loaded> {
    const { suite }: { suite: Suite } = await import(join(import.meta.dir, "../suites", `${name}.bench.ts`));
    this.#suite = suite;
    const rows = suite.rows.map((row) => ({
      row: row.name,
      kind: row.kind,
      figures: row.kind === "probe" ? row.figures : [],
    }));
    return { rows, leftOut: suite.leftOut ?? [] };
  }

  #find<Kind extends "timed" | "probe">(kind: Kind, name: string): Extract<Row | Probe, { kind: Kind }> {
    const found = this.#suite?.rows.find((row) => row.kind === kind && row.name === name);
    if (found === undefined) throw new Error(`there is no row "${name}"`);
    return found as Extract<Row | Probe, { kind: Kind }>; // The compiler does not see that the kind tells the type.
  }

  async #begin(name: string, warmUp: number): Promise<null> {
    const row = this.#find("timed", name);
    const prepared = await row.setup();
    const sampler = new Sampler(row.name, row.operations, prepared);
    this.#begun = { row, prepared, sampler };
    this.#turns = [];
    await sampler.warmUp(warmUp);
    Bun.gc(true);
    return null;
  }

  async #turn(nanoseconds: number): Promise<null> {
    if (this.#begun === undefined) throw new Error("no row was begun");
    this.#turns.push((await this.#begun.sampler.turn(nanoseconds)).samples);
    return null;
  }

  async end(): Promise<Readings> {
    const begun = this.#begun;
    this.#begun = undefined;
    await begun?.prepared.teardown?.();
    if (begun === undefined || this.#turns.length === 0) return {};
    const { per } = begun.row;
    const all = ascending(this.#turns.flat());
    // What disturbs a turn makes it longer: the shortest is the least disturbed.
    const time = Math.min(...this.#turns.map((turn) => quantile(ascending(turn), QUICKEST))) * per;
    return { time, ...(all.length >= SAMPLES_FOR_P99 && { p99: quantile(all, 0.99) * per }) };
  }

  async #probe(name: string): Promise<Readings> {
    const measured = await this.#find("probe", name).measure("full");
    // What a probe gives beside its readings is the lines of charts.
    return typeof measured["readings"] === "object" ? measured["readings"] : (measured as Readings);
  }
}

/**
 * The share of a turn's samples that lie below its figure. Two like builds, on a machine with six other things to do, were half as
 * far apart by their first decile as by their median.
 */
const QUICKEST = 0.1;

if (import.meta.main) {
  const worker = new Worker();
  process.on("message", async (order: Order) => {
    let answer: Answer;
    try {
      answer = { value: await worker.follow(order) };
    } catch (error) {
      answer = { failed: error instanceof Error ? error.message : String(error) };
    }
    process.send?.(answer);
  });
  // Rows and what they share remove their files when they end, or when the process exits as it should.
  const leave = (): void => void worker.end().finally(() => process.exit(0));
  process.on("disconnect", leave);
  process.on("SIGTERM", leave);
}
