import { type Address, type FailedEvent, quote, type SystemOptions } from "../index";
import { show } from "./show";

/** What goes wrong on purpose: each by its probability, from 0 to 1. Default of each: 0. */
export interface Faults {
  /** That a handler throws a SimulatedFault instead of handling its message. */
  readonly throw?: number;
  /** That some actor is stopped before a turn. Its children stop with it, and what waits for them is dead-lettered. */
  readonly stop?: number;
  /** That an actor with messages has to wait for its turn, for up to `longestDelay` of virtual time. */
  readonly delay?: number;
  /** Of a delay, in milliseconds above 0. Default: 10. */
  readonly longestDelay?: number;
  /** That time passes to the next timers although there is work to do: waits expire that would not have. */
  readonly expire?: number;
  /** Whom it may hit; for a throw it gets the operation too. Default: everybody. */
  readonly only?: (address: Address, operation?: string) => boolean;
}

/** How a program is simulated; all of it may be left out. */
export interface SimulateOptions {
  /** How many seeds are tried, from `firstSeed` on; not beside `seed`. Default: 100. */
  readonly seeds?: number;
  /** A whole number. Default: 1. */
  readonly firstSeed?: number;
  /** The one seed to try instead: that of a failure replays it. */
  readonly seed?: number;
  /** Default: none, only the order of turns differs. */
  readonly faults?: Faults;
  /** What each run's system is created with, beside what the simulation brings along. */
  readonly system?: Omit<SystemOptions, (typeof OWN)[number]>;
  /**
   * What becomes of a run in which nothing can go on though the program has not ended, or in which messages are left in
   * mailboxes, stashes and handlers at its end. With `"allow"`, which suits programs that are not built to outlive the
   * faults that hit them, only the core's own promises count then. Default: `"fail"`.
   */
  readonly unfinished?: "fail" | "allow";
  /**
   * Whether a failure that a supervisor was told of is meant to be; one that is not fails the run. Those of `faults`
   * always are. Default: with the faults `throw`, `stop` or `expire` all are, otherwise none is.
   */
  readonly expected?: (failure: FailedEvent) => boolean;
  /** Most turns of a run; one that takes more has failed. Default: 100,000. */
  readonly maxSteps?: number;
  /**
   * Tells each run message by message: to the console where it is true, or line by line to a function. Default: false;
   * a failure shows its last lines anyway.
   */
  readonly trace?: boolean | ((line: string) => void);
}

/** How often each fault hit. */
export interface FaultCounts {
  readonly throw: number;
  readonly stop: number;
  readonly delay: number;
  readonly expire: number;
}

/** What the runs of a simulation came to. */
export interface SimulationReport {
  readonly runs: number;
  /** Of all runs. */
  readonly steps: number;
  /** Of all runs. */
  readonly faults: FaultCounts;
  /** Runs in which the program did not end, where that is allowed. */
  readonly unfinished: number;
  /** Each line of the last run, where `trace` was asked for. */
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
/** What a simulation brings along itself, or its order of turns would not be the seed's. */
const OWN = ["clock", "logger", "random", "dispatcher", "beforeHandle"] as const satisfies (keyof SystemOptions)[];

/** Refuses options that cannot be ones, and fills in the defaults. */
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

/** The seeds that are to be tried. */
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
