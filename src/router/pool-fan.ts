import type { Result } from "neverthrow";
import type { Cell } from "../actor/cell/cell";
import type { EndReason, Envelope, Fan, Part, Recipient, Recipients, Relay } from "../actor/contract";
import { PartialAsk, PendingAsk } from "../actor/envelopes/ask";
import { lookLater } from "../actor/envelopes/deadlock";
import { EnvelopeSource, fans, type Route, routes, tellFrom } from "../actor/envelopes/envelope";
import { PendingOffer } from "../actor/envelopes/offer";
import { senderOf } from "../actor/envelopes/origin";
import { ANSWERED } from "../actor/reasons";
import { handTo } from "../actor/refs/sending";
import { type DeliveryError, deliveryError } from "../message/delivery-error";
import type { Operation } from "../protocol/protocol";
import { type Choice, inTurn, loadOfAll, refuseAll, type Staff, usable, withinWorker } from "./pool-routing";

type Outcome = Result<unknown, DeliveryError>;

/** A message that went to several workers, and their outcomes so far. */
interface Workers extends Fan {
  readonly parts: (PendingAsk | PendingOffer)[];
  /** The outcome of the first worker. It counts if no other is decisive. */
  first: Outcome | null;
  /** The number of workers without an outcome yet. */
  left: number;
}

/** The route of an envelope that nobody has forwarded. */
const NOWHERE: Route = { hops: [], fits: null, pools: [] };

/** Hands each ask to all workers. The reply is the first answer, or comes when all have answered. */
export class ToAll implements Relay {
  readonly #pool: Cell;
  readonly staff: Staff;
  /** True if one good outcome is decisive; false if one bad outcome is. */
  readonly #isFirstWinning: boolean;
  readonly #choice: Choice = inTurn();

  constructor(pool: Cell, staff: Staff, isFirstWinning: boolean) {
    this.#pool = pool;
    this.staff = staff;
    this.#isFirstWinning = isFirstWinning;
  }

  get load(): number {
    return loadOfAll(this.staff.list);
  }

