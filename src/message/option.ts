import { quote } from "./address";

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

const isAbove0 = (value: unknown): boolean => typeof value === "number" && value > 0;

/** A number of messages, items and the like. */
export const COUNT = must(
  "is a whole number from 1",
  (value) => Number.isInteger(value) && isAbove0(value),
  RangeError,
);
/** A time, in milliseconds. */
export const DURATION = must("is a number of milliseconds above 0, or Infinity", isAbove0, RangeError);

/** @param example such as `" of a message"`: the sentence goes on with it. */
export const aFunction = (example = ""): Check =>
  must(`is a function${example}`, (value) => typeof value === "function");

export const oneOf = <Name extends string>(...names: readonly Name[]): Check =>
  must(names.length === 2 ? `is "${names.join('" or "')}"` : `is one of ${names.join(", ")}`, (value) =>
    (names as readonly unknown[]).includes(value),
  );

/** A check for an object that has some methods. */
export const withMethods =
  <Name extends string>(...methods: readonly Name[]): Check =>
  (value, name, of) => {
    for (const method of methods) {
      if (typeof (value as Record<string, unknown> | null)?.[method] === "function") continue;
      throw new TypeError(`The ${name} of ${of} has the methods ${methods.join(", ")}; this one has no ${method}().`);
    }
  };

/**
 * Throws when options are no object, when one of them is misspelt, or when one cannot be what it is.
 *
 * @param part the option that they are themselves, if they are one: the supervision of an actor, say.
 */
export function checkOptions<Options extends object>(
  options: Options,
  checks: Checks<Options>,
  of: string,
  example: string,
  part?: string,
): void {
  if (typeof options !== "object" || options === null) {
    const what = part === undefined ? `The options of ${of} are` : `The ${part} of ${of} is`;
    throw new TypeError(`${what} an object, such as ${example}; got ${quote(options)}.`);
  }
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(checks, name)) continue;
    const what = part === undefined ? `option "${name}" for ${of}` : `"${name}" in the ${part} of ${of}`;
    throw new TypeError(`There is no ${what}; write one of ${Object.keys(checks).join(", ")}.`);
  }
  const whose = part === undefined ? of : `the ${part} of ${of}`;
  for (const name in checks) if (options[name] !== undefined) checks[name](options[name], name, whose);
}
