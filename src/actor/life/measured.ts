import type { Cell } from "../cell/cell";
import type { Envelope } from "../contract";
import type { Meters, Series } from "../metrics";
import type { Ending, HandlingOutcome, ObservedHandling } from "../observers";

// The times of a timed message: its wait, and its handler.

/** The ways of a turn with one message. */
export interface Turn {
  handle(cell: Cell, envelope: Envelope): void;
  /** Ends a message whose handler gave a result that may have to be waited for. */
  conclude(cell: Cell, envelope: Envelope, result: unknown): void;
}

/** Handles a message that is timed, unless nobody waits for it. */
export function measure(cell: Cell, envelope: Envelope, meters: Meters, turn: Turn): void {
  const { timedFrom, failure } = envelope;
  envelope.timedFrom = undefined; // It may come again, or go to another actor.
  if (timedFrom === undefined || failure !== null) {
    turn.handle(cell, envelope);
    return;
  }
  const series = meters.seriesOf(cell.operations, envelope.type);
  const begun = meters.now();
  series.queueTime.add(begun - timedFrom);
  turn.handle(cell, envelope);
  const handling = cell.handlingOf(envelope);
  if (handling === null) series.handlerTime.add(meters.now() - begun);
  else handling.observation = new Timed(series, begun, meters, handling.observation);
}

/** Measures the time until a handler ends that waits. */
class Timed implements Ending {
  readonly #series: Series;
  readonly #begun: number;
  readonly #meters: Meters;
  readonly #inner: Ending | null;

  constructor(series: Series, begun: number, meters: Meters, inner: Ending | null) {
    this.#series = series;
    this.#begun = begun;
    this.#meters = meters;
    this.#inner = inner;
  }

  get observed(): ObservedHandling | null {
    return this.#inner === null ? null : this.#inner.observed;
  }

  end(outcome: HandlingOutcome): void {
    this.#series.handlerTime.add(this.#meters.now() - this.#begun);
    this.#inner?.end(outcome);
  }
}
