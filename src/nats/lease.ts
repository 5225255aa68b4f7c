import type { Factory } from "../index";
import type { DurableActorOptions } from "./durable/options";

/** The right of an actor over its id. */
export interface Lease {
  /**
   * Grows whenever the id gets another owner, so that a store can refuse what a former one writes: keep the highest epoch beside the
   * data, and write only with that or a higher one.
   */
  readonly epoch: number;
  /** False once another node may own the id: by this node's clock, or because it moved. */
  readonly isHeld: boolean;
}

/** Makes the behaviour of the actor for an id. */
export type Create<Signatures> = (id: string, lease: Lease) => Factory<Signatures>;

/** The options of names over the cluster. */
export interface ShardedOptions {
  /** Milliseconds after which an idle actor is stopped; the next message makes it again. Default: `Infinity`, never. */
  readonly idle?: number;
  /** Most messages that wait for one id while its owner is not known or is moving, on each node. Default: 1,000. */
  readonly waiting?: number;
  /**
   * True, or options, where its ids take durable messages (`cluster.durable(ref)`). The nodes that serve the name hand them to the owners of the ids. A node
   * that only sends says so, too. Default: false.
   */
  readonly durable?: boolean | DurableActorOptions;
}
