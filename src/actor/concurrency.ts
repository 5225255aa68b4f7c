import { isThenable } from "../runtime/thenable";
import type { Cell } from "./cell";
import type { Envelope } from "./envelope";
import { Handling } from "./handling";
import { AWAITING, HANDLING, READY } from "./life";
import { call, fail, outcomeOf, succeed } from "./outcome";
import { watchSlowness } from "./slow-handler";

/** Handles a message beside others, as many as the actor's `concurrency` allows. */
export function handleConcurrently(cell: Cell, envelope: Envelope): void {
  const concurrency = cell.extras?.concurrency ?? null;
  if (concurrency === null) throw new Error(`${cell.address} handles one message at a time.`);
  const handling = new Handling(cell, envelope);
  handling.since = cell.environment.dispatcher.now;
  concurrency.running.add(handling);
  let settled: Promise<unknown>;
  try {
    const outcome = concurrency.run(handling, () => outcomeOf(envelope, handling, call(cell, envelope)));
    if (!isThenable(outcome)) {
      succeed(cell, envelope, outcome, handling);
      return;
    }
    settled = Promise.resolve(outcome);
  } catch (thrown) {
    fail(cell, envelope, thrown, handling);
    return;
  }
  Promise.prototype.then.call(
    settled,
    (value) => settle(cell, handling, value, true),
    (thrown) => settle(cell, handling, thrown, false),
  );
  if (concurrency.isFull) cell.activity = AWAITING;
  watchSlowness(cell, handling);
}

/** Calls what is no message as that of none; in a function of its own, because its closure would cost each message 15 ns. */
export function callAsSignal(cell: Cell, envelope: Envelope): unknown {
  const concurrency = cell.extras?.concurrency ?? null;
  return concurrency === null ? call(cell, envelope) : concurrency.runSignal(() => call(cell, envelope));
}

function settle(cell: Cell, handling: Handling, outcome: unknown, isFulfilled: boolean): void {
  if (cell.extras?.concurrency?.running.has(handling) !== true) return; // It was abandoned.
  if (isFulfilled) succeed(cell, handling.envelope, outcome, handling);
  else fail(cell, handling.envelope, outcome, handling);
  if (cell.isStopped) return; // By what its supervisor decided just now.
  // A hook has the actor to itself; and who is scheduled, or runs, goes on then.
  if (cell.current === null && cell.activity !== READY && cell.activity !== HANDLING) cell.goOn();
}
