import { counted } from "../harness/progress";
import { targets } from "../targets";
import { type Builds, buildBoth } from "./build";
import { Course, expected, spoken } from "./course";
import { type Judged, judge, suspectRows } from "./judge";
import { type Look, lookAt, type Seen } from "./look";
import { FULL, type Looks, QUICK } from "./looks";
import { type ComparedRow, makePlan, type Plan, suitesIn } from "./plan";
import { LIMITS, type Report, render, serialise, statusOf } from "./report";
import { CannotCompare, Checkout } from "./revision";
import { Workshop } from "./workshop";

/** What is compared, and how thoroughly. */
export interface CompareOptions {
  /** All, when there is none. */
  readonly suites: readonly string[];
  /** Only rows whose name contains it. */
  readonly filter?: string | undefined;
  readonly quick: boolean;
  readonly json: boolean;
}

/** What a comparison touches. */
export interface CompareSurroundings {
  /** The checkout. */
  readonly root: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Shows where the run is; an empty text clears it. */
  readonly progress: (text: string) => void;
  /** Ends the run with what it has. */
  readonly signal: AbortSignal;
}

/**
 * Builds a revision and the working tree, and measures both row by row.
 *
 * @returns 0; 1 when something got slower or no longer runs; 2 when there is nothing to compare; 3 when the machine was too noisy
 * to tell, or no row could be compared; 130 when the signal was aborted.
 */
export async function compare(
  revision: string,
  options: CompareOptions,
  around: CompareSurroundings,
): Promise<0 | 1 | 2 | 3 | 130> {
  const workshop = new Workshop(around.signal);
  try {
    return await compareIn(workshop, revision, options, around);
  } catch (error) {
    around.progress("");
    if (around.signal.aborted) {
      around.err("Interrupted before there was anything to tell.\n");
      return 130;
    }
    if (!(error instanceof CannotCompare)) throw error;
    around.err(`${error.message}\n`);
    return 2;
  } finally {
    await workshop.close();
  }
}

async function compareIn(
  workshop: Workshop,
  revision: string,
  options: CompareOptions,
  around: CompareSurroundings,
): Promise<0 | 1 | 3 | 130> {
  const { root } = around;
  const checkout = await Checkout.open(root);
  const commit = await checkout.commitOf(revision);
  await suitesIn(root, options.suites); // A name that is wrong is told before anything is built.
  around.progress(`building ${revision} and this tree`);
  const builds = await buildBoth(checkout, commit, workshop);
  around.progress("looking at the rows of both");
  const plan = await makePlan(root, builds, options, targets, workshop);
  const looks = options.quick ? QUICK : FULL;
  around.progress("");
  const time = spoken(expected(plan.rows, looks.first));
  around.err(
    `${counted(plan.rows.length)} of ${revision} and of this tree: ${time}; what differs is then looked at again.\n`,
  );
  const { judged, interrupted } = await measure(plan, looks, builds, workshop, around);
  const report: Report = {
    base: { revision, commit: commit.slice(0, 9) },
    present: { commit: await checkout.describe() },
    missing: builds.base.missing,
    ...LIMITS,
    interrupted,
    comparisons: judged.comparisons,
    notCompared: [...plan.notCompared, ...judged.notCompared],
  };
  around.out(options.json ? serialise(report) : render(report));
  return statusOf(report);
}

async function measure(
  plan: Plan,
  looks: Looks,
  builds: Builds,
  workshop: Workshop,
  { progress, signal }: CompareSurroundings,
): Promise<{ readonly judged: Judged; readonly interrupted: boolean }> {
  const first = new Map<ComparedRow, Seen>();
  const second = new Map<ComparedRow, Seen>();
  const run = async (rows: readonly ComparedRow[], look: Look, seen: Map<ComparedRow, Seen>, name: string) => {
    const course = new Course(name, rows, look);
    for (const group of Map.groupBy(rows, ({ suite }) => suite).values()) {
      await lookAt(group, look, builds, workshop, seen, (row, pair) => progress(course.next(row, pair)));
    }
  };
  try {
    await run(plan.rows, looks.first, first, "first look");
    await run(suspectRows(first), looks.second, second, "second look");
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  progress("");
  return { judged: judge(first, second), interrupted: signal.aborted };
}
