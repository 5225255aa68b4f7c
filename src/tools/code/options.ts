import type { ActorOptions, Metadata } from "../../index";
import type { Approve } from "./approval";
import { LANGUAGES, type Language } from "./language";
import { ISOLATIONS, type Isolation, type OpenCalls } from "./tier";
import { Broker } from "./tools/broker";
import { type ToolLimits, toolLimitsOf } from "./tools/tool-limits";
import { ToolSet, type Tools } from "./tools/tool-set";

/** Options of a code actor. All may be left out. */
export interface CodeExecutionOptions extends Pick<ActorOptions, "supervision" | "phase" | "capacity" | "overflow"> {
  /** The actor's name. Default: `"code"`. */
  readonly name?: string;
  /** The weakest isolation of a request, and its default; `"trusted"` isolates from nothing. Default: `"sandbox"`. */
  readonly isolation?: Isolation;
  /**
   * The languages that code may be written in. A request that names none uses the first. TypeScript needs one more package.
   * Default: `["javascript", "typescript"]`.
   */
  readonly languages?: readonly [Language, ...Language[]];
  /** Longest run, in milliseconds, and the timeout of a request that names none. Default: 5,000. */
  readonly timeout?: number;
  /**
   * Most memory of a run, in bytes, and the limit of a request that names none. A run in `"sandbox"` always has 1.5 MB at
   * least; `"trusted"` does not enforce the limit. Default: 64 MB.
   */
  readonly memory?: number;
  /**
   * Most bytes of a run's input as JSON; at most 512 MB. Each value counts as 8 bytes at least. Each MB blocks the host for
   * 1 to 6 ms, by how many values and escaped letters it has. Default: 1 MB.
   */
  readonly maxInputBytes?: number;
  /** Most bytes of a run's logs, progress and value together. Default: 1 MB. */
  readonly maxOutput?: number;
  /** Most runs at once. Default: the number of processors. */
  readonly concurrency?: number;
  /** Most runs that wait beside them; a further one gets `busy`. Default: 1,000. */
  readonly maxWaiting?: number;
  /** Most sessions that are open at once; a further one gets `busy`. Default: 16. */
  readonly maxSessions?: number;
  /** The time after which an idle session is ended, in milliseconds. Default: 300,000. */
  readonly sessionIdle?: number;
  /** Most programs that `compile` keeps; the least recently used is dropped first. Default: 1,000. */
  readonly maxPrograms?: number;
  /** Tools that the code may call, as `await tools.files.read({ path })`. Default: none. */
  readonly tools?: Tools;
  /** Limits of the tool calls of one run. Default: 1,000 calls, 16 MB, 30 s a call. */
  readonly toolLimits?: ToolLimits;
  /**
   * Allows, changes or refuses each run before it starts, and each tool call before it is made. The run's time stands still
   * meanwhile. Default: all are allowed.
   */
  readonly approve?: Approve;
}

/** The options of a code actor, with the defaults filled in. */
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
  /** Opens the calls of one run. Left out when the code has no tools. */
  readonly openCalls?: (metadata: Metadata | undefined) => OpenCalls;
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
/** A text of this many bytes still fits into another text, in which escapes may double its length. */
const LARGEST_INPUT = 512 * MB;
const COUNTS = Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[]; // The keys of the literal above.
/** Options that may be 0. */
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

/** Fills in the defaults. An invalid option throws an error that says what to write. */
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
    ...(tools && { openCalls: (metadata) => new Broker(tools, { limits, approve, metadata }) }),
  };
}

function languagesOf(given: CodeExecutionOptions["languages"]): CodeLimits["languages"] {
  const [first, ...others] = Array.isArray(given) ? (given as unknown[]) : given === undefined ? LANGUAGES : [];
  const all = [first, ...others];
  if (new Set(all).size === all.length && all.every((each) => LANGUAGES.some((language) => language === each))) {
    return all as [Language, ...Language[]]; // Each item was checked above.
  }
  throw new TypeError(
    `The languages of a code actor are a list of ${LANGUAGES.join(" or ")}, each once; got ${shorten(given)}.`,
  );
}

/** Shows a value in an error message. */
function shorten(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : Bun.inspect(value, { depth: 1, compact: true });
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
