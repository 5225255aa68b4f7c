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
import { PendingStream } from "../envelopes/stream";
import { isAsyncIterable, isIterable } from "../envelopes/stream-step";
import type {
  Around,
  Chain,
  Ending,
  HandlingOutcome,
  ObservedHandling,
  Observers,
  OnEnd,
  Run,
  Running,
} from "../observers";
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
  const observation = new Observation(cell, envelope, observers.chain);
  if (observers.measuresQueueTime) observation.measureWait();
  const { handling } = cell; // Made, because the outcome is told to it.
  if (handling !== null) handling.observation = observation;
  observation.call(observers);
  return outcomeIn(observers);
}

/** The result of the handler that was called last, or throws what it threw. */
function outcomeIn(observers: Observers): unknown {
  const { thrown, result } = observers;
  observers.thrown = observers.result = null;
  if (thrown !== null) throw thrown.error;
  return result;
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
  let result: unknown;
  try {
    result = contextOf(cell, envelope)(callInside, cell, chain);
  } catch (thrown) {
    failObserved(cell, envelope, thrown);
    return;
  }
  if (cell.current === envelope && handlingIn(cell) === null && isAtomic(result)) {
    succeed(cell, envelope, result, null);
    endObserved(cell, result);
  } else if (keepsObservation(cell, envelope)) conclude(cell, envelope, result);
}

/** Calls the handler of the present message inside of observers; the observation is told by one of the next three how it ends. */
function callInside(cell: Cell, chain: Chain): unknown {
  const { observers } = cell.environment;
  const observation = new Observation(cell, cell.current as Envelope, chain); // The caller has set it.
  if (observers.measuresQueueTime) observation.measureWait();
  observation.call(observers);
  observers.last = observation;
  return outcomeIn(observers);
}

/** Apart from the loops: a closure in them would cost each turn 4 ns, also without observers. */
export const callerInside = (cell: Cell, chain: Chain) => (): unknown => callInside(cell, chain);

/** The present message was handled at once. */
export function endObserved({ environment: { observers } }: Cell, result: unknown): void {
  const { last } = observers;
  observers.last = null;
  if (last?.onEnd != null) last.end({ kind: "handled", result });
}

/** The handler of the present message threw. */
export function failObserved(cell: Cell, envelope: Envelope, thrown: unknown): void {
  const { observers } = cell.environment;
  const { last } = observers;
  observers.last = null;
  fail(cell, envelope, thrown, handlingIn(cell));
  last?.end({ kind: "failed", error: thrown });
}

/** Keeps the observation of a message that is not over yet; false when it was abandoned. */
export function keepsObservation(cell: Cell, envelope: Envelope): boolean {
  const { environment, extra } = cell;
  const { last } = environment.observers;
  environment.observers.last = null;
  if (cell.current === envelope) {
    extra.handling ??= new Handling(cell, envelope);
    extra.handling.observation = last;
    return true;
  }
  last?.end({ kind: "abandoned" });
  return false;
}

const isLate = (cell: Cell, envelope: Envelope): boolean =>
  envelope.origin !== null && overdue(envelope, cell) !== null;

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

/**
 * One call of a handler, a hook, a callback or a producer, and the observers around it. Made for each message: five public fields
 * without initialisers took 5 ns less than seven private ones.
 */
class Observation implements ObservedHandling, Running, Ending {
  declare readonly cell: Cell;
  declare readonly envelope: Envelope;
  declare readonly chain: Chain;
  declare due: number;
  /** Calls the innermost observer's function first. Null while no observer wants to know the outcome. */
  declare onEnd: OnEnd | null;
  /** Set for those messages alone that have it. */
  declare queueTime: number | undefined;

  constructor(cell: Cell, envelope: Envelope, chain: Chain) {
    this.cell = cell;
    this.envelope = envelope;
    this.chain = chain;
    this.due = 0;
    this.onEnd = null;
  }

  get kind(): ObservedHandling["kind"] {
    const { envelope } = this;
    if (!(envelope instanceof Signal)) return "message";
    if (envelope.hook !== undefined) return "hook";
    return envelope.type === "terminated" ? "watch" : "timer";
  }
  get ref(): AnyRef {
    return this.cell.ref;
  }
  get address(): Address {
    return this.cell.address;
  }
  get protocol(): string | undefined {
    const { operations } = this.cell;
    return operations === null ? undefined : protocolOf(operations);
  }
  get operation(): string {
    return this.envelope.type;
  }
  get pattern(): Pattern {
    return this.envelope.pattern;
  }
  get payload(): unknown {
    return this.envelope.payload;
  }
  get metadata(): Metadata {
    return metadataOf(this.envelope) ?? NO_METADATA;
  }
  set metadata(metadata: Metadata) {
    replaceMetadata(this.envelope, metadata);
  }
  get id(): string | undefined {
    return knownMessage(this.envelope)?.id;
  }
  get sender(): AnyRef | undefined {
    return senderOf(this.envelope, this.cell.environment)?.ref;
  }
  get observed(): ObservedHandling {
    return this;
  }

