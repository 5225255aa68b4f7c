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
  readonly passivation: Passivation | null;
}

/** The table that an opening belongs to. */
interface Host {
  readonly environment: ActorEnvironment;
  /** Calls a function that opens an address. */
  call(open: Opener, at: Address, id: string): unknown;
  /** Nothing waits any more: messages go to the actor itself from now on. */
  opened(opening: Opening, target: Cell | null): void;
}

/** The reason why the messages that wait are refused. */
interface Refusal {
  readonly kind: "no-recipient" | "unreachable";
  readonly cause: unknown;
}

const NOBODY: Refusal = { kind: "no-recipient", cause: undefined };

/**
 * An address that is being opened, and the messages that wait for its actor, in order. They wait in the mailbox of a cell
 * that never runs, so they time out, are cancelled and are counted as in any mailbox. They are handed over by turns.
 */
export class Opening implements Runnable {
  nextReady: Runnable | null = null;
  readonly address: Address;
  /** Stops its actor once that is idle; null when it is never stopped. */
  readonly passivation: Passivation | null;
  readonly #host: Host;
  readonly #open: Opener;
  readonly #capacity: number;
  /** Made for the first message that has to wait. */
  #cell: Cell | null = null;
  /** The work of its next turn; `wait` while something else has to happen first. */
  #step: "wait" | "ask" | "deliver" | "refuse" | "done" = "wait";
  #isScheduled = false;
  /** The number of the present call of the function: the outcome of an earlier one comes too late. */
  #call = 0;
  #limit: Timeout | null = null;
  #target: Cell | null = null;
  #refusal: Refusal = NOBODY;
  /** Messages handed over since the function was called last. */
  #delivered = 0;
  /** Messages to refuse: those that waited when the refusing began. */
  #toRefuse = 0;

  constructor(host: Host, at: Address, { open, waiting, passivation }: Resolver) {
    this.#host = host;
    this.address = at;
    this.passivation = passivation;
    this.#open = open;
    this.#capacity = waiting;
  }

  /** The recipient of the messages that wait. */
  get cell(): Cell {
    this.#cell ??= waitingCell(this.#host.environment, this.address, this.#capacity);
    return this.#cell;
  }

  /** The number of messages that wait. */
  get size(): number {
    return this.#cell?.extras?.bound?.size ?? 0;
  }

  /** Calls the function in the next turn, or once the last actor at the address has stopped. */
  begin(last: Cell | undefined): void {
    this.#step = "ask";
    if (last === undefined || last.isStopped || last.address !== this.address) {
      this.#schedule();
      return;
    }
    this.#step = "wait";
    const { extra } = last;
    extra.whenStopped ??= new Set();
    extra.whenStopped.add(() => {
      if (this.#step === "wait") this.begin(undefined);
    });
  }

  /** Calls the function now. Returns the recipient of a message that comes at this moment, if there is one. */
  beginNow(): Recipient | undefined {
    this.#ask();
    if (this.#step === "done") return undefined;
    const isEmpty = this.size === 0;
    if (isEmpty && this.#step === "deliver") {
      this.#end();
      return this.#target ?? undefined;
    }
    if (isEmpty && this.#step === "refuse" && this.#refusal === NOBODY) {
      this.#end();
      return undefined;
    }
    this.#goOn();
    return this.cell;
  }

  run(limit: number): number {
    this.#isScheduled = false;
    switch (this.#step) {
      case "ask":
        this.#ask();
        this.#goOn();
        return 1;
      case "deliver":
        return this.#deliver(limit);
      case "refuse":
        return this.#refuse(limit);
      default:
        return 0;
    }
  }

  /** The system shuts down: dead-letters what waits. A reference that comes later is left alone. */
  close(): void {
    this.#call++;
    this.#endLimit();
    this.#step = "done";
    for (let next = this.#take(); next !== null; next = this.#take()) this.#return(next, "stopped");
  }

  /** Takes the next step in a turn, if one is due. */
  #goOn(): void {
    if (this.#step === "deliver" || this.#step === "refuse") this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#host.environment.dispatcher.schedule(this);
  }

  // ——— Asking who is to be there

  /** The actor at the address: somebody else may have spawned it meanwhile. */
  get #actor(): Cell | undefined {
    return this.#host.environment.directory.get(this.address);
  }

  #ask(): void {
    const { environment } = this.#host;
    const there = this.#actor;
    if (there !== undefined) {
      if (there.isEnding) this.begin(there);
      else this.#deliverTo(there);
      return;
    }
    this.#step = "wait";
    this.#delivered = 0;
    const call = ++this.#call;
    try {
      const given = this.#host.call(this.#open, this.address, idOf(this.address));
      if (call !== this.#call) hearRejection(given, () => undefined);
      else if (isThenable(given)) environment.enter(() => this.#await(Promise.resolve(given), call));
      else this.#conclude(given);
    } catch (thrown) {
      this.#fail(thrown);
    }
    if (call !== this.#call) this.#step = "done"; // The function has shut the system down.
  }

  #await(given: Promise<unknown>, call: number): void {
    const { hookTimeout, timers } = this.#host.environment;
    if (hookTimeout !== Number.POSITIVE_INFINITY) {
      this.#limit = new Timeout(hookTimeout, () => {
        this.#call++;
        this.#fail(new Error(`the function that opens it did not settle within ${hookTimeout} ms`));
        this.#goOn();
      });
      timers.add(this.#limit);
    }
    given.then(
      (value) => this.#settle(call, () => this.#conclude(value)),
      (thrown) => this.#settle(call, () => this.#fail(thrown)),
    );
  }

  #settle(call: number, outcome: () => void): void {
    if (call !== this.#call) return;
    this.#endLimit();
    outcome();
    this.#goOn();
  }

  #endLimit(): void {
    if (this.#limit !== null) this.#host.environment.timers.remove(this.#limit);
    this.#limit = null;
  }

  #conclude(given: unknown): void {
    if (given === undefined) {
      this.#refuseWith(NOBODY);
      return;
    }
    let target: Cell;
    try {
      target = cellOf(given as AnyRef); // Throws if it is none.
      if (goesByAddress(target)) throw new TypeError("it gave a reference by address, and an actor is wanted");
    } catch (thrown) {
      this.#fail(thrown);
      return;
    }
    this.#deliverTo(target);
  }

  #deliverTo(target: Cell): void {
    this.#target = target;
    this.#step = "deliver";
  }

