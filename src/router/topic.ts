import { type Cell, cellOf } from "../actor/cell/cell";
import { checkTellOptions, type TellOptions } from "../actor/envelopes/call-options";
import type { Ref } from "../actor/refs/ref";
import { tell } from "../actor/refs/sending";
import { type AnyRef, quote } from "../message/address";
import type { AskName, Takes } from "../protocol/signatures";
import { type Few, withOne, without } from "../runtime/few";

/**
 * The operations of an actor that take an item as their payload. Compares functions and not payloads, because the compiler puts
 * off the comparison of a payload whose type is a type parameter.
 */
export type TakerName<Signatures, Item> = keyof {
  [Name in AskName<Signatures> as Takes<Signatures[Name], Item> extends true ? Name : never]: Name;
};

/** Those names; if there are none, the sentence that the compiler shows. */
type TakerOf<Signatures, Item> = [TakerName<Signatures, Item>] extends [never]
  ? "it has no operation whose payload is an item of this topic"
  : TakerName<Signatures, Item>;

/** Tells items to all subscribers. Each gets them in its own mailbox, by its own policy. */
export interface Topic<in out Item> {
  readonly name: string;
  /** The number of subscriptions. */
  readonly size: number;
  /**
   * Tells all subscribers, in the order in which they subscribed. Never waits: if a subscriber's mailbox is full, its own
   * `overflow` decides, and no other subscriber is affected.
   *
   * @param from the `ctx.sender` that subscribers see. Default: none.
   * @param options what travels beside the item. A topic belongs to no handler, so nothing is inherited: hand it on as in
   * `prices.publish(item, ctx.self, { metadata: ctx.metadata })`.
   * @throws TypeError or RangeError when `from` is not a reference, or an option cannot be one; otherwise never.
   * @example
   * prices.publish({ symbol: "BUN", price: 7 });
   */
  publish(item: Item, from?: AnyRef, options?: TellOptions): void;
  /**
   * Tells an actor each item from now on, by one of its operations. The subscription ends when the actor stops; a restart
   * keeps it. Subscribing again by the same operation changes nothing, so a factory may subscribe. A child made anew by its
   * parent's restart is another actor at the same address: it must subscribe itself.
   *
   * @returns a function that ends the subscription.
   * @throws TypeError when the actor has no such operation.
   * @example
   * const unsubscribe = prices.subscribe(display, "show");
   */
  subscribe<Signatures>(ref: Ref<Signatures>, operation: TakerOf<Signatures, Item>): () => void;
}

interface Subscription {
  readonly cell: Cell;
  readonly operation: string;
  readonly end: () => void;
}

class LocalTopic<Item> implements Topic<Item> {
  readonly name: string;
  /** In the order of subscribing. */
  readonly #subscriptions = new Set<Subscription>();
  /**
   * The subscriptions of each actor. The key is the actor and not its address: another actor may get that address (a child
   * made anew), or have it already (in another system).
   */
  readonly #ofCell = new Map<Cell, Few<Subscription>>();

  constructor(name: string) {
    this.name = name;
  }

  get size(): number {
    return this.#subscriptions.size;
  }

  publish(item: Item, from?: AnyRef, options?: TellOptions): void {
    const origin = from === undefined ? null : cellOf(from);
    if (options !== undefined) checkTellOptions(options, "a published item");
    for (const { cell, operation } of this.#subscriptions) {
      if (!cell.isEnding) tell(cell, origin, operation, item, options);
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
    const subscription: Subscription = { cell, operation, end: () => this.#end(subscription) };
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
 * a handler that checks them and publishes them.
 *
 * @throws TypeError when the name is not a text, or empty.
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
