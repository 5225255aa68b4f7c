import { deliveryError } from "../message/delivery-error";
import type { Cell } from "./cell";
import { type Envelope, EnvelopeSource } from "./envelope";
import type { Handling } from "./handling";
import { Signal } from "./signal";

/** The handling of an envelope is over: whoever comes next may be handled. */
export function finish(cell: Cell, envelope: Envelope, handling: Handling | null): void {
  if (cell.current === envelope) {
    cell.current = null;
    if (cell.extras !== null) cell.extras.handling = null;
  } else if (handling !== null) cell.extras?.concurrency?.running.delete(handling);
  if (handling !== null && handling.slowness !== null) cell.environment.timers.remove(handling.slowness);
}

/** Counts what is handled now as failed; its askers get `stopped`. */
export function abandonRunning(cell: Cell): void {
  if (cell.current !== null) abandon(cell, cell.current, cell.extras?.handling ?? null);
  for (const handling of cell.extras?.concurrency?.running ?? []) abandon(cell, handling.envelope, handling);
}

function abandon(cell: Cell, envelope: Envelope, handling: Handling | null): void {
  const passedOn = handling?.passedOn ?? null;
  finish(cell, envelope, handling);
  if (!(envelope instanceof Signal) && passedOn !== "stashed") cell.environment.counts.failed++;
  if (passedOn === null) envelope.fail(deliveryError("stopped", new EnvelopeSource(envelope, cell), true));
}
