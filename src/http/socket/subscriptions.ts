import type { ServerFrame } from "./frames";
import { fits, type Output } from "./output";
import type { Relay } from "./relay";

interface Subscription {
  /** Items that were left out since the client was last told. */
  missed: number;
  end: () => void;
}

/** The subscriptions of a socket. Items for a client that does not read are left out, and it is told how many (P18). */
export class Subscriptions {
  readonly #output: Output;
  /** Most bytes of an item. */
  readonly #longest: number;
  readonly #subscriptions = new Map<string, Subscription>();

  constructor(output: Output, longest: number) {
    this.#output = output;
    this.#longest = longest;
  }

  get size(): number {
    return this.#subscriptions.size;
  }

  has(id: string): boolean {
    return this.#subscriptions.has(id);
  }

  begin(id: string, relay: Relay): void {
    this.#say({ kind: "subscribed", id });
    const beginning = `{"kind":"items","id":${JSON.stringify(id)},"items":[`;
    const subscription: Subscription = { missed: 0, end: () => undefined };
    this.#subscriptions.set(id, subscription);
    subscription.end = relay.listen((item) => {
      const isLeftOut = item === undefined || !fits(item, this.#longest);
      if (isLeftOut || this.#output.isFull) subscription.missed++;
      if (this.#output.isFull) return; // It is told once the client reads.
      this.#sayMissed(id, subscription);
      if (!isLeftOut) this.#output.say(`${beginning}${item}]}`);
    });
  }

  end(id: string): void {
    this.#subscriptions.get(id)?.end();
    this.#subscriptions.delete(id);
  }

  /** The client reads again. */
  drained(): void {
    for (const [id, subscription] of this.#subscriptions) this.#sayMissed(id, subscription);
  }

  close(): void {
    for (const { end } of this.#subscriptions.values()) end();
    this.#subscriptions.clear();
  }

  #sayMissed(id: string, subscription: Subscription): void {
    if (subscription.missed === 0) return;
    this.#say({ kind: "missed", id, count: subscription.missed });
    subscription.missed = 0;
  }

  #say(frame: ServerFrame): void {
    this.#output.say(JSON.stringify(frame));
  }
}
