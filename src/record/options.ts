import { checkOptions, nearestName, type OptionCheck, type OptionChecks, option, quote } from "../index";
import type { RotateOptions } from "./files/options";
import { type Included, isIncluded } from "./include";
import { DEFAULTS, type DefaultName } from "./transforms/names";
import { isTransform, type Transform } from "./transforms/transform";
import { checkedLimits, type ValueLimits } from "./values/limits";

/** The options of a recording. */
export interface RecorderOptions {
  /** The path of the file. Its later parts have their number before the ending: `run.2.ndjson`. */
  readonly to: string;
  /**
   * `"off"` installs nothing and opens no file. `"record"` records. `"replay"` records nothing, and answers from the file `to` what was
   * declared by `recording.outside`. Default: `"record"`.
   */
  readonly mode?: "off" | "record" | "replay";
  /**
   * In the mode `"replay"`: true to give the last recorded answer again to further calls that are equal to it, so that a recording serves
   * as a stub of what it recorded. Other modes ignore it. Default: false, and a call is answered as often as it was recorded.
   */
  readonly repeat?: boolean;
  /**
   * The actors whose messages are recorded, both those that they get and those that they send: references, addresses, and patterns in
   * which `*` stands for any characters. Default: all actors.
   */
  readonly include?: readonly Included[];
  /**
   * The transforms of values before they are written: `redact`, `mask`, `replace`, `drop`. Of several for one place, the first one
   * counts. Default: none but the defaults.
   */
  readonly transforms?: readonly Transform[];
  /**
   * Names defaults that are switched off. The defaults redact what is named like a credential, and what looks like one:
   * `"authorization"`, `"cookies"`, `"tokens"`, `"keys"`, `"passwords"`. Default: none is.
   */
  readonly keep?: readonly DefaultName[];
  /**
   * The key of the hashes that stand for redacted and large values. With one key, equal values have equal hashes in several recordings.
   * With the key, one can try which value has a hash. Default: a random one, which is not kept.
   */
  readonly key?: string | Uint8Array;
  /** The bounds of what is written of a value. Default: texts of 65,536 characters, values of 1,048,576, 64 levels of nesting. */
  readonly limits?: ValueLimits;
  /**
   * The share of messages that are recorded, from 0 to 1. It is decided by lot for each message that begins something; all that such a
   * message causes is recorded with it. Default: 1.
   */
  readonly sample?: number;
  /** The seed of `recording.random()`: a whole number. Default: a random one, which stands in the file. */
  readonly seed?: number;
  /** When the file is cut into parts, and how many are kept. Default: 64 MiB each, 16 of them. */
  readonly rotate?: RotateOptions;
  /** Compresses the file. Default: false. */
  readonly compress?: "zstd" | false;
  /**
   * The most bytes that wait in memory for the disk. Lines beyond are dropped, counted, and told in the file and by the event
   * `record:dropped`. Default: 8 MiB.
   */
  readonly maxBuffer?: number;
}

export type Mode = NonNullable<RecorderOptions["mode"]>;

const MODES = ["off", "record", "replay"] as const;
const ROTATE: OptionChecks<RotateOptions> = { bytes: option.bound, age: option.duration, keep: option.bound };
const rotate: OptionCheck = (value) =>
  checkOptions(value, ROTATE, "the rotation of a recording", "{ bytes: 100_000_000 }");

/** Each one, so that the wrong one is named. */
const transforms: OptionCheck = (value, name, of) => {
  const rule = (rest: string): string =>
    `The ${name} of ${of} is an array of transforms, such as [redact("payload.email")]; ${rest}`;
  if (!Array.isArray(value)) throw new TypeError(rule(`got ${quote(value)}.`));
  for (const each of value) {
    if (isTransform(each)) continue;
    const better = typeof each === "string" ? `: write redact(${quote(each)})` : "";
    throw new TypeError(rule(`${quote(each)} is none${better}.`));
  }
};

const keep: OptionCheck = (value, name, of) => {
  const rule = `The ${name} of ${of} is an array of names of defaults, of ${DEFAULTS.join(", ")}`;
  if (!Array.isArray(value)) throw new TypeError(`${rule}; got ${quote(value)}.`);
  for (const each of value) {
    if (DEFAULTS.includes(each)) continue;
    const meant = typeof each === "string" ? nearestName(each, DEFAULTS) : undefined;
    throw new TypeError(`${rule}; ${quote(each)} is none${meant === undefined ? "" : `: write ${quote(meant)}`}.`);
  }
};

const CHECKS: OptionChecks<RecorderOptions> = {
  to: option.text,
  mode: option.oneOf(...MODES),
  repeat: option.flag,
  include: option.rule(
    'is an array of references, addresses and patterns, such as ["@(tools/*)"]',
    (value) => Array.isArray(value) && value.every(isIncluded),
  ),
  transforms,
  keep,
  key: option.rule(
    "is a text or bytes, and not empty",
    (value) => (typeof value === "string" || value instanceof Uint8Array) && value.length > 0,
  ),
  limits: (value) => void checkedLimits(value as ValueLimits),
  sample: option.rule(
    "is a number from 0 to 1",
    (value) => typeof value === "number" && value >= 0 && value <= 1,
    RangeError,
  ),
  seed: option.rule("is a whole number", Number.isSafeInteger, RangeError),
  rotate,
  compress: option.rule('is "zstd" or false', (value) => value === "zstd" || value === false),
  maxBuffer: option.count,
};

/**
 * Throws when an option is misspelt or invalid.
 *
 * @throws TypeError or RangeError.
 */
export function checkRecorderOptions(given: unknown): asserts given is RecorderOptions {
  checkOptions(given, CHECKS, "a recording", '{ to: "recordings/run.ndjson" }');
  if (given.to === undefined) {
    throw new TypeError('A recording needs the path of its file: recorder(system, { to: "recordings/run.ndjson" }).');
  }
}