  #fail(cause: unknown): void {
    const { logger, logLimit } = this.#host.environment;
    if (logLimit.admit()) {
      const { address } = this;
      logger.error(`${address} could not be opened: ${sentenceOf(cause)}`, { address, cause });
    }
    this.#refuseWith({ kind: "unreachable", cause });
  }

  /** Refuses what waits, unless an actor is at the address all the same. */
  #refuseWith(refusal: Refusal): void {
    const there = this.#actor;
    if (there?.isEnding === false) {
      this.#deliverTo(there);
      return;
    }
    this.#target = null;
    this.#refusal = refusal;
    this.#toRefuse = 0;
    this.#step = "refuse";
  }

  // ——— What waits

  #take(): Envelope | null {
    const cell = this.#cell;
    const bound = cell?.extras?.bound ?? null;
    const envelope = cell?.mailbox.take() ?? null;
    if (cell !== null && bound !== null && envelope !== null) release(cell, bound, envelope);
    return envelope;
  }

  #deliver(limit: number): number {
    const target = this.#target;
    let count = 0;
    while (target !== null && count < limit) {
      if (target.isEnding && this.#delivered > 0) {
        this.begin(target); // The next actor gets the rest.
        return count;
      }
      const envelope = this.#take();
      if (envelope === null) {
        this.#end();
        return count;
      }
      count++;
      if (envelope.failure !== null) this.cell.refuse(envelope, envelope.failure);
      else {
        this.#delivered++;
        this.#handOver(target, envelope);
      }
    }
    this.#schedule();
    return count;
  }

  #handOver(target: Cell, envelope: Envelope): void {
    this.#host.environment.counts.accepted--; // The target counts it anew.
    if (handTo(target, envelope, operationFor(target, envelope)) !== null) return;
    // Its sender waits for another actor from now on, which may wait for the sender already (P8).
    if (envelope instanceof PendingAsk && envelope.waiter !== null) lookForCircle(envelope.waiter, envelope);
    else if (envelope instanceof PendingStream && envelope.waiter !== null && envelope.isWaiting)
      readerWaits(envelope, envelope.waiter);
  }

  /** Refuses those that waited when it began. The function is called again for those that came since. */
  #refuse(limit: number): number {
    if (this.#toRefuse === 0) this.#toRefuse = this.size;
    const count = Math.min(limit, this.#toRefuse);
    for (let i = 0; i < count; i++) {
      const envelope = this.#take();
      if (envelope !== null) this.#return(envelope, this.#refusal.kind);
    }
    this.#toRefuse -= count;
    if (this.#toRefuse > 0) this.#schedule();
    else if (this.size > 0) this.begin(undefined);
    else this.#end();
    return count;
  }

  #return(envelope: Envelope, kind: Refusal["kind"] | "stopped"): void {
    const { cell } = this;
    const source = new EnvelopeSource(envelope, cell, "opening");
    const error =
      kind === "unreachable" ? deliveryError(kind, source, this.#refusal.cause) : deliveryError(kind, source);
    cell.refuse(envelope, envelope.failure ?? error);
  }

  #end(): void {
    this.#step = "done";
    this.#host.opened(this, this.#target);
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
