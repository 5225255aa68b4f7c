import { counted } from "../harness/estimate";
import { targets } from "../targets";
import { buildBoth } from "./build";
import { CONFIDENCE, FULL, judge, QUICK, suspectRows } from "./judge";
import { type Looked, lookAt } from "./look";
import { makePlan, suitesIn } from "./plan";
import { type Report, render, serialise, statusOf } from "./report";
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
  const { root, progress, signal } = around;
  const start = performance.now();
  const checkout = await Checkout.open(root);
  const commit = await checkout.commitOf(revision);
  await suitesIn(root, options.suites); // A name that is wrong is told before anything is built.
  progress(`building ${revision} and this tree`);
  const builds = await buildBoth(checkout, commit, workshop);
  progress("looking at the rows of both");
  const plan = await makePlan(root, builds, options, targets, workshop);
  const how = options.quick ? QUICK : FULL;
  progress("");
  const most = Math.ceil((how.first.time + how.second.time) / 60_000);
  around.err(`${counted(plan.rows.length)} of ${revision} and of this tree: ${most} minutes at most.\n`);
  const first: Looked = new Map();
  const second: Looked = new Map();
  try {
    await lookAt(plan.rows, how.first, builds, workshop, first, progress);
    await lookAt(suspectRows(first, how), how.second, builds, workshop, second, progress);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  progress("");
  const judged = judge(first, second, how);
  const report: Report = {
    base: { revision, commit: commit.slice(0, 9) },
    present: { commit: await checkout.describe() },
    missing: builds.base.missing,
    resolution: how.resolution,
    confidence: CONFIDENCE,
    seconds: (performance.now() - start) / 1_000,
    interrupted: signal.aborted,
    comparisons: judged.comparisons,
    notCompared: [...plan.notCompared, ...judged.notCompared],
  };
  around.out(options.json ? serialise(report) : render(report));
  return statusOf(report);
}
