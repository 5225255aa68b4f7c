/** How much code may do with its tools, in one run. All may be left out. */
export interface ToolLimits {
  /** Most calls; the items of a stream are one. Default: 1,000. */
  readonly calls?: number;
  /** Most bytes of requests and answers together, as JSON. Default: 16 MB. */
  readonly bytes?: number;
  /** Longest wait for one answer, or one item, in milliseconds. Default: 30,000. */
  readonly time?: number;
}

const DEFAULTS: Required<ToolLimits> = { calls: 1_000, bytes: 16 * 1024 * 1024, time: 30_000 };
const NAMES = Object.keys(DEFAULTS) as (keyof ToolLimits)[]; // Of an object that was written here.

/**
 * Fills in the defaults.
 *
 * @throws TypeError or RangeError for what can be no limit.
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
