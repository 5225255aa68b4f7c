import type { Work } from "./room";

/** About how long one sample of work in sequence is to take, in nanoseconds: thousands of times what reading the clock costs. */
const BATCH = 300_000;

/** Work of a row that is ready, with how many operations each sample of it takes. */
export class PreparedWork {
  #done = 0;

  constructor(
    private readonly work: Work,
    private operations = 1,
    private readonly verify: (done: number) => void = () => {},
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

  /** Samples for so many milliseconds, and so many at least; throws unless all that was done is as it should be. */
  async samples(time: number, fewest: number): Promise<number[]> {
    const nanoseconds: number[] = [];
    Bun.gc(true);
    const end = performance.now() + time;
    while (nanoseconds.length < fewest || performance.now() < end) nanoseconds.push(await this.sample());
    this.verify(this.#done);
    return nanoseconds;
  }

  /** Nanoseconds an operation; throws unless all of them were complete. */
  async sample(): Promise<number> {
    const { operations } = this;
    const before = Bun.nanoseconds();
    const done = await this.work(operations);
    const taken = Bun.nanoseconds() - before;
    if (done !== operations) throw new Error(`${done} of ${operations} operations were complete`);
    this.#done += done;
    return taken / operations;
  }
}
