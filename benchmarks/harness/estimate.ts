import { type Effort, FULL } from "./measure";
import { readResults } from "./results";
import type { Probe, Row, Suite } from "./suite";
import type { Terminal } from "./terminal";

/** How many seconds a row takes that was never measured: a timed one at full effort, and a round of a probe. */
const UNKNOWN = { timed: 1.6, probe: 1.5 };

/** How long a row will take, in seconds. */
export type Times = (suite: string, row: Row | Probe, effort: Effort) => number;

/** By how long rows took when they were measured last; results that cannot be read are as good as none. */
export async function timesIn(folder: string): Promise<Times> {
  const known = new Map<string, number>();
  for (const { suite, rounds, probeRounds = rounds, rows } of await readResults(folder).catch(() => [])) {
    for (const { row, kind, seconds } of rows) {
      known.set(`${suite}\n${row}`, kind === "probe" ? seconds / probeRounds : (seconds * FULL.rounds) / rounds);
    }
  }
  return (suite, row, effort) => {
    const last = known.get(`${suite}\n${row.name}`) ?? UNKNOWN[row.kind];
    if (row.kind === "probe") return last * (row.rounds ?? effort.probeRounds);
    return (last * effort.rounds * effort.turn) / (FULL.rounds * FULL.turn);
  };
}

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
  readonly #start: number;
  readonly #total: number;
  #over = 0;

  /** @param now Seconds; a test may give its own. */
  constructor(
    private readonly around: Terminal,
    suites: readonly Suite[],
    private readonly effort: Effort,
    private readonly times: Times,
    private readonly now: () => number = () => performance.now() / 1_000,
  ) {
    const each = suites.flatMap((suite) => suite.rows.map((row) => times(suite.name, row, effort)));
    this.#total = each.reduce((sum, seconds) => sum + seconds, 0);
    this.#start = now();
    const of = suites.length === 1 ? "" : ` of ${suites.length} suites`;
    around.err(`${counted(each.length)}${of}: about ${span(this.#total)}.\n`);
  }

  /** A suite begins. */
  suite({ name, rows }: Suite): void {
    if (!this.around.isTerminal) this.around.err(`${name}: ${counted(rows.length)}; ${this.#left()} left\n`);
  }

  /** A row begins; returns how many seconds it may take: so many more than expected, that it will never end. */
  row({ name, rows }: Suite, row: Row | Probe): number {
    this.around.progress(`${name} ${rows.indexOf(row) + 1}/${rows.length}, ${this.#left()} left: ${row.name}`);
    return 60 + 20 * this.times(name, row, this.effort);
  }

  /** A row is over, measured or not. */
  over({ name }: Suite, row: Row | Probe): void {
    this.#over += this.times(name, row, this.effort);
    this.around.progress("");
  }

  /** The time that is left, at the pace so far. */
  #left(): string {
    const pace = this.#over < PACED ? 1 : (this.now() - this.#start) / this.#over;
    return span(Math.max(0, this.#total - this.#over) * pace);
  }
}
