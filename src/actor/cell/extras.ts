import type { Address } from "../../message/address";
import type { Few } from "../../runtime/few";
import type { Timeout } from "../../runtime/timer-wheel";
import type { Relay } from "../contract";
import type { Concurrency, Handling } from "../envelopes/handling";
import type { Signal } from "../envelopes/signal";
import type { Policy, RestartHistory } from "../supervision";
import type { Flow } from "./admission";
import type { Children, Member } from "./directory";
import type { Instance } from "./instance";
import { ALIVE } from "./life";

/** Why an actor restarts. */
export interface Restart {
  readonly error: unknown;
  /** How long it waits before that, in milliseconds. */
  readonly delay: number;
  /** Whether it failed beyond its limit. */
  readonly isHeld: boolean;
}

/** Somebody who is told when an actor has ended. */
interface Watcher {
  tell(error: unknown): void;
}

/** What only some actors need, so that an idle one stays small. */
export class Extras<Self extends Member<Self>> {
  // ——— Of its options
  flow: Flow | null = null;
  concurrency: Concurrency | null = null;
  /** Whether each payload is checked, wherever it comes from. */
  validates = false;
  relay: Relay | null = null;
  /** Of its children. */
  policy: Policy | null = null;
  stashCapacity = 1_000;
  /** What its life is while it is alive: guarded, where each message is looked at. */
  aliveAs = ALIVE;
  phase = 0;

  // ——— Of the present message, where one at a time is handled
  handling: Handling | null = null;
  onFulfilled: ((value: unknown) => void) | null = null;
  onRejected: ((thrown: unknown) => void) | null = null;

  // ——— Of its life
  children: Children<Self> | null = null;
  /** What ends with a restart. */
  instance: Instance | null = null;
  /** How many instances there were before this one, and how many of these it had begun anew. */
  generation = 0;
  restarts = 0;
  failed = 0;
  history: RestartHistory | null = null;
  restart: Restart | null = null;
  /** The hook to run next, which comes before any message. */
  hook: Signal | null = null;
  /** Whether its `onStart` has not come to a good end yet, so that no `onStop` is due. */
  isUnstarted = false;
  /** Whether its instance has ended: its `onStop` has run. */
  hasEnded = false;
  isDraining = false;
  /** Ends the wait for its children, or for the backoff. */
  timer: Timeout | null = null;
  isStoppingChildren = false;
  isWaitingForHandlers = false;
  /** Why its supervisor stopped it. */
  stopError: { readonly error: unknown } | null = null;
  // Made when the first one comes: empty, they cost each actor that ever awaited 63 bytes.
  whenStopped: Set<() => void> | null = null;
  watchers: Few<Watcher> = null;
}

/** What the signals of an actor that is stopped are aborted with. */
export const stopReason = (address: Address): DOMException =>
  new DOMException(`The actor ${address} was stopped.`, "AbortError");

/** Why nothing that ends with an instance can begin after its end. */
export const endedSentence = (address: Address, what: string): string =>
  `This instance of ${address} has ended, by a stop or a restart: ${what} would never be called; set it in onStart or a handler.`;
