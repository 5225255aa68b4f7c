import type { Cell } from "../actor/cell";
import { type Envelope, Tell } from "../actor/envelope";
import type { Wait } from "../actor/handling";
import { type AskResult, PendingAsk } from "../actor/pending-ask";
import { ANSWERED, type Relay } from "../actor/relay";
import type { DeliveryError } from "../message/delivery-error";
import type { Operation } from "../protocol/protocol";
import { type Choice, handTo, inTurn, refuseAll, usable } from "./pool-routing";

/** What an ask that went to several workers waits for. */
interface Fan {
  readonly asks: PendingAsk[];
  readonly results: (AskResult | null)[];
}

/** Hands each ask to all workers: back comes the first answer, or one when all have answered. */
export class ToAll implements Relay {
  readonly #pool: Cell;
  readonly #workers: readonly Cell[];
  readonly #isFirstWinning: boolean;
  readonly #choice: Choice = inTurn();
  readonly #fans = new Map<Envelope, Fan>();

  constructor(pool: Cell, workers: readonly Cell[], isFirstWinning: boolean) {
    this.#pool = pool;
    this.#workers = workers;
    this.#isFirstWinning = isFirstWinning;
  }

  get all(): readonly Cell[] {
    return this.#isFirstWinning ? [] : usable(this.#workers);
  }

  pick(): null {
    return null;
  }

  accept(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null {
    const workers = usable(this.#workers);
    if (workers.length === 0 || operation === undefined) return refuseAll(this.#pool, envelope, operation);
    if (envelope.pattern === "ask") return this.#ask(envelope, workers, operation);
    if (envelope.pattern === "stream" || this.#isFirstWinning) {
      return handTo(this.#choice(workers, envelope.type, envelope.payload), envelope, operation);
    }
    return this.#tell(envelope, workers, operation);
  }

  /** Each worker gets an envelope of its own; an offer is told the first refusal. */
  #tell(envelope: Envelope, workers: readonly Cell[], operation: Operation | null): DeliveryError | null {
    const { type, payload, origin } = envelope;
    let refused: DeliveryError | null = null;
    for (const worker of workers) refused = worker.accept(new Tell(type, payload, origin), operation) ?? refused;
    if (refused === null) envelope.admitted();
    else envelope.fail(refused);
    return refused;
  }

  #ask(envelope: Envelope, workers: readonly Cell[], operation: Operation | null): DeliveryError | null {
    const { type, payload, origin } = envelope;
    const fan: Fan = { asks: [], results: workers.map(() => null) };
    workers.forEach((worker, index) => {
      // Its time is that of the ask itself, which abandons these when it is over.
      const settle = (result: AskResult): void => this.#settle(envelope, fan, index, result);
      fan.asks.push(new PendingAsk(worker, type, payload, origin, Number.POSITIVE_INFINITY, settle));
    });
    this.#fans.set(envelope, fan);
    workers.forEach((worker, index) => {
      const ask = fan.asks[index];
      if (ask?.isWaiting) worker.accept(ask, operation);
    });
    return null;
  }

  #settle(envelope: Envelope, fan: Fan, index: number, result: AskResult): void {
    fan.results[index] = result;
    if (this.#fans.get(envelope) !== fan) return; // It has come back already.
    const isDecisive = this.#isFirstWinning === result.isOk();
    if (!isDecisive && fan.results.includes(null)) return;
    this.#fans.delete(envelope);
    for (const ask of fan.asks) if (ask.isWaiting) ask.cancel(ANSWERED);
    const outcome = isDecisive ? result : (fan.results[0] ?? result);
    if (outcome.isOk()) envelope.complete(outcome.value);
    else envelope.fail(outcome.error);
  }

  holders(wait: Wait): readonly Cell[] {
    for (const [envelope, { asks }] of this.#fans) {
      if ((envelope as unknown) !== wait) continue;
      const waiting = asks.filter((ask) => ask.isWaiting).map((ask) => ask.cell);
      return this.#isFirstWinning && waiting.length > 1 ? [] : waiting; // Any one of several may answer.
    }
    return [];
  }

  abandon(envelope: Envelope, error: DeliveryError): void {
    const fan = this.#fans.get(envelope);
    if (fan === undefined) return;
    this.#fans.delete(envelope);
    for (const ask of fan.asks) ask.endWith(error);
  }
}
