import { err, ok, type Result } from "neverthrow";
import type { DeliveryError } from "../message/delivery-error";
import type { Operation } from "../protocol/protocol";
import type { Cell } from "./cell";
import { type Origin, Tell } from "./envelope";
import { type AskOptions, type AskResult, capture, captured, checkAskOptions, PendingAsk } from "./pending-ask";
import { type ActorStream, checkStreamOptions, PendingStream, type StreamOptions, StreamReader } from "./stream";

/** Sends and forgets. */
export function tell(cell: Cell, origin: Origin, type: string, payload: unknown): void {
  cell.accept(new Tell(type, payload, origin), cell.operation(type), false);
}

/** Sends, and tells whether the mailbox took the message. */
export function offer(
  cell: Cell,
  origin: Origin,
  type: string,
  payload: unknown,
): Promise<Result<void, DeliveryError>> {
  const error = cell.accept(new Tell(type, payload, origin), cell.operation(type), true);
  return Promise.resolve(error === null ? ok(undefined) : err(error));
}

/** Sends and waits for the reply. */
export function ask(
  cell: Cell,
  origin: Origin,
  type: string,
  operation: Operation | null | undefined,
  payload: unknown,
  options: AskOptions | undefined,
): Promise<AskResult> {
  const { environment } = cell;
  if (options !== undefined) checkAskOptions(options);
  const delay = options?.timeout ?? environment.askTimeout;
  const promise = new Promise(capture);
  const pending = new PendingAsk(cell, type, payload, origin, delay, captured);
  if (options?.signal !== undefined) pending.listenTo(options.signal);
  if (pending.isWaiting) cell.accept(pending, operation, true);
  if (delay !== Number.POSITIVE_INFINITY) {
    if (environment.dispatcher.isAwake) environment.timers.stage(pending);
    else if (pending.isWaiting) environment.timers.add(pending.timer);
  }
  return promise;
}

/** Streams, from the first read on. */
export function stream(
  cell: Cell,
  origin: Origin,
  type: string,
  payload: unknown,
  options: StreamOptions,
): ActorStream<unknown> {
  checkStreamOptions(options);
  return new StreamReader(() => openStream(cell, origin, type, payload, options));
}

/** Sends the message of a stream whose options were checked. */
export function openStream(
  cell: Cell,
  origin: Origin,
  type: string,
  payload: unknown,
  options: StreamOptions,
): PendingStream {
  const pending = new PendingStream(cell, type, payload, options, origin);
  const operation = cell.operation(type);
  if (!pending.isClosed) cell.accept(pending, operation?.isStream === false ? undefined : operation, true);
  return pending;
}

/** An ask as it is written: the options stand where the payload does for an operation that takes none. */
export function askAsWritten(
  cell: Cell,
  origin: Origin,
  type: string,
  first: unknown,
  second: unknown,
): Promise<AskResult> {
  const operation = cell.operation(type);
  // Typed by Ref.ask: what is not the payload is the options.
  return operation === null || operation === undefined || operation.hasPayload
    ? ask(cell, origin, type, operation, first, second as AskOptions | undefined)
    : ask(cell, origin, type, operation, undefined, (first ?? second) as AskOptions | undefined);
}

/** A stream as it is written, like an ask. */
export function streamAsWritten(
  cell: Cell,
  origin: Origin,
  type: string,
  first: unknown,
  second: unknown,
): ActorStream<unknown> {
  const operation = cell.operation(type);
  // Typed by Ref.stream, as above.
  return operation === null || operation === undefined || operation.hasPayload
    ? stream(cell, origin, type, first, (second ?? {}) as StreamOptions)
    : stream(cell, origin, type, undefined, (first ?? second ?? {}) as StreamOptions);
}
