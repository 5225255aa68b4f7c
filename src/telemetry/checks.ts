import { quote } from "../index";

/** Throws when a value cannot be an option. The sentence says the option's name and its owner. */
export type Check = (value: unknown, name: string, of: string) => void;

/** The checks of some options, by name. The compiler requires one for each option. */
export type Checks<Options> = { readonly [Name in keyof Required<Options>]: Check };

/**
 * A check by a test.
 *
 * @param rule the rest of the sentence "NAME …", such as "is true or false".
 */
export const must =
  (rule: string, fits: (value: unknown) => boolean, Kind: new (message: string) => Error = TypeError): Check =>
  (value, name, of) => {
    if (!fits(value)) throw new Kind(`The ${name} of ${of} ${rule}; got ${quote(value)}.`);
  };

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const FLAG = must("is true or false", (value) => typeof value === "boolean");

/** One of some texts. */
export const oneOf = (...texts: readonly string[]): Check =>
  must(`is one of ${texts.join(", ")}`, (value) => typeof value === "string" && texts.includes(value));

/** Attributes of OpenTelemetry: names, and texts, numbers or booleans. */
export const ATTRIBUTES = must(
  'is an object of texts, numbers and booleans, such as { "envoi.system": "shop" }',
  (value) => isObject(value) && Object.values(value).every((each) => /^(?:string|number|boolean)$/.test(typeof each)),
);

/** An object that has these methods. */
export const withMethods = (what: string, ...methods: readonly string[]): Check =>
  must(
    what,
    (value) =>
      (typeof value === "object" || typeof value === "function") &&
      value !== null &&
      methods.every((method) => typeof (value as Record<string, unknown>)[method] === "function"), // Not null: see above.
  );

/**
 * Throws when options are no object, or when one of them is misspelt or invalid.
 *
 * @param of names their owner, such as `metrics`.
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
