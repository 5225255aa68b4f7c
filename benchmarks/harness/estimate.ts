import { type Effort, FULL } from "./measure";
import { readResults } from "./results";
import type { Probe, Row, Suite } from "./suite";
import type { Terminal } from "./terminal";

/** How many seconds a row takes that was never measured: a timed one at full effort, and a round of a probe. */
const UNKNOWN = { timed: 1.6, probe: 1.5 };

/** How long rows took when they were measured last; results that cannot be read are as good as none. */
export class Times {
  private constructor(private readonly known: ReadonlyMap<string, number>) {}

  static async read(folder: string): Promise<Times> {
    const results = await readResults(folder).catch(() => []);
    const known = results.flatMap(({ suite, rounds, probeRounds = rounds, rows }) =>
      rows.map(({ row, kind, seconds }) => {
        const share = kind === "probe" ? 1 / probeRounds : FULL.rounds / rounds;
        return [keyOf(suite, row), seconds * share] as const;
      }),
    );
    return new Times(new Map(known));
  }

  /** How long a row will take, in seconds. */
  of(suite: string, row: Row | Probe, effort: Effort): number {
    const last = this.known.get(keyOf(suite, row.name)) ?? UNKNOWN[row.kind];
    if (row.kind === "probe") return last * (row.rounds ?? effort.probeRounds);
    return (last * effort.rounds * effort.turn) / (FULL.rounds * FULL.turn);
  }
}

const keyOf = (suite: string, row: string): string => `${suite}\n${row}`;

/** A time as one says it: `45 s`, `2 min 10 s`, `1 h 5 min`. */
export function span(seconds: number): string {
  const whole = seconds < 60 ? Math.max(1, Math.round(seconds)) : Math.round(seconds / 5) * 5;
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  const parts = [hours > 0 && `${hours} h`, minutes > 0 && `${minutes} min`, rest > 0 && hours === 0 && `${rest} s`];
  return parts.filter(Boolean).join(" ");
}

/** Before this many of the expected seconds are over, the machine's own pace is not known. */
const PACED = 5;

export const counted = (rows: number): string => `${rows} ${rows === 1 ? "row" : "rows"}`;

/** Tells where a run is: a line that changes on a terminal, else a line for each suite. */
export class Progress {
  readonly #around: Pick<Terminal, "err" | "progress" | "isTerminal">;
  readonly #expected: (suite: Suite, row: Row | Probe) => number;
  readonly #total: number;
  readonly #now: () => number;
  readonly #start: number;
  #over = 0;

  /** @param now Seconds; a test may give its own. */
  constructor(
    around: Pick<Terminal, "err" | "progress" | "isTerminal">,
    suites: readonly Suite[],
    effort: Effort,
    times: Times,
    now: () => number = () => performance.now() / 1_000,
  ) {
    this.#around = around;
    this.#expected = (suite, row) => times.of(suite.name, row, effort);
    const each = suites.flatMap((suite) => suite.rows.map((row) => this.#expected(suite, row)));
    this.#total = each.reduce((sum, seconds) => sum + seconds, 0);
    this.#now = now;
    this.#start = now();
    const of = suites.length === 1 ? "" : ` of ${suites.length} suites`;
    around.err(`${counted(each.length)}${of}: about ${span(this.#total)}.\n`);
  }

  /** A suite begins. */
  suite({ name, rows }: Suite): void {
    if (!this.#around.isTerminal) this.#around.err(`${name}: ${counted(rows.length)}; ${span(this.left())} left\n`);
  }

  /** A row begins. */
  row({ name, rows }: Suite, row: Row | Probe): void {
    const where = `${rows.indexOf(row) + 1}/${rows.length}`;
    this.#around.progress(`${name} ${where}, ${span(this.left())} left: ${row.name}`);
  }

  /** How many seconds a row may take: so much longer than expected, that it will never end. */
  patience(suite: Suite, row: Row | Probe): number {
    return 60 + 20 * this.#expected(suite, row);
  }

  /** A row is over, measured or not. */
  over(suite: Suite, row: Row | Probe): void {
    this.#over += this.#expected(suite, row);
    this.#around.progress("");
  }

  /** Seconds that are left, at the pace so far. */
  left(): number {
    const pace = this.#over < PACED ? 1 : (this.#now() - this.#start) / this.#over;
    return Math.max(0, this.#total - this.#over) * pace;
  }
}
