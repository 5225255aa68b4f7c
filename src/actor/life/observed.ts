import { type Address, type AnyRef, quote } from "../../message/address";
import type { Metadata, Pattern } from "../../message/message";
import { sentenceOf } from "../../message/sentence-of";
import { protocolOf } from "../../protocol/protocol";
import { captureContext, type Enter } from "../../runtime/contexts";
import { hearRejection, isAtomic, isThenable } from "../../runtime/thenable";
import type { ActorEnvironment, Cell } from "../cell/cell";
import type { Behaviour, Envelope } from "../contract";
import { PendingAsk } from "../envelopes/ask";
import { overdue, Tell } from "../envelopes/envelope";
import { Handling } from "../envelopes/handling";
import { knownMessage, messageIn, metadataOf, NO_METADATA, replaceMetadata, senderOf } from "../envelopes/origin";
import { Signal } from "../envelopes/signal";
import { isAsyncIterable, isIterable } from "../envelopes/stream-step";
import type { Chain, Ending, HandlingOutcome, ObservedHandling, Observers, OnEnd, Running } from "../observers";
import type { Turn } from "./measured";
import { contextOf, fail, handlingIn, succeed, tellOfSlowness } from "./outcome";
// Calls handlers, hooks and the callbacks of timers and watches, inside of the observers where there are any.

/** Calls the handler of an envelope, in the envelope's context. */
export const call = (cell: Cell, envelope: Envelope): unknown => contextOf(cell, envelope)(callHere, cell, envelope);

/** Calls the handler of an envelope, in the present context. */
export function callHere(cell: Cell, envelope: Envelope): unknown {
  if (cell.environment.isObserved) return callObserved(cell, envelope);
  return envelope instanceof Signal ? envelope.run() : callHandler(cell, envelope);
}

function callHandler(cell: Cell, envelope: Envelope): unknown {
  // start() ran before; accept() let only operations of the protocol through, and spawn checked their handlers.
  const behaviour = cell.behaviour as Behaviour;
  return typeof behaviour === "function"
    ? behaviour(messageIn(envelope, cell))
    : behaviour[envelope.type]?.(envelope.payload);
}

function callObserved(cell: Cell, envelope: Envelope): unknown {
  const { observers } = cell.environment;
  const isDue = !(envelope instanceof Signal) || envelope.isDue;
  if (observers.chain === null || !isDue) return callTimed(cell, envelope);
  const observation = new Observation(cell, envelope, kindOf(envelope), observers.chain);
  const { handling } = cell; // Made, because the outcome is told to it.
  if (handling !== null) handling.observation = observation;
  return observation.call(observers);
}

/** Handles a plain message inside of observers. Most end at once, and get no record of their handling, which is larger. */
export function handleObserved(cell: Cell, envelope: Envelope, chain: Chain, { handle, conclude }: Turn): void {
  const { environment } = cell;
  const isPlain = envelope instanceof Tell || (envelope instanceof PendingAsk && envelope.isWaiting);
  if (!isPlain || cell.isConcurrent || environment.validatesAlways || isLate(cell, envelope)) {
    handle(cell, envelope);
    return;
  }
  cell.current = envelope;
  const observation = new Observation(cell, envelope, "message", chain);
  let result: unknown;
  try {
    result = contextOf(cell, envelope)(callInside, observation, environment.observers);
  } catch (thrown) {
    fail(cell, envelope, thrown, handlingIn(cell));
    if (observation.isHeard) observation.end({ kind: "failed", error: thrown });
    return;
  }
  const handling = handlingIn(cell);
  if (cell.current !== envelope) observation.end({ kind: "abandoned" });
  else if (handling === null && isAtomic(result)) {
    succeed(cell, envelope, result, null);
    if (observation.isHeard) observation.end({ kind: "handled", result });
  } else {
    const { extra } = cell;
    extra.handling ??= new Handling(cell, envelope);
    extra.handling.observation = observation;
    conclude(cell, envelope, result);
  }
}

const isLate = (cell: Cell, envelope: Envelope): boolean =>
  envelope.origin !== null && overdue(envelope, cell) !== null;

const callInside = (observation: Observation, observers: Observers): unknown => observation.call(observers);

