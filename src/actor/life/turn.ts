import { Burst, type Mailbox } from "../../runtime/mailbox";
import { isAtomic, isPlainData } from "../../runtime/thenable";
import { release } from "../cell/admission";
import type { Cell } from "../cell/cell";
import type { Extras } from "../cell/state";
import { ALIVE, awaitHandlers, HANDLING, takeHook } from "../cell/transitions";
import type { Envelope, HandlerTable } from "../contract";
import { PendingAsk } from "../envelopes/ask";
import { overdue, Tell } from "../envelopes/envelope";
import { Handling } from "../envelopes/handling";
import { Signal } from "../envelopes/signal";
import type { Meters } from "../metrics";
import type { Chain } from "../observers";
import { handleConcurrently } from "./concurrency";
import { measure, type Turn } from "./measured";
import { call, callerInside, endObserved, failObserved, handleObserved, keepsObservation } from "./observed";
import { contextOf, deadLetterLateReply, fail, handlingIn, outcomeOf, succeed, watchSlowness } from "./outcome";

// An actor's turn: it takes its messages one after another, and waits for their handlers.

/** Runs the hook that comes before all messages. */
export function runHook(cell: Cell): number {
  const hook = takeHook(cell);
  if (hook !== null) handle(cell, hook);
  return 1;
}

/** Handles at most `limit` messages; returns their number. */
export function runMessages(cell: Cell, limit: number): number {
  const { extras, environment } = cell;
  if (extras !== null && extras.instance !== null) extras.instance.timers?.onBusy();
  const { meters, observers } = environment;
  const isSeen = environment.isObserved && !observers.areAlone;
  const isPlain = cell.life === ALIVE && cell.operations !== null && !isSeen && !cell.isConcurrent;
  if (isPlain) return runHandlers(cell, limit, observers.chain);
  if (meters === null && observers.chain === null) return runEach(cell, limit);
  return runObserved(cell, limit, meters, observers.chain);
}

const TURN: Turn = { handle, conclude };

/** Does the same as runEach inside of observers, and times the messages that are due. */
function runObserved(cell: Cell, limit: number, meters: Meters | null, chain: Chain | null): number {
  const turn: Turn =
    chain === null ? TURN : { conclude, handle: (...message) => handleObserved(...message, chain, TURN) };
  let count = 0;
  for (let envelope = take(cell); envelope !== null; envelope = take(cell)) {
    if (meters !== null && envelope.timedFrom !== undefined) measure(cell, envelope, meters, turn);
    else if (chain !== null) handleObserved(cell, envelope, chain, TURN);
    else handle(cell, envelope);
    count++;
    if (count >= limit || cell.activity !== HANDLING) break;
  }
  return count;
}

function runEach(cell: Cell, limit: number): number {
  let count = 0;
  for (let envelope = take(cell); envelope !== null; envelope = take(cell)) {
    handle(cell, envelope);
    count++;
    if (count >= limit || cell.activity !== HANDLING) break;
  }
  return count;
}

function take(cell: Cell): Envelope | null {
  const envelope = cell.mailbox.take();
  const bound = cell.extras === null ? null : cell.extras.bound;
  if (bound !== null && envelope !== null && !(envelope instanceof Signal)) release(cell, bound, envelope);
  return envelope;
}

/** Entered for each message: a handler may have changed the context by `enterWith` (P16). */
const invoke: Invoke = (handler, handlers, payload) => handler?.call(handlers, payload);

type Invoke = (handler: HandlerTable[string] | undefined, handlers: HandlerTable, payload: unknown) => unknown;

