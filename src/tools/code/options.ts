import type { ActorOptions } from "../../index";
import type { Approve } from "./approval";
import { LANGUAGES, type Language } from "./language";
import { ISOLATIONS, type Isolation, type OpenCalls } from "./tier";
import { Broker } from "./tools/broker";
import { type ToolLimits, toolLimitsOf } from "./tools/tool-limits";
import { ToolSet, type Tools } from "./tools/tool-set";

/** How a code actor is made. All may be left out. */
export interface CodeExecutionOptions extends Pick<ActorOptions, "supervision" | "phase" | "capacity" | "overflow"> {
  /** The actor's name. Default: `"code"`. */
  readonly name?: string;
  /** The weakest way in which code is kept from the machine; `"trusted"` keeps it from nothing. Default: `"sandbox"`. */
  readonly isolation?: Isolation;
  /**
   * What code may be written in; a request which names no language is in the first one. TypeScript needs one package more.
   * Default: `["javascript", "typescript"]`.
   */
  readonly languages?: readonly [Language, ...Language[]];
  /** Longest run, and that of a request which names none, in milliseconds. Default: 5,000. */
  readonly timeout?: number;
  /**
   * Most memory of a run, and that of a request which names none, in bytes. A run in `"sandbox"` has 1.5 MB in any case;
   * `"trusted"` does not hold it. Default: 64 MB.
   */
  readonly memory?: number;
  /**
   * Most bytes of a run's input as JSON, of which each value counts 8 at least; no more than 512 MB. Each MB takes the host
   * 4 ms, or 10 where all of it is escaped, in which it does nothing else. Default: 1 MB.
   */
  readonly maxInputBytes?: number;
  /** Most bytes of a run's logs, progress and value together. Default: 1 MB. */
  readonly maxOutput?: number;
  /** How many run at once. Default: the number of processors. */
  readonly concurrency?: number;
  /** How many wait beside them; one more is told `busy`. Default: 1,000. */
  readonly maxWaiting?: number;
  /** How many sessions are open at once; one more is told `busy`. Default: 16. */
  readonly maxSessions?: number;
  /** How long a session may be idle before it is ended, in milliseconds. Default: 300,000. */
  readonly sessionIdle?: number;
  /** How many programs `compile` keeps, the last ones used. Default: 1,000. */
  readonly maxPrograms?: number;
  /** What the code may call, as `await tools.files.read({ path })`. Default: nothing. */
  readonly tools?: Tools;
  /** How much it may do with them, in one run. Default: 1,000 calls, 16 MB, 30 s a call. */
  readonly toolLimits?: ToolLimits;
  /**
   * Sees what is to run before it does, and each call of a tool before it is made: it allows, changes or refuses it. No
   * time of the run passes meanwhile. Default: all may happen.
   */
  readonly approve?: Approve;
}

/** The limits, none of them left out. */
export interface CodeLimits {
  readonly isolation: Isolation;
  readonly languages: readonly [Language, ...Language[]];
  readonly timeout: number;
  readonly memory: number;
  readonly maxInputBytes: number;
  readonly maxOutput: number;
  readonly concurrency: number;
  readonly maxWaiting: number;
  readonly maxSessions: number;
  readonly sessionIdle: number;
  readonly maxPrograms: number;
  readonly approve?: Approve;
  /** What makes the calls of one run; there is none where the code has no tools. */
  readonly openCalls?: () => OpenCalls;
}

const MB = 1024 * 1024;
const DEFAULTS = {
  timeout: 5_000,
  memory: 64 * MB,
  maxInputBytes: MB,
  maxOutput: MB,
  concurrency: navigator.hardwareConcurrency,
  maxWaiting: 1_000,
  maxSessions: 16,
  sessionIdle: 300_000,
  maxPrograms: 1_000,
};
/** A text of this many bytes is still one when it is a part of another, in which it may be twice as long. */
const LARGEST_INPUT = 512 * MB;
const COUNTS = Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[]; // Of an object that was written here.
/** What there may be none of. */
const MAY_BE_ZERO: ReadonlySet<string> = new Set<keyof typeof DEFAULTS>(["maxWaiting", "maxSessions"]);
const NAMES: ReadonlySet<string> = new Set<keyof CodeExecutionOptions>([
  ...COUNTS,
  "name",
  "isolation",
  "languages",
  "tools",
  "toolLimits",
  "approve",
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
  const counts = { ...DEFAULTS };
  for (const key of COUNTS) {
    const value = options[key];
    const least = MAY_BE_ZERO.has(key) ? 0 : 1;
    if (value !== undefined) counts[key] = value;
    if (value === undefined || (Number.isSafeInteger(value) && value >= least)) continue;
    throw new RangeError(`The ${key} of a code actor is a whole number from ${least}; got ${shorten(value)}.`);
  }
  if (counts.maxInputBytes > LARGEST_INPUT) {
    throw new RangeError(
      `The maxInputBytes of a code actor are ${LARGEST_INPUT} at most; got ${counts.maxInputBytes}. Give code a tool that reads more.`,
    );
  }
  const { isolation = "sandbox", approve } = options;
  if (!ISOLATIONS.includes(isolation)) {
    throw new TypeError(`The isolation of a code actor is one of ${ISOLATIONS.join(", ")}; got ${shorten(isolation)}.`);
  }
  const languages = languagesOf(options.languages);
  if (approve !== undefined && typeof approve !== "function") {
    throw new TypeError(
      `The approve of a code actor is a function, such as (request) => true; got ${shorten(approve)}.`,
    );
  }
  const limits = toolLimitsOf(options.toolLimits);
  const tools = options.tools === undefined ? undefined : new ToolSet(options.tools);
  return {
    isolation,
    languages,
    ...counts,
    ...(approve && { approve }),
    ...(tools && { openCalls: () => new Broker(tools, { limits, approve }) }),
  };
}

function languagesOf(given: CodeExecutionOptions["languages"]): CodeLimits["languages"] {
  const [first, ...others] = Array.isArray(given) ? (given as unknown[]) : given === undefined ? LANGUAGES : [];
  const all = [first, ...others];
  if (new Set(all).size === all.length && all.every((each) => LANGUAGES.some((language) => language === each))) {
    return all as [Language, ...Language[]]; // Each is one of them, as was just seen.
  }
  throw new TypeError(
    `The languages of a code actor are a list of ${LANGUAGES.join(" or ")}, each once; got ${shorten(given)}.`,
  );
}

/** A value for an error. */
function shorten(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : Bun.inspect(value, { depth: 1, compact: true });
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
