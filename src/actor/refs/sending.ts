import type { Result } from "neverthrow";
import type { Address } from "../../message/address";
import { type DeliveryError, deliveryError } from "../../message/delivery-error";
import type { Operation } from "../../protocol/protocol";
import type { Envelope, Environment, Origin, Recipient } from "../contract";
import { type AskResult, capture, captured, PendingAsk } from "../envelopes/ask";
import {
  ABANDONED_AFTER,
  type AskOptions,
  checkAskOptions,
  checkOfferOptions,
  checkStreamOptions,
  checkTellOptions,
  type OfferOptions,
  type StreamOptions,
  type TellOptions,
} from "../envelopes/call-options";
import { circleOf, lookForCircle } from "../envelopes/deadlock";
import { EnvelopeSource, tellFrom } from "../envelopes/envelope";
import { originIn } from "../envelopes/handed-on";
import type { Handling } from "../envelopes/handling";
import { capturedOffer, captureOffer, PendingOffer } from "../envelopes/offer";
import { deadlineOf, isCausedFromOutside, isSent, originWith, withMetadata } from "../envelopes/origin";
import { listen } from "../envelopes/progress";
import { PendingStream } from "../envelopes/stream";
import { ENDED } from "../reasons";
import { announce } from "./announce";
import { type ActorStream, StreamReader } from "./stream-reader";

/** The actor that gets a message: a pool's worker if the actor is a pool that picks one, or else the actor itself. */
export const pickRecipient = (cell: Recipient, type: string, payload: unknown): Recipient =>
  (cell.isAlive ? cell.relay?.pick(type, payload) : null) ?? cell;

/** The recipient of messages to an address. It may have to be opened first. */
export const recipientAt = ({ directory, resolvers }: Environment, at: string): Recipient | undefined =>
  resolvers === null ? directory.get(at) : resolvers.find(at);

/** The operation of a recipient that an envelope asks for; undefined when it lacks one, or has it in another pattern. */
export function operationFor(to: Recipient, { type, pattern }: Envelope): Operation | null | undefined {
  const operation = to.operation(type);
  return operation === null || operation?.isStream === (pattern === "stream") ? operation : undefined;
}

/** Hands an envelope to another recipient, which owns it from then on. */
export function handTo(
  to: Recipient,
  envelope: Envelope,
  operation: Operation | null | undefined,
): DeliveryError | null {
  envelope.moveTo(to);
  const error = to.accept(envelope, operation);
  if (error === null && !to.admitsLater) envelope.admitted();
  return error;
}

/** Sends an envelope, after its observers saw it. `by` is the actor whose handler sends it. */
export function send(
  to: Recipient,
  envelope: Envelope,
  operation: Operation | null | undefined,
  by: Recipient | null,
): DeliveryError | null {
  if ((by ?? to).environment.observers.onSend !== null) announce(to, envelope, by, false);
  return to.accept(envelope, operation);
}

/** The actor whose handler sends something with this origin; null outside of actors. */
const senderIn = (origin: Origin): Recipient | null =>
  origin === null ? null : isSent(origin) ? origin.from : "id" in origin ? null : origin;

/** Sends and forgets. Returns the error of a message that became a dead letter. */
export function tell(
  cell: Recipient,
  origin: Origin,
  type: string,
  payload: unknown,
  options?: TellOptions,
): DeliveryError | null {
  let from = origin;
  if (options !== undefined) {
    checkTellOptions(options);
    from = originWith(origin, options, cell.environment.clock);
  }
  return send(cell, tellFrom(type, payload, from), cell.operation(type), senderIn(from));
}

/** Tells from outside of actors what was written with options. */
export function tellAsWritten(
  cell: Recipient,
  operation: Operation | null | undefined,
  type: string,
  first: unknown,
  second: unknown,
): void {
  const { payload, options } = asWritten<TellOptions>(operation, first, second);
  tell(cell, null, type, payload, options);
}

