import type { Cell } from "../cell/cell";
import { awaitHandlers, HANDLING, READY } from "../cell/transitions";
import type { Envelope } from "../contract";
import { type Concurrency, Handling } from "../envelopes/handling";
import { callHere } from "./observed";
import { contextOf, fail, outcomeOf, succeed, watchSlowness } from "./outcome";

/** Handles a message beside others, up to the actor's `concurrency`. */
export function handleConcurrently(cell: Cell, envelope: Envelope): void {
  const concurrency = cell.extras?.concurrency ?? null;
  if (concurrency === null) throw new Error(`${cell.address} handles one message at a time.`);
  const handling = new Handling(cell, envelope);
  handling.since = cell.environment.dispatcher.now;
  concurrency.add(handling);
  let outcome: unknown;
  try {
    outcome = contextOf(cell, envelope)(run, cell, concurrency, handling);
  } catch (thrown) {
    fail(cell, envelope, thrown, handling);
    return;
  }
  if (!(outcome instanceof Promise)) {
    succeed(cell, envelope, outcome, handling);
    return;
  }
  Promise.prototype.then.call(
    outcome,
    (value) => settle(cell, handling, value, true),
    (thrown) => settle(cell, handling, thrown, false),
  );
  if (concurrency.isFull) awaitHandlers(cell);
  watchSlowness(cell, handling);
}

/** The presence is set inside the entered context, so that everything the handler awaits has it. */
const run = (cell: Cell, concurrency: Concurrency, handling: Handling): unknown =>
  concurrency.run(handling, () => outcomeOf(handling.envelope, handling, callHere(cell, handling.envelope)));

function settle(cell: Cell, handling: Handling, outcome: unknown, isFulfilled: boolean): void {
  if (cell.extras?.concurrency?.running.has(handling) !== true) return; // It was abandoned.
  if (isFulfilled) succeed(cell, handling.envelope, outcome, handling);
  else fail(cell, handling.envelope, outcome, handling);
  if (cell.isStopped) return; // Its supervisor has just stopped it.
  // A hook runs alone. A scheduled or running actor goes on by itself.
  if (cell.current === null && cell.activity !== READY && cell.activity !== HANDLING) cell.goOn();
}
