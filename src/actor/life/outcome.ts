import { deliveryError, type HandlerFailedError, isDeliveryError } from "../../message/delivery-error";
import type { Enter } from "../../runtime/contexts";
import { isThenable } from "../../runtime/thenable";
import { Timeout } from "../../runtime/timer-wheel";
import type { Cell } from "../cell/cell";
import { RESTARTING } from "../cell/transitions";
import type { Envelope } from "../contract";
import { EnvelopeSource, lateReplyLetter } from "../envelopes/envelope";
import type { Handling } from "../envelopes/handling";
import { Signal } from "../envelopes/signal";
import { PendingStream } from "../envelopes/stream";
import { produce, StreamError } from "../envelopes/stream-step";
import { checkedReply } from "../envelopes/validation";
import type { Ending } from "../observers";
import { ANSWERED, ENDED } from "../reasons";
import { report } from "./decision";
import { countFailed, finish } from "./ending";
import { failed } from "./lifecycle";

// Settles the results of handlers.

/** The context in which an envelope's handler runs (P16). A signal has no sender. */
export const contextOf = ({ environment }: Cell, envelope: Envelope): Enter =>
  environment.captureSender === null ? environment.enter : (envelope.context ?? environment.enter);

/** The record of the current message, if there is one. */
export const handlingIn = ({ extras }: Cell): Handling | null => (extras === null ? null : extras.handling);

/** The outcome of a handler's result: a promise of it, a promise of its stream's end, or the result itself. */
export function outcomeOf(envelope: Envelope, handling: Handling | null, result: unknown): unknown {
  const outcome = envelope instanceof PendingStream && handling?.passedOn == null ? produce(envelope, result) : result;
  return isThenable(outcome) ? Promise.resolve(outcome) : outcome;
}

/** A handler has succeeded. */
export function succeed(cell: Cell, envelope: Envelope, result: unknown, handling: Handling | null): void {
  const { validatesAlways } = cell.environment;
  const passedOn = handling === null ? null : handling.passedOn;
  if (envelope instanceof Signal || passedOn !== null) {
    finish(cell, envelope, handling);
    if (passedOn === null) envelope.complete(undefined);
    else if (passedOn === "forwarded") {
      countHandled(cell, envelope);
    }
    handling?.end(ENDED);
    handling?.observation?.end(passedOn === null ? { kind: "handled", result } : { kind: passedOn });
    return;
  }
  let reply: unknown = result;
  if (cell.operations !== null) {
    try {
      reply = checkedReply(cell.operation(envelope.type), result, validatesAlways);
    } catch (thrown) {
      fail(cell, envelope, thrown, handling);
      return;
    }
  }
  if (handling === null)
    cell.current = null; // Nothing else to clean up.
  else finish(cell, envelope, handling);
  countHandled(cell, envelope);
  if (!envelope.complete(reply)) deadLetterLateReply(cell, envelope, reply);
  // Last of all: a listener may read the audit, or stop this actor.
  if (handling === null) return;
  handling.end(ENDED);
  handling.observation?.end({ kind: "handled", result: reply });
}

function countHandled({ mailbox, environment, operations }: Cell, { type }: Envelope): void {
  mailbox.handled++;
  environment.counts.handled++;
  if (environment.meters !== null) environment.meters.seriesOf(operations, type).handled++;
}

/**
 * A handler threw, or its promise rejected (P9). Its observers are told before its supervisor is, so that they know the failure which
 * is then logged.
 */
export function fail(
  cell: Cell,
  envelope: Envelope,
  thrown: unknown,
  handling: Handling | null,
  observation: Ending | null | undefined = handling?.observation,
): void {
  const error = deliveryError("handler-failed", new EnvelopeSource(envelope, cell), thrown);
  const passedOn = handling === null ? null : handling.passedOn;
  finish(cell, envelope, handling);
  cell.extra.failed++;
  if (!(envelope instanceof Signal) && passedOn !== "stashed") countFailed(cell, envelope);
  const hasGivenUp = envelope.failure !== null;
  // A forwarded message is no longer its own.
  const wasTold = hasGivenUp && passedOn !== "forwarded" && handling?.isToldOfEnd === true;
  const { isTold } = envelope;
  if (passedOn === null) envelope.fail(error); // Otherwise another handling tells the sender.
  handling?.end(ENDED);
  observation?.end({ kind: "failed", error: thrown });
  if (wasTold) failedLate(cell, envelope, error);
  else failed(cell, envelope, error, isTold && !hasGivenUp && passedOn === null, observation);
}

