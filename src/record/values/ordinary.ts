import { commandOfItem } from "../transforms/commands";
import { mayBeJson } from "../transforms/json-texts";
import { mayHoldSecret } from "../transforms/marks";
import type { Spot } from "../transforms/matcher";
import { suspicionOf } from "../transforms/names";
import type { TextRedactor } from "../transforms/text-redactor";
import { keyText } from "./keys";
import type { Limits } from "./limits";
import { isLongerThan } from "./measurable";

/** Says that a value is not ordinary. */
const OTHER = Symbol("other");

/** The items of a list after which its length is guessed. */
const SAMPLE = 64;

/**
 * Writes values that `JSON.stringify` may write: plain data, within the bounds, with nothing to redact and at no transform's path.
 * That is so for most, and takes a fifth of the time of the walk. What is judged is what is written: each member is read once, into a copy, since a getter or a proxy may
 * give a credential when it is read again. The copy takes no longer than to look at the value.
 */
export class Ordinary {
  readonly #redactor: TextRedactor;
  readonly #limits: Limits;
  /** Characters that may still come before the value is too large. */
  #left = 0;

  constructor(redactor: TextRedactor, limits: Limits) {
    this.#redactor = redactor;
    this.#limits = limits;
  }

  /** True when the last value was not ordinary because it is too large: a walk would find the same. */
  get wasTooLarge(): boolean {
    return this.#left < 0;
  }

  /** The JSON text of an ordinary value; undefined for any other. @param spot where it stands, as the transforms' paths see it. */
  text(value: unknown, spot: Spot | null): string | undefined {
    this.#left = this.#limits.value;
    try {
      const copy = this.#copy(value, spot, 0);
      if (copy === OTHER) return undefined;
      const text = JSON.stringify(copy);
      if (text.length <= this.#limits.value) return text;
      this.#left = -1;
    } catch {
      this.#left = 0; // A getter threw, or a proxy.
    }
    return undefined;
  }

  /** The value, where it is ordinary, as plain data that nobody else has. */
  #copy(value: unknown, spot: Spot | null, depth: number): unknown {
    if (spot !== null && spot.transform !== null) return OTHER;
    if (--this.#left < 0) return OTHER;
    switch (typeof value) {
      case "string":
        if (spot !== null && mayBeJson(value)) return OTHER; // A path may lead into it.
        return this.#isOrdinaryText(value) ? value : OTHER;
      case "number":
        return Number.isFinite(value) && !Object.is(value, -0) ? value : OTHER;
      case "boolean":
        return value;
      case "object":
        break;
      default:
        return OTHER;
    }
    if (value === null) return null;
    if (depth === this.#limits.depth) return OTHER;
    if (Array.isArray(value)) return this.#copyOfList(value, spot, depth);
    if (Object.getPrototypeOf(value) !== Object.prototype) return OTHER;
    const copy: Record<string, unknown> = { ...value };
    if ("toJSON" in copy) return OTHER;
    for (const key in copy) {
      if (!keyText(key).isOrdinary) return OTHER;
      this.#left -= key.length;
      const item = copy[key];
      const copied = this.#copy(item, spot === null ? null : spot.step(key), depth + 1);
      if (copied === OTHER) return OTHER;
      if (copied !== item) copy[key] = copied;
    }
    return copy;
  }

  #copyOfList(list: readonly unknown[], spot: Spot | null, depth: number): unknown {
    if (Object.getPrototypeOf(list) !== Array.prototype || "toJSON" in list) return OTHER;
    const copy: unknown[] = [];
    const { length } = list;
    const before = this.#left;
    for (let index = 0; index < length; index++) {
      if (index === SAMPLE && this.#isTooLong(list, before)) return OTHER;
      const copied = this.#copy(list[index], spot === null ? null : spot.item(index), depth + 1);
      if (copied === OTHER) return OTHER;
      copy.push(copied);
    }
    return copy;
  }

  /** True for a list that is too long by its first items and by a count. The count takes a ninth of the time of copying what would fit. */
  #isTooLong(list: readonly unknown[], before: number): boolean {
    const guess = ((before - this.#left) / SAMPLE) * list.length;
    if (guess <= before || !isLongerThan(list, before, this.#limits.text)) return false;
    this.#left = -1;
    return true;
  }

  #isOrdinaryText(text: string): boolean {
    const { length } = text;
    if (length > this.#limits.text) return false;
    this.#left -= length;
    if (this.#left < 0) return false;
    if (length < 3 || this.#redactor.isOff || !mayHoldSecret(text)) return true;
    // A name by itself says what stands beside it: ["cookie", "a=b"].
    // So does the name of a command: ["sshpass", "-p", "…"].
    return suspicionOf(text) === null && commandOfItem(text) === undefined && this.#redactor.redact(text) === text;
  }
}
