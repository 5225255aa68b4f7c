import { type Address, type FailedEvent, quote, type SystemOptions } from "../index";
import { show } from "./show";

/** The faults of a simulation, each with its probability from 0 to 1. Default of each: 0. */
export interface Faults {
  /** A handler throws a SimulatedFault instead of handling its message. */
  readonly throw?: number;
  /** Some actor is stopped before a turn. Its children stop with it, and their waiting messages are dead-lettered. */
  readonly stop?: number;
  /** An actor with messages waits for its turn, for up to `longestDelay` of virtual time. */
  readonly delay?: number;
  /** Longest delay, in milliseconds above 0. Default: 10. */
  readonly longestDelay?: number;
  /** Time passes to the next timers although there is work to do. Waits expire that would not have otherwise. */
  readonly expire?: number;
  /** True for an actor that faults may hit; for `throw` it gets the operation too. Default: all actors. */
  readonly only?: (address: Address, operation?: string) => boolean;
}

/** The options of a simulation. All are optional. */
export interface SimulateOptions {
  /** The number of seeds to try, from `firstSeed` on. Not together with `seed`. Default: 100. */
  readonly seeds?: number;
  /** The first seed, a whole number. Default: 1. */
  readonly firstSeed?: number;
  /** The only seed to try. The seed of a failure replays it. Default: none, `seeds` of them are tried. */
  readonly seed?: number;
  /** The faults to inject. Default: none; only the order of turns differs. */
  readonly faults?: Faults;
  /** The options of each run's system, except those that the simulation sets itself. Default: those of `createSystem`. */
  readonly system?: Omit<SystemOptions, (typeof OWN)[number]>;
  /**
   * The result of a run that cannot go on though the program has not ended, or that leaves messages in mailboxes, stashes and
   * handlers at its end. With `"allow"` such a run only has to keep the core's own promises: this suits programs that are not
   * built to survive the faults. Default: `"fail"`.
   */
  readonly unfinished?: "fail" | "allow";
  /**
   * True for a failure that is expected. Any other failure that a supervisor is told of fails the run. Those of `faults` are
   * always expected. Default: with the faults `throw`, `stop` or `expire` all are expected, otherwise none is.
   */
  readonly expected?: (failure: FailedEvent) => boolean;
  /** Most turns of a run. A run that takes more has failed. Default: 100,000. */
  readonly maxSteps?: number;
  /**
   * Traces each run message by message: true writes to the console, and a function gets each line. Default: false. A failure
   * shows its last lines anyway.
   */
  readonly trace?: boolean | ((line: string) => void);
}

/** The number of hits of each fault. */
export interface FaultCounts {
  readonly throw: number;
  readonly stop: number;
  readonly delay: number;
  readonly expire: number;
}

/** The results of a simulation. */
export interface SimulationReport {
  readonly runs: number;
  /** The turns of all runs. */
  readonly steps: number;
  /** The faults of all runs. */
  readonly faults: FaultCounts;
  /** Runs in which the program did not end, if that is allowed. */
  readonly unfinished: number;
  /** Each line of the last run, if `trace` is set. */
  readonly trace: readonly string[];
}

/** Options with their defaults, for all runs. */
export interface Plan {
  readonly faults: Required<Faults>;
  readonly system: SystemOptions;
  readonly mayStayUnfinished: boolean;
  readonly expected: (failure: FailedEvent) => boolean;
  readonly maxSteps: number;
}

const KNOWN: readonly string[] = [
  "seeds",
  "firstSeed",
  "seed",
  "faults",
  "system",
  "unfinished",
  "expected",
  "maxSteps",
  "trace",
] satisfies (keyof SimulateOptions)[];
const CHANCES = ["throw", "stop", "delay", "expire"] as const;
const KNOWN_FAULTS: readonly string[] = [...CHANCES, "longestDelay", "only"] satisfies (keyof Faults)[];
/** The options that a simulation sets itself. Otherwise the seed would not decide the order of turns. */
const OWN = ["clock", "logger", "random", "dispatcher"] as const satisfies (keyof SystemOptions)[];

/** Refuses invalid options, and fills in the defaults. */
export function planOf(options: SimulateOptions): Plan {
  refuseUnknown(options, KNOWN, "option");
  const { faults: wanted = {}, system = {}, unfinished = "fail", maxSteps = 100_000, trace = false } = options;
  if (options.seed !== undefined && options.seeds !== undefined) {
    throw new TypeError("seed is the one seed to try, and seeds is how many: write one of the two.");
  }
  refuseUnknown(wanted, KNOWN_FAULTS, "fault");
  for (const key of CHANCES) {
    const chance: unknown = wanted[key] ?? 0;
    if (typeof chance === "number" && chance >= 0 && chance <= 1) continue;
    throw new RangeError(`The fault "${key}" has a probability from 0 to 1; got ${quote(chance)}.`);
  }
  const { longestDelay = 10, only = () => true } = wanted;
  if (!(Number.isFinite(longestDelay) && longestDelay > 0)) {
    throw new RangeError(`longestDelay is a number of milliseconds above 0; got ${quote(longestDelay)}.`);
  }
  checkFunction("only, of faults,", only, "address", "true");
  checkSystem(system);
  if (options.expected !== undefined) checkFunction("expected", options.expected, "failure", "true");
  if (typeof trace !== "boolean" && typeof trace !== "function") {
    throw new TypeError(`trace is true, false, or a function of a line; got ${show(trace)}.`);
  }
  if (unfinished !== "fail" && unfinished !== "allow") {
    throw new TypeError(`unfinished is "fail" or "allow"; got ${quote(unfinished)}.`);
  }
  if (!(Number.isInteger(maxSteps) && maxSteps >= 1)) {
    throw new RangeError(`maxSteps is a whole number from 1; got ${quote(maxSteps)}.`);
  }
  const faults = { throw: 0, stop: 0, delay: 0, expire: 0, ...wanted, longestDelay, only };
  const isRough = faults.throw > 0 || faults.stop > 0 || faults.expire > 0;
  return {
    faults,
    system,
    mayStayUnfinished: unfinished === "allow",
    expected: options.expected ?? (() => isRough),
    maxSteps,
  };
}

/** The seeds to try. */
export function* seedsOf({ seed, seeds = 100, firstSeed = 1 }: SimulateOptions): Generator<number> {
  if (seed !== undefined) {
    yield seed;
    return;
  }
  if (!(Number.isSafeInteger(seeds) && seeds >= 1 && Number.isSafeInteger(firstSeed))) {
    throw new RangeError(
      `seeds and firstSeed are whole numbers, seeds from 1; got ${quote(seeds)}, ${quote(firstSeed)}.`,
    );
  }
  for (let next = firstSeed; next < firstSeed + seeds; next++) yield next;
}

function checkFunction(what: string, given: unknown, of: string, result: string): void {
  if (typeof given === "function") return;
  throw new TypeError(`${what} is a function, such as (${of}) => ${result}; got ${show(given)}.`);
}

function checkSystem(system: object): void {
  if (typeof system !== "object" || system === null) {
    throw new TypeError(`system is an object, such as { askTimeout: 500 }; got ${show(system)}.`);
  }
  for (const key of OWN) {
    if (!Object.hasOwn(system, key)) continue;
    throw new TypeError(
      `A simulation brings its own ${key}, or a seed would not replay its run; leave it out of system.`,
    );
  }
}

function refuseUnknown(given: object, known: readonly string[], what: string): void {
  for (const key of Object.keys(given)) {
    if (!known.includes(key))
      throw new TypeError(`There is no ${what} ${quote(key)}; write one of ${known.join(", ")}.`);
  }
}
