import { type Cell, cellOf } from "../actor/cell/cell";
import type { Ref } from "../actor/refs/ref";
import { tell } from "../actor/refs/sending";
import { type AnyRef, quote } from "../message/address";
import type { AskName, Takes } from "../protocol/signatures";
import { type Few, withOne, without } from "../runtime/few";

/**
 * The operations of an actor that can be told an item. By their functions, and not by their payloads: the compiler puts off the
 * comparison of a payload whose type is a type parameter.
 */
export type TakerName<Signatures, Item> = keyof {
  [Name in AskName<Signatures> as Takes<Signatures[Name], Item> extends true ? Name : never]: Name;
};

/** Those names; where there is none, what the compiler is to show. */
type TakerOf<Signatures, Item> = [TakerName<Signatures, Item>] extends [never]
  ? "it has no operation whose payload is an item of this topic"
  : TakerName<Signatures, Item>;

/** Tells items to all who subscribe. Each subscriber gets them in its own mailbox, by its own policy. */
export interface Topic<in out Item> {
  readonly name: string;
  /** The number of subscriptions. */
  readonly size: number;
  /**
   * Tells all subscribers, in the order in which they subscribed. It never waits: a subscriber whose mailbox is full loses
   * by its own `overflow`, and nobody else does.
   *
   * @param from whom subscribers see as `ctx.sender`. Default: nobody.
   * @throws TypeError when `from` is no reference; otherwise never.
   * @example
   * prices.publish({ symbol: "BUN", price: 7 });
   */
  publish(item: Item, from?: AnyRef): void;
  /**
   * Tells an actor each item from now on, by one of its operations. It ends when the actor stops; a restart keeps it. To
   * subscribe again by the same operation changes nothing, so that a factory may do it. A child that its parent's restart
   * makes anew is another actor at the same address: it subscribes for itself.
   *
   * @returns what ends it.
   * @throws TypeError when the actor has no such operation.
   * @example
   * const unsubscribe = prices.subscribe(display, "show");
   */
  subscribe<Signatures>(ref: Ref<Signatures>, operation: TakerOf<Signatures, Item>): () => void;
}

class Subscription {
  readonly cell: Cell;
  readonly operation: string;
  readonly end: () => void;

  constructor(cell: Cell, operation: string, end: () => void) {
    this.cell = cell;
    this.operation = operation;
    this.end = end;
  }
}

class LocalTopic<Item> implements Topic<Item> {
  readonly name: string;
  /** In the order in which they subscribed. */
  readonly #subscriptions = new Set<Subscription>();
  /**
   * Those of each actor. By the actor itself: its address may be another one's in the next moment (a child that is made
   * anew), or at the same time (in another system).
   */
  readonly #ofCell = new Map<Cell, Few<Subscription>>();

  constructor(name: string) {
    this.name = name;
  }

  get size(): number {
    return this.#subscriptions.size;
  }

  publish(item: Item, from?: AnyRef): void {
    const origin = from === undefined ? null : cellOf(from);
    for (const { cell, operation } of this.#subscriptions) {
      if (!cell.isEnding) tell(cell, origin, operation, item);
    }
  }

  subscribe<Signatures>(ref: Ref<Signatures>, operation: TakerName<Signatures, Item> & string): () => void {
    const cell = cellOf(ref);
    const known = cell.operation(operation);
    if (known === undefined || known?.isStream === true) {
      throw new TypeError(
        `${cell.address} cannot be told ${quote(operation)}, so it cannot subscribe to "${this.name}" by that; name an operation of its protocol.`,
      );
    }
    if (cell.isStopped) return () => undefined;
    const before = this.#find(cell, operation);
    if (before !== undefined) return before.end;
    const subscription = new Subscription(cell, operation, () => this.#end(subscription));
    this.#subscriptions.add(subscription);
    this.#ofCell.set(cell, withOne(this.#ofCell.get(cell) ?? null, subscription));
    cell.extra.whenStopped ??= new Set();
    cell.extra.whenStopped.add(subscription.end);
    return subscription.end;
  }

  #find(cell: Cell, operation: string): Subscription | undefined {
    const own = this.#ofCell.get(cell) ?? null;
    if (own instanceof Set) return [...own].find((subscription) => subscription.operation === operation);
    return own?.operation === operation ? own : undefined;
  }

  #end(subscription: Subscription): void {
    const { cell, end } = subscription;
    if (!this.#subscriptions.delete(subscription)) return;
    const left = without(this.#ofCell.get(cell) ?? null, subscription);
    if (left === null || (left instanceof Set && left.size === 0)) this.#ofCell.delete(cell);
    else this.#ofCell.set(cell, left);
    cell.extras?.whenStopped?.delete(end);
  }
}

/**
 * Makes a topic: publish and subscribe within the process, typed by its items. To let messages in from outside, register
 * a handler that publishes what it has checked.
 *
 * @throws TypeError when the name is no text.
 * @example
 * const prices = createTopic<{ symbol: string; price: number }>("prices");
 * prices.subscribe(display, "show");
 * prices.publish({ symbol: "BUN", price: 7 });
 */
export function createTopic<Item>(name: string): Topic<Item> {
  if (typeof name !== "string" || name === "")
    throw new TypeError(`The name of a topic is a text; got ${quote(name)}.`);
  return new LocalTopic<Item>(name);
}
