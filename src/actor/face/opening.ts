import { type Address, type AnyRef, idOf } from "../../message/address";
import { deliveryError } from "../../message/delivery-error";
import { sentenceOf } from "../../message/sentence-of";
import type { Runnable } from "../../runtime/dispatcher";
import { hearRejection, isThenable } from "../../runtime/thenable";
import { Timeout } from "../../runtime/timer-wheel";
import { MailboxBound, release } from "../cell/admission";
import { type ActorEnvironment, Cell, cellOf } from "../cell/cell";
import { guard } from "../cell/transitions";
import type { Envelope, Recipient } from "../contract";
import { PendingAsk } from "../envelopes/ask";
import { lookForCircle, readerWaits } from "../envelopes/deadlock";
import { EnvelopeSource } from "../envelopes/envelope";
import { PendingStream } from "../envelopes/stream";
import { handTo, operationFor } from "../refs/sending";
import { goesByAddress } from "./by-address";
import type { Passivation } from "./passivation";

/**
 * Opens an address: gives the reference to its actor, or a promise of it; undefined when nobody is to be there.
 *
 * @param id the text between the parentheses of the address: the name by which `spawn` makes an actor there.
 */
export type Opener = (at: Address, id: string) => AnyRef | undefined | PromiseLike<AnyRef | undefined>;

/** The way to open the addresses below a prefix. */
export interface Resolver {
  readonly prefix: string;
  readonly open: Opener;
  /** Most messages that wait for one address. */
  readonly waiting: number;
  /** Stops its actors once they are idle; null when they are never stopped. */
  readonly passivation: Passivation | null;
}

/** The reason why the messages that wait come back. */
interface Refusal {
  readonly kind: "no-recipient" | "unreachable" | "stopped";
  readonly cause: unknown;
}

const NOBODY: Refusal = { kind: "no-recipient", cause: undefined };
const SHUT_DOWN: Refusal = { kind: "stopped", cause: undefined };

/** True while a function that opens an address runs: the addresses that it sends to are opened in turns of their own. */
let isCalling = false;

/**
 * An address that is being opened, and the messages that wait for its actor, in order. They wait in the mailbox of a cell
 * that never runs, so they time out, are cancelled and are counted as in any mailbox. They are handed over by turns. It
 * asks for an outcome in its first turn, hands out what waits in the next ones, and asks again for what is left.
 */
export class Opening implements Runnable {
  nextReady: Runnable | null = null;
  readonly address: Address;
  readonly #environment: ActorEnvironment;
  readonly #resolver: Resolver;
  /** The openings of its system. It is one of them until it is over. */
  readonly #openings: Map<string, Opening>;
  /** Made for the first message that has to wait. */
  #cell: Cell | null = null;
  /** The actor for the messages that wait, or the reason why they come back; null while neither is known. */
  #outcome: Cell | Refusal | null = null;
  /** Messages that got this outcome. */
  #settled = 0;
  /** Messages that waited when the outcome was known. */
  #waited = 0;
  /** The limit of the promise that the function gave last. The outcome of an earlier one comes too late. */
  #limit: Timeout | null = null;

  constructor(environment: ActorEnvironment, at: Address, resolver: Resolver, openings: Map<string, Opening>) {
    this.#environment = environment;
    this.address = at;
    this.#resolver = resolver;
    this.#openings = openings;
    openings.set(at, this);
  }

  /** The recipient of the messages that wait. */
  get cell(): Cell {
    this.#cell ??= waitingCell(this.#environment, this.address, this.#resolver.waiting);
    return this.#cell;
  }

  /** The number of messages that wait. */
  get size(): number {
    return this.#cell?.extras?.bound?.size ?? 0;
  }

  /**
   * Opens the address for a message that comes at this moment: at once, if nothing else has to happen first. Returns the
   * recipient of that message, if there is one.
   *
   * @param last the last actor at the address, if it has not stopped yet.
   */
  begin(last: Cell | undefined): Recipient | undefined {
    if (last !== undefined || isCalling) {
      this.#askAfter(last);
      return this.cell;
    }
    this.#ask();
    const outcome = this.#outcome;
    if (this.#isOver) return undefined;
    if (this.size > 0 || !(outcome instanceof Cell || outcome === NOBODY)) return this.cell;
    this.#end(outcome);
    return outcome instanceof Cell ? outcome : undefined;
  }

  run(limit: number): number {
    if (this.#isOver) return 0;
    const outcome = this.#outcome;
    if (outcome === null) {
      this.#ask();
      return 1;
    }
    for (let count = 0; count < limit; count++) {
      const envelope = this.#isUsedUp(outcome) ? null : this.#take();
      if (envelope === null) {
        if (this.size === 0) this.#end(outcome);
        else this.#askAfter(outcome instanceof Cell ? outcome : undefined);
        return count;
      }
      this.#settled++;
      if (outcome instanceof Cell && envelope.failure === null) this.#handOver(envelope, outcome);
      else this.#refuse(envelope, outcome instanceof Cell ? NOBODY : outcome);
    }
    this.#schedule();
    return limit;
  }

  /** The system shuts down: dead-letters what waits. A reference that comes later is left alone. */
  close(): void {
    for (let next = this.#take(); next !== null; next = this.#take()) this.#refuse(next, SHUT_DOWN);
    this.#end(SHUT_DOWN);
  }

  get #isOver(): boolean {
    return this.#openings.get(this.address) !== this;
  }

  #end(outcome: Cell | Refusal): void {
    this.#openings.delete(this.address);
    this.#endLimit();
    // Only an actor of this system that was made for the address is stopped when it is idle.
    if (!(outcome instanceof Cell) || outcome.environment !== this.#environment) return;
    const isElsewhere = outcome.relay !== null && outcome.extras?.children === null;
    if (outcome.address === this.address && !isElsewhere) this.#resolver.passivation?.add(outcome);
  }

  #endLimit(): void {
    if (this.#limit !== null) this.#environment.timers.remove(this.#limit);
    this.#limit = null;
  }

  #schedule(): void {
    this.#environment.dispatcher.schedule(this);
  }

  // ——— Asking who is to be there

  /** Asks in the next turn, or once the last actor at the address has stopped. */
  #askAfter(last: Cell | undefined): void {
    this.#outcome = null;
    if (last === undefined || last.isStopped || last.address !== this.address) {
      this.#schedule();
      return;
    }
    last.extra.whenStopped ??= new Set();
    last.extra.whenStopped.add(() => {
      if (!this.#isOver) this.#schedule();
    });
  }

  #ask(): void {
    const there = this.#environment.directory.get(this.address); // Somebody else may have spawned it meanwhile.
    if (there?.isEnding === true) this.#askAfter(there);
    else if (there !== undefined) this.#conclude(there);
    else this.#environment.enter(() => this.#call());
  }

