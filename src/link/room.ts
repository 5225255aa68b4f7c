/**
 * Counts the messages that the other side has not read yet, where there may be so many at most. Marks among the messages come back once they have been read:
 * one for each quarter of the bound, so that to count costs next to nothing. Up to a quarter may have been read that still counts.
 */
export class Room {
  /** Most messages that have left and have not been read. */
  readonly most: number;
  readonly #step: number;
  #sent = 0;
  #marked = 0;
  #read = 0;

  constructor(most: number) {
    this.most = most;
    this.#step = Math.ceil(most / 4);
  }

  get isFull(): boolean {
    return this.#sent - this.#read >= this.most;
  }

  /** A message leaves. Returns the mark that leaves with it; 0 for none. */
  take(): number {
    this.#sent++;
    if (this.#sent - this.#marked < this.#step) return 0;
    this.#marked = this.#sent;
    return this.#marked;
  }

  /** A mark has come back. One that was never sent is none (P18). */
  free(mark: number): void {
    if (mark > this.#read && mark <= this.#marked) this.#read = mark;
  }

  /** There is another side, which has got nothing yet. */
  clear(): void {
    this.#sent = this.#marked = this.#read = 0;
  }
}