/**
 * A handler failed after it was told that its sender gave up. The actor goes on, but an error other than the abort is
 * reported.
 */
function failedLate(cell: Cell, envelope: Envelope, error: HandlerFailedError): void {
  if (isGivingUp(error.cause, envelope.failure)) return;
  const directive = cell.isAlive ? "resume" : cell.life === RESTARTING ? "restart" : "stop";
  report(cell, envelope.type, error.cause, directive, `${error.message}; its sender had given up.`, "warn");
}

/**
 * A reply came after its asker gave up (P7).
 *
 * @param hasCrossed true for a reply from elsewhere: it may have left before the news that its asker gave up arrived, and is not logged.
 */
export function deadLetterLateReply(cell: Cell, envelope: Envelope, reply: unknown, hasCrossed = false): void {
  const { counts, meters } = cell.environment;
  counts.accepted++;
  counts.dead++;
  if (meters !== null) meters.seriesOf(cell.operations, envelope.type).dead++;
  const { failure } = envelope;
  // Its asker got another reply first, or ended without it: no reason to log.
  const isPlanned =
    hasCrossed ||
    (failure !== null && failure.kind === "cancelled" && (failure.reason === ANSWERED || failure.reason === ENDED));
  const late =
    "came after its asker gave up; ask with a longer timeout, or throw ctx.signal.reason in the handler once that aborts.";
  cell.environment.deadLetter(lateReplyLetter(new EnvelopeSource(envelope, cell), reply, late), isPlanned);
}

/** Reports a handler that still waits after the system's `slowHandler` milliseconds. */
export function watchSlowness(cell: Cell, handling: Handling): void {
  const { slowHandler, timers } = cell.environment;
  if (slowHandler === Number.POSITIVE_INFINITY) return;
  handling.slowness = new Timeout(slowHandler, () => publish(cell, handling.envelope, slowHandler));
  timers.add(handling.slowness);
}

/** Reports a handler that kept the event loop for longer than that. */
export function tellOfSlowness(cell: Cell, envelope: Envelope, begun: number): void {
  const elapsed = cell.environment.clock.monotonicTime() - begun;
  if (elapsed >= cell.environment.slowHandler) publish(cell, envelope, elapsed);
}

function publish({ environment, address }: Cell, envelope: Envelope, elapsed: number): void {
  if (!environment.events.hasSubscribers) return;
  environment.events.publish({ kind: "slow-handler", address, operation: envelope.type, elapsed });
}

/** Depth limit for chains of causes: they may be circular. */
const DEEPEST = 16;

/**
 * True when a thrown value only says that its handler was given up: the reason of the signal, an AbortError, the error
 * of a wait, or an error caused by one of these.
 *
 * @param reason that of the handler's signal.
 */
export function isGivingUp(thrown: unknown, reason: unknown): boolean {
  try {
    let cause = thrown;
    for (let depth = 0; depth < DEEPEST && cause !== undefined; depth++) {
      if (cause === reason || isAbort(cause)) return true;
      cause = causeOf(cause);
    }
  } catch {
    // A value that cannot be read is reported.
  }
  return false;
}

function isAbort(thrown: unknown): boolean {
  const error: unknown = thrown instanceof StreamError ? thrown.error : thrown;
  if (isDeliveryError(error)) return error.kind === "cancelled" || error.kind === "timeout";
  return error instanceof Error && error.name === "AbortError";
}

const causeOf = (thrown: unknown): unknown =>
  isDeliveryError(thrown) ? (thrown.kind === "handler-failed" ? thrown.cause : undefined) : asError(thrown)?.cause;

const asError = (thrown: unknown): Error | undefined => (thrown instanceof Error ? thrown : undefined);
