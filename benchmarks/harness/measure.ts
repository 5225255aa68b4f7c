import type { ProbeResult, RowResult, TimedResult } from "./results";
import { RefusedRow, type Round, Sampler } from "./sampling";
import { median, ratios, spread, summarise } from "./statistics";
import type { Charted, Probe, Readings, Row } from "./suite";

export interface Effort {
  readonly rounds: number;
  /** Nanoseconds a round gives to each of the two; a shorter turn of one would favour the other, whose code warms up longer. */
  readonly turn: number;
  readonly warmUp: number;
  /** The share of the calls that a row asks for to warm up. */
  readonly calls: number;
  readonly probeRounds: number;
}

export const FULL: Effort = { rounds: 9, turn: 60e6, warmUp: 60e6, calls: 1, probeRounds: 3 };
export const QUICK: Effort = { rounds: 3, turn: 30e6, warmUp: 30e6, calls: 0.1, probeRounds: 1 };

/** Measures a row and its floor in turns; given up between two rounds once the signal is aborted. */
export async function measureRow(row: Row | Probe, effort: Effort, signal?: AbortSignal): Promise<RowResult> {
  const start = performance.now();
  const result =
    row.kind === "timed" ? await measureTimed(row, effort, signal) : await measureProbe(row, effort, signal);
  return { ...result, seconds: (performance.now() - start) / 1_000 };
}

export async function smokeRow(row: Row | Probe): Promise<void> {
  if (row.kind === "timed") {
    return withSamplers(row, async (samplers) => {
      for (const sampler of samplers) await sampler.smoke();
    });
  }
  read(row, await row.measure("smoke"));
  if (!("none" in row.floor)) readFloor(row, await row.floor.measure("smoke"));
}

async function withSamplers<T>(row: Row, use: (samplers: readonly Sampler[]) => Promise<T>): Promise<T> {
  const { name, operations, floor } = row;
  const prepared = await row.setup();
  await using opened = new AsyncDisposableStack();
  opened.defer(async () => void (await prepared.teardown?.()));
  const sampler = new Sampler(name, operations, prepared);
  if ("none" in floor) return await use([sampler]);
  const under = await floor.setup(operations);
  opened.defer(async () => void (await under.teardown?.()));
  return await use([new Sampler(`${name}, its floor`, operations, under), sampler]);
}

type Untimed<Result> = Omit<Result, "seconds">;

async function measureTimed(row: Row, effort: Effort, signal?: AbortSignal): Promise<Untimed<TimedResult>> {
  return withSamplers(row, async (samplers) => {
    const { pieces = 1, warmUp = 0 } = row;
    for (const sampler of samplers) await sampler.warmUp(effort.warmUp, Math.max(3, warmUp * effort.calls));
    const all = samplers.map((sampler) => ({ sampler, rounds: [] as Round[], turns: [] as Round[] }));
    for (let round = 0; round < effort.rounds; round++) {
      signal?.throwIfAborted();
      for (let piece = 0; piece < pieces; piece++) {
        for (const { sampler, turns } of all) {
          if (piece === 0) Bun.gc(true);
          turns.push(await sampler.turn(effort.turn / pieces, pieces === 1 ? 3 : 1));
        }
      }
      for (const { rounds, turns } of all) rounds.push(joined(turns.splice(0)));
    }
    const [own, under] = all.toReversed();
    return reportRow(row, own?.sampler.operationsPerSample ?? 0, own?.rounds ?? [], under?.rounds ?? []);
  });
}

const joined = (pieces: readonly Round[]): Round => ({
  samples: pieces.flatMap(({ samples }) => samples),
  operations: pieces.reduce((sum, { operations }) => sum + operations, 0),
  wall: pieces.reduce((sum, { wall }) => sum + wall, 0),
});

export function reportRow(
  row: Row,
  operationsPerSample: number,
  rounds: readonly Round[],
  floors: readonly Round[],
): Untimed<TimedResult> {
  const { per, floor } = row;
  const { samples, operations, wall } = joined(rounds);
  const mediansOf = (turns: readonly Round[]) => turns.map((turn) => median(turn.samples) * per);
  const shape = { kind: "timed", row: row.name, per, operationsPerSample } as const;
  const times = { ...summarise(samples.map((sample) => sample * per)), throughput: (operations / wall) * 1e9 };
  if ("none" in floor) return { ...shape, ...times, floor, ratio: null };
  const { name, about, varies } = floor;
  const p50 = median(joined(floors).samples) * per;
  return {
    ...shape,
    ...times,
    floor: { name, about, ...(varies && { varies: true }), p50, rounds: mediansOf(floors) },
    ratio: ratios(mediansOf(rounds), mediansOf(floors)),
  };
}

async function measureProbe(probe: Probe, effort: Effort, signal?: AbortSignal): Promise<Untimed<ProbeResult>> {
  const { name, floor, figures, rounds = effort.probeRounds } = probe;
  const [own, under]: [Readings[], Readings[]] = [[], []];
  let series: Charted["series"] = [];
  for (let round = 0; round < rounds; round++) {
    signal?.throwIfAborted();
    if (!("none" in floor)) under.push(readFloor(probe, await floor.measure("full")));
    const measured = read(probe, await probe.measure("full"));
    own.push(measured.readings);
    series = measured.series;
  }
  return {
    kind: "probe",
    row: name,
    floor: "none" in floor ? floor : { name: floor.name },
    figures: figures.map(({ name: figure, unit, ratio }) => {
      const valuesIn = (readings: readonly Readings[]) => readings.map((reading) => reading[figure] ?? Number.NaN);
      const beside = under.length > 0 ? valuesIn(under) : undefined;
      return {
        figure,
        unit,
        ...spread(valuesIn(own)),
        floor: beside ? spread(beside) : null,
        ratio: ratio && beside ? ratios(valuesIn(own), beside) : null,
      };
    }),
    ...(series.length > 0 && { series }),
  };
}

const NEVER_NEGATIVE = ["ns", "µs", "ms", "s", "/s", ""];

function read({ name, figures }: Probe, measured: Readings | Charted): Charted {
  // The values of readings are numbers, so only what is charted has an object there.
  const charted = typeof measured["readings"] === "object" ? (measured as Charted) : undefined;
  const readings = charted?.readings ?? (measured as Readings);
  const missing = figures.find((figure) => !Number.isFinite(readings[figure.name]));
  if (missing) throw new RefusedRow(name, `it gave no number for its figure "${missing.name}"`);
  const negative = figures.find((figure) => NEVER_NEGATIVE.includes(figure.unit) && (readings[figure.name] ?? 0) < 0);
  if (negative)
    throw new RefusedRow(name, `its figure "${negative.name}" was ${readings[negative.name]}, below nothing`);
  return { readings, series: charted?.series ?? [] };
}

/** The same of its floor, which must be above nothing where the row is told as so many times it. */
function readFloor(probe: Probe, measured: Readings): Readings {
  const { readings } = read(probe, measured);
  const idle = probe.figures.find(({ name, ratio }) => ratio && (readings[name] ?? 0) <= 0);
  if (idle === undefined) return readings;
  throw new RefusedRow(probe.name, `its floor gave ${readings[idle.name]} for "${idle.name}", which has no multiples`);
}
