import { MailboxBound } from "../actor/cell/admission";
import type { Cell } from "../actor/cell/cell";
import { guardLater } from "../actor/cell/transitions";
import type { Envelope, Recipient, Recipients, Relay } from "../actor/contract";
import { EnvelopeSource } from "../actor/envelopes/envelope";
import { Signal } from "../actor/envelopes/signal";
import { handTo } from "../actor/refs/sending";
import { asDetail, quote } from "../message/address";
import { type DeliveryError, deliveryError } from "../message/delivery-error";
import { sentenceOf } from "../message/sentence-of";
import type { Operation } from "../protocol/protocol";
import { hearRejection, isThenable } from "../runtime/thenable";

/** Chooses one of at least one worker for a message. */
export type Choice = (workers: readonly Cell[], type: string, payload: unknown) => Cell;

type KeyOf = (operation: string, payload: unknown) => string | number;

const isUsable = (worker: Cell): boolean => !worker.isEnding;

/** The workers that can be sent to; the same list while none has stopped. */
export function usable(workers: readonly Cell[]): readonly Cell[] {
  return workers.every(isUsable) ? workers : workers.filter(isUsable);
}

/** Chooses each worker in turn. */
export function inTurn(): Choice {
  let turn = 0;
  return (workers) => {
    turn = turn + 1 < workers.length ? turn + 1 : 0;
    return at(workers, turn);
  };
}

/** Chooses the worker with the fewest messages that wait or run; several such take turns. */
export function leastBusy(): Choice {
  let turn = 0;
  return (workers) => {
    turn = turn + 1 < workers.length ? turn + 1 : 0;
    let found = at(workers, turn);
    let least = loadOf(found);
    for (let i = 1; i < workers.length && least > 0; i++) {
      const worker = at(workers, (turn + i) % workers.length);
      const load = loadOf(worker);
      if (load >= least) continue;
      found = worker;
      least = load;
    }
    return found;
  };
}

/**
 * A worker's load, in constant time: the workers of such a pool have a bound, which counts the messages in the mailbox.
 * The load of a pool is that of its own workers.
 */
function loadOf({ relay, extras, current }: Cell): number {
  if (relay !== null) return relay.load ?? 0;
  return (
    (extras?.bound?.size ?? 0) +
    (extras?.bound?.waiting.size ?? 0) +
    (extras?.concurrency?.running.size ?? 0) +
    (current === null ? 0 : 1)
  );
}

export const loadOfAll = (workers: readonly Cell[]): number => workers.reduce((sum, worker) => sum + loadOf(worker), 0);

/** Makes the load of a worker readable in constant time; it may have begun, and have messages. */
export function count(worker: Cell): void {
  if (worker.isStopped || worker.relay !== null || worker.extra.bound !== null) return;
  const bound = new MailboxBound(Number.POSITIVE_INFINITY, "reject");
  for (const envelope of worker.queue ?? []) if (!(envelope instanceof Signal)) bound.size++;
  worker.extra.bound = bound;
  guardLater(worker);
}

/**
 * Chooses the same worker for the same key while that worker lives, by rendezvous hashing (D. G. Thaler and C. V.
 * Ravishankar, "Using Name-Based Mappings to Increase Hit Rates", IEEE/ACM Transactions on Networking 6(1), 1998). The keys of
 * a worker that has stopped are spread over the others, and no other key moves.
 */
export function byKey(pool: Cell, keyOf: KeyOf): Choice {
  return (workers, type, payload) => {
    const hash = Bun.hash.xxHash32(keyFor(pool, keyOf, type, payload));
    let found = at(workers, 0);
    let highest = -1;
    for (const worker of workers) {
      const weight = mix(hash ^ Bun.hash.xxHash32(worker.address));
      if (weight <= highest) continue;
      found = worker;
      highest = weight;
    }
    return found;
  };
}

/** The key as a text. An error of the key function is logged, because a tell must not throw (P4). */
function keyFor(pool: Cell, keyOf: KeyOf, type: string, payload: unknown): string {
  try {
    const key: unknown = keyOf(type, payload);
    if (!isThenable(key)) return String(key);
    hearRejection(key, () => {});
    throw new TypeError("it returned a promise");
  } catch (thrown) {
    const { environment, address } = pool;
    if (environment.logLimit.admit()) {
      environment.logger.error(
        `The key of ${quote(type)} to the pool ${address} could not be told (${asDetail(sentenceOf(thrown))}); it goes where an empty one goes.`,
        { cause: thrown },
      );
    }
    return "";
  }
}

/** The finalizer of MurmurHash3 (A. Appleby, public domain): each bit changes all others. */
function mix(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

const at = (workers: readonly Cell[], index: number): Cell => workers[index] as Cell; // Callers keep the index in range.

/** The workers of a pool. */
export interface Staff {
  /** Replaced as a whole when a worker comes or goes: a message may be on its way over the list. */
  list: readonly Cell[];
  /** True when workers are references that come and go; false when they are the pool's own, which stops after the last. */
  readonly isOpen: boolean;
}

/** The one actor that gets a message for a worker: a worker may be a pool itself. */
export const withinWorker = (worker: Cell, type: string, payload: unknown): Recipient =>
  worker.relay === null ? worker : (worker.relay.pick(type, payload) ?? worker);

/** Hands each message to one worker. */
export class ToOne implements Relay {
  readonly #pool: Cell;
  readonly staff: Staff;
  readonly #choice: Choice;

  constructor(pool: Cell, staff: Staff, choice: Choice) {
    this.#pool = pool;
    this.staff = staff;
    this.#choice = choice;
  }

  get load(): number {
    return loadOfAll(this.staff.list);
  }

  pick(type: string, payload: unknown): Recipient | null {
    const workers = usable(this.staff.list);
    return workers.length === 0 ? null : withinWorker(this.#choice(workers, type, payload), type, payload);
  }

  accept(envelope: Envelope, operation: Operation | null | undefined): DeliveryError | null {
    const worker = operation === undefined ? null : this.pick(envelope.type, envelope.payload);
    return worker === null
      ? refuseAll(this.#pool, this.staff, envelope, operation)
      : handTo(worker, envelope, operation);
  }

  /** Any of its workers may get the next ask. */
  recipients(): Recipients {
    return { parts: usable(this.staff.list).map((cell) => ({ cell, wait: null })), isOneEnough: true };
  }
}

/** Refuses an envelope that no worker can take. */
export function refuseAll(
  pool: Cell,
  { isOpen }: Staff,
  envelope: Envelope,
  operation: Operation | null | undefined,
): DeliveryError {
  pool.environment.counts.accepted++;
  const source = new EnvelopeSource(envelope, pool);
  if (operation === undefined) return pool.refuse(envelope, deliveryError("unknown-operation", source));
  return pool.refuse(
    envelope,
    isOpen ? deliveryError("no-recipient", source, "no-worker") : deliveryError("stopped", source),
  );
}
