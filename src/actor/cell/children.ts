import type { Cell } from "./cell";
import { ActorRef } from "../refs/ref";

/** How many that have stopped may stay in the list, or as many as are alive. */
const SPARE = 8;
/** Among so many a name is found by looking at each; a map for ten takes more than that. */
const FEW = 16;

/**
 * The children of an actor, in the order in which they were spawned. Those that have stopped leave the list when they are the
 * larger part of it: in a set, to come and to go took a tenth of what a child of skynet takes.
 */
export class Children {
  /** How long the address of their parent is: in theirs, their names begin there. */
  readonly parentLength: number;
  #list: Cell[] = [];
  #alive = 0;
  /** Made when a name is looked for among many. */
  #byName: Map<string, Cell> | null = null;

  constructor(parent: Cell) {
    this.parentLength = parent.addressLength;
  }

  get size(): number {
    return this.#alive;
  }

  add(child: Cell): void {
    this.#list.push(child);
    this.#alive++;
    this.#byName?.set(this.#nameOf(child), child);
  }

  /** One of them has stopped. */
  drop(child: Cell): void {
    this.#alive--;
    this.#byName?.delete(this.#nameOf(child));
    if (this.#list.length - this.#alive <= Math.max(this.#alive, SPARE)) return;
    this.#list = this.all();
  }

  /** Those that are there now. */
  all(): Cell[] {
    return this.#list.filter((child) => !child.isStopped);
  }

  /** The one of that name, if it is there now. */
  named(name: string): Cell | undefined {
    if (this.#byName === null && this.#alive > FEW) {
      this.#byName = new Map(this.all().map((child) => [this.#nameOf(child), child]));
    }
    if (this.#byName !== null) return this.#byName.get(name);
    for (const child of this.#list) {
      if (ActorRef.isNamed(child.ref, name, this.parentLength) && !child.isStopped) return child;
    }
    return undefined;
  }

  #nameOf(child: Cell): string {
    return ActorRef.nameBelow(child.ref, this.parentLength);
  }
}
