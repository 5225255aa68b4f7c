import { deliveryError } from "../../message/delivery-error";
import type { Cell } from "../cell/cell";
import { stopReason } from "../cell/extras";
import type { Envelope } from "../contract";
import { EnvelopeSource } from "../envelopes/envelope";
import { Signal } from "../envelopes/signal";

// What an actor leaves behind when it stops or restarts: handlers to be told, messages to be kept or dead-lettered.

/** A stream has no end of its own that could be waited for. */
export function endStreams(cell: Cell): void {
  if (cell.extras === null && cell.current?.pattern !== "stream") return; // Most: without a list of them.
  for (const envelope of cell.envelopes()) {
    const isOwn = envelope.pattern === "stream" && cell.handlingOf(envelope)?.passedOn !== "forwarded";
    if (isOwn) envelope.fail(deliveryError("stopped", new EnvelopeSource(envelope, cell), "streamed"));
  }
}

/** Tells the handlers that run (P7). */
export function abortSignals(cell: Cell): void {
  const { extras } = cell;
  if (extras === null) return;
  const handlings = extras.handling === null ? [...(extras.concurrency?.running ?? [])] : [extras.handling];
  for (const handling of handlings) handling.abort(stopReason(cell.address));
  abortLifetime(cell);
}

/** Tells what listens to the signal of an instance, in the system's context (P16). */
export function abortLifetime({ environment, extras, address }: Cell): void {
  const lifetime = extras?.instance?.lifetime ?? null;
  if (lifetime !== null) environment.enter(() => lifetime.abort(stopReason(address)));
}

/** Dead-letters what waits: in the mailbox, for room in it, and in the stash. */
export function discard(cell: Cell): void {
  const instance = cell.extras?.instance ?? null;
  const flow = cell.extras?.flow ?? null;
  // One by one: whoever sees a dead letter may count the others (P1).
  for (let envelope = instance?.stash.shift(); envelope !== undefined; envelope = instance?.stash.shift())
    refuseStopped(cell, envelope);
  const { queue } = cell;
  if (queue !== null) for (let next = queue.take(); next !== null; next = queue.take()) refuseStopped(cell, next);
  if (flow === null) return;
  flow.size = 0;
  for (const envelope of flow.waiting) {
    flow.waiting.delete(envelope);
    refuseStopped(cell, envelope);
  }
}

function refuseStopped(cell: Cell, envelope: Envelope): void {
  if (!(envelope instanceof Signal)) cell.refuse(envelope, envelope.failure ?? cell.error("stopped", envelope));
}

/** What was stashed comes before what waits. */
export function restoreStash({ extra, mailbox }: Cell): void {
  const stash = extra.instance?.stash ?? [];
  mailbox.putFirst(stash);
  if (extra.flow !== null) extra.flow.size += stash.length;
}