  #call(): void {
    const wasCalling = isCalling;
    isCalling = true;
    try {
      const given: unknown = this.#resolver.open(this.address, idOf(this.address));
      if (this.#isOver)
        hearRejection(given, () => undefined); // The function has shut the system down.
      else if (isThenable(given)) this.#await(given);
      else this.#accept(given);
    } catch (thrown) {
      this.#fail(thrown);
    } finally {
      isCalling = wasCalling;
    }
  }

  #await(given: PromiseLike<unknown>): void {
    const { hookTimeout, timers } = this.#environment;
    const settle = (conclude: () => void): void => {
      if (this.#limit !== limit) return;
      this.#endLimit();
      conclude();
    };
    const limit = new Timeout(hookTimeout, () => {
      const late = new Error(`the function that opens it did not settle within ${hookTimeout} ms`);
      settle(() => this.#fail(late));
    });
    this.#limit = limit;
    if (hookTimeout !== Number.POSITIVE_INFINITY) timers.add(limit);
    Promise.resolve(given).then(
      (value) => settle(() => this.#accept(value)),
      (thrown) => settle(() => this.#fail(thrown)),
    );
  }

  /** Takes what the function gave. */
  #accept(given: unknown): void {
    try {
      const outcome = given === undefined ? NOBODY : cellOf(given as AnyRef); // Throws if it is no reference.
      if (outcome instanceof Cell && goesByAddress(outcome)) {
        throw new TypeError("it gave a reference by address, and an actor is wanted");
      }
      this.#conclude(outcome);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #fail(cause: unknown): void {
    const { logger, logLimit } = this.#environment;
    const { address } = this;
    if (logLimit.admit()) logger.error(`${address} could not be opened: ${sentenceOf(cause)}`, { address, cause });
    this.#conclude({ kind: "unreachable", cause });
  }

  /** Nothing is refused while an actor is at the address all the same. */
  #conclude(outcome: Cell | Refusal): void {
    const there = outcome instanceof Cell ? undefined : this.#environment.directory.get(this.address);
    this.#outcome = there?.isEnding === false ? there : outcome;
    this.#settled = 0;
    this.#waited = this.size;
    this.#schedule();
  }

  // ——— What waits

  /**
   * True when another outcome is due for what is left: the actor stops, or all have come back that waited for a refusal. At
   * least one message gets each outcome: the one that the address is opened for comes after it.
   */
  #isUsedUp(outcome: Cell | Refusal): boolean {
    if (this.#settled === 0) return false;
    return outcome instanceof Cell ? outcome.isEnding : this.#settled >= this.#waited;
  }

  #take(): Envelope | null {
    const cell = this.#cell;
    const bound = cell?.extras?.bound ?? null;
    const envelope = cell?.mailbox.take() ?? null;
    if (cell !== null && bound !== null && envelope !== null) release(cell, bound, envelope);
    return envelope;
  }

  #handOver(envelope: Envelope, target: Cell): void {
    this.#environment.counts.accepted--; // The target counts it anew.
    if (handTo(target, envelope, operationFor(target, envelope)) !== null) return;
    // Its sender waits for another actor from now on, which may wait for the sender already (P8).
    if (envelope instanceof PendingAsk && envelope.waiter !== null) lookForCircle(envelope.waiter, envelope);
    else if (envelope instanceof PendingStream && envelope.waiter !== null && envelope.isWaiting)
      readerWaits(envelope, envelope.waiter);
  }

  #refuse(envelope: Envelope, { kind, cause }: Refusal): void {
    const { cell } = this;
    const source = new EnvelopeSource(envelope, cell, "opening");
    const error = kind === "unreachable" ? deliveryError(kind, source, cause) : deliveryError(kind, source);
    cell.refuse(envelope, envelope.failure ?? error);
  }
}

/** A cell that holds messages and handles none. */
function waitingCell(environment: ActorEnvironment, at: Address, capacity: number): Cell {
  const cell = new Cell(environment, at, null, null, null);
  cell.extra.bound = new MailboxBound(capacity, "reject");
  cell.extra.bound.isProvisional = true;
  guard(cell);
  return cell;
}
