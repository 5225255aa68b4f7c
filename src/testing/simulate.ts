import {
  type FaultCounts,
  type Plan,
  planOf,
  type SimulateOptions,
  type SimulationReport,
  seedsOf,
} from "./simulate-options";
import { type Failure, type Outcome, Run } from "./simulate-run";
import type { SimulatedProgram } from "./simulation";

/** Lines of the trace that the message of a failure shows. Its `trace` has all. */
const SHOWN = 40;

/**
 * The error of a failed simulation. Its message has the seed, the faults, the last steps, and how to replay the run.
 *
 * @example
 * const error = await simulate(program, { seeds: 100 }).catch((thrown) => thrown);
 * if (error instanceof SimulationError) await simulate(program, { seed: error.seed }); // the same failure again
 */
export class SimulationError extends Error {
  override readonly name = "SimulationError";
  readonly seed: number;
  /** The number of hits of each fault. */
  readonly faults: FaultCounts;
  readonly #trace: readonly string[];

  constructor(
    seed: number,
    { sentence, cause }: Failure,
    faults: FaultCounts,
    trace: readonly string[],
    replay: string,
  ) {
    const hits = Object.entries(faults).filter(([, count]) => count > 0);
    const injected = hits.length === 0 ? "none" : hits.map(([kind, count]) => `${kind} ${count}`).join(", ");
    const last = trace.slice(-SHOWN).join("\n");
    const omitted = trace.length > SHOWN ? `the last ${SHOWN} of ${trace.length} lines` : "what happened";
    super(
      `Seed ${seed} fails: ${sentence}\n\nFaults: ${injected}.\n${replay}` +
        (trace.length > 0 ? `\n\n${omitted}:\n${last}` : ""),
      { cause },
    );
    this.seed = seed;
    this.faults = faults;
    this.#trace = trace;
  }

  /** The whole run, message by message. A getter, so that it is not printed with the error. */
  get trace(): readonly string[] {
    return this.#trace;
  }
}

/**
 * Runs a program again and again, each time with another order of turns. A seed decides which actor runs next, when
 * promises settle, and when time passes. Faults are injected on request. After each run, envoi's promises for
 * every program are checked: the audit balances (P1), no actor is forgotten with messages in its mailbox, no timer is left
 * (P6), the shutdown leaves no actor (P13), and no handler failed unexpectedly. The program checks its own promises by
 * throwing, or by `always` and `eventually`.
 *
 * Time is virtual: it passes when no actor has anything to do. The same seed gives the same run, message by message, if the
 * program depends on nothing else: use the simulation's `random` and `now` instead of the machine's. Use neither real timers
 * nor I/O, because the run would seem stuck.
 *
 * @returns the results of all runs; rejects with a SimulationError at the first seed that fails.
 * @throws TypeError or RangeError (as a rejection) when an option is invalid.
 * @example
 * await simulate(async ({ system, random, always }) => {
 *   const account = system.spawn("account", Account, accountOf(100));
 *   always(() => expect(overdrafts).toBe(0));
 *   await Promise.all(draws(random).map((amount) => account.ask("draw", amount)));
 * }, { seeds: 1_000, faults: { throw: 0.01, delay: 0.05 } });
 * // A failure names its seed: simulate(program, { seed: 4711, faults: …, trace: true }) replays it.
 */
export async function simulate(program: SimulatedProgram, options: SimulateOptions = {}): Promise<SimulationReport> {
  if (typeof program !== "function") {
    throw new TypeError("simulate() takes a function of a simulation: simulate(async ({ system }) => { … }).");
  }
  const plan = planOf(options);
  const { trace = false } = options;
  const tell = trace === false ? null : trace === true ? (line: string) => console.log(line) : trace;
  const faults = { throw: 0, stop: 0, delay: 0, expire: 0 };
  let [runs, steps, unfinished] = [0, 0, 0];
  let lines: readonly string[] = [];
  let isObserved = tell !== null || plan.faults.throw > 0;
  for (const seed of seedsOf(options)) {
    let outcome = await new Run(program, seed, plan, isObserved, tell).run();
    if (outcome.mustBeObserved) {
      isObserved = true;
      outcome = await new Run(program, seed, plan, isObserved, tell).run();
    }
    if (outcome.failure !== null) throw await explained(program, seed, plan, outcome.failure, outcome, tell !== null);
    runs++;
    steps += outcome.steps;
    if (outcome.isUnfinished) unfinished++;
    for (const kind of ["throw", "stop", "delay", "expire"] as const) faults[kind] += outcome.faults[kind];
    lines = outcome.trace;
  }
  return { runs, steps, faults, unfinished, trace: lines };
}

/** The error of a failed run. Runs it again for its trace if none was kept. */
async function explained(
  program: SimulatedProgram,
  seed: number,
  plan: Plan,
  failure: Failure,
  outcome: Outcome,
  isTraced: boolean,
): Promise<SimulationError> {
  const options = `{ seed: ${seed}${faultsOf(plan)}, trace: true }`;
  const replay = `Replay it, with seed instead of seeds and the other options as they are: simulate(program, ${options})`;
  if (isTraced) return new SimulationError(seed, failure, outcome.faults, outcome.trace, replay);
  const again = await new Run(program, seed, plan, true, () => undefined).run();
  if (again.failure !== null) return new SimulationError(seed, failure, again.faults, again.trace, replay);
  const doubt =
    `${replay}\nIt did not fail when it was run again for its trace. Either the program draws on something beside the ` +
    "simulation (random numbers or a clock of its own, real timers, state outside of it), or it fails only unobserved: leave trace out.";
  return new SimulationError(seed, failure, outcome.faults, again.trace, doubt);
}

function faultsOf({ faults }: Plan): string {
  const set = (["throw", "stop", "delay", "expire"] as const).filter((kind) => faults[kind] > 0);
  return set.length === 0 ? "" : `, faults: { ${set.map((kind) => `${kind}: ${faults[kind]}`).join(", ")} }`;
}