/** Sends, waits for room where the mailbox lets it, and tells whether the mailbox took the message. */
export function offer(
  cell: Recipient,
  origin: Origin,
  type: string,
  payload: unknown,
  options: OfferOptions,
): Promise<Result<void, DeliveryError>> {
  checkOfferOptions(options);
  const from = originWith(origin, options, cell.environment.clock);
  const promise = new Promise(captureOffer);
  const pending = new PendingOffer(cell, type, payload, from, options, capturedOffer);
  if (!pending.isWaiting || send(cell, pending, cell.operation(type), senderIn(from)) !== null) return promise;
  if (cell.admitsLater) {
    pending.wait();
    if (pending.isWaiting) options.canceller?.((reason) => pending.cancel(reason));
  } else pending.admitted();
  return promise;
}

/** Sends and waits for the reply. */
export function ask(
  cell: Recipient,
  origin: Origin,
  type: string,
  operation: Operation | null | undefined,
  payload: unknown,
  options: AskOptions | undefined,
): Promise<AskResult> {
  const { environment } = cell;
  if (options !== undefined) checkAskOptions(options);
  const delay = options?.timeout ?? environment.askTimeout;
  const from = options?.metadata === undefined ? origin : withMetadata(origin, options.metadata);
  const promise = new Promise(capture);
  const pending = new PendingAsk(cell, type, payload, from, delay, captured);
  if (options?.onProgress !== undefined) listen(pending, options.onProgress, null);
  if (options?.signal !== undefined) pending.listenTo(options.signal);
  if (options?.canceller !== undefined) options.canceller((reason) => pending.cancel(reason));
  if (pending.isWaiting && !(pending.origin === null && cell.takes(pending, operation)))
    send(cell, pending, operation, null);
  setTimer(pending, environment);
  return promise;
}

/** Asks, and hands the result to a function, which must not throw. Gives the ask, so that it can be given up. */
export function askInto(
  cell: Recipient,
  origin: Origin,
  type: string,
  payload: unknown,
  delay: number,
  resolve: (result: AskResult) => void,
): PendingAsk {
  const operation = cell.operation(type);
  const pending = new PendingAsk(cell, type, payload, origin, delay, resolve);
  if (!(origin === null && cell.takes(pending, operation))) send(cell, pending, operation, null);
  setTimer(pending, cell.environment);
  return pending;
}

/** Sets the timer of an ask at the end of the turn: an ask that is over by then costs nothing. */
function setTimer(pending: PendingAsk, { dispatcher, timers }: Environment): void {
  if (pending.delay === Number.POSITIVE_INFINITY) return;
  if (dispatcher.isAwake) timers.stage(pending);
  else if (pending.isWaiting) timers.add(pending.timer);
}

/**
 * Asks for a handler. The ask has at most the time that is left to the message that the handler handles (its deadline).
 * An ask that would wait for the asker itself is refused (P8).
 */
export function askFor(
  asker: Recipient,
  handling: Handling,
  cell: Recipient,
  type: string,
  operation: Operation | null | undefined,
  payload: unknown,
  options: AskOptions | undefined,
): Promise<AskResult> {
  if (options !== undefined) checkAskOptions(options);
  const { environment } = cell;
  const wanted = options?.timeout ?? environment.askTimeout;
  const delay = Math.min(wanted, Math.max(deadlineOf(handling.envelope), 1));
  const inherited = originIn(handling.envelope, asker);
  const origin = options?.metadata === undefined ? inherited : withMetadata(inherited, options.metadata);
  const promise = new Promise(capture);
  const to = pickRecipient(cell, type, payload);
  const pending = new PendingAsk(to, type, payload, origin, delay, captured);
  if (options?.onProgress !== undefined) listen(pending, options.onProgress, handling);
  if (options?.signal !== undefined) pending.listenTo(options.signal);
  if (options?.canceller !== undefined) options.canceller((reason) => pending.cancel(reason));
  if (!pending.isWaiting) return promise; // The signal of its options was aborted already.
  const circle = circleOf(asker, to, handling);
  const error = objectionTo(pending, handling, circle);
  if (error === null) {
    if (isCausedFromOutside(handling.envelope)) pending.servesOutside = true;
    handling.add(pending);
    if (asker.environment.observers.onSend !== null) announce(cell, pending, asker, false);
    to.accept(pending, operation);
    if (circle !== null) lookForCircle(handling, pending);
  } else {
    environment.counts.accepted++;
    to.refuse(pending, error);
  }
  setTimer(pending, environment); // After the outer ask's timer, which fires first when both are due.
  return promise;
}

