import { quote } from "../index";
import type { PeerOptions } from "./contract";
import { CANCEL_NAMES, PROGRESS_NAMES } from "./conventions";

type Test = (value: unknown) => boolean;
type Rule = readonly [fits: Test, rule: string, Kind?: new (message: string) => Error];

const isFrom =
  (least: number): Test =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= least; // An integer is a number.
const isObject: Test = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isFunction: Test = (value) => typeof value === "function";

const COUNT: Rule = [isFrom(1), "is a whole number from 1", RangeError];
const DURATION: Rule = [
  (value) => typeof value === "number" && value > 0,
  "is a number of milliseconds above 0, or Infinity",
  RangeError,
];
const oneOf = (names: readonly unknown[]): Rule => [(value) => names.includes(value), `is one of ${names.join(", ")}`];

const RULES: { readonly [Name in keyof Required<PeerOptions>]: Rule } = {
  name: [(value) => typeof value === "string" && value !== "", 'is the id of an address, such as "editor"'],
  serves: [isObject, 'has each method by its name: { "files/read": { ref, operation: "read" } }'],
  calls: [isObject, 'has each part of the other side: { client: { protocol, methods: { read: "files/read" } } }'],
  capabilities: [(value) => isObject(value) || Array.isArray(value), 'are names, as in ["fs.readTextFile"]'],
  cancel: oneOf(CANCEL_NAMES),
  progress: oneOf(PROGRESS_NAMES),
  trace: [(value) => typeof value === "boolean", "is true or false"],
  errorOf: [isFunction, "is a function of an error and its method"],
  most: COUNT,
  longest: DURATION,
  maxBytes: COUNT,
  maxDepth: [
    (value) => isFrom(1)(value) && (value as number) <= 512, // It is a number by then.
    "is a whole number from 1 to 512, the deepest that a message may be",
    RangeError,
  ],
  maxBatch: [isFrom(0), "is a whole number from 0", RangeError],
  maxUnsent: COUNT,
  stalledAfter: DURATION,
};

/** @throws TypeError or RangeError when the options of a peer cannot be. */
export function checkOptions(options: object): void {
  if (!isObject(options)) {
    throw new TypeError(`The options of a peer are an object, such as { serves, calls }; got ${quote(options)}.`);
  }
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(RULES, name)) continue;
    throw new TypeError(`There is no option "${name}" for a peer; write one of ${Object.keys(RULES).join(", ")}.`);
  }
  for (const [name, [fits, rule, Kind = TypeError]] of Object.entries(RULES)) {
    const value = (options as Record<string, unknown>)[name]; // Any object has such a property, or not.
    if (value !== undefined && !fits(value)) throw new Kind(`The ${name} of a peer ${rule}; got ${quote(value)}.`);
  }
}

const METHODS = ["send", "open", "pause", "resume", "close"] as const;

/** @throws TypeError when something is no channel. */
export function checkChannel(channel: unknown): void {
  for (const name of METHODS) {
    if (isFunction((channel as Record<string, unknown> | null | undefined)?.[name])) continue;
    throw new TypeError(
      `A peer speaks over a channel, such as stdioChannel(); this one has no ${name}(): got ${quote(channel)}.`,
    );
  }
}
