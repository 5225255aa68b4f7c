import { quote } from "../index";

/** Throws when a value cannot be an option. The sentence says the option's name and its owner. */
export type Check = (value: unknown, name: string, of: string) => void;

/** The checks of some options, by name. The compiler requires one for each option. */
export type Checks<Options> = { readonly [Name in keyof Required<Options>]: Check };

/**
 * A check by a test.
 *
 * @param rule the rest of the sentence "The NAME …", such as "is a whole number from 1".
 */
export const must =
  (rule: string, fits: (value: unknown) => boolean, Kind: new (message: string) => Error = TypeError): Check =>
  (value, name, of) => {
    if (!fits(value)) throw new Kind(`The ${name} of ${of} ${rule}; got ${quote(value)}.`);
  };

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isFrom1 = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1; // An integer is a number.

/** A number of bytes, files and the like. */
export const COUNT = must("is a whole number from 1", isFrom1, RangeError);

/** As COUNT, or without a bound. */
export const BOUND = must(
  "is a whole number from 1, or Infinity",
  (value) => value === Number.POSITIVE_INFINITY || isFrom1(value),
  RangeError,
);

/** A time, in milliseconds. */
export const DURATION = must(
  "is a number of milliseconds above 0, or Infinity",
  (value) => typeof value === "number" && value > 0,
  RangeError,
);

export const TEXT = must("is a text that is not empty", (value) => typeof value === "string" && value !== "");

export const TEXTS = must(
  "is an array of texts",
  (value) => Array.isArray(value) && value.every((each) => typeof each === "string" && each !== ""),
);

/**
 * Throws when options are no object, or when one of them is misspelt or invalid.
 *
 * @param of names their owner, such as `a recording`.
 * @param example options that fit, as code.
 */
export function checkOptions<Options extends object>(
  given: unknown,
  checks: Checks<Options>,
  of: string,
  example: string,
): asserts given is Options {
  if (!isObject(given)) {
    throw new TypeError(`The options of ${of} are an object, such as ${example}; got ${quote(given)}.`);
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(checks, name)) continue;
    throw new TypeError(`There is no option "${name}" for ${of}; write one of ${Object.keys(checks).join(", ")}.`);
  }
  for (const name in checks) if (given[name] !== undefined) checks[name](given[name], name, of);
}
