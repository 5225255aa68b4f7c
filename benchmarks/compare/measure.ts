import { join } from "node:path";
import type { Readings } from "../harness/suite";
import { faultOf, WorkerProcess } from "../harness/worker";
import type { Builds, Side } from "./builds";
import type { Order } from "./worker";

export type RowName = { readonly suite: string; readonly row: string };

export interface Look {
  readonly name: string;
  /** Pairs of processes, one of each build, that a row is measured in at most. */
  readonly pairs: number;
  /** Pairs that a row needs: where the time is too short for them, the row that takes longest is left out first. */
  readonly fewest: number;
  readonly minutes: number;
}

const TURNS = 6; // The turns of a row in each process. Many short ones tell more, since the quickest is taken.
/** Milliseconds of a turn for each of warm-up, and the fewest: the more time there is, the more rows have the samples for a p99. */
const TURN = { share: 1 / 12, least: 8 };
/** Milliseconds of warm-up. On a busy machine, a row got twice as fast between the 50th and the 300th. */
const WARM_UP = { least: 50, most: 400 };

export interface Seen {
  readonly pairs: Readonly<Record<Side, Readings>>[];
  took: number;
  failed?: { readonly why: string; readonly by: Side };
}
export type Looked = Map<RowName, Seen>;

/**
 * Each pass over the suites has a fresh process of each build for each suite. Within a pair the builds take turns (base, this, this, base;
 * then the other way round), so that a machine that gets slower is held against neither.
 */
export async function lookAt(
  rows: readonly RowName[],
  look: Look,
  builds: Builds,
  signal: AbortSignal,
  seen: Looked,
  tell: (text: string) => void,
): Promise<void> {
  for (const row of rows) seen.set(row, { pairs: [], took: 0 });
  const time = look.minutes * 60_000;
  const end = performance.now() + time;
  // Half of a row's share of the time.
  const warmUp = Math.min(WARM_UP.most, Math.max(WARM_UP.least, time / (4 * look.pairs * rows.length)));
  for (let pair = 0; pair < look.pairs; pair++) {
    const left = affordable(seen, pair, look.fewest, end - performance.now());
    for (const [suite, group] of Map.groupBy(left, ([row]) => row.suite)) {
      const team = new Team(builds, suite, signal);
      try {
        for (const [index, [{ row }, entry]] of group.entries()) {
          if (performance.now() > end) return;
          tell(`${look.name}, pair ${pair + 1} of ${look.pairs} at most: ${suite}: ${row}`);
          await team.measure(row, warmUp, (pair + index) % 2 === 1 ? ["present", "base"] : ["base", "present"], entry);
        }
      } finally {
        await team.stop();
      }
    }
  }
}

/** The rows that there is time for, the cheapest first; those that failed are not tried again. */
export function affordable(seen: Looked, pair: number, fewest: number, time: number): [RowName, Seen][] {
  const healthy = [...seen].filter(([, { failed, pairs }]) => !failed && pairs.length === pair);
  const costOf = ([, { took, pairs }]: [RowName, Seen]): number => took / Math.max(1, pairs.length);
  let sum = 0;
  const cheapest = healthy.toSorted((a, b) => costOf(a) - costOf(b));
  const kept = cheapest.filter((each) => {
    sum += costOf(each) * Math.max(1, fewest - pair);
    return sum <= time;
  });
  return healthy.filter((each) => kept.includes(each));
}

const PATIENCE = 60_000;

export const startBuild = (build: string, suite: string, signal: AbortSignal) =>
  new WorkerProcess<Order, Readings>([join(build, "benchmarks/compare/worker.ts"), suite], {
    cwd: build,
    env: { ...process.env, TMPDIR: build }, // The build is removed.
    detached: true, // A terminal's Ctrl-C reaches it by the signal alone.
    signal,
  });

class Team {
  readonly #processes = new Map<Side, ReturnType<typeof startBuild>>();

  constructor(
    private readonly builds: Builds,
    private readonly suite: string,
    private readonly signal: AbortSignal,
  ) {}

  async measure(row: string, warmUp: number, order: readonly Side[], seen: Seen): Promise<void> {
    const start = performance.now();
    const readings: Record<Side, Readings> = { base: {}, present: {} };
    let by: Side = "base";
    const ask = (side: Side, given: Order): Promise<Readings> => {
      by = side;
      const starting = () => startBuild(this.builds[side], this.suite, this.signal);
      return this.#processes.getOrInsertComputed(side, starting).ask(given, PATIENCE);
    };
    try {
      for (const side of order) await ask(side, { order: "begin", row, warmUp });
      for (let i = 0; i < TURNS; i++) {
        const length = Math.max(TURN.least, warmUp * TURN.share);
        for (const side of i % 2 === 0 ? order : order.toReversed()) await ask(side, { order: "turn", length });
      }
      for (const side of order) readings[side] = await ask(side, { order: "end" });
      seen.pairs.push(readings);
      seen.took += performance.now() - start;
    } catch (error) {
      this.signal.throwIfAborted();
      seen.failed = { why: faultOf(error).why, by };
      await this.stop();
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#processes.values()].map((process) => process.end()));
    this.#processes.clear();
  }
}
