import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Effort, FULL, probeRoundsOf, QUICK, roundsOf } from "./measure";
import { parseResults } from "./results";
import { hasNoFloor, type Probe, type Row, type Suite } from "./suite";
import type { Terminal } from "./terminal";

/** What setting up, tearing down and collecting add to the turns of a timed row, in seconds a round. */
const BETWEEN = 0.04;
/** What a round of a probe takes that was never measured, in seconds. */
const PROBE = 1.5;

/** How long a row took, and at which effort. */
interface Known {
  readonly seconds: number;
  readonly effort: Effort;
  readonly probeRounds: number;
}

/** How long rows took when they were measured last; a file that cannot be read is as good as none. */
export class Times {
  private constructor(private readonly known: ReadonlyMap<string, Known>) {}

  static async read(folder: string): Promise<Times> {
    const known = new Map<string, Known>();
    for (const name of await readdir(folder).catch(() => [])) {
      if (!name.endsWith(".json")) continue;
      try {
        const { suite, rounds, probeRounds = rounds, rows } = parseResults(await Bun.file(join(folder, name)).text());
        const effort = rounds === QUICK.rounds ? QUICK : FULL;
        for (const { row, seconds } of rows) known.set(keyOf(suite, row), { seconds, effort, probeRounds });
      } catch {
        // Of an earlier version, or no results of a suite.
      }
    }
    return new Times(known);
  }

  /** How long a row will take, in seconds. */
  of(suite: string, row: Row | Probe, effort: Effort): number {
    const last = this.known.get(keyOf(suite, row.name));
    if (row.kind === "probe") {
      const rounds = Math.max(row.fewestRounds ?? 1, probeRoundsOf(effort));
      return last === undefined ? rounds * PROBE : (last.seconds * rounds) / last.probeRounds;
    }
    const turns = turnsOf(row, effort);
    if (last === undefined) return turns + BETWEEN * roundsOf(row, effort);
    // What it took beyond its turns, it takes each round: rows that take long a call, and collections.
    const beyond = Math.max(0, last.seconds - turnsOf(row, last.effort)) / last.effort.rounds;
    return turns + beyond * effort.rounds;
  }

  /** How long suites will take, in seconds. */
  total(suites: readonly Suite[], effort: Effort): number {
    const each = suites.flatMap(({ name, rows }) => rows.map((row) => this.of(name, row, effort)));
    return each.reduce((sum, seconds) => sum + seconds, 0);
  }
}

const keyOf = (suite: string, row: string): string => `${suite}\n${row}`;

/** The turns of a timed row and its floor, and their warm-up, in seconds. */
function turnsOf(row: Row, effort: Effort): number {
  return ((hasNoFloor(row.floor) ? 1 : 2) * (effort.warmUp + roundsOf(row, effort) * effort.turn)) / 1e9;
}

/** A time as one says it: `45 s`, `2 min 10 s`, `1 h 5 min`. */
export function span(seconds: number): string {
  const whole = seconds < 60 ? Math.max(1, Math.round(seconds)) : Math.round(seconds / 5) * 5;
  if (whole < 60) return `${whole} s`;
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  const parts =
    hours > 0 ? [`${hours} h`, minutes > 0 && `${minutes} min`] : [`${minutes} min`, rest > 0 && `${rest} s`];
  return parts.filter(Boolean).join(" ");
}

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
