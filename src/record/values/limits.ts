import { checkOptions, option } from "../../index";

/** The bounds of what is written of a value. */
export interface ValueLimits {
  /** The longest text that is written, in characters; of a longer one, size and hash. Default: 65,536. */
  readonly text?: number;
  /** The longest JSON text of a whole value, in characters; of a longer one, size and hash. Default: 1,048,576. */
  readonly value?: number;
  /** The deepest nesting that is written, at most 200. Default: 64. */
  readonly depth?: number;
}

/** Limits that were checked. */
export type Limits = Readonly<Required<ValueLimits>>;

/**
 * The limits, with their defaults.
 *
 * @throws TypeError or RangeError when one is invalid.
 */
export function checkedLimits(given: ValueLimits): Limits {
  checkOptions(
    given,
    { text: option.count, value: option.count, depth: option.count },
    "the limits of a recording",
    "{ text: 10_000 }",
  );
  const { text = 65_536, value = 1_048_576, depth = 64 } = given;
  const limits = { text, value, depth };
  if (depth > 200) throw new RangeError(`The depth of the limits of a recording is at most 200; got ${depth}.`);
  return limits;
}