  measureWait(): void {
    const { sentAt } = this.envelope;
    if (sentAt !== undefined) this.queueTime = this.cell.environment.clock.monotonicTime() - sentAt;
  }

  /** Calls the observers, and inside of them the handler. Leaves its result in the observers, or what it threw. */
  call(observers: Observers): void {
    const before = observers.running;
    observers.running = this;
    this.#enter(0);
    observers.running = before;
  }

  /** Tells the observers how it has ended. */
  end(outcome: HandlingOutcome): void {
    const { onEnd } = this;
    if (onEnd === null) return;
    this.onEnd = null;
    this.cell.environment.enter(callEnd, onEnd, outcome, this); // Not in the context of whatever has settled the promise (P16).
  }

  #enter(index: number): void {
    const { observers } = this.cell.environment;
    const { around, runs } = this.chain;
    this.due = index;
    try {
      // There is one of each.
      const returned: unknown = (around[index] as Around)(this, runs[index] as Run);
      if (returned !== undefined) hearRejection(returned, (thrown) => this.log(thrown));
      if (this.due === index) observers.thrown = { error: new Error(this.sentence("did not call run()")) };
    } catch (thrown) {
      if (this.due === index) observers.thrown = { error: thrown };
      else this.log(thrown);
    }
    this.due = -1;
  }

  goOn(onEnd: OnEnd | undefined): void {
    const { due, chain } = this;
    if (onEnd !== undefined) this.#listen(onEnd);
    if (due + 1 < chain.around.length) this.#enter(due + 1);
    else this.#run();
  }

  #listen(onEnd: OnEnd): void {
    const outer = this.onEnd;
    if (typeof onEnd !== "function") {
      this.log(new TypeError(`run() takes a function that learns the outcome; got ${quote(onEnd)}.`));
    } else if (outer === null) this.onEnd = onEnd;
    else {
      this.onEnd = (outcome) => {
        callEnd(onEnd, outcome, this);
        callEnd(outer, outcome, this);
      };
    }
  }

  #run(): void {
    const { observers } = this.cell.environment;
    this.due = -1;
    try {
      observers.result = this.produce();
    } catch (thrown) {
      observers.thrown = { error: thrown };
    }
  }

  /** Calls the handler, or what stands in its place. */
  produce(): unknown {
    const { cell, envelope } = this;
    const result = callTimed(cell, envelope);
    return envelope instanceof PendingStream ? observedItems(cell, envelope, result) : result;
  }

  sentence(what: string): string {
    const { operation, address } = this;
    return `An observer of ${quote(operation)} at ${address} ${what}: call run() once, before it returns.`;
  }

  /** An error of an observer does not change the outcome of the handler that has run. */
  log(thrown: unknown): void {
    const { environment, address } = this.cell;
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

/** The producer of a stream makes its next item. */
class Pull extends Observation {
  readonly #iterator: AnyIterator;
  hasBegun = false;

  constructor(cell: Cell, envelope: Envelope, chain: Chain, iterator: AnyIterator) {
    super(cell, envelope, chain);
    this.#iterator = iterator;
  }

  override get kind(): "pull" {
    return "pull";
  }

  override produce(): unknown {
    this.hasBegun = true;
    return this.#iterator.next();
  }
}

function pull(cell: Cell, envelope: Envelope, iterator: AnyIterator): unknown {
  const { observers } = cell.environment;
  if (observers.chain === null) return iterator.next();
  const observation = new Pull(cell, envelope, observers.chain, iterator);
  let result: unknown;
  try {
    observation.call(observers);
    result = outcomeIn(observers);
  } catch (thrown) {
    observation.end({ kind: "failed", error: thrown });
    // An observer threw: the producer is closed, as if it had thrown itself.
    if (!observation.hasBegun) hearRejection(iterator.return?.(), () => undefined);
    throw thrown;
  }
  if (observation.onEnd === null) return result;
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
  observers.areAlone = !isStrict && slowHandler === Number.POSITIVE_INFINITY;
  environment.isObserved = !observers.areAlone || observers.chain !== null;
  environment.looksAtEach = isStrict || observers.measuresQueueTime || observers.onSend !== null;
  if (environment.looksAtEach) for (const cell of directory.all()) cell.queue?.close(); // Open ones take messages unseen.
}
