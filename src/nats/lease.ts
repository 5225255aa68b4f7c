import { checkOptions, type Factory, type OptionChecks, option } from "../index";
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
   * The longest time, in milliseconds, that a running handler of an id holds up the move of its shard, or the way back of its node once the lease has
   * ended. A handler that takes longer goes on beside the next actor for its id: its `ctx.signal` is aborted, and `lease.isHeld` is false. Streams are not waited for: they end at once. Default: 30,000.
   */
  readonly drainTimeout?: number;
  /**
   * True, or options, where its ids take durable messages (`cluster.durable(ref)`). The nodes that serve the name hand them to the owners of the ids. A node
   * that only sends says so, too. Default: false.
   */
  readonly durable?: boolean | DurableActorOptions;
}

const CHECKS: OptionChecks<ShardedOptions> = {
  idle: option.duration,
  waiting: option.count,
  drainTimeout: option.duration,
  durable: option.rule(
    "is true, false or an object of options",
    (value) => typeof value === "boolean" || (typeof value === "object" && value !== null),
  ),
};

/** @throws TypeError or RangeError when an option is invalid. */
export function checkSharded(options: ShardedOptions): void {
  checkOptions(options, CHECKS, "a name over the cluster", "{ idle: 60_000 }");
}
