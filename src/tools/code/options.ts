import type { ActorOptions } from "../../index";
import type { Isolation } from "./tier";

/** How a code actor is made. All may be left out. */
export interface CodeExecutionOptions extends Pick<ActorOptions, "supervision" | "phase" | "capacity" | "overflow"> {
  /** The actor's name. Default: `"code"`. */
  readonly name?: string;
  /** The weakest way in which code is kept from the machine; `"trusted"` keeps it from nothing. Default: `"sandbox"`. */
  readonly isolation?: Isolation;
  /** Longest run, and that of a request which names none, in milliseconds. Default: 5,000. */
  readonly timeout?: number;
  /** Most memory of a run, and that of a request which names none, in bytes. `"trusted"` does not hold it. Default: 64 MB. */
  readonly memory?: number;
  /** Most bytes of a run's logs and value together. Default: 1 MB. */
  readonly maxOutput?: number;
  /** How many run at once. Default: the number of processors. */
  readonly concurrency?: number;
  /** How many wait beside them; one more is told `busy`. Default: 1,000. */
  readonly maxWaiting?: number;
}

/** The limits, none of them left out. */
export interface CodeLimits {
  readonly isolation: Isolation;
  readonly timeout: number;
  readonly memory: number;
  readonly maxOutput: number;
  readonly concurrency: number;
  readonly maxWaiting: number;
}

const MB = 1024 * 1024;
const COUNTS = ["timeout", "memory", "maxOutput", "concurrency", "maxWaiting"] as const;
const NAMES: ReadonlySet<string> = new Set<keyof CodeExecutionOptions>([
  ...COUNTS,
  "name",
  "isolation",
  "supervision",
  "phase",
  "capacity",
  "overflow",
]);

/** Refuses options that cannot be ones, says what to write, and fills in the defaults. */
export function limitsOf(options: CodeExecutionOptions): CodeLimits {
  if (typeof options !== "object" || options === null) {
    throw new TypeError("The options of a code actor are an object, such as { timeout: 1_000 }.");
  }
  for (const key of Object.keys(options)) {
    if (!NAMES.has(key)) {
      throw new TypeError(`There is no option "${key}" of a code actor; write one of ${[...NAMES].join(", ")}.`);
    }
  }
  for (const key of COUNTS) {
    const value = options[key];
    const least = key === "maxWaiting" ? 0 : 1;
    if (value === undefined || (Number.isSafeInteger(value) && value >= least)) continue;
    throw new RangeError(`The ${key} of a code actor is a whole number from ${least}; got ${shorten(value)}.`);
  }
  const { isolation = "sandbox" } = options;
  if (isolation !== "sandbox" && isolation !== "trusted") {
    throw new TypeError(`The isolation of a code actor is "sandbox" or "trusted"; got ${shorten(isolation)}.`);
  }
  return {
    isolation,
    timeout: options.timeout ?? 5_000,
    memory: options.memory ?? 64 * MB,
    maxOutput: options.maxOutput ?? MB,
    concurrency: options.concurrency ?? navigator.hardwareConcurrency,
    maxWaiting: options.maxWaiting ?? 1_000,
  };
}

/** A value for an error. */
function shorten(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : Bun.inspect(value, { depth: 1, compact: true });
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
