import { type DeliveryError, deliveryError } from "../../message/delivery-error";
import type { Cell } from "../cell/cell";
import { stopReason } from "../cell/state";
import { RESTARTING } from "../cell/transitions";
import type { Envelope } from "../contract";
import { whenAborted } from "../envelopes/abort";
import { EnvelopeSource } from "../envelopes/envelope";
import type { Handling } from "../envelopes/handling";
import { Signal } from "../envelopes/signal";

// The end of an instance: its handlers are told, its messages are kept or dead-lettered.

/** Ends the running streams: a stream may never end by itself. */
export function endStreams(cell: Cell): void {
  if (cell.extras === null && cell.current?.pattern !== "stream") return; // The common case, without a list.
  for (const envelope of cell.envelopes()) {
    const isOwn = envelope.pattern === "stream" && cell.handlingOf(envelope)?.passedOn !== "forwarded";
    if (isOwn) envelope.fail(deliveryError("stopped", new EnvelopeSource(envelope, cell), "streamed"));
  }
}

/** Tells the running handlers (P7). */
export function abortSignals(cell: Cell): void {
  const { extras } = cell;
  if (extras === null) return;
  const handlings = extras.handling === null ? [...(extras.concurrency?.running ?? [])] : [extras.handling];
  for (const handling of handlings) handling.abort(stopReason(cell.address));
  abortLifetime(cell);
}

/** Aborts the signal of an instance, in the system's context (P16). */
export function abortLifetime({ environment, extras, address }: Cell): void {
  const lifetime = extras?.instance?.lifetime ?? null;
  if (lifetime !== null) environment.enter(() => lifetime.abort(stopReason(address)));
}

/** Dead-letters all waiting messages: in the mailbox, for room in it, and in the stash. */
export function discard(cell: Cell): void {
  const instance = cell.extras?.instance ?? null;
  const bound = cell.extras?.bound ?? null;
  // One by one: a subscriber to dead letters may count the others (P1).
  for (let envelope = instance?.stash.shift(); envelope !== undefined; envelope = instance?.stash.shift())
    refuseStopped(cell, envelope);
  const { queue } = cell;
  if (queue !== null) for (let next = queue.take(); next !== null; next = queue.take()) refuseStopped(cell, next);
  if (bound === null) return;
  bound.size = 0;
  for (const envelope of bound.waiting) {
    bound.waiting.delete(envelope);
    refuseStopped(cell, envelope);
  }
}

function refuseStopped(cell: Cell, envelope: Envelope): void {
  if (!(envelope instanceof Signal)) cell.refuse(envelope, envelope.failure ?? cell.error("stopped", envelope));
}

/** Logs that handlers, or children, are not waited for any longer. */
export function tellOfAbandoned(cell: Cell, late: readonly string[], verb: "end" | "stop"): void {
  const { environment, address, life } = cell;
  const goesOn = life === RESTARTING ? "restarts" : "stops";
  environment.logger.warn(
    `${address} ${goesOn} without waiting longer for ${late.join(", ")}, which did not ${verb} within ` +
      `${environment.hookTimeout} ms: abandoned.`,
    { address, unfinished: late },
  );
}

/** Puts the stashed messages before the waiting ones. */
export function restoreStash({ extra, mailbox }: Cell): void {
  const stash = extra.instance?.stash ?? [];
  mailbox.putFirst(stash);
  if (extra.bound !== null) extra.bound.size += stash.length;
}

/** The handling of an envelope is over: the next message may be handled. */
export function finish(cell: Cell, envelope: Envelope, handling: Handling | null): void {
  if (cell.current === envelope) {
    cell.current = null;
    if (cell.extras !== null) cell.extras.handling = null;
  } else if (handling !== null) cell.extras?.concurrency?.drop(handling);
  if (handling !== null && handling.slowness !== null) cell.environment.timers.remove(handling.slowness);
}

/** A message has failed. */
export function countFailed({ environment, operations }: Cell, envelope: Envelope): void {
  environment.counts.failed++;
  if (environment.meters !== null) environment.meters.seriesOf(operations, envelope.type).failed++;
}

/** Counts the running messages as failed. Their askers get `stopped`, and the waits of their handlers end. */
export function abandonRunning(cell: Cell): void {
  const { current, extras, handlings } = cell;
  if (current !== null) {
    abandonOne(cell, current, extras === null ? null : extras.handling);
    // Its promise may settle later, while a hook runs, and must not end the hook.
    if (extras !== null) extras.onFulfilled = extras.onRejected = null;
  }
  for (const handling of [...(extras?.concurrency?.running ?? [])]) abandonOne(cell, handling.envelope, handling);
  // A listener may read the audit: all of them are counted by now.
  for (const handling of handlings) {
    handling.end(abandoned(handling.envelope, cell));
    handling.observation?.end({ kind: "abandoned" });
  }
}

const abandoned = (envelope: Envelope, cell: Cell): DeliveryError =>
  deliveryError("stopped", new EnvelopeSource(envelope, cell), "abandoned");

function abandonOne(cell: Cell, envelope: Envelope, handling: Handling | null): void {
  const passedOn = handling?.passedOn ?? null;
  finish(cell, envelope, handling);
  if (!(envelope instanceof Signal) && passedOn !== "stashed") countFailed(cell, envelope);
  if (passedOn === null) envelope.fail(abandoned(envelope, cell));
}

/**
 * The signal of the actor's present work. For a message, it aborts when the sender gives up, or when the actor is
 * stopped or restarts. For anything else, only the latter. Made when it is read.
 */
export function signalOf(cell: Cell): AbortSignal {
  const { handling, address, isAlive } = cell;
  if (handling === null || handling.envelope instanceof Signal) {
    const { instance } = cell;
    instance.lifetime ??= new AbortController();
    if (!isAlive) instance.lifetime.abort(stopReason(address));
    return instance.lifetime.signal;
  }
  if (handling.controller === null) {
    handling.controller = new AbortController();
    const { failure } = handling.envelope;
    if (failure !== null) handling.controller.abort(failure);
    else if (!isAlive) handling.controller.abort(stopReason(address));
  }
  return handling.controller.signal;
}

/** Calls back when that signal would abort, or at once if it already has. The returned function ends that. */
export function onAbort(cell: Cell, callback: () => void): () => void {
  const { handling, isAlive, environment } = cell;
  if (handling === null || handling.envelope instanceof Signal) {
    return whenAborted(signalOf(cell), callback, environment.enter);
  }
  return handling.onAbort(callback, handling.envelope.failure !== null || !isAlive);
}
