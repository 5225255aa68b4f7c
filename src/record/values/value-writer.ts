import { quote } from "../../index";
import { Matcher } from "../transforms/matcher";
import { DEFAULTS, type DefaultName } from "../transforms/names";
import { TextRedactor } from "../transforms/text-redactor";
import type { Place, Transform } from "../transforms/transform";
import { Digest } from "./digest";
import { largeOf } from "./large";
import { checkedLimits, type Limits, type ValueLimits } from "./limits";
import { Ordinary } from "./ordinary";
import { isUntouched } from "./untouched";
import { Walk } from "./walk";

/** The options of a `ValueWriter`. */
export interface ValueWriterOptions {
  /** The transforms of values before they are written. The first of several for one place counts. Default: the defaults alone. */
  readonly transforms?: readonly Transform[] | undefined;
  /** The names of the defaults that are switched off. Default: none. */
  readonly keep?: readonly DefaultName[] | undefined;
  /** The key of the hashes. Default: a random one, so that only values of this writer can be compared. */
  readonly key?: string | Uint8Array | undefined;
  /** The sizes from which a value is told by its size and hash alone. Default: those of `ValueLimits`. */
  readonly limits?: ValueLimits | undefined;
}

/**
 * Writes values as JSON, without what is secret in them, and with tags for what JSON lacks. Never throws: of what cannot be written it says
 * so. The text is one line.
 *
 * @example
 * const writer = new ValueWriter({ transforms: [redact("payload.email")] });
 * writer.text({ email: "a@b.c", at: 1n }, place); // {"email":"redacted:…","at":{"$bigint":"1"}}
 */
export class ValueWriter {
  readonly #matcher: Matcher;
  readonly #digest: Digest;
  readonly #redactor: TextRedactor;
  readonly #limits: Limits;
  readonly #ordinary: Ordinary;

  /** @throws TypeError when an option is invalid. */
  constructor({ transforms = [], keep = [], key, limits = {} }: ValueWriterOptions = {}) {
    for (const name of keep) {
      if (!DEFAULTS.includes(name)) {
        throw new TypeError(`keep names defaults to switch off, of ${DEFAULTS.join(", ")}; got ${quote(name)}.`);
      }
    }
    if (key !== undefined && key.length === 0) throw new TypeError("The key of a recording is not empty.");
    this.#limits = checkedLimits(limits);
    this.#matcher = new Matcher(transforms);
    this.#digest = new Digest(key);
    this.#redactor = new TextRedactor((secret) => this.#digest.redacted(secret), new Set(keep));
    this.#ordinary = new Ordinary(this.#redactor, this.#limits);
  }

  /** The same for each writer with one key, and for no other. */
  get keyId(): string {
    return this.#digest.hash("envoi/record").slice(0, 16);
  }

  /** The JSON text of a value, without what is secret. That of an error is an object with a `message`. */
  text(value: unknown, place: Place): string {
    const spot = this.#matcher.at(place);
    if (place.part === "error") return this.#walk(place).problem(value, spot);
    const text = this.#ordinary.text(value, spot);
    if (text !== undefined) return text;
    if (this.#ordinary.wasTooLarge && (spot === null || isUntouched(value, spot, this.#limits.value))) {
      return largeOf(value, this.#digest, this.#limits);
    }
    return this.#walk(place).text(value, spot);
  }

  #walk(place: Place): Walk {
    return new Walk(this.#digest, this.#redactor, this.#limits, place);
  }
}