/** Does the same as runEach, for the most common messages. One loop: a call for each message cost a quarter of a tell. */
function runHandlers(cell: Cell, limit: number, chain: Chain | null): number {
  const { counts, enter, meters } = cell.environment;
  const run = chain === null ? invoke : callerInside(cell, chain);
  const handlers = cell.behaviour as HandlerTable; // An actor with operations has a table.
  const mailbox = cell.mailbox as Mailbox<Envelope>; // A priority mailbox makes its actor guarded.
  let type = "";
  let handler: HandlerTable[string] | undefined;
  let hasReply = false;
  let count = 0;
  let handled = 0;
  let rowStart = 0;
  for (;;) {
    const envelope = mailbox.first;
    if (envelope === null) break;
    const isTell = envelope instanceof Tell;
    const isTimed = meters !== null && envelope.timedFrom !== undefined;
    if (!isTimed && (isTell || (envelope instanceof PendingAsk && envelope.isWaiting))) {
      mailbox.skip(envelope);
      count++;
      cell.current = envelope;
      let result: unknown;
      try {
        if (envelope.type !== type) {
          if (meters !== null) rowStart = countRow(cell, meters, type, rowStart, handled);
          type = envelope.type; // Messages of one kind come in rows: one lookup for a row saved a fifth.
          handler = handlers[type];
          hasReply = cell.operation(type)?.hasReply === true;
        }
        result = enter(run, handler, handlers, envelope.payload);
      } catch (thrown) {
        if (chain === null) fail(cell, envelope, thrown, handlingIn(cell));
        else failObserved(cell, envelope, thrown);
      }
      const isPlain = cell.extras === null || cell.extras.handling === null;
      // Inside of observers, a record of the handling would be made for what may have to be waited for: 1 µs of a request that is timed.
      const isData = chain !== null && hasReply && isPlainData(result);
      if (isPlain && cell.current !== null && (isData || isAtomic(result))) {
        cell.current = null;
        handled++;
        counts.handled++;
        const reply = hasReply ? result : undefined;
        if (!isTell && !envelope.complete(reply)) deadLetterLateReply(cell, envelope, reply);
        if (chain !== null) endObserved(cell, result);
      } else if (chain === null ? cell.current !== null : keepsObservation(cell, envelope))
        conclude(cell, envelope, result);
    } else if (envelope instanceof Burst)
      count += runBurst(cell, mailbox, envelope, limit - count, handlers, chain, run);
    else {
      mailbox.skip(envelope);
      count++;
      if (isTimed) measure(cell, envelope as Envelope, meters, TURN);
      else handle(cell, envelope as Envelope); // A mailbox has no other links.
    }
    if (count >= limit || cell.activity !== HANDLING) break;
  }
  mailbox.handled += handled;
  if (meters !== null) countRow(cell, meters, type, rowStart, handled);
  return count;
}

/** Counts a row of plain messages of one type; returns where the next one starts. */
function countRow({ operations }: Cell, meters: Meters, type: string, start: number, end: number): number {
  if (end > start) meters.seriesOf(operations, type).handled += end - start;
  return end;
}

/**
 * Handles tells without an envelope for each: they share one, and a new one is made after each that may be kept. One that is timed
 * is handled by itself.
 */
function runBurst(
  cell: Cell,
  mailbox: Mailbox<Envelope>,
  burst: Burst,
  limit: number,
  handlers: HandlerTable,
  chain: Chain | null,
  run: Invoke,
): number {
  const { payloads, names, type } = burst;
  const { counts, enter, meters } = cell.environment;
  const handler = handlers[type];
  let other = type;
  let otherHandler = handler;
  const start = burst.read;
  const end = Math.min(burst.write, start + limit);
  let tell: Tell | null = null;
  let read = start;
  let handled = 0;
  let others = 0;
  let othersStart = 0;
  const isWatched = chain !== null || meters !== null; // One look at both for each message.
  burst.count();
  if (meters !== null && names !== null && typeof names[start] === "object") {
    measure(cell, mailbox.take() as Envelope, meters, TURN); // There is one.
    return 1;
  }
  while (read < end) {
    const named = names === null ? undefined : names[read];
    if (typeof named === "object") break;
    const payload = payloads[read];
    payloads[read] = undefined;
    if (tell === null) cell.current = tell = new Tell(type, payload, null);
    else {
      tell.payload = payload;
      tell.origin = null;
    }
    if (names !== null) {
      tell.type = named ?? type;
      names[read] = undefined;
    }
    burst.read = ++read;
    let result: unknown;
    try {
      if (named === undefined) result = enter(run, handler, handlers, payload);
      else {
        if (named !== other) {
          if (meters !== null) othersStart = countRow(cell, meters, other, othersStart, others);
          other = named;
          otherHandler = handlers[other];
        }
        result = enter(run, otherHandler, handlers, payload);
      }
    } catch (thrown) {
      if (chain === null) fail(cell, tell, thrown, handlingIn(cell));
      else failObserved(cell, tell, thrown);
    }
    const isPlain = cell.extras === null || cell.extras.handling === null;
    if (isPlain && cell.current === tell && isAtomic(result)) {
      handled++;
      counts.handled++;
      if (isWatched) {
        if (named !== undefined) others++;
        if (chain !== null) {
          cell.current = tell = null; // The observers may have kept it.
          endObserved(cell, result);
        }
      }
    } else {
      if (chain === null ? cell.current === tell : keepsObservation(cell, tell)) conclude(cell, tell, result);
      tell = null;
    }
    // A stop has taken the waiting messages, or an unstash has put others before them.
    if (cell.activity !== HANDLING || mailbox.first !== burst) break;
  }
  if (tell !== null) cell.current = null;
  mailbox.handled += handled;
  if (meters !== null) {
    countRow(cell, meters, other, othersStart, others);
    countRow(cell, meters, type, others, handled);
  }
  mailbox.leave(burst);
  return read - start;
}

