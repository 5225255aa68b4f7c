import { type Effort, measureRow, smokeRow } from "./measure";
import type { RowResult } from "./results";
import { RefusedRow } from "./sampling";
import type { Suite } from "./suite";
import { threadTime, waitedTime } from "./timer";
import { follow, WorkerProcess } from "./worker";

interface Order {
  readonly row: string;
  /** How long to measure it; left out where a few calls of it are enough. */
  readonly effort: Effort | undefined;
}

/** The rows of one suite have a process of their own: other suites have no part in it. After a row that fails there is another. */
export class SuiteProcess {
  #process: WorkerProcess<Order, RowResult | undefined> | undefined;

  constructor(private readonly file: string) {}

  /**
   * Measures a row, or without an effort only sees that it does its work. It is given up after so many seconds (`patience`).
   *
   * @throws OrderError as the row failed there.
   */
  async run(row: string, effort: Effort | undefined, patience: number): Promise<RowResult | undefined> {
    this.#process ??= new WorkerProcess([import.meta.path, this.file]);
    try {
      return await this.#process.ask({ row, effort }, 1_000 * patience);
    } catch (error) {
      await this.end(); // What the row left behind goes with its process.
      throw error;
    }
  }

  async end(): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    await process?.end();
  }
}

/** Milliseconds in which a thread without work uses less of a processor than a share; a busy machine gives one with work little more. */
const REST = { window: 20, windows: 10, share: 0.1 };

/** The time in which this thread slept or ran, as a busy machine may keep one with work waiting for most of a window. */
const ownTime = (): number => performance.now() - waitedTime();

/** @throws RefusedRow when work of a row goes on in this thread: it would be measured with the next row. */
async function comeToRest(row: string): Promise<void> {
  for (let i = 0, quiet = 0; i < REST.windows; i++) {
    const [start, used] = [ownTime(), threadTime()];
    do await Bun.sleep(REST.window);
    while (ownTime() - start < REST.window);
    quiet = threadTime() - used < REST.share * (ownTime() - start) ? quiet + 1 : 0;
    if (quiet === 2) return; // In one, the time of a thread may not have been told yet.
  }
  throw new RefusedRow(row, "it left work behind, which goes on once the row is over");
}

if (import.meta.main) {
  const loading: Promise<{ readonly suite: Suite }> = import(process.argv[2] ?? "");
  follow<Order>(async ({ row: name, effort }) => {
    const row = (await loading).suite.rows.find((each) => each.name === name);
    if (row === undefined) throw new Error("it is not there in a process of its own");
    const result = effort === undefined ? await smokeRow(row) : await measureRow(row, effort);
    await comeToRest(name);
    return result;
  });
}
