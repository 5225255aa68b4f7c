import type { Address, Attachment, Protocol } from "../index";
import type { Transient } from "./transients";

/** One for an address that this side named, one that came in a payload, and one for a message. */
export type Kind = "kept" | "lent" | "transient";

/** An actor of the other side that has a reference here. */
export interface Attached extends Transient {
  /** Stands for the address in frames; 0 for a transient one, whose frames have the address. */
  readonly target: number;
  /** The target or the address as it is written in frames. */
  readonly place: string;
  /** The address that it has on the other side. */
  readonly to: Address;
  readonly operations: Protocol["operations"];
  /** True if its address came in a payload. */
  readonly isLent: boolean;
  attachment: Attachment<never>;
}
