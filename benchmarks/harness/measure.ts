import type { ProbeResult, RowResult, TimedResult } from "./results";
import { Gate, RefusedRow, type Round, Sampler } from "./sampling";
import { median, ratios, type Spread, spread, summarise, throughput } from "./statistics";
import { type Charted, hasNoFloor, type Probe, type Readings, type Row, type Series } from "./suite";

/** How long to measure. */
export interface Effort {
  /** Rounds of floor and row in turn. */
  readonly rounds: number;
  /** Nanoseconds a round gives to each of the two; a shorter turn of one would favour the other, whose code warms up longer. */
  readonly turn: number;
  /** Nanoseconds of warm-up, for each. */
  readonly warmUp: number;
  /** Which share of the rounds and of the warm-up that a row asks for beyond those of others it is given. Default: 1. */
  readonly beyond?: number;
  /** Rounds of a probe; as many as of a timed row unless it says so. */
  readonly probeRounds?: number;
}

/** How many rounds a probe has. */
export const probeRoundsOf = ({ rounds, probeRounds = rounds }: Effort): number => probeRounds;

/** How many rounds a timed row has. */
export const roundsOf = ({ rounds: times = 1 }: Row, { rounds, beyond = 1 }: Effort): number =>
  rounds * Math.max(1, times * beyond);

/** A bit over a second for a row and its floor; a probe may take ten seconds a round. */
export const FULL: Effort = { rounds: 9, turn: 60e6, warmUp: 60e6, probeRounds: 3 };
/** About a quarter of a second for a row and its floor. */
export const QUICK: Effort = { rounds: 3, turn: 30e6, warmUp: 30e6, beyond: 0.1, probeRounds: 1 };

/**
 * Measures a row and its floor in turns: floor, row, floor, row …
 *
 * @param signal Where it is given, the row is given up between two rounds once it is aborted.
 */
export async function measureRow(row: Row | Probe, effort: Effort, signal?: AbortSignal): Promise<RowResult> {
  const start = performance.now();
  const result =
    row.kind === "timed" ? await measureTimed(row, effort, signal) : await measureProbe(row, effort, signal);
  return { ...result, seconds: (performance.now() - start) / 1_000 };
}

/** Runs a row and its floor a few times, to see that they do their work. */
export async function smokeRow(row: Row | Probe): Promise<void> {
  if (row.kind === "probe") {
    expectReadings(row, readingsOf(await row.measure("smoke")));
    if (!hasNoFloor(row.floor)) expectReadings(row, await row.floor.measure("smoke"));
    return;
  }
  await withSamplers(row, async (sampler, floor) => {
    await floor?.smoke();
    await sampler.smoke();
  });
}

async function measureTimed(row: Row, effort: Effort, signal?: AbortSignal): Promise<Untimed<TimedResult>> {
  return withSamplers(row, async (sampler, floor) => {
    const { pieces = 1, warmUp } = row;
    const calls = warmUp && warmUp * (effort.beyond ?? 1);
    await floor?.warmUp(effort.warmUp, calls);
    await sampler.warmUp(effort.warmUp, calls);
    const rounds: Round[] = [];
    const floors: Round[] = [];
    for (let i = roundsOf(row, effort); i > 0; i--) {
      signal?.throwIfAborted();
      if (pieces === 1 || floor === undefined) {
        if (floor) floors.push(await floor.round(effort.turn));
        rounds.push(await sampler.round(effort.turn));
      } else {
        const [under, round] = await inPieces(floor, sampler, effort.turn, pieces);
        floors.push(under);
        rounds.push(round);
      }
    }
    return reportRow(row, sampler.operationsPerSample, rounds, floors);
  });
}

/** A round of a row and one of its floor, a piece of each in turn. */
async function inPieces(floor: Sampler, row: Sampler, turn: number, pieces: number): Promise<[Round, Round]> {
  Bun.gc(true);
  const [first, second] = Gate.pair(turn / pieces);
  const rounds = [floor.share(turn, first), row.share(turn, second)] as const;
  await Promise.allSettled(rounds); // What fails lets the other go on to its end.
  return Promise.all(rounds);
}

/** A result that does not know yet how long it took. */
type Untimed<Result> = Omit<Result, "seconds">;