function handle(cell: Cell, envelope: Envelope): void {
  if (envelope.failure !== null) {
    cell.refuse(envelope, envelope.failure); // Its sender gave up while it was queued.
    return;
  }
  const late = envelope.origin === null ? null : overdue(envelope, cell);
  if (late !== null) {
    cell.refuse(envelope, late);
    return;
  }
  if (envelope instanceof Signal) {
    if (envelope.generation !== cell.generation) return;
  } else if (cell.isConcurrent) {
    handleConcurrently(cell, envelope);
    return;
  }
  cell.current = envelope;
  let result: unknown;
  try {
    result = call(cell, envelope);
  } catch (thrown) {
    fail(cell, envelope, thrown, handlingIn(cell));
    return;
  }
  if (cell.current !== envelope) return;
  const isPlain = isAtomic(result) && envelope.pattern !== "stream";
  if (isPlain) succeed(cell, envelope, result, handlingIn(cell));
  else conclude(cell, envelope, result);
}

/** Waits for a handler's result if it is a promise or a stream; any other result is final. */
function conclude(cell: Cell, envelope: Envelope, result: unknown): void {
  let awaited: Promise<unknown> | null;
  try {
    // Entered again: a generator runs in the context of its reader, and a thenable in that of its awaiter.
    const outcome = contextOf(cell, envelope)(outcomeOf, envelope, handlingIn(cell), result);
    awaited = outcome instanceof Promise ? outcome : null;
  } catch (thrown) {
    fail(cell, envelope, thrown, handlingIn(cell));
    return;
  }
  if (awaited === null) succeed(cell, envelope, result, handlingIn(cell));
  else wait(cell, envelope, awaited);
}

function wait(cell: Cell, envelope: Envelope, settled: Promise<unknown>): void {
  const { extra, environment } = cell;
  awaitHandlers(cell);
  extra.handling ??= new Handling(cell, envelope);
  extra.handling.since = environment.dispatcher.now;
  if (envelope instanceof Signal) {
    waitForSignal(cell, envelope, settled);
    return;
  }
  if (extra.onFulfilled === null || extra.onRejected === null) bindResume(cell, extra);
  // The built-in then: a promise's own one may call back at once, or twice.
  then.call(settled, extra.onFulfilled, extra.onRejected);
  watchSlowness(cell, extra.handling);
}

/** Not made for each message. They are replaced when a handler is abandoned, so its promise then does nothing. */
function bindResume(cell: Cell, extra: Extras<Cell>): void {
  const onFulfilled = (value: unknown): void => {
    if (extra.onFulfilled === onFulfilled) resume(cell, value, true);
  };
  const onRejected = (thrown: unknown): void => {
    if (extra.onRejected === onRejected) resume(cell, thrown, false);
  };
  extra.onFulfilled = onFulfilled;
  extra.onRejected = onRejected;
}

/** Checks its own identity: a late hook must not end a later message. */
function waitForSignal(cell: Cell, signal: Signal, settled: Promise<unknown>): void {
  const goOn = (outcome: unknown, isFulfilled: boolean): void => {
    if (cell.current === signal) resume(cell, outcome, isFulfilled);
  };
  signal.limit(cell.environment, (thrown) => goOn(thrown, false));
  then.call(
    settled,
    (value) => goOn(value, true),
    (thrown) => goOn(thrown, false),
  );
}

function resume(cell: Cell, outcome: unknown, isFulfilled: boolean): void {
  if (cell.current === null) return; // It was abandoned: its message has been counted.
  if (isFulfilled) succeed(cell, cell.current, outcome, handlingIn(cell));
  else fail(cell, cell.current, outcome, handlingIn(cell));
  cell.goOn();
}

const { then } = Promise.prototype;
