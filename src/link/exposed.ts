import type { Address, AnyRef, Door } from "../index";

/** An actor of this side that the other side may reach. */
export interface Exposed {
  readonly door: Door;
  readonly ref: AnyRef;
  /** True if it went to the other side in a payload. */
  isLent: boolean;
  /** The numbers by which the other side calls it. */
  readonly targets: Set<number>;
}

/** An address as the other side calls it. */
export interface Called {
  readonly at: Address;
  /** The version of the protocol by which it is called, where that is known. */
  readonly version: string | undefined;
}
