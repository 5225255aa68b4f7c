import type { Cell } from "../cell/cell";
import { HANDLING } from "../cell/transitions";
import type { Envelope } from "../contract";
import { Signal } from "../envelopes/signal";
import type { Meters, Series } from "../metrics";
import type { Ending, HandlingOutcome, ObservedHandling } from "../observers";

// The turn of an actor whose system has metrics: the usual loops, interrupted for each message that is timed.

/** The loops of a turn. */
export interface Turn {
  /** Handles at most `limit` messages; returns their number. */
  run(cell: Cell, limit: number): number;
  take(cell: Cell): Envelope | null;
  handle(cell: Cell, envelope: Envelope): void;
  /** Ends a message whose handler gave a result that may have to be waited for. */
  conclude(cell: Cell, envelope: Envelope, result: unknown): void;
}

/** Handles at most `limit` messages by the loop, and times those that are due. */
export function runInRows(cell: Cell, limit: number, meters: Meters, turn: Turn): number {
  let count = 0;
  while (count < limit && cell.activity === HANDLING) {
    const row = Math.min(limit - count, meters.untilHandled);
    if (row > 0) {
      const done = turn.run(cell, row);
      count += done;
      meters.untilHandled -= done;
      if (done < row) break;
    } else {
      const envelope = turn.take(cell);
      if (envelope === null) break;
      measure(cell, envelope, meters, turn);
      count++;
    }
  }
  return count;
}

/** Handles at most `limit` messages one by one, and times those that are due, or were stamped when they came. */
export function runOneByOne(cell: Cell, limit: number, meters: Meters, turn: Turn): number {
  let count = 0;
  while (count < limit && cell.activity === HANDLING) {
    const envelope = turn.take(cell);
    if (envelope === null) break;
    const { sentAt } = envelope;
    const { observers, clock } = cell.environment;
    // For an observer, all are stamped: then those count whose handlers are timed.
    if (sentAt !== undefined && (meters.untilHandled <= 0 || !observers.measuresQueueTime)) {
      const waited = clock.monotonicTime() - sentAt;
      meters.seriesOf(cell.operations, envelope.type).queueTime.add(waited);
    }
    if (meters.untilHandled > 0) {
      meters.untilHandled--;
      turn.handle(cell, envelope);
    } else measure(cell, envelope, meters, turn);
    count++;
  }
  return count;
}

/** Handles a message, and times it unless it is none, or nobody waits for it. */
function measure(cell: Cell, envelope: Envelope, meters: Meters, turn: Turn): void {
  if (envelope instanceof Signal || envelope.failure !== null) {
    turn.handle(cell, envelope);
    return;
  }
  const { environment } = cell;
  meters.untilHandled = meters.interval();
  const series = meters.seriesOf(cell.operations, envelope.type);
  const begun = environment.clock.monotonicTime();
  turn.handle(cell, envelope);
  const handling = cell.handlingOf(envelope);
  if (handling === null) series.handlerTime.add(environment.clock.monotonicTime() - begun);
  else handling.observation = new Timed(series, begun, cell, handling.observation);
}

/** Measures the time until a handler ends that waits. */
class Timed implements Ending {
  readonly #series: Series;
  readonly #begun: number;
  readonly #cell: Cell;
  readonly #inner: Ending | null;

  constructor(series: Series, begun: number, cell: Cell, inner: Ending | null) {
    this.#series = series;
    this.#begun = begun;
    this.#cell = cell;
    this.#inner = inner;
  }

  get observed(): ObservedHandling | null {
    return this.#inner === null ? null : this.#inner.observed;
  }

  end(outcome: HandlingOutcome): void {
    this.#series.handlerTime.add(this.#cell.environment.clock.monotonicTime() - this.#begun);
    this.#inner?.end(outcome);
  }
}
