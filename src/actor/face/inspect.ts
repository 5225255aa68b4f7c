import type { Address, AnyRef } from "../../message/address";
import { protocolOf } from "../../protocol/protocol";
import { Burst, Mailbox } from "../../runtime/mailbox";
import type { ActorEnvironment, Cell } from "../cell/cell";
import { AWAITING, DRAINING, HANDLING, IDLE, READY, STOPPING } from "../cell/transitions";
import type { Audit, Envelope } from "../contract";
import { Signal } from "../envelopes/signal";
import { ActorRef } from "../refs/ref";

/** A message that is being handled, or the hook, timer or watch that runs now. */
export interface RunningMessage {
  /** Its operation, or the kind of signal: `onStart`, `timer flush`, `terminated`. */
  readonly operation: string;
  /** The time that its handler has waited so far, in milliseconds; to about one. */
  readonly age: number;
}

/** The state of an actor at the moment of the call. */
export interface ActorReport {
  readonly address: Address;
  /**
   * `starting`: it begins. `idle`: nothing waits. `ready`: its turn will come. `handling`: it runs now. `awaiting`: its
   * handlers wait, as many as may run at once. `restarting` (with its backoff), `draining`, `stopping`: as they say.
   * `held`: it failed beyond its limit, and restarts after a pause.
   */
  readonly state:
    | "starting"
    | "idle"
    | "ready"
    | "handling"
    | "awaiting"
    | "restarting"
    | "held"
    | "draining"
    | "stopping";
  /** Messages that wait: in the mailbox, for room in it, or stashed. */
  readonly queued: number;
  /** Messages handled so far, by all its instances. */
  readonly handled: number;
  /** Messages and hooks that failed so far. */
  readonly failed: number;
  readonly restarts: number;
  /** The running messages: one at most, unless the actor has a `concurrency`. */
  readonly current: readonly RunningMessage[];
  /** In the order in which they were spawned. */
  readonly children: readonly ActorReport[];
}

/** One actor, as `system.actors()` shows it. Each property is read when it is asked for, and none is kept. */
export interface ActorView {
  /** Its reference: the same object as long as the actor lives. */
  readonly ref: AnyRef;
  /** The reference to its parent; undefined for an actor without one. */
  readonly parent: AnyRef | undefined;
  /** Its own name, the end of its address. `ref.address` is written and kept when it is first read; the name costs nothing. */
  readonly name: string;
  /** The name of its protocol; undefined for the handlers of a router. */
  readonly protocol: string | undefined;
  readonly isStopped: boolean;
  /** As in the report of `system.inspect()`; `stopping` once it has stopped. */
  readonly state: ActorReport["state"];
  /** Messages that wait: in the mailbox, for room in it, or stashed. They are counted now. */
  readonly queued: number;
  /** Messages handled so far, by all its instances. */
  readonly handled: number;
  /** Messages and hooks that failed so far. */
  readonly failed: number;
  readonly restarts: number;
  /** The running messages: one at most, unless the actor has a `concurrency`. */
  readonly current: readonly RunningMessage[];
}

/** The index at which the name begins in the address of an actor without a parent. */
const ROOT_LENGTH = "@(".length;

class CellView implements ActorView {
  readonly #cell: Cell;

  constructor(cell: Cell) {
    this.#cell = cell;
  }

