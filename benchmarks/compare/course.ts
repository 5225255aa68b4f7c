import type { Look } from "./look";
import type { ComparedRow } from "./plan";

/** Beside its turns, a timed row takes this long in each process: set up, collections, orders there and back. In milliseconds. */
const BESIDE = 150;
/** A probe, in each process: some take a tenth of it, some the tenfold. In milliseconds. */
const PROBE = 1_500;

/** How long a look takes, about, in milliseconds. */
export function expected(rows: readonly ComparedRow[], look: Look): number {
  const timed = (look.warmUp + look.turns * look.turn) / 1e6 + BESIDE;
  const each = rows.map(({ kind }) => look.pairs[kind] * (kind === "timed" ? timed : PROBE));
  return 2 * each.reduce((sum, time) => sum + time, 0);
}

/** Milliseconds as one says them: `about 3 minutes`. */
export function spoken(milliseconds: number): string {
  const seconds = milliseconds / 1_000;
  if (seconds < 90) return `about ${Math.max(1, Math.round(seconds))} s`;
  return `about ${Math.round(seconds / 60)} minutes`;
}

/** Where a look is. */
export class Course {
  readonly #start = performance.now();
  #done = 0;

  constructor(
    private readonly name: string,
    private readonly rows: readonly ComparedRow[],
    private readonly look: Look,
  ) {}

  /** The line that tells of the row that begins now. */
  next({ suite, row, kind }: ComparedRow, pair: number): string {
    const { pairs } = this.look;
    const steps = this.rows.reduce((sum, each) => sum + pairs[each.kind], 0);
    const share = this.#done++ / steps;
    // What it took so far tells more than what was expected, once there is something of it.
    const guess = expected(this.rows, this.look) * (1 - share);
    const left = share < 0.05 ? guess : ((performance.now() - this.#start) / share) * (1 - share);
    const where = `${this.name}, ${Math.round(share * 100)} %, ${spoken(left)} left`;
    return `${where}: ${suite}, processes ${pair + 1} of ${pairs[kind]}: ${row}`;
  }
}
