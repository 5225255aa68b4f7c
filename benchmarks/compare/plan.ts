import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { thereIsNo } from "../harness/arguments";
import { readResults } from "../harness/results";
import type { LeftOut, ProbeFigure } from "../harness/suite";
import type { Target } from "../harness/target";
import type { Builds } from "./build";
import { CannotCompare } from "./revision";
import { BuildProcess, type Loaded } from "./worker";
import type { Workshop } from "./workshop";

/** Which way a figure is better. */
type Better = "lower" | "higher";

/** A figure of a row that both builds are to give. */
export interface ComparedFigure {
  readonly name: string;
  readonly unit: ProbeFigure["unit"];
  readonly better: Better;
}

/** A row that both builds are to run. */
export interface ComparedRow {
  readonly suite: string;
  readonly row: string;
  readonly kind: "timed" | "probe";
  readonly figures: readonly ComparedFigure[];
  /** Milliseconds that a reading of a probe took when it was measured last; 0 of a timed row. */
  readonly reading: number;
}

/** A row that is not compared. */
export interface NotCompared {
  readonly suite: string;
  readonly row: string;
  readonly why: string;
  /** Whether it is the present build that could not run it: something was broken. */
  readonly isBroken: boolean;
}

/** What is to be done, and what cannot be. */
export interface Plan {
  readonly rows: readonly ComparedRow[];
  readonly notCompared: readonly NotCompared[];
}

const TIMED: readonly ComparedFigure[] = ["time", "p99"].map((name) => ({ name, unit: "ns", better: "lower" }));
/** A reading of a probe that was never measured, in milliseconds. */
const UNKNOWN = 1_500;
const ENDING = ".bench.ts";

/** Looks which rows there are, and which of them both builds have. */
export async function makePlan(
  root: string,
  builds: Builds,
  chosen: { readonly suites: readonly string[]; readonly filter?: string | undefined },
  targets: readonly Target[],
  workshop: Workshop,
): Promise<Plan> {
  const names = await suitesIn(root, chosen.suites);
  const rows: ComparedRow[] = [];
  const notCompared: NotCompared[] = [];
  const readings = await readingsIn(join(root, "benchmarks/results"));
  const wanted = chosen.filter?.toLowerCase() ?? "";
  for (const suite of names) {
    const [base, present] = await Promise.all([
      loaded(builds.base, suite, workshop),
      loaded(builds.present, suite, workshop),
    ]);
    if (typeof present === "string") {
      notCompared.push({ suite, row: "all", why: present, isBroken: true });
      continue;
    }
    const before = typeof base === "string" ? [] : base.rows;
    for (const { row, why } of [...present.leftOut, ...goneFrom(present, before)]) {
      if (!row.toLowerCase().includes(wanted)) continue;
      notCompared.push({ suite, row, why, isBroken: before.some((each) => each.row === row) });
    }
    for (const outline of present.rows) {
      const { row, kind } = outline;
      if (!row.toLowerCase().includes(wanted)) continue;
      const why = typeof base === "string" ? base : whyNotIn(base, row);
      const figures =
        outline.kind === "timed"
          ? TIMED
          : outline.figures.flatMap((figure) => {
              const better = betterOf(suite, row, figure, targets);
              return better === undefined ? [] : [{ name: figure.name, unit: figure.unit, better }];
            });
      const reading = kind === "timed" ? 0 : (readings.get(`${suite}: ${row}`) ?? UNKNOWN);
      if (why !== undefined) notCompared.push({ suite, row, why, isBroken: false });
      else if (figures.length > 0) rows.push({ suite, row, kind, figures, reading });
      else
        notCompared.push({
          suite,
          row,
          why: "none of its figures is better when it is lower, or higher",
          isBroken: false,
        });
    }
  }
  if (rows.length === 0 && notCompared.length === 0) {
    throw new CannotCompare(`No row of ${names.join(", ")} contains "${chosen.filter}".`);
  }
  return { rows, notCompared };
}

/** The suites to compare: those chosen, or all. */
export async function suitesIn(root: string, chosen: readonly string[]): Promise<readonly string[]> {
  const files = await readdir(join(root, "benchmarks/suites"));
  const all = files
    .filter((file) => file.endsWith(ENDING))
    .map((file) => file.slice(0, -ENDING.length))
    .sort();
  const unknown = chosen.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new CannotCompare(thereIsNo("suite", unknown, all));
  return chosen.length === 0 ? all : chosen;
}

/** How long a reading of each probe took when it was measured last, in milliseconds; nothing where results do not fit any more. */
async function readingsIn(folder: string): Promise<Map<string, number>> {
  const results = await readResults(folder).catch(() => []);
  return new Map(
    results.flatMap(({ suite, rounds, probeRounds = rounds, rows }) =>
      rows.map(({ row, seconds }) => [`${suite}: ${row}`, (1_000 * seconds) / probeRounds] as const),
    ),
  );
}

/** The rows of a suite, or why the build cannot load it. */
async function loaded(build: Builds["base"], suite: string, workshop: Workshop): Promise<Loaded | string> {
  const process = new BuildProcess(workshop, build);
  try {
    return await process.ask<"load">({ order: "load", suite });
  } catch (error) {
    workshop.signal.throwIfAborted();
    return error instanceof Error ? error.message : String(error);
  } finally {
    await process.stop();
  }
}

/** Rows that were there before, and are not even left out. */
function goneFrom({ rows, leftOut }: Loaded, before: Loaded["rows"]): LeftOut[] {
  const there = [...rows, ...leftOut].map(({ row }) => row);
  return before.flatMap(({ row }) => (there.includes(row) ? [] : [{ row, why: "this tree has no such row" }]));
}

function whyNotIn({ rows, leftOut }: Loaded, row: string): string | undefined {
  if (rows.some((each) => each.row === row)) return undefined;
  return leftOut.find((each) => each.row === row)?.why ?? "the base has no such row";
}

const BY_UNIT: Readonly<Record<ProbeFigure["unit"], Better | undefined>> = {
  ns: "lower",
  µs: "lower",
  ms: "lower",
  s: "lower",
  B: "lower",
  kB: "lower",
  MB: "lower",
  "/s": "higher",
  // A count or a share may be good or bad: a target tells.
  "": undefined,
  "%": undefined,
};

/** Which way a probe's figure is better, if there is one: as its target says, or else its unit. */
export function betterOf(
  suite: string,
  row: string,
  { name, unit }: ProbeFigure,
  targets: readonly Target[],
): Better | undefined {
  const target = targets.find((each) => each.suite === suite && each.row === row && each.figure === name);
  if (target === undefined) return BY_UNIT[unit];
  return "atMost" in target ? "lower" : "higher";
}
