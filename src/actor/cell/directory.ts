import { type Address, addressUnder, isWritten, MAX_ID_LENGTH } from "../../message/address";
import { ActorRef } from "../refs/ref";

/** The parent's and the directory's view of an actor. */
export interface Member<Self extends Member<Self>> {
  readonly address: Address;
  /** The length of its address, in characters; known without the address. */
  readonly addressLength: number;
  readonly ref: ActorRef;
  readonly parent: Self | null;
  readonly isStopped: boolean;
  readonly extras: { readonly children: Children<Self> | null } | null;
}

/** The list may hold this many stopped children, or as many as are alive. */
const SPARE = 8;
/** Up to this many children, a name is found by a scan; a map for ten takes more memory than that. */
const FEW = 16;

/**
 * The children of an actor, in the order in which they were spawned. Stopped children leave the list once they are the
 * larger part of it: with a set, adding and removing took a tenth of the cost of a child of skynet.
 */
export class Children<Of extends Member<Of>> {
  /** The length of their parent's address: the children's names begin there in their addresses. */
  readonly parentLength: number;
  #list: Of[] = [];
  #alive = 0;
  /** Made when a name is looked for among many. */
  #byName: Map<string, Of> | null = null;

  constructor(parentLength: number) {
    this.parentLength = parentLength;
  }

  get size(): number {
    return this.#alive;
  }

  add(child: Of): void {
    this.#list.push(child);
    this.#alive++;
    this.#byName?.set(this.#nameOf(child), child);
  }

  /** One of them has stopped. */
  drop(child: Of): void {
    this.#alive--;
    this.#byName?.delete(this.#nameOf(child));
    if (this.#list.length - this.#alive <= Math.max(this.#alive, SPARE)) return;
    this.#list = this.all();
  }

  /** The children that have not stopped. */
  all(): Of[] {
    return this.#list.filter((child) => !child.isStopped);
  }

  /** The child of that name, unless it has stopped. */
  named(name: string): Of | undefined {
    if (this.#byName === null && this.#alive > FEW) {
      this.#byName = new Map(this.all().map((child) => [this.#nameOf(child), child]));
    }
    if (this.#byName !== null) return this.#byName.get(name);
    for (const child of this.#list) {
      if (ActorRef.isNamed(child.ref, name, this.parentLength) && !child.isStopped) return child;
    }
    return undefined;
  }

  #nameOf(child: Of): string {
    return ActorRef.nameBelow(child.ref, this.parentLength);
  }
}

const LONGEST = MAX_ID_LENGTH + "@()".length;

/**
 * Finds the actors of a system by address. A child is found among its parent's children, and kept here from its first
 * lookup on: most are never looked up.
 */
export class Directory<Of extends Member<Of>> {
  /** Actors without a parent, those whose address was written at their spawn, and those that were looked up. */
  readonly #known = new Map<string, Of>();
  /** The number of actors with a slash in their own name: a child of another actor could have the same address. */
  #nested = 0;

  get(at: string): Of | undefined {
    return this.#known.get(at) ?? this.#below(at);
  }

  /** Walks from parent to child, as far as it can. */
  #below(at: string): Of | undefined {
    if (typeof at !== "string" || at.length > LONGEST) return undefined; // A message may come with anything.
    let end = at.indexOf("/");
    if (end < 0) return undefined;
    let found = this.#known.get(`${at.slice(0, end)})`);
    while (end >= 0 && (found !== undefined || this.#nested > 0)) {
      const start = end + 1;
      end = at.indexOf("/", start);
      found = found?.extras?.children?.named(at.slice(start, end)); // At the last name, -1: up to the parenthesis.
      if (found === undefined && this.#nested > 0 && end >= 0) found = this.#known.get(`${at.slice(0, end)})`);
    }
    if (found === undefined || found.address !== at) return undefined;
    this.#known.set(found.address, found); // Not `at`, which may be a part of a long text.
    return found;
  }

  /** True when the name for a new actor is in use. */
  isTaken(parent: Of | null, name: string, isPlain: boolean): boolean {
    if (parent === null && isPlain) return this.#known.has(name); // No child is at an address without a slash.
    if (parent === null || isWritten(name)) return this.get(name) !== undefined;
    if (parent.extras?.children?.named(name) !== undefined) return true;
    return this.#nested > 0 && this.#known.has(addressUnder(parent.address, name));
  }

  add(cell: Of, isPlain: boolean): void {
    if (!ActorRef.isWritten(cell.ref)) return;
    this.#known.set(cell.address, cell);
    if (!isPlain && isNested(cell)) this.#nested++;
  }

  /** It has stopped: its address can be used again (P14). */
  remove(cell: Of): void {
    if (!ActorRef.isWritten(cell.ref)) return; // It was never looked up.
    this.#known.delete(cell.address);
    if (this.#nested > 0 && isNested(cell)) this.#nested--;
  }

  /** The actors without a parent, in the order in which they were spawned. */
  roots(): Of[] {
    return [...this.#known.values()].filter(({ parent }) => parent === null);
  }

  /** All actors, each before its children. */
  *all(): Iterable<Of> {
    const left = this.roots().reverse();
    for (let cell = left.pop(); cell !== undefined; cell = left.pop()) {
      yield cell;
      for (const child of cell.extras?.children?.all().reverse() ?? []) left.push(child);
    }
  }
}

/** True when its own name, behind its parent's address, has a slash. */
const isNested = <Of extends Member<Of>>({ address, parent }: Of): boolean =>
  address.includes("/", parent === null ? 0 : parent.addressLength);
