import { type Address, type AnyRef, quote } from "../../message/address";
import type { Metadata, Pattern } from "../../message/message";
import { sentenceOf } from "../../message/sentence-of";
import { protocolOf } from "../../protocol/protocol";
import { captureContext, type Enter } from "../../runtime/contexts";
import { hearRejection, isThenable } from "../../runtime/thenable";
import type { Cell } from "../cell/cell";
import type { Behaviour, Envelope } from "../contract";
import {
  isFromOutside,
  knownMessage,
  messageIn,
  metadataOf,
  NO_METADATA,
  replaceMetadata,
  senderOf,
} from "../envelopes/origin";
import { Signal } from "../envelopes/signal";
import { PendingStream } from "../envelopes/stream";
import { isAsyncIterable, isIterable } from "../envelopes/stream-step";
import type {
  Around,
  Chain,
  Ending,
  HandlingOutcome,
  HandsOn,
  ObservedHandling,
  Observers,
  OnEnd,
  Run,
  Running,
} from "../observers";
import { tellOfSlowness } from "./outcome";

// One call inside of the observers: of a handler, a hook, a callback, or the producer of a stream. That of a transport is in
// face/relaying.ts.

/**
 * One call of a handler, a hook, a callback or a producer, and the observers around it. Made for each message: five public fields
 * without initialisers took 5 ns less than seven private ones.
 */
export class Observation implements ObservedHandling, Running, Ending {
  declare readonly cell: Cell;
  declare readonly envelope: Envelope;
  declare readonly chain: Chain;
  declare due: number;
  /** Calls the innermost observer's function first. Null while no observer wants to know the outcome. */
  declare onEnd: OnEnd | null;
  declare handsOn: HandsOn | undefined;
  /** Set for those messages alone that have it. */
  declare queueTime: number | undefined;
  /** The last item that the producer of its stream was asked for. Set for streams alone. */
  declare pulled: Observation | undefined;

  constructor(cell: Cell, envelope: Envelope, chain: Chain) {
    this.cell = cell;
    this.envelope = envelope;
    this.chain = chain;
    this.due = 0;
    this.onEnd = null;
    this.handsOn = undefined;
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
  get isFromOutside(): boolean {
    return isFromOutside(this.envelope);
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
    if (outcome.kind === "abandoned") this.pulled?.end(outcome); // Its promise may never settle.
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
    return envelope instanceof PendingStream ? observedItems(this, result) : result;
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
function observedItems(message: Observation, result: unknown): unknown {
  const inside = captureContext();
  const wrapped = (items: unknown): unknown => {
    const observe = (iterator: AnyIterator): AnyIterator => observedIterator(message, iterator, inside);
    if (isAsyncIterable(items)) {
      return { [Symbol.asyncIterator]: () => observe(inside(() => items[Symbol.asyncIterator]())) };
    }
    return isIterable(items) ? { [Symbol.iterator]: () => observe(inside(() => items[Symbol.iterator]())) } : items;
  };
  return isThenable(result) ? Promise.resolve(result).then(wrapped) : wrapped(result);
}

type AnyIterator = { next(): unknown; return?(value?: unknown): unknown };

function observedIterator(message: Observation, iterator: AnyIterator, inside: Enter): AnyIterator {
  const next = (): unknown => inside(pull, message, iterator);
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

function pull(message: Observation, iterator: AnyIterator): unknown {
  const { cell, envelope } = message;
  const { observers } = cell.environment;
  if (observers.chain === null) return iterator.next();
  const observation = new Pull(cell, envelope, observers.chain, iterator);
  observation.handsOn = message.handsOn;
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
    message.pulled = observation;
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

/** The result of the handler that was called last, or throws what it threw. */
export function outcomeIn(observers: Observers): unknown {
  const { thrown, result } = observers;
  observers.thrown = observers.result = null;
  if (thrown !== null) throw thrown.error;
  return result;
}

export function callTimed(cell: Cell, envelope: Envelope): unknown {
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

export function callHandler(cell: Cell, envelope: Envelope): unknown {
  // start() ran before; accept() let only operations of the protocol through, and spawn checked their handlers.
  const behaviour = cell.behaviour as Behaviour;
  return typeof behaviour === "function"
    ? behaviour(messageIn(envelope, cell))
    : behaviour[envelope.type]?.(envelope.payload);
}
