import type { ActorEnvironment } from "../actor/cell/cell";
import type { PendingStream } from "../actor/envelopes/stream";
import { checkMost, DONE, type Step, StreamError } from "../actor/envelopes/stream-step";
import { LEFT } from "../actor/reasons";
import { type ActorStream, asyncIteratorPrototype, StreamReader } from "../actor/refs/stream-reader";
import { quote } from "../message/address";
import { deliveryError } from "../message/delivery-error";
import type { Message } from "../message/message";
import type { Enter } from "../runtime/contexts";
import { heard } from "../runtime/thenable";
import { type Outcome, sourceOf, type Transit } from "./transit";

/** Sends the message of a stream. `hold` makes the items of the stream that was opened for it. */
type Begin = (hold: (opened: PendingStream) => ActorStream<unknown>, resolve: (outcome: Outcome) => void) => Transit;

type Items = AsyncIterator<unknown> | Iterator<unknown>;

/**
 * The iterator over the items that interceptors make of a stream. The message is sent at the first read. The stream that was
 * opened for it ends with it, even if the interceptors did not let its items through.
 */
export class InterceptedStream implements ActorStream<unknown> {
  // Inherited from the language's prototype of asynchronous iterators, set below.
  declare readonly [Symbol.asyncIterator]: () => this;
  declare readonly [Symbol.asyncDispose]: () => Promise<void>;
  readonly #message: Message;
  readonly #environment: ActorEnvironment;
  readonly #begin: Begin;
  #transit: Transit | null = null;
  #opened: PendingStream | null = null;
  #items: Promise<Items> | null = null;
  /** The stream of an actor, when the interceptors let it through as it is: only such a one can tell what has come. */
  #whole: StreamReader | InterceptedStream | null = null;
  /** Reads without an answer yet. */
  #reads = 0;
  #isDone = false;

  constructor(message: Message, environment: ActorEnvironment, begin: Begin) {
    this.#message = message;
    this.#environment = environment;
    this.#begin = begin;
  }

  async next(): Promise<Step> {
    this.#reads++;
    try {
      return await this.#next();
    } finally {
      this.#reads--;
    }
  }

  ready(max = Number.POSITIVE_INFINITY): unknown[] {
    checkMost(max);
    if (this.#isDone || this.#reads > 0) return [];
    if (this.#items === null) {
      this.#items = this.#open();
      void heard(this.#items); // The next read rejects if it failed.
    }
    return this.#whole === null ? [] : this.#inContext(readyOf, this.#whole, max);
  }

  async #next(): Promise<Step> {
    const pause = this.#environment.settling.pause(); // The items may come from an iterable that awaits nothing.
    if (pause !== null) await pause;
    if (this.#isDone) return DONE;
    try {
      this.#items ??= this.#open();
      const items = await this.#items;
      const step = await this.#inContext(stepOf, items);
      if (!this.#isDone && step.done !== true) return step;
      this.#end();
    } catch (thrown) {
      if (this.#isDone) return DONE;
      this.#end();
      throw thrown instanceof StreamError
        ? thrown
        : new StreamError(deliveryError("handler-failed", sourceOf(this.#message, true), thrown));
    }
    return DONE;
  }

  async #open(): Promise<Items> {
    const outcome = await new Promise<Outcome>((resolve) => {
      const hold = (opened: PendingStream): ActorStream<unknown> => {
        this.#opened = opened;
        return new StreamReader(this.#environment.settling, () => opened, opened);
      };
      this.#transit = this.#begin(hold, resolve);
    });
    if (outcome.isErr()) throw new StreamError(outcome.error);
    const items = iteratorOf(outcome.value);
    if (items instanceof StreamReader || items instanceof InterceptedStream) this.#whole = items;
    return items;
  }

  /** Calls in the context of the first read, which sent the message: interceptors made the items, not the reader (P16). */
  get #inContext(): Enter {
    return (this.#transit as Transit).inContext; // There are no items before the message is sent.
  }

  return(): Promise<Step> {
    this.#leave();
    return this.#environment.settling.resolved(DONE);
  }

  #leave(): void {
    if (this.#isDone) return;
    this.#transit?.giveUp(deliveryError("cancelled", sourceOf(this.#message, false), LEFT));
    this.#end();
    this.#items
      ?.then((items) => this.#inContext(endOf, items))
      .catch((thrown) => {
        if (thrown instanceof StreamError) return; // The stream was given up above.
        const { message } = deliveryError("handler-failed", sourceOf(this.#message, true), thrown);
        this.#environment.logger.error(message, { address: this.#message.to, cause: thrown });
      });
  }

  throw(thrown: unknown): Promise<Step> {
    this.#leave();
    return this.#environment.settling.rejected(thrown);
  }

  #end(): void {
    this.#isDone = true;
    this.#opened?.leave();
  }
}

Object.setPrototypeOf(InterceptedStream.prototype, asyncIteratorPrototype);

/** Asynchronous, so that a thenable step is awaited and read in the context of its request. */
async function stepOf(items: Items): Promise<Step> {
  const step = await items.next();
  return step.done === true ? DONE : { value: step.value, done: false };
}

const readyOf = (items: StreamReader | InterceptedStream, max: number): unknown[] => items.ready(max);

async function endOf(items: Items): Promise<void> {
  await items.return?.();
}

function iteratorOf(items: unknown): Items {
  if (typeof items === "object" && items !== null) {
    if (Symbol.asyncIterator in items) return (items as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    if (Symbol.iterator in items) return (items as Iterable<unknown>)[Symbol.iterator]();
  }
  throw new TypeError(`An interceptor answers a stream with its items, as in ok([1, 2]); got ${quote(items)}.`);
}
