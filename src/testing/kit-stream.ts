import type { ActorStream } from "../index";

type Step = IteratorResult<unknown, undefined>;
const DONE: Step = { value: undefined, done: true };
/** The most items that a producer of a real stream is ahead, unless the reader says otherwise. */
const CREDIT = 16;

/** The stream of a kit's reference: the items that the test has prepared. It is opened at the first read. */
export class KitStream implements ActorStream<unknown> {
  readonly #open: () => unknown;
  readonly #items: AsyncGenerator<unknown, undefined, undefined>;
  /** The prepared items; null before the first read. */
  #prepared: { readonly items: unknown } | null = null;
  /** The items that can be had without a wait; null before the first has come, and for asynchronous ones. */
  #ready: Iterator<unknown> | null = null;
  /** An error that came up outside of a read: the next read rejects with it. */
  #failure: { readonly thrown: unknown } | null = null;
  /** Reads without an answer yet. */
  #reads = 0;

  constructor(open: () => unknown) {
    this.#open = open;
    this.#items = this.#produce();
  }

  #begin(): unknown {
    this.#prepared ??= { items: this.#open() };
    return this.#prepared.items;
  }

  async *#produce(): AsyncGenerator<unknown, undefined, undefined> {
    this.#throwFailure();
    // Typed by kit.answer: the answer of a stream is an iterable.
    const prepared = (await this.#begin()) as Iterable<unknown> | AsyncIterable<unknown>;
    if (Symbol.asyncIterator in prepared) {
      yield* prepared;
      return;
    }
    for (const item of this.#watched(prepared[Symbol.iterator]())) yield item;
  }

  /** The same items, with an end of their own: `ready` takes some of them from the same iterator. */
  *#watched(items: Iterator<unknown>): Iterable<unknown> {
    this.#ready = items;
    try {
      for (let step = items.next(); step.done !== true; step = items.next()) {
        yield step.value;
        this.#throwFailure();
      }
    } finally {
      this.#ready = null;
      items.return?.();
    }
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.thrown;
  }

  async next(): Promise<Step> {
    this.#reads++;
    try {
      const step = await this.#items.next();
      return step.done === true ? DONE : step;
    } finally {
      this.#reads--;
    }
  }

  ready(max = CREDIT): unknown[] {
    const taken: unknown[] = [];
    if (this.#reads > 0 || this.#failure !== null) return taken;
    try {
      this.#begin();
      while (this.#ready !== null && taken.length < Math.min(max, CREDIT)) {
        const step = this.#ready.next();
        if (step.done === true) break;
        taken.push(step.value);
      }
    } catch (thrown) {
      this.#failure = { thrown };
    }
    return taken;
  }

  async return(): Promise<Step> {
    await this.#items.return(undefined);
    return DONE;
  }

  async throw(thrown: unknown): Promise<Step> {
    await this.#items.return(undefined);
    throw thrown;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}
