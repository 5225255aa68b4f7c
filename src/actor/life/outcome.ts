import { deliveryError, type HandlerFailedError, sentenceOf } from "../../message/delivery-error";
import type { Enter } from "../../runtime/contexts";
import { hearRejection, isThenable } from "../../runtime/thenable";
import type { Cell } from "../cell/cell";
import { RESTARTING } from "../cell/life";
import type { Behaviour, Envelope } from "../contract";
import { EnvelopeSource, lateLetter, messageIn } from "../envelopes/envelope";
import type { Handling } from "../envelopes/handling";
import { Signal } from "../envelopes/signal";
import { PendingStream } from "../envelopes/stream";
import { checkedReply } from "../envelopes/validation";
import { ANSWERED, ENDED } from "../reasons";
import { report } from "./decision";
import { finish } from "./finish";
import { isGivingUp } from "./giving-up";
import { failed } from "./lifecycle";
import { tellOfSlowness } from "./slow-handler";

// What a handler is called with, and what comes of it.

/** The context in which the handler of an envelope runs (P16): a signal has no sender. */
export const contextOf = ({ environment }: Cell, envelope: Envelope): Enter =>
  environment.captureSender === null ? environment.enter : (envelope.context ?? environment.enter);

/** Calls what handles an envelope, in its context. */
export const call = (cell: Cell, envelope: Envelope): unknown => contextOf(cell, envelope)(callHere, cell, envelope);

/** Calls what handles an envelope, in the present context. */
export function callHere(cell: Cell, envelope: Envelope): unknown {
  if (cell.environment.isObserved) return callObserved(cell, envelope);
  return envelope instanceof Signal ? envelope.run() : callHandler(cell, envelope);
}

function callHandler(cell: Cell, envelope: Envelope): unknown {
  // start() came before; accept() let only operations of the protocol through, and spawn looked for their handlers.
  const behaviour = cell.behaviour as Behaviour;
  return typeof behaviour === "function"
    ? behaviour(messageIn(envelope, cell))
    : behaviour[envelope.type]?.(envelope.payload);
}

function callObserved(cell: Cell, envelope: Envelope): unknown {
  if (envelope instanceof Signal) return envelope.run();
  const { beforeHandle, slowHandler, clock } = cell.environment;
  if (beforeHandle !== null) {
    const returned: unknown = beforeHandle({
      address: cell.address,
      operation: envelope.type,
      payload: envelope.payload,
    });
    hearRejection(returned, (cause) =>
      cell.environment.logger.error(`beforeHandle rejected: ${sentenceOf(cause)}`, { address: cell.address, cause }),
    );
  }
  if (slowHandler === Number.POSITIVE_INFINITY) return callHandler(cell, envelope);
  const begun = clock.monotonicTime();
  try {
    return callHandler(cell, envelope);
  } finally {
    tellOfSlowness(cell, envelope, begun);
  }
}

/** What a handler's result comes to: the promise of it, or of the end of its stream; otherwise it is the result. */
export function outcomeOf(envelope: Envelope, handling: Handling | null, result: unknown): unknown {
  const outcome = envelope instanceof PendingStream && handling?.passedOn == null ? envelope.produce(result) : result;
  return isThenable(outcome) ? Promise.resolve(outcome) : outcome;
}

/** A handler has come to a good end. */
export function succeed(cell: Cell, envelope: Envelope, result: unknown, handling: Handling | null): void {
  const { counts, validatesAlways } = cell.environment;
  const passedOn = handling === null ? null : handling.passedOn;
  if (envelope instanceof Signal || passedOn !== null) {
    finish(cell, envelope, handling);
    if (passedOn === null) envelope.complete(undefined);
    else if (passedOn === "forwarded") countHandled(cell);
    handling?.end(ENDED);
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
    cell.current = null; // Nothing else is to be put away.
  else finish(cell, envelope, handling);
  cell.mailbox.handled++;
  counts.handled++;
  if (!envelope.complete(reply)) buryLateReply(cell, envelope, reply);
  // Last of all: whoever is told of it may look at the audit, or stop this actor.
  if (handling !== null) handling.end(ENDED);
}

export function countHandled(cell: Cell): void {
  cell.mailbox.handled++;
  cell.environment.counts.handled++;
}

/** A handler threw, or its promise rejected (P9). */
export function fail(cell: Cell, envelope: Envelope, thrown: unknown, handling: Handling | null): void {
  const error = deliveryError("handler-failed", new EnvelopeSource(envelope, cell), thrown);
  const passedOn = handling === null ? null : handling.passedOn;
  finish(cell, envelope, handling);
  cell.extra.failed++;
  if (!(envelope instanceof Signal) && passedOn !== "stashed") cell.environment.counts.failed++;
  const hasGivenUp = envelope.failure !== null;
  // What was forwarded is no longer its own.
  const wasTold = hasGivenUp && passedOn !== "forwarded" && handling?.isToldOfEnd === true;
  const { isTold } = envelope;
  if (passedOn === null) envelope.fail(error); // Otherwise another handling tells its sender.
  handling?.end(ENDED);
  if (wasTold) failedLate(cell, envelope, error);
  else failed(cell, envelope, error, isTold && !hasGivenUp && passedOn === null);
}

/** A handler that was told that its sender gave up has failed: nothing comes of it, but what is no giving up is told. */
function failedLate(cell: Cell, envelope: Envelope, error: HandlerFailedError): void {
  if (isGivingUp(error.cause, envelope.failure)) return;
  const directive = cell.isAlive ? "resume" : cell.life === RESTARTING ? "restart" : "stop";
  report(cell, envelope.type, error.cause, directive, `${error.message}; its sender had given up.`, "warn");
}

/** A reply came after its asker gave up (P7). */
export function buryLateReply(cell: Cell, envelope: Envelope, reply: unknown): void {
  const { counts } = cell.environment;
  counts.accepted++;
  counts.dead++;
  const { failure } = envelope;
  // Its asker got another reply first, or has ended without it: nobody need look into that.
  const isPlanned =
    failure !== null && failure.kind === "cancelled" && (failure.reason === ANSWERED || failure.reason === ENDED);
  cell.environment.bury(lateLetter(envelope, cell, reply), isPlanned);
}
