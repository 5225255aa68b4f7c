/** Gathers the answers to a batch, and sends them together once all are there. */
export class Batch {
  readonly #say: (text: string) => void;
  readonly #answers: string[] = [];
  /** Requests without an answer, and one more until all messages of the batch were looked at. */
  #open = 1;

  /** The number of its messages. */
  readonly size: number;

  constructor(size: number, say: (text: string) => void) {
    this.size = size;
    this.#say = say;
  }

  /** A request of the batch is under way. */
  begin(): void {
    this.#open++;
  }

  /** A request that was under way has its answer, or undefined where it gets none. */
  end(answer: string | undefined): void {
    if (answer !== undefined) this.#answers.push(answer);
    if (--this.#open === 0 && this.#answers.length > 0) this.#say(`[${this.#answers.join(",")}]`);
  }

  /** An answer to what was refused at once. */
  add(answer: string): void {
    this.#answers.push(answer);
  }
}
