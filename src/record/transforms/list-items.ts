import { commandOfItem, isPasswordOf } from "./commands";
import { closesPrivateKey, opensPrivateKey } from "./credentials";
import { type Suspicion, TEXT } from "./names";

/** Header fields that may stand in a list between their values. */
const HEADERS = /^(?:proxy-)?authorization$|^(?:set-)?cookie2?$|^x-[\w-]+$/i;
/** An option of a command whose value is the next item of its list. */
const OPTION = /^--[\w-]{2,62}$/;
const PASSWORD: Suspicion = { group: "passwords", kinds: TEXT };
const KEY: Suspicion = { group: "keys", kinds: TEXT };

/** Judges the items of a list by those before them. Each item is given once, in turn. */
export class ListItems {
  readonly #suspicion: (name: string) => Suspicion | null;
  readonly #isOn: (group: Suspicion["group"]) => boolean;
  readonly #length: number;
  readonly #isListed: boolean;
  #index = 0;
  #before: unknown;
  #command: ReturnType<typeof commandOfItem>;
  #isInKey = false;

  /** @param isListed true for a list that is an item of a list itself. */
  constructor(
    suspicion: (name: string) => Suspicion | null,
    isOn: (group: Suspicion["group"]) => boolean,
    length: number,
    isListed: boolean,
  ) {
    this.#suspicion = suspicion;
    this.#isOn = isOn;
    this.#length = length;
    this.#isListed = isListed;
  }

  /** The suspicion of the next item; null for an ordinary one. */
  next(item: unknown): Suspicion | null {
    const suspicion = this.#byName() ?? (typeof item === "string" ? this.#byText(item) : null);
    this.#index++;
    this.#before = item;
    return suspicion !== null && this.#isOn(suspicion.group) ? suspicion : null;
  }

  /** By the item before: `["cookie", "a=b"]` in a list, the name of a header field, or an option such as `--password`. */
  #byName(): Suspicion | null {
    const name = this.#before;
    if (typeof name !== "string" || name.length > 64) return null;
    if (OPTION.test(name)) return this.#suspicion(name);
    if (this.#index % 2 === 0) return null;
    if (this.#isListed && this.#length === 2) return this.#suspicion(name);
    return this.#length % 2 === 0 && HEADERS.test(name) ? this.#suspicion(name) : null;
  }

  /** By all items before: the lines of a private key, and the words of a command. */
  #byText(item: string): Suspicion | null {
    if (this.#isInKey) {
      this.#isInKey = !closesPrivateKey(item);
      return KEY;
    }
    this.#isInKey = opensPrivateKey(item);
    if (this.#command !== undefined && isPasswordOf(this.#command, this.#before, item)) return PASSWORD;
    this.#command = commandOfItem(item, this.#command) ?? this.#command;
    return null;
  }
}
