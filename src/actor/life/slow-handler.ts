import { Timeout } from "../../runtime/timer-wheel";
import type { Cell } from "../cell/cell";
import type { Envelope } from "../contract";
import type { Handling } from "../envelopes/handling";

/** Tells of a handler that still waits after the system's `slowHandler` milliseconds. */
export function watchSlowness(cell: Cell, handling: Handling): void {
  const { slowHandler, timers } = cell.environment;
  if (slowHandler === Number.POSITIVE_INFINITY) return;
  handling.slowness = new Timeout(slowHandler, () => publish(cell, handling.envelope, slowHandler));
  timers.add(handling.slowness);
}

/** Tells of a handler that kept the event loop for longer than that. */
export function tellOfSlowness(cell: Cell, envelope: Envelope, begun: number): void {
  const elapsed = cell.environment.clock.monotonicTime() - begun;
  if (elapsed >= cell.environment.slowHandler) publish(cell, envelope, elapsed);
}

function publish({ environment, address }: Cell, envelope: Envelope, elapsed: number): void {
  if (!environment.events.hasSubscribers) return;
  environment.events.publish({ kind: "slow-handler", address, operation: envelope.type, elapsed });
}
