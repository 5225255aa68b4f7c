import { defineProtocol, type RefTo, type System, type Topic, Type } from "../../index";
import { refuseBytes } from "../json-of";

/** A topic of the system (`createTopic`), whatever its items are. They must be JSON. */
export interface AnyTopic {
  readonly name: string;
  /** The number of its subscriptions. */
  readonly size: number;
}

/** The topics that sockets may subscribe to, by the name that they have outside. */
export type ExposedTopics = Readonly<Record<string, AnyTopic>>;

/** The topics of a gateway that has none. */
export type NoTopics = Readonly<Record<never, never>>;

const Relaying = defineProtocol("relay", { item: { payload: Type.Unknown() } });

/** Gets an item as JSON; undefined for one that JSON cannot write. */
type Listener = (item: string | undefined) => void;

let made = 0;

/** Hands the items of a topic to the sockets that subscribed. Each item is written as JSON once. */
export class Relay {
  readonly #system: System;
  readonly #name: string;
  readonly #topic: Topic<unknown>;
  readonly #listeners = new Set<Listener>();
  #ref: RefTo<typeof Relaying> | null = null;
  #unsubscribe: (() => void) | null = null;

  constructor(system: System, name: string, topic: AnyTopic) {
    this.#system = system;
    this.#name = name;
    this.#topic = topic as Topic<unknown>; // An operation that takes anything can subscribe to any topic.
  }

  /** Hands each item from now on to a function, until the function that it gives is called. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    this.#ref ??= this.#system.spawn(`http-topics/${++made}/${this.#name}`, Relaying, () => ({
      item: (item) => this.#hand(item),
    }));
    this.#unsubscribe ??= this.#topic.subscribe(this.#ref, "item");
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#unsubscribe?.();
      this.#unsubscribe = null;
    };
  }

  #hand(item: unknown): void {
    let text: string | undefined;
    try {
      refuseBytes(item);
      text = JSON.stringify(item);
    } catch (cause) {
      const sentence = `An item of the topic "${this.#name}" is left out: JSON cannot write it.`;
      this.#system.log.error(sentence, { cause });
    }
    for (const listener of this.#listeners) listener(text);
  }
}
