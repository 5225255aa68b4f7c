import { quote } from "./address";

/**
 * Throws when a value cannot be an option. Its sentence names the option and its owner.
 *
 * @example
 * const even: OptionCheck = option.rule("is even", (value) => Number(value) % 2 === 0, RangeError);
 * even(3, "size", "a link"); // RangeError: The size of a link is even; got 3.
 */
export type OptionCheck = (value: unknown, name: string, of: string) => void;

/** The checks of some options, by name. The compiler requires one for each option. */
export type OptionChecks<Options> = { readonly [Name in keyof Required<Options>]: OptionCheck };

const rule =
  (text: string, fits: (value: unknown) => boolean, Kind: new (message: string) => Error = TypeError): OptionCheck =>
  (value, name, of) => {
    if (!fits(value)) throw new Kind(`The ${name} of ${of} ${text}; got ${quote(value)}.`);
  };

const isFrom = (least: number, value: unknown): value is number => typeof value === "number" && value >= least;
const isWhole = (value: unknown, least: number, most: number): boolean =>
  Number.isSafeInteger(value) && isFrom(least, value) && value <= most;
const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

const whole = (least: number, most = Number.POSITIVE_INFINITY, text = ""): OptionCheck =>
  rule(
    `is a whole number from ${least}${most === Number.POSITIVE_INFINITY ? "" : ` to ${most}`}${text}`,
    (value) => isWhole(value, least, most),
    RangeError,
  );

/**
 * The checks of an option, for `checkOptions`. A check is not asked where the option is left out or undefined.
 *
 * @example
 * const CHECKS: OptionChecks<LinkOptions> = { retries: option.count, mode: option.oneOf("fast", "safe") };
 */
export const option = {
  /** A check of your own. Its text ends the sentence "The size of a link …". Default of the error's kind: TypeError. */
  rule,
  /** A whole number from 1. RangeError. */
  count: whole(1),
  /** A whole number from 1, or Infinity where there is no bound. RangeError. */
  bound: rule(
    "is a whole number from 1, or Infinity",
    (value) => value === Number.POSITIVE_INFINITY || isWhole(value, 1, Number.MAX_SAFE_INTEGER),
    RangeError,
  ),
  /** A whole number between two bounds, both included. The text ends the sentence. Default of the upper bound: none. RangeError. */
  whole,
  /** A time in milliseconds above 0, or Infinity. RangeError. */
  duration: rule(
    "is a number of milliseconds above 0, or Infinity",
    (value) => isFrom(Number.MIN_VALUE, value),
    RangeError,
  ),
  /** A time in milliseconds from 0, or Infinity. RangeError. */
  wait: rule("is a number of milliseconds from 0, or Infinity", (value) => isFrom(0, value), RangeError),
  /** A text that is not blank. TypeError. */
  text: rule("is a text that is not empty", isText),
  /** An array of texts that are not blank. TypeError. */
  texts: rule("is an array of texts", (value) => Array.isArray(value) && value.every(isText)),
  /** True or false. TypeError. */
  flag: rule("is true or false", (value) => typeof value === "boolean"),
  /** A function. The text ends the sentence, such as `" of a request"`. TypeError. */
  function: (text = ""): OptionCheck => rule(`is a function${text}`, (value) => typeof value === "function"),
  /** One of some texts. TypeError. */
  oneOf: <Name extends string>(...names: readonly Name[]): OptionCheck =>
    rule(names.length === 2 ? `is "${names.join('" or "')}"` : `is one of ${names.join(", ")}`, (value) =>
      (names as readonly unknown[]).includes(value),
    ),
  /** An object that has some methods. TypeError. */
  methods:
    <Name extends string>(...methods: readonly Name[]): OptionCheck =>
    (value, name, of) => {
      for (const method of methods) {
        if (typeof (value as Record<string, unknown> | null)?.[method] === "function") continue;
        throw new TypeError(`The ${name} of ${of} has the methods ${methods.join(", ")}; this one has no ${method}().`);
      }
    },
  /** An object of options. The example is such options, as code. Gives the errors of `checkOptions`. */
  group:
    <Options extends object>(checks: OptionChecks<Options>, example: string): OptionCheck =>
    (value, name, of) =>
      checkOptions(value, checks, `the ${name} of ${of}`, example),
  /** Any value: for an option that another part checks. */
  any: rule("", () => true),
} as const;

/**
 * Throws when options are no object, or when one of them is misspelt or invalid. The sentence says what to write instead.
 *
 * @param of names the owner of the options, such as `a link`.
 * @param example options that fit, as code.
 * @throws TypeError when the options are no object, or one is misspelt; else the error of the check that fails.
 * @example
 * const CHECKS: OptionChecks<LinkOptions> = { retries: option.count, timeout: option.duration };
 * checkOptions({ retires: 3 }, CHECKS, "a link", "{ retries: 3 }");
 * // TypeError: There is no option "retires" for a link; write one of retries, timeout.
 */
export function checkOptions<Options extends object>(
  given: unknown,
  checks: OptionChecks<Options>,
  of: string,
  example: string,
): asserts given is Options {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new TypeError(`The options of ${of} are an object, such as ${example}; got ${quote(given)}.`);
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(checks, name)) continue;
    throw new TypeError(`There is no option "${name}" for ${of}; write one of ${Object.keys(checks).join(", ")}.`);
  }
  const values = given as Readonly<Record<string, unknown>>; // Any object may be read by name.
  for (const name in checks) if (values[name] !== undefined) checks[name](values[name], name, of);
}
