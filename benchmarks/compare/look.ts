import type { Build, Builds } from "./build";
import { BuildProcess } from "./build-process";
import type { ComparedRow } from "./plan";
import type { Workshop } from "./workshop";

/** How much is measured of each row. */
export interface Look {
  /** Pairs of processes, one of each build, for a timed row, and for a probe, which takes longer. */
  readonly pairs: { readonly timed: number; readonly probe: number };
  /** Turns of a timed row in each process; a probe measures once, in a process of its own. */
  readonly turns: number;
  /** Nanoseconds of a turn. */
  readonly turn: number;
  /** Nanoseconds of warm-up. */
  readonly warmUp: number;
}

/** The figures of a row so far, pair by pair. */
export interface Seen {
  readonly base: Map<string, number[]>;
  readonly present: Map<string, number[]>;
  /** Why it was given up, and which build is to blame. */
  failed?: { readonly why: string; readonly by: "base" | "present" };
}

/** A row could not be measured with one of the builds. */
class RowFailed extends Error {
  constructor(
    readonly build: Build,
    cause: unknown,
  ) {
    super(cause instanceof Error ? cause.message : String(cause));
  }
}

/**
 * Measures rows of one suite with both builds: in each pair of fresh processes, row by row, in the order base, this, this, base,
 * and the next time the other way round, so that a machine that gets slower is held against neither. What was measured before
 * the signal was aborted is in `seen`.
 */
export async function lookAt(
  rows: readonly ComparedRow[],
  look: Look,
  builds: Builds,
  workshop: Workshop,
  seen: Map<ComparedRow, Seen>,
  tell: (row: ComparedRow, pair: number) => void,
): Promise<void> {
  for (const row of rows) seen.set(row, { base: new Map(), present: new Map() });
  const { pairs } = look;
  for (let pair = 0; pair < Math.max(pairs.timed, pairs.probe); pair++) {
    const team = new Team(builds, workshop);
    try {
      for (const [index, row] of rows.entries()) {
        const entry = seen.get(row);
        if (entry === undefined || entry.failed || pair >= pairs[row.kind]) continue;
        tell(row, pair);
        const isSwapped = (pair + index) % 2 === 1;
        await measurePair(row, look, team, isSwapped, entry);
      }
    } finally {
      await team.stop();
    }
  }
}

async function measurePair(row: ComparedRow, look: Look, team: Team, isSwapped: boolean, entry: Seen): Promise<void> {
  const measure = row.kind === "timed" ? timeInTurns : probeInTurn;
  const order = isSwapped ? ([team.present, team.base] as const) : ([team.base, team.present] as const);
  try {
    const figures = await measure(row, look, team, order);
    const [base, present] = isSwapped ? [figures[1], figures[0]] : figures;
    for (const { name } of row.figures) {
      add(entry.base, name, base[name]);
      add(entry.present, name, present[name]);
    }
  } catch (error) {
    team.signal.throwIfAborted();
    if (!(error instanceof RowFailed)) throw error;
    entry.failed = { why: error.message, by: error.build === team.base ? "base" : "present" };
  }
}

function add(figures: Map<string, number[]>, name: string, figure = Number.NaN): void {
  const list = figures.get(name) ?? [];
  figures.set(name, list);
  list.push(figure);
}

type Figures = Readonly<Record<string, number>>;
type Order = readonly [first: Build, second: Build];

async function timeInTurns(
  { suite, row }: ComparedRow,
  look: Look,
  team: Team,
  order: Order,
): Promise<[Figures, Figures]> {
  const [first, second] = order;
  const turns = new Map<Build, number[]>(order.map((build) => [build, []]));
  const turn = async (build: Build): Promise<void> => {
    const figure = await team.ask(build, suite, (process) =>
      process.ask<"turn">({ order: "turn", nanoseconds: look.turn }),
    );
    turns.get(build)?.push(figure);
  };
  try {
    for (const build of order) {
      await team.ask(build, suite, (process) => process.ask<"begin">({ order: "begin", row, warmUp: look.warmUp }));
    }
    for (let i = 0; i < look.turns; i++) {
      await turn(i % 2 === 0 ? first : second);
      await turn(i % 2 === 0 ? second : first);
    }
  } finally {
    for (const build of order) await team.ask(build, suite, (process) => process.ask<"end">({ order: "end" }));
  }
  // What disturbs a turn makes it longer: the shortest is the least disturbed.
  const time = (build: Build): Figures => ({ time: Math.min(...(turns.get(build) ?? [])) });
  return [time(first), time(second)];
}

async function probeInTurn(
  { suite, row }: ComparedRow,
  _look: Look,
  team: Team,
  order: Order,
): Promise<[Figures, Figures]> {
  const probe = (build: Build) => team.ask(build, suite, (process) => process.ask<"probe">({ order: "probe", row }));
  return [await probe(order[0]), await probe(order[1])];
}

/** A process of each build; one that ended is replaced by another, for the rows that are left. */
class Team {
  readonly #processes = new Map<Build, BuildProcess>();
  readonly base: Build;
  readonly present: Build;
  readonly signal: AbortSignal;

  constructor(
    builds: Builds,
    private readonly workshop: Workshop,
  ) {
    ({ base: this.base, present: this.present } = builds);
    this.signal = workshop.signal;
  }

  /** @throws RowFailed when the process says no, or ends. */
  async ask<Value>(build: Build, suite: string, order: (process: BuildProcess) => Promise<Value>): Promise<Value> {
    try {
      return await order(await this.#processOf(build, suite));
    } catch (error) {
      throw new RowFailed(build, error);
    }
  }

  async #processOf(build: Build, suite: string): Promise<BuildProcess> {
    const known = this.#processes.get(build);
    if (known && !known.hasEnded) return known;
    const started = new BuildProcess(this.workshop, build);
    this.#processes.set(build, started);
    await started.ask<"load">({ order: "load", suite });
    return started;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#processes.values()].map((process) => process.stop()));
  }
}
