import type { Cell } from "./cell";

/** How many that have stopped may stay in the list, or as many as are alive. */
const SPARE = 8;

/**
 * The children of an actor, in the order in which they were spawned. Those that have stopped leave the list when they are the
 * larger part of it: in a set, to come and to go took a tenth of what a child of skynet takes.
 */
export class Children {
  #list: Cell[] = [];
  #alive = 0;

  get size(): number {
    return this.#alive;
  }

  add(child: Cell): void {
    this.#list.push(child);
    this.#alive++;
  }

  /** One of them has stopped. */
  drop(): void {
    this.#alive--;
    if (this.#list.length - this.#alive > Math.max(this.#alive, SPARE)) this.#list = this.all();
  }

  /** Those that are there now. */
  all(): Cell[] {
    return this.#list.filter((child) => !child.isStopped);
  }
}
