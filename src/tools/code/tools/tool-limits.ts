/** Limits of the tool calls of one run. All may be left out. */
export interface ToolLimits {
  /** Most calls; a stream counts as one, with all its items. Default: 1,000. */
  readonly calls?: number;
  /** Most bytes of requests and answers together, as JSON. Default: 16 MB. */
  readonly bytes?: number;
  /** Longest wait for one answer, or one item, in milliseconds. Default: 30,000. */
  readonly time?: number;
}

const DEFAULTS: Required<ToolLimits> = { calls: 1_000, bytes: 16 * 1024 * 1024, time: 30_000 };
const NAMES = Object.keys(DEFAULTS) as (keyof ToolLimits)[]; // The keys of the literal above.

/**
 * Fills in the defaults.
 *
 * @throws TypeError or RangeError for an invalid limit.
 */
export function toolLimitsOf(limits: ToolLimits = {}): Required<ToolLimits> {
  if (typeof limits !== "object" || limits === null) {
    throw new TypeError("The toolLimits of code are an object, such as { calls: 100 }.");
  }
  for (const [name, value] of Object.entries(limits)) {
    if (!Object.hasOwn(DEFAULTS, name))
      throw new TypeError(`There is no toolLimits.${name}; write one of ${NAMES.join(", ")}.`);
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    throw new RangeError(`toolLimits.${name} is a whole number from 1; got ${Bun.inspect(value, { depth: 1 })}.`);
  }
  const { calls = DEFAULTS.calls, bytes = DEFAULTS.bytes, time = DEFAULTS.time } = limits;
  return { calls, bytes, time };
}
