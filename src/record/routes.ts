import { type AnyRef, operationsOf, protocolOf } from "../index";
import type { Place } from "./transforms/transform";

/** One operation of one actor: the texts and places that all of its messages share. */
export class Route {
  /** The middle of a message's line: its recipient, protocol and operation. */
  readonly text: string;
  readonly address: string;
  readonly payload: Place;
  readonly reply: Place;
  readonly item: Place;
  readonly error: Place;
  readonly metadata: Place;

  constructor(address: string, protocol: string | undefined, operation: string, pool?: string) {
    this.address = address;
    const to = `"to":${JSON.stringify(address)}`;
    const of = protocol === undefined ? "" : `,"protocol":${JSON.stringify(protocol)}`;
    this.text = `${to}${of},"operation":${JSON.stringify(operation)}`;
    this.payload = { address, pool, operation, part: "payload" };
    this.reply = { address, pool, operation, part: "reply" };
    this.item = { address, pool, operation, part: "item" };
    this.error = { address, pool, operation, part: "error" };
    this.metadata = { address, pool, operation, part: "metadata" };
  }
}

/** An actor that messages go to or come from. */
class Correspondent {
  readonly address: string;
  /** Its address as JSON text. */
  readonly text: string;
  readonly isIncluded: boolean;
  /** The name by which it was declared to be outside of the system; undefined for most. */
  world: string | undefined = undefined;
  readonly #operations: ReturnType<typeof operationsOf>;
  readonly #protocol: string | undefined;
  readonly #routes = new Map<string, Route>();

  constructor(ref: AnyRef, isIncluded: (address: string) => boolean) {
    this.address = ref.address;
    this.text = JSON.stringify(ref.address);
    this.isIncluded = isIncluded(ref.address);
    this.#operations = operationsOf(ref);
    this.#protocol = this.#operations === null ? undefined : protocolOf(this.#operations);
  }

  /** The route of a message that a pool gave to several actors: transforms of the pool hold for it, too. */
  routeBehind(pool: string, operation: string): Route {
    return new Route(this.address, this.#protocol, operation, pool);
  }

  route(operation: string): Route {
    const known = this.#routes.get(operation);
    if (known !== undefined) return known;
    const route = new Route(this.address, this.#protocol, operation);
    // Strangers choose other names, and could fill the memory with them.
    if (this.#operations?.[operation] !== undefined) this.#routes.set(operation, route);
    return route;
  }
}

/** The actors that messages go to or come from, each looked at once, and kept for as long as its reference is. */
export class Correspondents {
  readonly #known = new WeakMap<AnyRef, Correspondent>();
  /** True for the address of an actor whose messages are recorded. */
  readonly isIncluded: (address: string) => boolean;

  constructor(isIncluded: (address: string) => boolean) {
    this.isIncluded = isIncluded;
  }

  of(ref: AnyRef): Correspondent {
    const known = this.#known.get(ref);
    if (known !== undefined) return known;
    const made = new Correspondent(ref, this.isIncluded);
    this.#known.set(ref, made);
    return made;
  }
}
