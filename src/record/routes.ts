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
  /** The name of the actor outside of the system that it is a part of; undefined for most. */
  within: string | undefined = undefined;
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

  /** The end of a message's line, where its recipient is outside of the system. */
  get worldText(): string {
    if (this.world !== undefined) return `,"world":true,"outside":${JSON.stringify(this.world)}`;
    return this.within === undefined ? "" : `,"within":${JSON.stringify(this.within)}`;
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
  /** The actors outside of the system and their parts by address, for as long as their references are. */
  readonly #outside = new Map<string, { readonly name: string; readonly ref: WeakRef<AnyRef> }>();
  readonly #gone = new FinalizationRegistry<string>((address) => {
    if (this.#outside.get(address)?.ref.deref() === undefined) this.#outside.delete(address);
  });
  /** While an actor outside of the system is made: its name, for what is made with it. */
  #partOf: ((ref: AnyRef) => string | undefined) | undefined;
  /** True for the address of an actor whose messages are recorded. */
  readonly isIncluded: (address: string) => boolean;

  constructor(isIncluded: (address: string) => boolean) {
    this.isIncluded = isIncluded;
  }

  of(ref: AnyRef): Correspondent {
    const known = this.#known.get(ref);
    if (known !== undefined) return known;
    const made = new Correspondent(ref, this.isIncluded);
    if (this.#outside.size > 0) made.within = this.#outsideAbove(ref.address);
    if (this.#partOf !== undefined) made.within ??= this.#partOf(ref);
    this.#known.set(ref, made);
    return made;
  }

  /**
   * Makes an actor outside of the system. Others that its function makes are parts of it, and so are the children of all these.
   *
   * @param actors the actors of the system at this moment.
   */
  outside<R extends AnyRef>(name: string, make: () => R, actors: () => readonly AnyRef[]): R {
    const before = new Set(actors());
    const outer = this.#partOf;
    this.#partOf = (ref) => (!before.has(ref) && actors().includes(ref) ? name : undefined);
    try {
      const made = make();
      for (const ref of actors()) if (!before.has(ref)) this.#declare(name, ref).within = name;
      this.#declare(name, made).world = name;
      return made;
    } finally {
      this.#partOf = outer;
    }
  }

  #declare(name: string, ref: AnyRef): Correspondent {
    this.#outside.set(ref.address, { name, ref: new WeakRef(ref) });
    this.#gone.register(ref, ref.address);
    return this.of(ref);
  }

  #outsideAbove(address: string): string | undefined {
    for (let end = address.length - 1; end > 0; end = address.lastIndexOf("/", end - 1)) {
      const found = this.#outside.get(`${address.slice(0, end)})`);
      if (found?.ref.deref() !== undefined) return found.name;
    }
    return undefined;
  }
}