function callTimed(cell: Cell, envelope: Envelope): unknown {
  if (envelope instanceof Signal) return envelope.run();
  const { slowHandler, clock } = cell.environment;
  if (slowHandler === Number.POSITIVE_INFINITY) return callHandler(cell, envelope);
  const begun = clock.monotonicTime();
  try {
    return callHandler(cell, envelope);
  } finally {
    tellOfSlowness(cell, envelope, begun);
  }
}

function kindOf(envelope: Envelope): ObservedHandling["kind"] {
  if (!(envelope instanceof Signal)) return "message";
  if (envelope.hook !== undefined) return "hook";
  return envelope.type === "terminated" ? "watch" : "timer";
}

/**
 * One call of a handler, a hook, a callback or a producer, and the observers around it. What is known during the call alone is in
 * `Observers`, so that this one, which is made for each message, stays small.
 */
class Observation implements ObservedHandling, Running, Ending {
  readonly kind: ObservedHandling["kind"];
  readonly queueTime: number | undefined;
  due = 0;
  readonly #cell: Cell;
  readonly #envelope: Envelope;
  readonly #chain: Chain;
  /** Calls the innermost observer's function first. */
  #onEnd: OnEnd | null = null;

  constructor(cell: Cell, envelope: Envelope, kind: ObservedHandling["kind"], chain: Chain) {
    this.#cell = cell;
    this.#envelope = envelope;
    this.#chain = chain;
    this.kind = kind;
    const { sentAt } = envelope;
    this.queueTime =
      sentAt !== undefined && kind !== "pull" ? cell.environment.clock.monotonicTime() - sentAt : undefined;
  }

