import type { Metadata } from "../../index";

/** The delivery of a durable message, as far as it is known. */
export interface Delivery {
  /** The name of the message, the same at each of its deliveries, and that of no other one of its cluster: for a handler that notes what it has done. */
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

/** The metadata of a message with those of its delivery, in place of any that its durable sender gave. */
export const withDelivery = (metadata: Metadata | undefined, delivery: Delivery): Metadata => ({
  ...metadata,
  [KEY]: delivery,
});

/**
 * Says how a durable message was delivered. The metadata travel between nodes, because the node that takes a message from a lane hands it to the owner of its id. So whoever
 * sends plain messages can write the key `envoi.delivery`, too: believe it only where all senders are trusted.
 *
 * @returns undefined for a message without that key: no durable one.
 * @example
 * system.spawn("charges", Charges, (ctx) => ({
 *   charge: async (order) => {
 *     if (deliveryOf(ctx.metadata)?.mayRepeat && (await charged.has(order.id))) return;
 *     await charged.add(order.id);
 *   },
 * }));
 */
export const deliveryOf = (metadata: Metadata | undefined): Delivery | undefined =>
  metadata?.[KEY] as Delivery | undefined; // As `withDelivery` wrote it. A sender that writes the key itself breaks its own promise.
