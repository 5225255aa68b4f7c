import { measure } from "mitata";
import { digits } from "./format";
import { median } from "./statistics";
import type { Prepared } from "./suite";

/** Shortest sample, in nanoseconds: reading the clock twice, some 60 ns, is then a third of a percent of it. */
const SHORTEST_SAMPLE = 20_000;
const UNROLL = 4; // mitata unrolls a batch by four, so a batch is a multiple of it.
const LARGEST_BATCH = 16_384;

/** Nanoseconds: the quickest of processors take more for an instruction, so an operation that takes less was not done. */
const INSTRUCTION = 0.01;

export interface Round {
  readonly samples: readonly number[];
  readonly operations: number;
  /** From the start of the first sample to the end of the last, what lies between them included. */
  readonly wall: number;
}

export class Sampler {
  private batch = 1;
  private readonly proof: Proof;

  constructor(
    private readonly name: string,
    private readonly operations: number,
    private readonly prepared: Prepared,
  ) {
    this.proof = new Proof(name, operations, prepared);
  }

  get operationsPerSample(): number {
    return this.batch * this.operations;
  }

  /** Runs for about `budget` nanoseconds, and `fewest` calls, and chooses how many calls make a sample. */
  async warmUp(budget: number, fewest = 3): Promise<void> {
    const end = Bun.nanoseconds() + budget;
    let taken = Number.POSITIVE_INFINITY; // By the quickest call: the last one is often one that had to wait for the processor.
    for (let calls = 0; calls < fewest || Bun.nanoseconds() < end; calls++) {
      const start = Bun.nanoseconds();
      await this.proof.call();
      taken = Math.min(taken, Bun.nanoseconds() - start);
    }
    this.batch = taken >= SHORTEST_SAMPLE ? 1 : await this.fillSample();
  }

  // Timed by growing groups, since one call may be shorter than a reading of the clock.
  private async fillSample(): Promise<number> {
    for (let batch = UNROLL; ; batch *= 2) {
      const times: number[] = [];
      for (let i = 0; i < 5; i++) times.push((await this.sample(batch, 1, 0)).wall);
      if (median(times) >= SHORTEST_SAMPLE || batch >= LARGEST_BATCH) return batch;
    }
  }

  turn(budget: number, fewest = 3): Promise<Round> {
    return this.sample(this.batch, fewest, budget);
  }

  private async sample(batch: number, fewest: number, budget: number): Promise<Round> {
    let first = 0;
    let last = 0;
    const options = {
      // mitata decides by its first call whether to batch; a busy moment must not change that between rounds.
      warmup_threshold: batch > 1 ? Number.POSITIVE_INFINITY : -1,
      batch_threshold: Number.POSITIVE_INFINITY,
      batch_samples: batch,
      batch_unroll: UNROLL,
      samples_threshold: Number.POSITIVE_INFINITY, // Keeps the two slowest samples, which mitata drops by default.
      min_samples: fewest,
      min_cpu_time: budget,
      gc: false,
      now: () => {
        last = Bun.nanoseconds();
        if (first === 0) first = last;
        return last;
      },
    };
    const { samples, ticks } = await measure(this.prepared.run, options);
    // Before the samples mitata calls once to see whether the function is asynchronous, and once more if it batches.
    this.proof.expect(ticks + (batch > 1 ? 2 : 1));
    const each = median(samples) / this.operations;
    if (each < INSTRUCTION) {
      throw new RefusedRow(this.name, `it counts what it does not do: an operation took ${digits(each)} ns`);
    }
    return {
      samples: samples.map((each) => each / this.operations),
      operations: ticks * this.operations,
      wall: last - first,
    };
  }

  async smoke(): Promise<void> {
    for (let i = 0; i < 3; i++) await this.proof.call();
  }
}

/** A row that does not do its work: its figures would be worthless, so none are given. */
export class RefusedRow extends Error {
  constructor(row: string, reason: string) {
    super(`Row "${row}" is refused: ${reason}.`);
    this.name = "RefusedRow";
  }
}

export class Proof {
  private calls = 0;

  constructor(
    private readonly row: string,
    private readonly operations: number,
    private readonly prepared: Prepared,
  ) {
    if (prepared.run.length !== 0) throw new RefusedRow(row, "its run() must take no argument");
  }

  /** Calls `run` once and checks at once that all its operations are complete; a row may not return before its work is done. */
  async call(): Promise<void> {
    const returned = this.prepared.run();
    if (returned instanceof Promise) await returned;
    this.expect(1);
  }

  expect(calls: number): void {
    this.calls += calls;
    const completed = this.prepared.completed();
    if (completed === 0) throw new RefusedRow(this.row, "it did nothing: no operation was completed");
    if (completed !== this.calls * this.operations) {
      const due = `${this.calls} × ${this.operations} were due`;
      throw new RefusedRow(this.row, `${completed} operations were complete when ${due}`);
    }
    try {
      this.prepared.verify?.(this.calls);
    } catch (error) {
      throw new RefusedRow(this.row, error instanceof Error ? error.message : String(error));
    }
  }
}
