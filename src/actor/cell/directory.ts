import { type Address, addressUnder, isWritten, MAX_ID_LENGTH } from "../../message/address";
import { ActorRef } from "../refs/ref";

/** An actor as its parent and the directory know it. */
export interface Member<Self extends Member<Self>> {
  readonly address: Address;
  /** How many characters its address has; known without the address. */
  readonly addressLength: number;
  readonly ref: ActorRef;
  readonly parent: Self | null;
  readonly isStopped: boolean;
  readonly extras: { readonly children: Children<Self> | null } | null;
}

/** How many that have stopped may stay in the list, or as many as are alive. */
const SPARE = 8;
/** Among so many a name is found by looking at each; a map for ten takes more than that. */
const FEW = 16;

/**
 * The children of an actor, in the order in which they were spawned. Those that have stopped leave the list when they are the
 * larger part of it: in a set, to come and to go took a tenth of what a child of skynet takes.
 */
export class Children<Of extends Member<Of>> {
  /** How long the address of their parent is: in theirs, their names begin there. */
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

  /** Those that are there now. */
  all(): Of[] {
    return this.#list.filter((child) => !child.isStopped);
  }

  /** The one of that name, if it is there now. */
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
 * Finds the actors of a system by their addresses. A child is found among the children of its parent, and written down here
 * once somebody has looked for it: most never are.
 */
export class Directory<Of extends Member<Of>> {
  /** Those without a parent, those whose address was written when they were made, and those that were looked for. */
  readonly #known = new Map<string, Of>();
  /** How many have a slash in their own name, so that a child of another actor could be at the same address. */
  #nested = 0;

  get(at: string): Of | undefined {
    return this.#known.get(at) ?? this.#below(at);
  }

  /** Goes from parent to child, as far as there are any. */
  #below(at: string): Of | undefined {
    if (typeof at !== "string" || at.length > LONGEST) return undefined; // A message may come with anything.
    let end = at.indexOf("/");
    if (end < 0) return undefined;
    let found = this.#known.get(`${at.slice(0, end)})`);
    while (end >= 0 && (found !== undefined || this.#nested > 0)) {
      const start = end + 1;
      end = at.indexOf("/", start);
      found = found?.extras?.children?.named(at.slice(start, end)); // Of the last one -1, which is before the parenthesis.
      if (found === undefined && this.#nested > 0 && end >= 0) found = this.#known.get(`${at.slice(0, end)})`);
    }
    if (found === undefined || found.address !== at) return undefined;
    this.#known.set(found.address, found); // Not `at`, which may be a part of a long text.
    return found;
  }

  /** Whether what an actor is to be called is in use. */
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
    if (!ActorRef.isWritten(cell.ref)) return; // Nobody can have looked for it.
    this.#known.delete(cell.address);
    if (this.#nested > 0 && isNested(cell)) this.#nested--;
  }

  /** Those without a parent, in the order in which they were spawned. */
  roots(): Of[] {
    return [...this.#known.values()].filter(({ parent }) => parent === null);
  }

  /** All, each before its children. */
  *all(): Iterable<Of> {
    const left = this.roots().reverse();
    for (let cell = left.pop(); cell !== undefined; cell = left.pop()) {
      yield cell;
      for (const child of cell.extras?.children?.all().reverse() ?? []) left.push(child);
    }
  }
}

/** Whether its name, which begins behind that of its parent, has a slash. */
const isNested = <Of extends Member<Of>>({ address, parent }: Of): boolean =>
  address.includes("/", parent === null ? 0 : parent.addressLength);
