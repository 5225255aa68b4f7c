import { quote } from "../index";

/** Throws when a value cannot be an option. The sentence says its name, and what it is an option of. */
export type Check = (value: unknown, name: string, of: string) => void;

/** The checks of some options, by their names: the compiler asks for one for each. */
export type Checks<Options> = { readonly [Name in keyof Required<Options>]: Check };

/**
 * A check by a test.
 *
 * @param rule says what fits, as a sentence goes on: "is a whole number from 1".
 */
export const must =
  (rule: string, fits: (value: unknown) => boolean, Kind: new (message: string) => Error = TypeError): Check =>
  (value, name, of) => {
    if (!fits(value)) throw new Kind(`The ${name} of ${of} ${rule}; got ${quote(value)}.`);
  };

const isFrom = (value: unknown, least: number): value is number => typeof value === "number" && value >= least;

/** A number of streams, bytes and the like. */
export const COUNT = must(
  "is a whole number from 1",
  (value) => Number.isSafeInteger(value) && isFrom(value, 1),
  RangeError,
);

/** A time, in milliseconds. */
export const DURATION = must(
  "is a number of milliseconds above 0, or Infinity",
  (value) => isFrom(value, Number.MIN_VALUE),
  RangeError,
);

/** A time in milliseconds that may be nothing. */
export const WAIT = must("is a number of milliseconds from 0, or Infinity", (value) => isFrom(value, 0), RangeError);

export const TEXT = must("is a text that is not empty", (value) => typeof value === "string" && value !== "");

export const FLAG = must("is true or false", (value) => typeof value === "boolean");

/** @param example such as `" of a request"`: the sentence goes on with it. */
export const aFunction = (example = ""): Check =>
  must(`is a function${example}`, (value) => typeof value === "function");

export const oneOf = <Name extends string>(...names: readonly Name[]): Check =>
  must(`is "${names.join('" or "')}"`, (value) => (names as readonly unknown[]).includes(value));

/** A check for an option that is an object of options itself. */
export const group =
  <Options extends object>(checks: Checks<Options>, example: string): Check =>
  (value, name, of) =>
    // The value is looked at: checkOptions refuses what is no object.
    checkOptions(value as Options, checks, `the ${name} of ${of}`, example);

/**
 * Throws when options are no object, when one of them is misspelt, or when one cannot be what it is.
 *
 * @param of names their owner, such as `a gateway`.
 * @param example options that fit, as code.
 */
export function checkOptions<Options extends object>(
  given: Options,
  checks: Checks<Options>,
  of: string,
  example: string,
): void {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new TypeError(`The options of ${of} are an object, such as ${example}; got ${quote(given)}.`);
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(checks, name)) continue;
    throw new TypeError(`There is no option "${name}" for ${of}; write one of ${Object.keys(checks).join(", ")}.`);
  }
  for (const name in checks) if (given[name] !== undefined) checks[name](given[name], name, of);
}
