import type { Address } from "../../message/address";
import type { ActorEnvironment, Cell } from "../cell/cell";
import { AWAITING, DRAINING, HANDLING, IDLE, READY, STOPPING } from "../cell/transitions";
import type { Audit } from "../contract";
import { Signal } from "../envelopes/signal";

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
  const { sent, ...counts } = environment.counts;
  return { ...counts, accepted, ...(sent > 0 && { sent }), queued, running }; // Most systems have no transport.
}

/** Messages that wait: in the mailbox, for room in it, or stashed. Counted on demand. */
function queuedIn({ queue, extras }: Cell): number {
  let count = extras?.instance?.stash.length ?? 0;
  for (const envelope of queue ?? []) if (!(envelope instanceof Signal)) count++;
  for (const envelope of extras?.bound?.waiting ?? []) if (!(envelope instanceof Signal)) count++;
  return count;
}

/** Messages that are being handled. A message that its handler has stashed counts as waiting. */
function handledIn({ current, extras }: Cell): number {
  let count = 0;
  if (current !== null && !(current instanceof Signal) && extras?.handling?.passedOn !== "stashed") count++;
  for (const { passedOn } of extras?.concurrency?.running ?? []) if (passedOn !== "stashed") count++;
  return count;
}
