import { type DeliveryError, deliveryError } from "../../message/delivery-error";
import type { Cell } from "../cell/cell";
import type { Envelope } from "../contract";
import { EnvelopeSource } from "../envelopes/envelope";
import type { Handling } from "../envelopes/handling";
import { Signal } from "../envelopes/signal";

/** The handling of an envelope is over: whoever comes next may be handled. */
export function finish(cell: Cell, envelope: Envelope, handling: Handling | null): void {
  if (cell.current === envelope) {
    cell.current = null;
    if (cell.extras !== null) cell.extras.handling = null;
  } else if (handling !== null) cell.extras?.concurrency?.running.delete(handling);
  if (handling !== null && handling.slowness !== null) cell.environment.timers.remove(handling.slowness);
}

/** Counts what is handled now as failed; its askers get `stopped`, and what its handlers wait for ends. */
export function abandonRunning(cell: Cell): void {
  const { current, extras, handlings } = cell;
  if (current !== null) {
    abandonOne(cell, current, extras === null ? null : extras.handling);
    // Its promise may settle later, while a hook runs: that must not end the hook.
    if (extras !== null) extras.onFulfilled = extras.onRejected = null;
  }
  for (const handling of [...(extras?.concurrency?.running ?? [])]) abandonOne(cell, handling.envelope, handling);
  // Whoever is told may look at the audit: all of them are counted by now.
  for (const handling of handlings) handling.end(abandoned(handling.envelope, cell));
}

const abandoned = (envelope: Envelope, cell: Cell): DeliveryError =>
  deliveryError("stopped", new EnvelopeSource(envelope, cell), "abandoned");

function abandonOne(cell: Cell, envelope: Envelope, handling: Handling | null): void {
  const passedOn = handling?.passedOn ?? null;
  finish(cell, envelope, handling);
  if (!(envelope instanceof Signal) && passedOn !== "stashed") cell.environment.counts.failed++;
  if (passedOn === null) envelope.fail(abandoned(envelope, cell));
}