/**
 * The reason why a handler may not wait for something; null when it may. An ask that closes a circle waits in the
 * mailbox for the end of the turn: until then, the handler may ask another actor whose reply is enough. An ask to
 * several actors is refused at once: some of them would handle it.
 */
function objectionTo(
  wait: PendingAsk | PendingStream,
  handling: Handling,
  circle: readonly Address[] | null,
): DeliveryError | null {
  const { failure } = handling.envelope;
  if (failure !== null) {
    handling.lostWait();
    return wait.ended(failure);
  }
  if (handling.isOver) return wait.ended(ENDED);
  const hasSeveral = wait.cell.relay !== null;
  return circle === null || !hasSeveral
    ? null
    : deliveryError("ask-cycle", new EnvelopeSource(wait, wait.cell), circle);
}

/** Streams, from the first read on. A stream that a handler reads is a wait of that handler. */
export function stream(
  cell: Recipient,
  origin: Origin,
  type: string,
  payload: unknown,
  options: StreamOptions,
  reader: Handling | null = null,
): ActorStream<unknown> {
  checkStreamOptions(options);
  const from = originWith(origin, options, cell.environment.clock); // As they are now, and not at the first read.
  return new StreamReader(cell.environment.settling, () => openStream(cell, from, type, payload, options, reader));
}

/** Sends the message of a stream whose options were checked, and are in its origin. */
export function openStream(
  cell: Recipient,
  origin: Origin,
  type: string,
  payload: unknown,
  options: StreamOptions,
  reader: Handling | null = null,
): PendingStream {
  const to = reader === null ? cell : pickRecipient(cell, type, payload);
  const isBackground = reader?.isBackground === true;
  // A handler ends its streams when it ends, however long it takes for an item.
  const patience = reader === null || isBackground ? ABANDONED_AFTER : Number.POSITIVE_INFINITY;
  const pending = new PendingStream(to, type, payload, options, origin, patience);
  const operation = cell.operation(type);
  if (!pending.isOpen) return pending; // The signal of its options was aborted already.
  const error = reader === null ? null : objectionTo(pending, reader, null); // Its first read looks for a circle.
  if (error !== null) {
    cell.environment.counts.accepted++;
    to.refuse(pending, error);
    return pending;
  }
  if (reader !== null) {
    if (isCausedFromOutside(reader.envelope)) pending.servesOutside = true;
    reader.add(pending);
  }
  const by = reader === null ? null : reader.cell;
  if ((by ?? cell).environment.observers.onSend !== null) announce(cell, pending, by, false);
  to.accept(pending, operation?.isStream === false ? undefined : operation);
  return pending;
}

/**
 * Sorts the arguments of an ask or a stream. For an operation without a payload, the options may come first. Of two
 * arguments, the second is always the options.
 */
export function asWritten<Options>(
  operation: Operation | null | undefined,
  first: unknown,
  second: unknown,
): { payload: unknown; options: Options | undefined } {
  // Typed by Ref: an argument is the payload or the options.
  return operation === null || operation === undefined || operation.hasPayload || second !== undefined
    ? { payload: first, options: second as Options | undefined }
    : { payload: undefined, options: (first ?? undefined) as Options | undefined };
}
