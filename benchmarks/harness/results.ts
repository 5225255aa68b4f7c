import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "envoi";
import { UsageError } from "./arguments";
import { jsonText } from "./format";
import { machineSchema } from "./machine";
import { writeWhole } from "./places";
import { type Described, parseJson } from "./schema";

const [text, number] = [Type.String(), Type.Number()];

const spread = Type.Object({ median: number, min: number, max: number });
const noFloor = Type.Object({ none: Type.String({ description: "Why there is none, as the end of a sentence." }) });
const unit = Type.Enum(["B", "kB", "MB", "ns", "µs", "ms", "s", "/s", "%", ""], {
  description: "Empty for a count, /s for a rate.",
});
const measuring = {
  seconds: Type.Number({ minimum: 0, description: "How long the row and its floor took to measure." }),
  attempts: Type.Optional(
    Type.Number({
      description: "How often it was measured, where it did not keep a limit at first; these are the last figures.",
    }),
  ),
};

const timedFloor = Type.Object({
  name: text,
  about: text,
  varies: Type.Optional(Type.Literal(true, { description: "Floors of this name do other work for other rows." })),
  p50: number,
  rounds: Type.Array(number, {
    description: "The median of each round; how they differ tells how busy the machine was.",
  }),
});

/** The figures of a timed row, in nanoseconds for `per` operations. */
export const timedResultSchema = Type.Object({
  ...{ kind: Type.Literal("timed"), row: text, per: number, operationsPerSample: number, samples: number },
  ...{ min: number, mean: number, p50: number, p75: number, p95: number },
  p99: Type.Union([number, Type.Null()], { description: "Null with fewer than a thousand samples." }),
  throughput: Type.Number({ description: "Operations a second, over the wall time of all rounds." }),
  floor: Type.Union([timedFloor, noFloor]),
  ratio: Type.Union([spread, Type.Null()], { description: "The row's median over its floor's, round by round." }),
  ...measuring,
});
/** The times of one row, and of its floor. */
export type TimedResult = Described<typeof timedResultSchema>;

const probeReading = Type.Object({
  ...{ figure: text, unit, median: number, min: number, max: number },
  floor: Type.Union([spread, Type.Null()]),
  ratio: Type.Union([spread, Type.Null()]),
});
/** What a probe read: the median, lowest and highest of its rounds. */
export type ProbeReading = Described<typeof probeReading>;

const series = Type.Object({ name: text, along: text, unit, points: Type.Array(Type.Tuple([number, number])) });

/** The figures of a probe, each in its own unit. */
export const probeResultSchema = Type.Object({
  ...{ kind: Type.Literal("probe"), row: text },
  floor: Type.Union([Type.Object({ name: text }), noFloor]),
  figures: Type.Array(probeReading),
  series: Type.Optional(
    Type.Array(series, { description: "The lines of a chart, as the last round read them along the way." }),
  ),
  ...measuring,
});
/** The readings of one row that is no loop, such as a count of ticks. */
export type ProbeResult = Described<typeof probeResultSchema>;

/** The result of one row. */
export type RowResult = TimedResult | ProbeResult;

const noise = Type.Object({
  spread: Type.Number({
    description: "How far floors lie from their middle, as a share of it: the median over the rows.",
  }),
  floors: Type.Number({ description: "How many rows had a floor that tells." }),
  isNoisy: Type.Boolean(),
});
/** How much the machine was disturbed while a run lasted. */
export type Noise = Described<typeof noise>;

/** One run of one suite, as `benchmarks/results/<suite>.json` keeps it. */
export const suiteResultSchema = Type.Object({
  ...{ suite: text, about: text, machine: machineSchema },
  rounds: Type.Number({ minimum: 1, description: "Rounds of floor and row in turn." }),
  probeRounds: Type.Optional(
    Type.Number({ minimum: 1, description: "Rounds of the rows that are no loops. Left out where they had as many." }),
  ),
  rows: Type.Array(Type.Union([timedResultSchema, probeResultSchema])),
  leftOut: Type.Optional(Type.Array(Type.Object({ row: text, why: text }), { description: "Rows that were not run." })),
  noise: Type.Optional(noise),
});
/** The results of one suite, with the machine that they are of. */
export type SuiteResult = Described<typeof suiteResultSchema>;

/** A whole run, as `--json` prints it. */
export const runResultSchema = Type.Object({
  results: Type.Array(suiteResultSchema),
  missed: Type.Array(text, { description: "A sentence for each target that was missed." }),
  undecided: Type.Array(text, {
    description: "A sentence for each target that cannot be judged: floors lie far apart, or the row was left out.",
  }),
  failed: Type.Array(Type.Object({ suite: text, row: text, why: text })),
  noise: Type.Optional(noise),
  seconds: Type.Number({ description: "How long it took." }),
  interrupted: Type.Boolean({ description: "Whether it was ended before its end." }),
});
/** The results of one run of the benchmarks. */
export type RunResult = Described<typeof runResultSchema>;

/**
 * Reads the text of a suite's results.
 *
 * @param name What errors call the text: its file.
 * @throws Error that says what does not fit, and to run the suite again.
 */
export const parseResults = (text: string, name = "The text"): SuiteResult =>
  parseJson(suiteResultSchema, text, name, "results of a suite: run `bun run bench` again, which writes them anew");

/**
 * Reads what `--json` prints.
 *
 * @throws Error that says what does not fit.
 */
export const parseRun = (text: string, name = "The text"): RunResult =>
  parseJson(runResultSchema, text, name, "what `envoi bench --json` of this version prints");

export const serialise = (result: SuiteResult | RunResult): string => jsonText(result);

/** Writes the results of suites, of all of them or of none. @throws UsageError where one could not be read again. */
export async function writeResults(folder: string, results: readonly SuiteResult[]): Promise<void> {
  const texts = results.map((result) => [join(folder, `${result.suite}.json`), serialise(result)] as const);
  for (const [path, text] of texts) parseResults(text, path);
  await mkdir(folder, { recursive: true });
  await writeWhole(texts);
}

/** Reads all results of suites in a folder, none where there is no such folder. @throws Error that names a file which does not fit. */
export async function readResults(folder: string): Promise<SuiteResult[]> {
  const names = await readdir(folder).catch(() => []);
  const own = names.filter((name) => name.endsWith(".json") && !/^peers-|^stress\./.test(name)).sort();
  const read = own.map(async (name) => {
    const path = join(folder, name);
    const result = parseResults(await Bun.file(path).text(), path);
    if (`${result.suite}.json` === name) return result;
    throw new UsageError(`${path} has the results of ${result.suite}: remove it, or give it the name of its suite.`);
  });
  return Promise.all(read);
}
