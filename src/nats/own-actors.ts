import {
  type Address,
  type AnyRef,
  type AskError,
  type Metadata,
  type OpenDoor,
  quote,
  receive,
  type System,
} from "../index";
import { toldAsRefused } from "../link/index";
import { deliveryOf } from "./durable/delivery";

/** The function that makes the actor for an id threw. The log of this node has that error as it was; its senders are told a sentence that says so. */
export class NotMade extends Error {
  readonly told: string;

  constructor(thrown: unknown, told: string) {
    super(thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
    if (thrown instanceof Error) this.name = thrown.name;
    this.told = told;
  }
}

/** The detail by which a sender is told of an error that its message met on this node; undefined for the usual one. */
export const detailOf = (error: AskError): unknown =>
  error.kind === "unreachable" && error.cause instanceof NotMade ? toldAsRefused(error.cause.told) : undefined;

/**
 * Says in the log what a handler of this node threw at a durable message that another node took for it: that one tries it again, or gives it up, and its dead letter does not say
 * what was thrown, because no text of an error goes to another node.
 */
export function logThrown({ log }: System, error: AskError, metadata: Metadata | undefined): void {
  if (error.kind !== "handler-failed") return;
  const delivery = deliveryOf(metadata); // As the other node says.
  if (typeof delivery !== "object" || delivery === null) return;
  const { id, from, attempt } = delivery;
  log.warn(`durable message ${quote(id)} of node ${quote(from)}: ${error.message}`, {
    address: error.address,
    attempt,
    cause: error.cause,
  });
}

/** The actors for ids on this node, by shard. */
export class OwnActors {
  readonly #system: System;
  readonly #actors = new Map<string, Map<Address, { readonly ref: AnyRef; readonly door: OpenDoor }>>();
  readonly #unsubscribe: () => void;

  /** @param prefix the beginning of their addresses. */
  constructor(system: System, prefix: string) {
    this.#system = system;
    this.#unsubscribe = system.events.subscribe((event) => {
      if (event.kind === "stopped" && event.address.startsWith(prefix)) this.#forget(event.address);
    });
  }

  add(key: string, at: Address, ref: AnyRef): void {
    const actors = this.#actors.get(key) ?? new Map();
    this.#actors.set(key, actors.set(at, { ref, door: receive(ref) }));
  }

  /** Another one may have the address by now: events come after the turn in which an actor has stopped. */
  #forget(at: Address): void {
    for (const [key, actors] of this.#actors) {
      if (actors.get(at)?.door.isStopped !== true) continue;
      actors.delete(at);
      if (actors.size === 0) this.#actors.delete(key);
    }
  }

  /** Stops those of a shard, and resolves when they have. */
  async stop(key: string, drain: boolean): Promise<void> {
    const actors = [...(this.#actors.get(key)?.values() ?? [])];
    await Promise.all(actors.map(({ ref }) => this.#system.stop(ref, { drain })));
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#actors.keys()].map((key) => this.stop(key, false)));
  }

  close(): void {
    this.#unsubscribe();
  }
}