/** What the rounds of a row, and those of its floor, add up to. */
export function reportRow(
  row: Row,
  operationsPerSample: number,
  rounds: readonly Round[],
  floors: readonly Round[],
): Untimed<TimedResult> {
  const samplesOf = (turns: readonly Round[]) => turns.flatMap(({ samples }) => samples.map((each) => each * row.per));
  const mediansOf = (turns: readonly Round[]) => turns.map(({ samples }) => median(samples) * row.per);
  const total = (of: (round: Round) => number) => rounds.reduce((sum, round) => sum + of(round), 0);
  return {
    kind: "timed",
    row: row.name,
    per: row.per,
    operationsPerSample,
    ...summarise(samplesOf(rounds)),
    throughput: throughput(
      total(({ operations }) => operations),
      total(({ wall }) => wall),
    ),
    floor: hasNoFloor(row.floor)
      ? row.floor
      : {
          name: row.floor.name,
          about: row.floor.about,
          ...(row.floor.varies && { varies: true }),
          p50: median(samplesOf(floors)),
          rounds: mediansOf(floors),
        },
    ratio: hasNoFloor(row.floor) ? null : ratios(mediansOf(rounds), mediansOf(floors)),
  };
}

async function withSamplers<T>(row: Row, use: (row: Sampler, floor: Sampler | undefined) => Promise<T>): Promise<T> {
  const prepared = await row.setup();
  const under = hasNoFloor(row.floor) ? undefined : row.floor.setup(row.operations);
  try {
    const sampler = new Sampler(row.name, row.operations, prepared);
    return await use(sampler, under && new Sampler(`${row.name}, its floor`, row.operations, under));
  } finally {
    await prepared.teardown?.();
    await under?.teardown?.();
  }
}

async function measureProbe(probe: Probe, effort: Effort, signal?: AbortSignal): Promise<Untimed<ProbeResult>> {
  const readings: Readings[] = [];
  let series: readonly Series[] = [];
  const floors: Readings[] = [];
  const { fewestRounds = 1 } = probe;
  for (let i = Math.max(fewestRounds, probeRoundsOf(effort)); i > 0; i--) {
    signal?.throwIfAborted();
    if (!hasNoFloor(probe.floor)) floors.push(expectReadings(probe, await probe.floor.measure("full")));
    const measured = await probe.measure("full");
    readings.push(expectReadings(probe, readingsOf(measured)));
    if (isCharted(measured)) series = measured.series;
  }
  return {
    kind: "probe",
    row: probe.name,
    floor: hasNoFloor(probe.floor) ? probe.floor : { name: probe.floor.name },
    figures: probe.figures.map(({ name, unit, ratio }) => {
      const values = readings.map((each) => each[name] ?? Number.NaN);
      const under = floors.map((each) => each[name] ?? Number.NaN);
      const floor: Spread | null = under.length > 0 ? spread(under) : null;
      return { figure: name, unit, ...spread(values), floor, ratio: ratio && floor ? ratios(values, under) : null };
    }),
    ...(series.length > 0 && { series }),
  };
}

const isCharted = (measured: Readings | Charted): measured is Charted => typeof measured["readings"] === "object";
const readingsOf = (measured: Readings | Charted): Readings => (isCharted(measured) ? measured.readings : measured);

function expectReadings(probe: Probe, readings: Readings): Readings {
  for (const { name } of probe.figures) {
    if (!Number.isFinite(readings[name])) {
      throw new RefusedRow(probe.name, `it gave no number for its figure "${name}"`);
    }
  }
  return readings;
}

/** Why a row has no figures. */
export interface Failure {
  /** The reason, in a sentence. */
  readonly why: string;
  /** What is told of it: with its stack where it is a fault of the row, or of envoi. */
  readonly told: string;
}

/** A row that failed in another process, which told why. */
export class FailedRow extends Error {
  constructor(readonly failure: Failure) {
    super(failure.why);
    this.name = "FailedRow";
  }
}

export function failureOf(row: string, error: unknown): Failure {
  if (error instanceof FailedRow) return error.failure;
  if (error instanceof RefusedRow) return { why: error.message, told: error.message };
  const why = error instanceof Error ? error.message : String(error);
  return { why, told: `Row "${row}" failed: ${Bun.inspect(error)}` };
}
