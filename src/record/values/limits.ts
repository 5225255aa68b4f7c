import { quote } from "../../index";

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
 * @throws TypeError when one is invalid.
 */
export function checkedLimits({ text = 65_536, value = 1_048_576, depth = 64 }: ValueLimits): Limits {
  const limits = { text, value, depth };
  for (const [name, limit] of Object.entries(limits)) {
    if (!Number.isSafeInteger(limit) || limit < 1) {
      throw new TypeError(`The limit ${name} of a recording is a whole number of at least 1; got ${quote(limit)}.`);
    }
  }
  if (depth > 200) throw new TypeError(`The limit depth of a recording is at most 200; got ${depth}.`);
  return limits;
}
