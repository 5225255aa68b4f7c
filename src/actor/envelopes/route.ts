import type { Address } from "../../message/address";
import type { Operation } from "../../protocol/protocol";
import type { Envelope, Recipient } from "../contract";

/** What is known of an envelope that was forwarded. */
export interface Route {
  /** The actors that forwarded it, in order. */
  readonly hops: readonly Address[];
  /**
   * The operation whose schema its payload fits, where an actor that validates always forwarded it. For a message from outside,
   * its origin knows.
   */
  readonly fits: Operation | null;
  /** The pools whose workers forwarded it. */
  readonly pools: readonly Recipient[];
}

/** By envelope: few are forwarded, and a field would cost every message eight bytes. */
const routes = new WeakMap<Envelope, Route>();

export const routeOf = (envelope: Envelope): Route | undefined => routes.get(envelope);

/** The pools of a route, once an actor has forwarded it. */
export function poolsBehind(before: Route | undefined, { parent }: Recipient): readonly Recipient[] {
  const pools = before?.pools ?? [];
  const isWorker = parent !== null && parent.relay !== null;
  return isWorker && !pools.includes(parent) ? [...pools, parent] : pools;
}

export function keepRoute(envelope: Envelope, route: Route): void {
  routes.set(envelope, route);
}

/** An envelope was copied for another recipient: the copy has come the same way. */
export function copyRoute(from: Envelope, to: Envelope): void {
  const route = routes.get(from);
  if (route !== undefined) routes.set(to, route);
}
