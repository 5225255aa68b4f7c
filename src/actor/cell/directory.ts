import { addressUnder, isWritten, MAX_ID_LENGTH } from "../../message/address";
import type { Cell } from "./cell";
import { ActorRef } from "../refs/ref";

const LONGEST = MAX_ID_LENGTH + "@()".length;

/**
 * Finds the actors of a system by their addresses. A child is found among the children of its parent, and written down here
 * once somebody has looked for it: most never are.
 */
export class Directory {
  /** Those without a parent, those whose address was written when they were made, and those that were looked for. */
  readonly #known = new Map<string, Cell>();
  /** How many have a slash in their own name, so that a child of another actor could be at the same address. */
  #nested = 0;

  get(at: string): Cell | undefined {
    return this.#known.get(at) ?? this.#below(at);
  }

  /** Goes from parent to child, as far as there are any. */
  #below(at: string): Cell | undefined {
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
  isTaken(parent: Cell | null, name: string, isPlain: boolean): boolean {
    if (parent === null && isPlain) return this.#known.has(name); // No child is at an address without a slash.
    if (parent === null || isWritten(name)) return this.get(name) !== undefined;
    if (parent.extras?.children?.named(name) !== undefined) return true;
    return this.#nested > 0 && this.#known.has(addressUnder(parent.address, name));
  }

  add(cell: Cell, isPlain: boolean): void {
    if (!ActorRef.isWritten(cell.ref)) return;
    this.#known.set(cell.address, cell);
    if (!isPlain && isNested(cell)) this.#nested++;
  }

  /** It has stopped: its address can be used again (P14). */
  remove(cell: Cell): void {
    if (!ActorRef.isWritten(cell.ref)) return; // Nobody can have looked for it.
    this.#known.delete(cell.address);
    if (this.#nested > 0 && isNested(cell)) this.#nested--;
  }

  /** Those without a parent, in the order in which they were spawned. */
  roots(): Cell[] {
    return [...this.#known.values()].filter(({ parent }) => parent === null);
  }

  /** All, each before its children. */
  *all(): Iterable<Cell> {
    const left = this.roots().reverse();
    for (let cell = left.pop(); cell !== undefined; cell = left.pop()) {
      yield cell;
      for (const child of cell.extras?.children?.all().reverse() ?? []) left.push(child);
    }
  }
}

/** Whether its name, which begins behind that of its parent, has a slash. */
const isNested = ({ address, parent }: Cell): boolean =>
  address.includes("/", parent === null ? 0 : parent.addressLength);
