import type { Problem } from "../problem";

/** The reason why something may not begin. */
export type Refusal = Problem | Response;

/** A decision, which may come later; undefined when it may begin. */
export type Decision = Promise<Refusal | undefined> | Refusal | undefined;

interface Waiting<Frame> {
  readonly frame: Frame;
  /** Undefined until it is known; null when it may begin. */
  refusal: Refusal | null | undefined;
  /** Items that the client has granted meanwhile. */
  credit: number;
}

/**
 * Lets frames begin once it is decided that they may, in the order in which they came (P2): all decisions are awaited at one time, and a
 * frame begins when those before it have.
 */
export class Admission<Frame> {
  readonly #begin: (frame: Frame, refusal: Refusal | undefined, credit: number) => void;
  /** By id. Frames without one have a symbol. */
  readonly #waiting = new Map<string | symbol, Waiting<Frame>>();

  constructor(begin: (frame: Frame, refusal: Refusal | undefined, credit: number) => void) {
    this.#begin = begin;
  }

  /** The number of frames that wait. */
  get size(): number {
    return this.#waiting.size;
  }

  has(id: string): boolean {
    return this.#waiting.has(id);
  }

  /** True when a frame with this decision begins at once. */
  isAtOnce(decision: Decision): decision is Refusal | undefined {
    return this.#waiting.size === 0 && !(decision instanceof Promise);
  }

  /** @param decision one that does not reject. */
  await(id: string | undefined, frame: Frame, decision: Decision): void {
    const waiting: Waiting<Frame> = { frame, refusal: undefined, credit: 0 };
    this.#waiting.set(id ?? Symbol(), waiting);
    if (!(decision instanceof Promise)) {
      waiting.refusal = decision ?? null; // Those before it wait.
      return;
    }
    void decision.then((refusal) => {
      waiting.refusal = refusal ?? null;
      this.#beginDecided();
    });
  }

  /** True when a frame with this id waited. */
  cancel(id: string): boolean {
    const isCancelled = this.#waiting.delete(id);
    if (isCancelled) this.#beginDecided();
    return isCancelled;
  }

  /** True when a frame with this id waits: it gets the credit when it begins. */
  grant(id: string, count: number): boolean {
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined) waiting.credit += count;
    return waiting !== undefined;
  }

  clear(): void {
    this.#waiting.clear();
  }

  #beginDecided(): void {
    for (const [key, { frame, refusal, credit }] of this.#waiting) {
      if (refusal === undefined) return;
      this.#waiting.delete(key);
      this.#begin(frame, refusal ?? undefined, credit);
    }
  }
}
