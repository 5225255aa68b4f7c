import type { ConsumerConfig, ConsumerInfo } from "@nats-io/jetstream";
import type { Keeper, Kept } from "./kept";
import { codeOf, isNoRoom, type Store } from "./store";

/** JetStream's code for a consumer that is there with another configuration. */
const OTHER_CONFIGURATION = 10_148;

/** The part of a consumer's configuration that its receivers state. */
type Stated = Required<
  Pick<ConsumerConfig, "durable_name" | "filter_subject" | "ack_policy" | "ack_wait" | "max_ack_pending">
>;

/** True while nobody takes batches, and nobody has one. */
const isIdle = ({ num_waiting, num_ack_pending }: ConsumerInfo): boolean => num_waiting === 0 && num_ack_pending === 0;

const waitOf = ({ config }: ConsumerInfo): number => config.ack_wait ?? 0;

/**
 * The consumer of a place, as one receiver opens it. Nodes may ask for different `ack_wait`s, such as while the option is changed on one after another. A node judges by its own,
 * so that of the server must not be shorter: the longest one holds until a node with a shorter one opens a place that nobody receives from.
 *
 * JetStream takes each change of a consumer, also from a node that does not know of the last one. So the longest `ack_wait` is kept in a bucket, too, where a node that knows an
 * old one cannot write. A node that asks for less writes there, looks again whether nobody receives, and only then changes the consumer. Each node looks there once more when it
 * has begun to pull: then either it finds the shorter one, and raises it, or it was seen.
 */
export class PlaceConsumer {
  readonly #store: Store;
  readonly #stated: Stated;
  readonly #longest: Kept<number>;
  /** That of others who were seen too late. */
  #seen = 0;

  constructor(store: Store, stated: Stated, keeper: Keeper) {
    this.#store = store;
    this.#stated = stated;
    this.#longest = keeper(`${stated.durable_name}==wait`); // No place has this key.
  }

  /**
   * Makes the consumer where there is none.
   *
   * @throws Error (as a rejection) where JetStream refuses, or somebody else made a consumer of that name.
   */
  async ensure(): Promise<ConsumerInfo> {
    const { ack_wait } = this.#stated;
    for (;;) {
      const info = await this.#added();
      const longest = isIdle(info) ? Math.max(waitOf(info), (await this.#longest.read()) ?? 0) : 0;
      if (longest <= ack_wait) return waitOf(info) < ack_wait ? await this.#update(ack_wait) : info;
      const kept = await this.#keep(ack_wait);
      if (kept === "full") return info;
      if (kept === "late") continue;
      if (isIdle(await this.#info())) return await this.#update(ack_wait);
      this.#seen = Math.max(this.#seen, longest);
    }
  }

  /** Looks, once this node has begun to pull, whether another one has made the `ack_wait` too short meanwhile. */
  async confirm(): Promise<void> {
    for (;;) {
      const longest = (await this.#longest.read()) ?? 0;
      const wanted = Math.max(this.#stated.ack_wait, this.#seen, longest);
      if (waitOf(await this.#info()) < wanted) await this.#update(wanted);
      if (longest === wanted || (await this.#keep(wanted)) !== "late") return;
    }
  }

  /** `late`: another node has written since. `full`: there is no room, so nobody asks for less. */
  async #keep(wait: number): Promise<"kept" | "late" | "full"> {
    try {
      return (await this.#longest.put(wait)) ? "kept" : "late";
    } catch (thrown) {
      if (!isNoRoom(thrown)) throw thrown;
      return "full";
    }
  }

  async #added(): Promise<ConsumerInfo> {
    const { jsm, name } = this.#store;
    try {
      return await jsm.consumers.add(name, this.#stated);
    } catch (thrown) {
      if (codeOf(thrown) !== OTHER_CONFIGURATION) throw thrown;
    }
    const { durable_name: consumer, ack_policy, filter_subject, max_ack_pending } = this.#stated;
    const info = await this.#info();
    const { config } = info;
    if (
      config.ack_policy !== ack_policy ||
      config.filter_subject !== filter_subject ||
      config.max_ack_pending !== max_ack_pending
    ) {
      throw new Error(
        `The consumer ${consumer} of the stream ${name} does not hand out one message at a time: somebody else made it, so delete it.`,
      );
    }
    return info;
  }

  #info(): Promise<ConsumerInfo> {
    return this.#store.jsm.consumers.info(this.#store.name, this.#stated.durable_name);
  }

  #update(ack_wait: number): Promise<ConsumerInfo> {
    return this.#store.jsm.consumers.update(this.#store.name, this.#stated.durable_name, { ack_wait });
  }
}
