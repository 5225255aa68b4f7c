import type { Address, AnyRef, OpenDoor } from "../index";

/** An actor of this side that the other side may reach. */
export interface Exposed {
  readonly door: OpenDoor;
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

/** The end of an actor as frames have it: 1 for one of a third side, with which it is gone. */
export const howEnded = (door: OpenDoor | undefined): 0 | 1 => (door?.isUnreachable === true ? 1 : 0);
