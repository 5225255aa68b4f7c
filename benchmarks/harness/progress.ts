import { span, type Times } from "./estimate";
import type { Effort } from "./measure";
import type { Suite } from "./suite";
import type { Terminal } from "./surroundings";

/** Before this many of the expected seconds are over, the machine's own pace is not known. */
const PACED = 5;

type Told = Pick<Terminal, "err" | "progress" | "isTerminal">;

export const counted = (rows: number): string => `${rows} ${rows === 1 ? "row" : "rows"}`;

/** Tells where a run is: a line that changes on a terminal, else a line for each suite. */
export class Progress {
  readonly #around: Told;
  readonly #expected: (suite: string, row: Suite["rows"][number]) => number;
  readonly #total: number;
  readonly #now: () => number;
  readonly #start: number;
  #over = 0;

  /** @param now Seconds; a test may give its own. */
  constructor(
    around: Told,
    suites: readonly Suite[],
    effort: Effort,
    times: Times,
    now: () => number = () => performance.now() / 1_000,
  ) {
    this.#around = around;
    this.#expected = (suite, row) => times.of(suite, row, effort);
    this.#total = times.total(suites, effort);
    this.#now = now;
    this.#start = now();
    const rows = suites.reduce((sum, suite) => sum + suite.rows.length, 0);
    const of = suites.length === 1 ? "" : ` of ${suites.length} suites`;
    around.err(`${counted(rows)}${of}: about ${span(this.#total)}.\n`);
  }

  /** A suite begins. */
  suite({ name, rows }: Suite): void {
    if (this.#around.isTerminal) return;
    this.#around.err(`${name}: ${counted(rows.length)}; ${span(this.left())} left\n`);
  }

  /** A row begins. */
  row({ name, rows }: Suite, row: Suite["rows"][number]): void {
    const where = `${rows.indexOf(row) + 1}/${rows.length}`;
    this.#around.progress(`${name} ${where}, ${span(this.left())} left: ${row.name}`);
  }

  /** How many seconds a row may take: so much longer than expected, that it will never end. */
  patience({ name }: Suite, row: Suite["rows"][number]): number {
    return 60 + 10 * this.#expected(name, row);
  }

  /** A row is over, measured or not. */
  over(suite: Suite, row: Suite["rows"][number]): void {
    this.#over += this.#expected(suite.name, row);
    this.#around.progress("");
  }

  /** Seconds that are left, at the pace so far. */
  left(): number {
    const pace = this.#over < PACED ? 1 : (this.#now() - this.#start) / this.#over;
    return Math.max(0, this.#total - this.#over) * pace;
  }
}
