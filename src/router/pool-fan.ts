import type { Result } from "neverthrow";
import { servesOutside } from "../actor/cause";
import type { Cell } from "../actor/cell";
import { type Envelope, EnvelopeSource, Tell } from "../actor/envelope";
import { isOf, type Wait } from "../actor/handling";
import { PendingAsk } from "../actor/pending-ask";
import { PendingOffer } from "../actor/pending-offer";
import { ANSWERED, type Recipients, type Relay } from "../actor/relay";
import { copyRoute, routeOf } from "../actor/route";
import { lookForCircle } from "../actor/waiting";
import { type DeliveryError, deliveryError } from "../message/delivery-error";
import type { Operation } from "../protocol/protocol";
import { type Choice, handTo, inTurn, refuseAll, usable } from "./pool-routing";

type Outcome = Result<unknown, DeliveryError>;

/** What went to several workers, and what they have said so far. */
interface Fan {
  readonly parts: (PendingAsk | PendingOffer)[];
  readonly outcomes: (Outcome | null)[];
  /** Whether one good outcome is enough; otherwise one bad one is. */
  readonly isFirstWinning: boolean;
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

  pick(): null {
    return null;
  }

  accept(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null {
    const workers = usable(this.#workers);
    if (workers.length === 0 || operation === undefined) return refuseAll(this.#pool, envelope, operation);
    const { type, payload, origin } = envelope;
    const goesToOne = envelope.pattern === "stream" || (this.#isFirstWinning && envelope.pattern !== "ask");
    if (goesToOne) return handTo(this.#choice(workers, type, payload), envelope, operation);
    if (workers.length > 1 && routeOf(envelope)?.pools.includes(this.#pool)) return this.#refuseCircle(envelope);
    // Each part has the time of the whole, which abandons them when it is over.
    if (envelope.pattern === "ask") {
      const isForOutside = servesOutside(envelope);
      const make = (worker: Cell, settle: (outcome: Outcome) => void): PendingAsk => {
        const part = new PendingAsk(worker, type, payload, origin, Number.POSITIVE_INFINITY, settle);
        if (isForOutside) part.servesOutside = true;
        return part;
      };
      return this.#fanOut(envelope, workers, operation, this.#isFirstWinning, make);
    }
    if (envelope.canWait) {
      const make = (worker: Cell, settle: (outcome: Outcome) => void): PendingOffer =>
        new PendingOffer(worker, type, payload, origin, { timeout: Number.POSITIVE_INFINITY }, settle);
      return this.#fanOut(envelope, workers, operation, false, make);
    }
    for (const worker of workers) {
      const part = new Tell(type, payload, origin);
      copyRoute(envelope, part);
      worker.accept(part, operation);
    }
    return null;
  }

  /** Each round would make `size` copies of each copy: `maxHops` bounds the rounds, and not the copies. */
  #refuseCircle(envelope: Envelope): DeliveryError {
    this.#pool.environment.counts.accepted++;
    return this.#pool.refuse(
      envelope,
      deliveryError("no-recipient", new EnvelopeSource(envelope, this.#pool), "multiplied"),
    );
  }

  #fanOut(
    envelope: Envelope,
    workers: readonly Cell[],
    operation: Operation | null,
    isFirstWinning: boolean,
    make: (worker: Cell, settle: (outcome: Outcome) => void) => PendingAsk | PendingOffer,
  ): DeliveryError | null {
    const fan: Fan = { parts: [], outcomes: workers.map(() => null), isFirstWinning };
    workers.forEach((worker, index) => {
      const part = make(worker, (outcome) => this.#settle(envelope, fan, index, outcome));
      copyRoute(envelope, part);
      fan.parts.push(part);
    });
    this.#fans.set(envelope, fan);
    for (const [index, worker] of workers.entries()) {
      const part = fan.parts[index];
      if (part?.isWaiting) handTo(worker, part, operation);
    }
    return null;
  }

  #settle(envelope: Envelope, fan: Fan, index: number, outcome: Outcome): void {
    const { parts, outcomes, isFirstWinning } = fan;
    outcomes[index] = outcome;
    if (this.#fans.get(envelope) !== fan) return; // It has come back already.
    const isDecisive = isFirstWinning === outcome.isOk();
    if (!isDecisive && outcomes.includes(null)) {
      // One that could have answered will not: those that are left may wait for the asker.
      if (envelope instanceof PendingAsk && envelope.waiter !== null) lookForCircle(envelope.waiter);
      return;
    }
    this.#fans.delete(envelope);
    // The others need not answer any more where one is enough; of a broadcast, all are to handle it.
    if (isFirstWinning) for (const part of parts) if (part.isWaiting) part.cancel(ANSWERED);
    const decided = isDecisive ? outcome : (outcomes[0] ?? outcome);
    if (decided.isErr()) envelope.fail(decided.error);
    else if (envelope.pattern === "ask") envelope.complete(decided.value);
    else envelope.admitted();
  }

  recipients(wait: Wait | null): Recipients {
    const isOneEnough = this.#isFirstWinning;
    if (wait === null) return { parts: usable(this.#workers).map((cell) => ({ cell, wait: null })), isOneEnough };
    for (const [envelope, { parts }] of this.#fans) {
      if (!isOf(wait, envelope)) continue;
      const open = parts.filter((part): part is PendingAsk => part.isWaiting && part instanceof PendingAsk);
      return { parts: open.map((part) => ({ cell: part.cell, wait: part })), isOneEnough };
    }
    return { parts: [], isOneEnough };
  }

  abandon(envelope: Envelope, error: DeliveryError): void {
    const fan = this.#fans.get(envelope);
    if (fan === undefined) return;
    this.#fans.delete(envelope);
    for (const part of fan.parts) part.endWith(error);
  }
}
