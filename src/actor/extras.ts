import type { Address } from "../message/address";
import type { Cell } from "./cell";

/** What only some actors need, so that an idle one stays small. */
export class Extras {
  children: Set<Cell> | null = null;
  /** Of the current message. */
  controller: AbortController | null = null;
  /** Of the actor. */
  lifetime: AbortController | null = null;
  isDraining = false;
  readonly whenStopped: (() => void)[] = [];
  onFulfilled: ((value: unknown) => void) | null = null;
  onRejected: ((thrown: unknown) => void) | null = null;

  /** Aborts the signals that were read. */
  abort(reason: DOMException): void {
    this.controller?.abort(reason);
    this.lifetime?.abort(reason);
  }
}

/** What the signals of an actor that is stopped are aborted with. */
export const stopReason = (address: Address): DOMException =>
  new DOMException(`The actor ${address} was stopped.`, "AbortError");