  get ref(): AnyRef {
    return this.#cell.ref;
  }
  get address(): Address {
    return this.#cell.address;
  }
  get protocol(): string | undefined {
    const { operations } = this.#cell;
    return operations === null ? undefined : protocolOf(operations);
  }
  get operation(): string {
    return this.#envelope.type;
  }
  get pattern(): Pattern {
    return this.#envelope.pattern;
  }
  get payload(): unknown {
    return this.#envelope.payload;
  }
  get metadata(): Metadata {
    return metadataOf(this.#envelope) ?? NO_METADATA;
  }
  set metadata(metadata: Metadata) {
    replaceMetadata(this.#envelope, metadata);
  }
  get id(): string | undefined {
    return knownMessage(this.#envelope)?.id;
  }
  get sender(): AnyRef | undefined {
    return senderOf(this.#envelope, this.#cell.environment)?.ref;
  }
  get observed(): ObservedHandling {
    return this;
  }

  /** True when an observer wants to know the outcome. */
  get isHeard(): boolean {
    return this.#onEnd !== null;
  }

  /** Calls the observers, and inside of them the handler. Gives its result, or throws what it threw. */
  call(observers: Observers, producer: AnyIterator | null = null): unknown {
    const before = observers.running;
    observers.running = this;
    observers.producer = producer;
    this.#enter(observers, 0);
    observers.running = before;
    const { thrown, result } = observers;
    observers.thrown = observers.result = null;
    if (thrown !== null) throw thrown.error;
    return result;
  }

  /** Tells the observers how it has ended. */
  end(outcome: HandlingOutcome): void {
    const onEnd = this.#onEnd;
    if (onEnd === null) return;
    this.#onEnd = null;
    this.#cell.environment.enter(callEnd, onEnd, outcome, this); // Not in the context of whatever has settled the promise (P16).
  }

  #enter(observers: Observers, index: number): void {
    const { around, runs } = this.#chain;
    const observer = around[index];
    const run = runs[index];
    if (observer === undefined || run === undefined) {
      this.due = -1;
      this.#run(observers);
      return;
    }
    this.due = index;
    try {
      const returned: unknown = observer(this, run);
      if (returned !== undefined) hearRejection(returned, (thrown) => this.log(thrown));
      if (this.due === index) observers.thrown = { error: new Error(this.sentence("did not call run()")) };
    } catch (thrown) {
      if (this.due === index) observers.thrown = { error: thrown };
      else this.log(thrown);
    }
    this.due = -1;
  }

  goOn(onEnd: OnEnd | undefined): void {
    const { due } = this;
    if (typeof onEnd === "function") this.#listen(onEnd);
    else if (onEnd !== undefined) {
      this.log(new TypeError(`run() takes a function that learns the outcome; got ${quote(onEnd)}.`));
    }
    this.#enter(this.#cell.environment.observers, due + 1);
  }

  #listen(onEnd: OnEnd): void {
    const outer = this.#onEnd;
    if (outer === null) this.#onEnd = onEnd;
    else {
      this.#onEnd = (outcome) => {
        callEnd(onEnd, outcome, this);
        callEnd(outer, outcome, this);
      };
    }
  }

  #run(observers: Observers): void {
    try {
      const { producer } = observers;
      observers.producer = null; // It has begun.
      const result = producer === null ? callTimed(this.#cell, this.#envelope) : producer.next();
      const isProducer = this.kind === "message" && this.#envelope.pattern === "stream";
      observers.result = isProducer ? observedItems(this.#cell, this.#envelope, result) : result;
    } catch (thrown) {
      observers.thrown = { error: thrown };
    }
  }

  sentence(what: string): string {
    const { operation, address } = this;
    return `An observer of ${quote(operation)} at ${address} ${what}: call run() once, before it returns.`;
  }

  /** An error of an observer does not change the outcome of the handler that has run. */
  log(thrown: unknown): void {
    const { environment, address } = this.#cell;
    if (!environment.logLimit.admit()) return;
    environment.logger.error(`An observer of ${address} threw: ${sentenceOf(thrown)}`, { address, cause: thrown });
  }
}

function callEnd(onEnd: OnEnd, outcome: HandlingOutcome, observation: Observation): void {
  try {
    const returned: unknown = onEnd(outcome);
    if (returned !== undefined) hearRejection(returned, (thrown) => observation.log(thrown));
  } catch (thrown) {
    observation.log(thrown);
  }
}

/** The items of a stream's handler. Each is made inside of the observers, and in the context that they gave the handler. */
function observedItems(cell: Cell, envelope: Envelope, result: unknown): unknown {
  const inside = captureContext();
  const wrapped = (items: unknown): unknown => {
    const observe = (iterator: AnyIterator): AnyIterator => observedIterator(cell, envelope, iterator, inside);
    if (isAsyncIterable(items)) {
      return { [Symbol.asyncIterator]: () => observe(inside(() => items[Symbol.asyncIterator]())) };
    }
    return isIterable(items) ? { [Symbol.iterator]: () => observe(inside(() => items[Symbol.iterator]())) } : items;
  };
  return isThenable(result) ? Promise.resolve(result).then(wrapped) : wrapped(result);
}

type AnyIterator = { next(): unknown; return?(value?: unknown): unknown };

function observedIterator(cell: Cell, envelope: Envelope, iterator: AnyIterator, inside: Enter): AnyIterator {
  const next = (): unknown => inside(pull, cell, envelope, iterator);
  if (iterator.return === undefined) return { next };
  return { next, return: (value) => inside(() => iterator.return?.(value)) };
}

function pull(cell: Cell, envelope: Envelope, iterator: AnyIterator): unknown {
  const { observers } = cell.environment;
  if (observers.chain === null) return iterator.next();
  const observation = new Observation(cell, envelope, "pull", observers.chain);
  let result: unknown;
  try {
    result = observation.call(observers, iterator);
  } catch (thrown) {
    observation.end({ kind: "failed", error: thrown });
    // An observer threw: the producer is closed, as if it had thrown itself.
    if (observers.producer === iterator) hearRejection(iterator.return?.(), () => undefined);
    throw thrown;
  }
  if (!observation.isHeard) return result;
  if (isThenable(result)) {
    const told = Promise.resolve(result);
    told.then(
      (step) => observation.end({ kind: "handled", result: step }),
      (error) => observation.end({ kind: "failed", error }),
    );
    return told;
  }
  observation.end({ kind: "handled", result });
  return result;
}

/** Keeps the ways through an environment in step with its observers, from the next turn of each actor on. */
export function followObservers(environment: ActorEnvironment): void {
  const { observers, validatesAlways, captureSender, slowHandler, directory } = environment;
  const isStrict = validatesAlways || captureSender !== null;
  environment.isObserved = isStrict || slowHandler !== Number.POSITIVE_INFINITY || observers.chain !== null;
  environment.looksAtEach = isStrict || observers.measuresQueueTime || observers.onSend !== null;
  if (environment.looksAtEach) for (const cell of directory.all()) cell.queue?.close(); // Open ones take messages unseen.
}