  /** Picks the one worker of a stream. It must be known, because the reader may wait for that worker and for no other. */
  pick(type: string, payload: unknown): Recipient | null {
    if (this.#pool.operation(type)?.isStream !== true) return null;
    const workers = usable(this.staff.list);
    return workers.length === 0 ? null : withinWorker(this.#choice(workers, type, payload), type, payload);
  }

  accept(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null {
    const workers = usable(this.staff.list);
    if (workers.length === 0 || operation === undefined) return refuseAll(this.#pool, this.staff, envelope, operation);
    const { type, payload, origin } = envelope;
    const goesToOne = envelope.pattern === "stream" || (this.#isFirstWinning && envelope.pattern !== "ask");
    if (goesToOne) return handTo(this.#choice(workers, type, payload), envelope, operation);
    if (workers.length > 1 && routes.get(envelope)?.pools.includes(this.#pool)) return this.#refuseCircle(envelope);
    if (envelope.pattern === "ask" || envelope.canWait) return this.#fanOut(envelope, workers, operation);
    const route = this.#routeOf(envelope);
    for (const worker of workers) {
      const part = tellFrom(type, payload, origin);
      if (route !== undefined) routes.set(part, route);
      worker.accept(part, operation);
    }
    return null;
  }

  /**
   * The route of an envelope's copies. When the workers are references, the route names the pool already now: such a
   * worker is no child of the pool, so nobody could tell later that it forwards the message back.
   */
  #routeOf(envelope: Envelope): Route | undefined {
    const before = routes.get(envelope);
    if (!this.staff.isOpen) return before;
    const { hops, fits, pools } = before ?? NOWHERE;
    return { hops, fits, pools: [...pools, this.#pool] };
  }

  /** Each round would make `size` copies of each copy. `maxHops` limits the rounds, but not the copies. */
  #refuseCircle(envelope: Envelope): DeliveryError {
    this.#pool.environment.counts.accepted++;
    return this.#pool.refuse(
      envelope,
      deliveryError("no-recipient", new EnvelopeSource(envelope, this.#pool), "multiplied"),
    );
  }

  #fanOut(envelope: Envelope, workers: readonly Cell[], operation: Operation | null): DeliveryError | null {
    const { pattern, type, payload, origin } = envelope;
    const parts: Workers["parts"] = [];
    const fan: Workers = {
      parts,
      first: null,
      left: workers.length,
      recipients: () => ({ parts: openOf(parts), isOneEnough: this.#isFirstWinning }),
      abandon: (error) => {
        fans.delete(envelope);
        this.#giveUp(parts, error);
      },
    };
    const route = this.#routeOf(envelope);
    const untimed = { timeout: Number.POSITIVE_INFINITY }; // The whole abandons its parts when its own time is over.
    workers.forEach((worker, index) => {
      const settle = (outcome: Outcome): void => this.#settle(envelope, fan, index, outcome);
      const part =
        pattern === "ask"
          ? new PartialAsk(worker, envelope, settle)
          : new PendingOffer(worker, type, payload, origin, untimed, settle);
      if (route !== undefined) routes.set(part, route);
      parts.push(part);
    });
    fans.set(envelope, fan);
    for (const [index, worker] of workers.entries()) {
      const part = parts[index];
      if (part?.isWaiting) handTo(worker, part, operation);
    }
    // The worker of a worker that gets it is known only now.
    const isNested = this.staff.isOpen && workers.some(({ relay }) => relay !== null);
    if (isNested && envelope instanceof PendingAsk) this.#lookForAsker(envelope);
    return null;
  }

  #settle(envelope: Envelope, fan: Workers, index: number, outcome: Outcome): void {
    if (fans.get(envelope) !== fan) return; // The reply was given already.
    const { parts } = fan;
    const isFirstWinning = this.#isFirstWinning;
    fan.left--;
    if (index === 0) fan.first = outcome;
    const isDecisive = isFirstWinning === outcome.isOk();
    if (!isDecisive && fan.left > 0) {
      // This worker will not answer, and those left may wait for the asker. (A broadcast needed all workers from the start.)
      if (isFirstWinning && envelope instanceof PendingAsk) this.#lookForAsker(envelope);
      return;
    }
    fans.delete(envelope);
    // If one answer is enough, the others need not answer any more. All workers must handle a broadcast.
    if (isFirstWinning) this.#giveUp(parts, ANSWERED);
    const decided = isDecisive ? outcome : (fan.first ?? outcome);
    if (decided.isErr()) envelope.fail(decided.error);
    else if (envelope.pattern === "ask") envelope.complete(decided.value);
    else envelope.admitted();
  }

  /** Looks for a deadlock in the handling that waits for an ask; for a part, which does not know it, in all of its asker's. */
  #lookForAsker(ask: PendingAsk): void {
    const { waiter } = ask;
    if (waiter !== null) lookLater(waiter);
    else for (const handling of senderOf(ask, this.#pool.environment)?.handlings ?? []) lookLater(handling);
  }

  abandon(envelope: Envelope, error: DeliveryError): void {
    fans.get(envelope)?.abandon(error);
  }

  recipients(): Recipients {
    return { parts: usable(this.staff.list).map((cell) => ({ cell, wait: null })), isOneEnough: this.#isFirstWinning };
  }

  /**
   * Gives up the parts that wait. No handler begins them from now on, and their replies come late. Running handlers are told,
   * which is spent from the turn (P5): at once, 10,000 of them held the event loop for 92 ms.
   */
  #giveUp(parts: Workers["parts"], reason: EndReason): void {
    const { settling } = this.#pool.environment;
    for (const part of parts) {
      if (!part.isWaiting) continue;
      const error = part.ended(reason);
      part.fail(error);
      settling.settle(() => part.cell.abandon(part, error), undefined);
    }
  }
}

function* openOf(parts: Workers["parts"]): Iterable<Part> {
  for (const part of parts) if (part.isWaiting && part instanceof PendingAsk) yield { cell: part.cell, wait: part };
}
