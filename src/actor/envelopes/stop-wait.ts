import type { Recipient, Wait, Waiter } from "../contract";

/** A handler's wait for the stop of an actor. No sender waits for it, and no search for deadlocks refuses it. */
export class StopWait implements Wait {
  readonly cell: Recipient;
  isOpen = true;
  nextWait: Wait | null = null;
  waiter: Waiter | null = null;
  servesOutside = false;

  constructor(cell: Recipient) {
    this.cell = cell;
  }

  get isWaiting(): boolean {
    return this.isOpen;
  }

  /** The handler's sender gave up, or the handler has ended. In the first case the handler still awaits the stop. */
  endWith(): void {
    const { waiter } = this;
    if (waiter !== null && !waiter.isOver) {
      waiter.add(this);
      return;
    }
    this.isOpen = false;
    this.waiter = null;
  }

  closeCircle(): void {
    throw new Error(`The stop of ${this.cell.address} cannot be refused.`);
  }
}
