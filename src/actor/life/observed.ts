import { isAtomic } from "../../runtime/thenable";
import type { ActorEnvironment, Cell } from "../cell/cell";
import type { Envelope } from "../contract";
import { PendingAsk } from "../envelopes/ask";
import { overdue, Tell } from "../envelopes/envelope";
import { Handling } from "../envelopes/handling";
import { Signal } from "../envelopes/signal";
import type { Chain } from "../observers";
import type { Turn } from "./measured";
import { callHandler, callTimed, Observation, outcomeIn } from "./observation";
import { contextOf, fail, handlingIn, succeed } from "./outcome";

// Calls handlers, hooks and the callbacks of timers and watches, inside of the observers where there are any.

/** Calls the handler of an envelope, in the envelope's context. */
export const call = (cell: Cell, envelope: Envelope): unknown => contextOf(cell, envelope)(callHere, cell, envelope);

/** Calls the handler of an envelope, in the present context. */
export function callHere(cell: Cell, envelope: Envelope): unknown {
  if (cell.environment.isObserved) return callObserved(cell, envelope);
  return envelope instanceof Signal ? envelope.run() : callHandler(cell, envelope);
}

function callObserved(cell: Cell, envelope: Envelope): unknown {
  const { observers } = cell.environment;
  const isDue = !(envelope instanceof Signal) || envelope.isDue;
  if (observers.chain === null || !isDue) return callTimed(cell, envelope);
  const observation = new Observation(cell, envelope, observers.chain);
  if (observers.measuresQueueTime) observation.measureWait();
  const { handling } = cell; // Made, because the outcome is told to it.
  if (handling !== null) handling.observation = observation;
  observation.call(observers);
  return outcomeIn(observers);
}

/** Handles a plain message inside of observers. Most end at once, and get no record of their handling, which is larger. */
export function handleObserved(cell: Cell, envelope: Envelope, chain: Chain, { handle, conclude }: Turn): void {
  const { environment } = cell;
  const isPlain = envelope instanceof Tell || (envelope instanceof PendingAsk && envelope.isWaiting);
  if (!isPlain || cell.isConcurrent || environment.validatesAlways || isLate(cell, envelope)) {
    handle(cell, envelope);
    return;
  }
  cell.current = envelope;
  let result: unknown;
  try {
    result = contextOf(cell, envelope)(callInside, cell, chain);
  } catch (thrown) {
    failObserved(cell, envelope, thrown);
    return;
  }
  if (cell.current === envelope && handlingIn(cell) === null && isAtomic(result)) {
    succeed(cell, envelope, result, null);
    endObserved(cell, result);
  } else if (keepsObservation(cell, envelope)) conclude(cell, envelope, result);
}

/** Calls the handler of the present message inside of observers; the observation is told by one of the next three how it ends. */
function callInside(cell: Cell, chain: Chain): unknown {
  const { observers } = cell.environment;
  const observation = new Observation(cell, cell.current as Envelope, chain); // The caller has set it.
  if (observers.measuresQueueTime) observation.measureWait();
  observation.call(observers);
  observers.last = observation;
  return outcomeIn(observers);
}

/** Apart from the loops: a closure in them would cost each turn 4 ns, also without observers. */
export const callerInside = (cell: Cell, chain: Chain) => (): unknown => callInside(cell, chain);

/** The present message was handled at once. */
export function endObserved({ environment: { observers } }: Cell, result: unknown): void {
  const { last } = observers;
  observers.last = null;
  if (last?.onEnd != null) last.end({ kind: "handled", result });
}

/** The handler of the present message threw. */
export function failObserved(cell: Cell, envelope: Envelope, thrown: unknown): void {
  const { observers } = cell.environment;
  const { last } = observers;
  observers.last = null;
  fail(cell, envelope, thrown, handlingIn(cell), last);
}

/** Keeps the observation of a message that is not over yet; false when it was abandoned. */
export function keepsObservation(cell: Cell, envelope: Envelope): boolean {
  const { environment, extra } = cell;
  const { last } = environment.observers;
  environment.observers.last = null;
  if (cell.current === envelope) {
    extra.handling ??= new Handling(cell, envelope);
    extra.handling.observation = last;
    return true;
  }
  last?.end({ kind: "abandoned" });
  return false;
}

const isLate = (cell: Cell, envelope: Envelope): boolean =>
  envelope.origin !== null && overdue(envelope, cell) !== null;

/** Keeps the ways through an environment in step with its observers, from the next turn of each actor on. */
export function followObservers(environment: ActorEnvironment): void {
  const { observers, validatesAlways, captureSender, slowHandler, directory } = environment;
  const isStrict = validatesAlways || captureSender !== null;
  observers.areAlone = !isStrict && slowHandler === Number.POSITIVE_INFINITY;
  environment.isObserved = !observers.areAlone || observers.chain !== null;
  environment.looksAtEach = isStrict || observers.measuresQueueTime || observers.onSend !== null;
  if (environment.looksAtEach) for (const cell of directory.all()) cell.queue?.close(); // Open ones take messages unseen.
}
