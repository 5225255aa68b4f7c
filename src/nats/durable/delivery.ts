import type { Metadata } from "../../index";

/** The delivery of a durable message, as far as it is known. */
export interface Delivery {
  /** The name of the message, the same at each of its deliveries: for a handler that notes what it has done. */
  readonly id: string;
  /** The node that sent it. */
  readonly from: string;
  /** The number of calls of its handler, this one included, as far as it is known here: from 1. */
  readonly attempt: number;
  /**
   * True when the message may have been handled before, in part or as a whole: a handler failed, or a node or a server went before
   * it was known to be handled. Never false for a message that was handled before. It may be true for one that was not.
   */
  readonly mayRepeat: boolean;
}

/** The key of the metadata. */
const KEY = "envoi.delivery";

/** The metadata of a message with those of its delivery, which no sender can set. */
export const withDelivery = (metadata: Metadata | undefined, delivery: Delivery): Metadata => ({
  ...metadata,
  [KEY]: delivery,
});

/**
 * Says how a durable message was delivered.
 *
 * @returns undefined for a message that was not sent by `cluster.durable`.
 * @example
 * system.spawn("charges", Charges, (ctx) => ({
 *   charge: async (order) => {
 *     if (deliveryOf(ctx.metadata)?.mayRepeat && (await charged.has(order.id))) return;
 *     await charged.add(order.id);
 *   },
 * }));
 */
export const deliveryOf = (metadata: Metadata | undefined): Delivery | undefined =>
  metadata?.[KEY] as Delivery | undefined; // Nobody else writes this key.
