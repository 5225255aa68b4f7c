import type { Work } from "./peer";

/** About how long one sample is to take, in nanoseconds: thousands of times what reading the clock costs. */
const BATCH = 300_000;

/** Work of a row that is ready, with how many operations each sample of it takes. */
export class PreparedWork {
  constructor(
    private readonly work: Work,
    private operations: number,
  ) {}

  /**
   * Finds how many operations take about `BATCH`, and are no more than `most`, in so many milliseconds: while code is compiled, and
   * other processes come between, a few take long, which says nothing of later ones.
   */
  async fit(most: number, time: number): Promise<void> {
    this.operations = 1;
    const end = performance.now() + time;
    do {
      if ((await this.sample()) * this.operations < BATCH) this.operations = Math.min(2 * this.operations, most);
    } while (performance.now() < end);
  }

  /** Nanoseconds an operation; throws unless all of them were complete. */
  async sample(): Promise<number> {
    const { operations } = this;
    const before = Bun.nanoseconds();
    const done = await this.work(operations);
    const taken = Bun.nanoseconds() - before;
    if (done !== operations) throw new Error(`${done} of ${operations} operations were complete`);
    return taken / operations;
  }
}
