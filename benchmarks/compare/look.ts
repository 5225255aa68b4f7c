import type { Readings } from "../harness/suite";
import type { Builds } from "./build";
import type { ComparedRow } from "./plan";
import { BuildProcess } from "./worker";
import type { Workshop } from "./workshop";

/** How much is measured of each row, and for how long altogether. */
export interface Look {
  readonly name: string;
  /** Pairs of processes, one of each build, that a row is measured in at most. */
  readonly pairs: number;
  /** Pairs that a row needs: where the time is too short for them, the row that takes longest is left out first. */
  readonly fewest: number;
  /** Milliseconds for all rows. */
  readonly time: number;
  /** Turns of a timed row in each process; a probe measures once. */
  readonly turns: number;
  /** Nanoseconds of a turn. */
  readonly turn: number;
  /** Nanoseconds of warm-up: as many as the time allows for all pairs. */
  readonly warmUp: { readonly least: number; readonly most: number };
}

type Side = "base" | "present";

/** The readings of a row so far, pair by pair. */
export interface Seen {
  readonly pairs: { readonly base: Readings; readonly present: Readings }[];
  /** Milliseconds that its pairs took. */
  took: number;
  /** Why it was given up, and which build is to blame. */
  failed?: { readonly why: string; readonly by: Side };
}
export type Looked = Map<ComparedRow, Seen>;

/** Beside its turns, a timed row takes this long in each process: set up, a collection, orders there and back. In milliseconds. */
const BESIDE = 100;

/** Nanoseconds that each timed row is warmed up for, so that all rows have all of their pairs if there is the time. */
function warmUpFor(rows: readonly ComparedRow[], { warmUp: { least, most }, ...look }: Look): number {
  const timed = rows.filter(({ kind }) => kind === "timed").length;
  const probes = rows.reduce((sum, { reading }) => sum + 2 * reading, 0);
  const each = (look.time / look.pairs - probes) / (2 * Math.max(1, timed)) - BESIDE;
  return Math.min(most, Math.max(least, each * 1e6 - look.turns * look.turn));
}

/** How long a pair of a row takes, in milliseconds: as it did so far, or else as is known of its kind. */
function costOf(row: ComparedRow, { turns, turn, warmUp }: Warmed, seen: Seen | undefined): number {
  if (seen !== undefined && seen.pairs.length > 0) return seen.took / seen.pairs.length;
  return 2 * (row.kind === "probe" ? row.reading : (warmUp + turns * turn) / 1e6 + BESIDE);
}

type Warmed = Omit<Look, "warmUp"> & { readonly warmUp: number };

/** The rows that there is time for, the cheapest first. */
function affordable(
  rows: readonly ComparedRow[],
  look: Warmed,
  seen: Looked,
  pair: number,
  time: number,
): ComparedRow[] {
  const passes = Math.max(1, look.fewest - pair);
  let sum = 0;
  const cost = new Map(rows.map((row) => [row, costOf(row, look, seen.get(row))]));
  const cheapest = [...rows].sort((a, b) => (cost.get(a) ?? 0) - (cost.get(b) ?? 0));
  const kept = new Set(
    cheapest.filter((row) => {
      sum += (cost.get(row) ?? 0) * passes;
      return sum <= time;
    }),
  );
  return rows.filter((row) => kept.has(row));
}

/**
 * Measures rows with both builds, pair by pair: each pass over the suites has a fresh process of each build for each suite. Within a
 * pair, the builds take turns (base, this, this, base, and the next time the other way round), so that a machine that gets slower is
 * held against neither. What was measured before the signal was aborted is in `seen`.
 */
export async function lookAt(
  rows: readonly ComparedRow[],
  how: Look,
  builds: Builds,
  workshop: Workshop,
  seen: Looked,
  tell: (text: string) => void,
): Promise<void> {
  for (const row of rows) seen.set(row, { pairs: [], took: 0 });
  const look = { ...how, warmUp: warmUpFor(rows, how) };
  const end = performance.now() + look.time;
  let left: readonly ComparedRow[] = rows;
  for (let pair = 0; pair < look.pairs && left.length > 0; pair++) {
    const healthy = left.filter((row) => !seen.get(row)?.failed);
    left = affordable(healthy, look, seen, pair, end - performance.now());
    for (const [suite, group] of Map.groupBy(left, (row) => row.suite)) {
      const team = new Team(builds, suite, workshop);
      try {
        for (const [index, row] of group.entries()) {
          const entry = seen.get(row);
          if (entry === undefined || (pair > 0 && performance.now() > end)) continue;
          tell(`${look.name}, pair ${pair + 1} of ${look.pairs} at most: ${suite}: ${row.row}`);
          await measurePair(row, look, team, (pair + index) % 2 === 1, entry);
        }
      } finally {
        await team.stop();
      }
    }
  }
}

async function measurePair(row: ComparedRow, look: Warmed, team: Team, isSwapped: boolean, entry: Seen): Promise<void> {
  const start = performance.now();
  const order: readonly [Side, Side] = isSwapped ? ["present", "base"] : ["base", "present"];
  try {
    const readings = await (row.kind === "timed" ? timed(row, look, team, order) : probed(row, team, order));
    entry.pairs.push(readings);
    entry.took += performance.now() - start;
  } catch (error) {
    team.workshop.signal.throwIfAborted();
    if (!(error instanceof RowFailed)) throw error;
    entry.failed = { why: error.message, by: error.side };
  }
}

type Pair = Record<Side, Readings>;

async function timed({ row }: ComparedRow, look: Warmed, team: Team, order: readonly [Side, Side]): Promise<Pair> {
  const [first, second] = order;
  const readings: Pair = { base: {}, present: {} };
  try {
    for (const side of order)
      await team.of(side, (it) => it.ask<"begin">({ order: "begin", row, warmUp: look.warmUp }));
    for (let i = 0; i < look.turns; i++) {
      for (const side of i % 2 === 0 ? [first, second] : [second, first]) {
        await team.of(side, (it) => it.ask<"turn">({ order: "turn", nanoseconds: look.turn }));
      }
    }
  } finally {
    for (const side of order) readings[side] = await team.of(side, (it) => it.ask<"end">({ order: "end" }));
  }
  return readings;
}

async function probed({ row }: ComparedRow, team: Team, order: readonly [Side, Side]): Promise<Pair> {
  const readings: Pair = { base: {}, present: {} };
  for (const side of order) readings[side] = await team.of(side, (it) => it.ask<"probe">({ order: "probe", row }));
  return readings;
}

/** A row could not be measured with one of the builds. */
class RowFailed extends Error {
  constructor(
    readonly side: Side,
    cause: unknown,
  ) {
    super(cause instanceof Error ? cause.message : String(cause));
  }
}

/** A process of each build with a suite; one that ended is replaced by another, for the rows that are left. */
class Team {
  readonly #processes: Partial<Record<Side, BuildProcess>> = {};

  constructor(
    private readonly builds: Builds,
    private readonly suite: string,
    readonly workshop: Workshop,
  ) {}

  /** @throws RowFailed when the process says no, or ends. */
  async of<Value>(side: Side, order: (process: BuildProcess) => Promise<Value>): Promise<Value> {
    try {
      let process = this.#processes[side];
      if (process === undefined || process.hasEnded) {
        process = new BuildProcess(this.workshop, this.builds[side]);
        this.#processes[side] = process;
        await process.ask<"load">({ order: "load", suite: this.suite });
      }
      return await order(process);
    } catch (error) {
      throw new RowFailed(side, error);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(Object.values(this.#processes).map((process) => process.stop()));
  }
}
