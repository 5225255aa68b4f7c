import type { Address, AnyRef, Door } from "../index";

/** Doors at most. */
const MOST = 256;

/** The doors of addresses that came with a message instead of a number: the next message to one of them makes none. */
export class Doors {
  /** The last one that was made at the end. */
  readonly #all = new Map<Address, { readonly door: Door; readonly ref: AnyRef }>();

  get(at: Address): { readonly door: Door; readonly ref: AnyRef } | undefined {
    return this.#all.get(at);
  }

  /** False where there is none, or where its actor has stopped: that one is forgotten. */
  isOpen(at: Address): boolean {
    if (this.#all.get(at)?.door.isStopped === false) return true;
    this.#all.delete(at);
    return false;
  }

  add(at: Address, door: Door, ref: AnyRef): void {
    const [oldest] = this.#all.keys();
    if (oldest !== undefined && this.#all.size >= MOST) this.#all.delete(oldest);
    this.#all.set(at, { door, ref });
  }

  clear(): void {
    this.#all.clear();
  }
}