  get ref(): AnyRef {
    return this.#cell.ref;
  }
  get parent(): AnyRef | undefined {
    return this.#cell.parent?.ref;
  }
  get name(): string {
    const { ref, parent } = this.#cell;
    return ActorRef.nameBelow(ref, parent === null ? ROOT_LENGTH : parent.addressLength);
  }
  get protocol(): string | undefined {
    const { operations } = this.#cell;
    return operations === null ? undefined : protocolOf(operations);
  }
  get isStopped(): boolean {
    return this.#cell.isStopped;
  }
  get state(): ActorReport["state"] {
    return stateOf(this.#cell);
  }
  get queued(): number {
    return queuedIn(this.#cell);
  }
  get handled(): number {
    return this.#cell.queue?.handled ?? 0;
  }
  get failed(): number {
    return this.#cell.extras?.failed ?? 0;
  }
  get restarts(): number {
    return this.#cell.extras?.restarts ?? 0;
  }
  get current(): readonly RunningMessage[] {
    return runningIn(this.#cell);
  }
}

/** Shows all actors that have not stopped, each before its children. */
export function* viewsOf({ directory }: ActorEnvironment): Generator<ActorView, void> {
  const left = directory.roots().reverse();
  for (let cell = left.pop(); cell !== undefined; cell = left.pop()) {
    if (cell.isStopped) continue; // The loop has waited.
    const children = cell.extras?.children?.all();
    if (children !== undefined)
      for (let index = children.length - 1; index >= 0; index--) left.push(children[index] as Cell); // In range.
    yield new CellView(cell);
  }
}

/** Reports the state of an actor and of its children. */
export function inspect(cell: Cell): ActorReport {
  const { address, extras, queue } = cell;
  return {
    address,
    state: stateOf(cell),
    queued: queuedIn(cell),
    handled: queue?.handled ?? 0,
    failed: extras?.failed ?? 0,
    restarts: extras?.restarts ?? 0,
    current: runningIn(cell),
    children: (extras?.children?.all() ?? []).map(inspect),
  };
}

function runningIn({ current, extras, environment }: Cell): RunningMessage[] {
  const now = environment.clock.monotonicTime();
  const several = [...(extras?.concurrency?.running ?? [])].map(({ envelope, since }) => ({
    operation: envelope.type,
    age: Math.max(now - since, 0),
  }));
  if (current === null) return several;
  const since = extras?.handling?.since ?? -1;
  return [{ operation: current.type, age: since < 0 ? 0 : Math.max(now - since, 0) }, ...several];
}

function stateOf(cell: Cell): ActorReport["state"] {
  const { life, activity, pause } = cell;
  if (pause !== undefined) return pause === "opening" ? "starting" : pause;
  if (life === DRAINING) return "draining";
  if (life >= STOPPING) return "stopping";
  return STATES[activity] ?? "starting";
}

const STATES: Readonly<Record<number, ActorReport["state"]>> = {
  [IDLE]: "idle",
  [READY]: "ready",
  [HANDLING]: "handling",
  [AWAITING]: "awaiting",
};

/**
 * Counts waiting and running messages in the mailboxes and handlers themselves, so that the sum is a proof and not an
 * identity.
 */
export function audit(environment: ActorEnvironment): Audit {
  let { accepted } = environment.counts;
  let queued = environment.resolvers?.queued ?? 0;
  let running = 0;
  for (const cell of environment.directory.all()) {
    accepted += cell.queue?.uncounted ?? 0;
    queued += queuedIn(cell);
    running += handledIn(cell);
  }
  const { sent, restarts: _, ...counts } = environment.counts;
  return { ...counts, accepted, ...(sent > 0 && { sent }), queued, running }; // Most systems have no transport.
}

/** Messages that wait: in the mailbox, for room in it, or stashed. Counted on demand. */
function queuedIn({ queue, extras }: Cell): number {
  let count = queue instanceof Mailbox ? waitingIn(queue) : messagesIn(queue);
  if (extras !== null) count += (extras.instance?.stash.length ?? 0) + messagesIn(extras.bound?.waiting);
  return count;
}

function messagesIn(envelopes: Iterable<Envelope> | null | undefined): number {
  let count = 0;
  for (const envelope of envelopes ?? []) if (!(envelope instanceof Signal)) count++;
  return count;
}

/** Counts what waits in a plain mailbox by its links, and makes no envelopes: a million tells are 8,000 links. */
function waitingIn(mailbox: Mailbox<Envelope>): number {
  let count = 0;
  for (let mail = mailbox.first; mail !== null; mail = mail.next) {
    if (mail instanceof Burst)
      count += mail.write - mail.read; // Signals come in envelopes.
    else if (!(mail instanceof Signal)) count++;
  }
  return count;
}

/** Messages that are being handled. A message that its handler has stashed counts as waiting. */
function handledIn({ current, extras }: Cell): number {
  let count = 0;
  if (current !== null && !(current instanceof Signal) && extras?.handling?.passedOn !== "stashed") count++;
  for (const { passedOn } of extras?.concurrency?.running ?? []) if (passedOn !== "stashed") count++;
  return count;
}
