import type { Address } from "../../message/address";
import type { Few } from "../../runtime/few";
import type { Timeout } from "../../runtime/timer-wheel";
import type { Behaviour, Envelope, Recipient, Relay } from "../contract";
import { type Concurrency, Handling } from "../envelopes/handling";
import { BACKGROUND, Signal } from "../envelopes/signal";
import { ENDED } from "../reasons";
import type { Policy, RestartHistory } from "../supervision";
import type { MailboxBound } from "./admission";
import type { Children, Member } from "./directory";
import { ALIVE, type Restart, RUNNING } from "./transitions";

/** Somebody who is told when an actor has ended. */
interface Watcher {
  tell(error: unknown): void;
}

/** What only some actors need, so that an idle one stays small. */
export class Extras<Self extends Member<Self>> {
  // ——— Of its options
  bound: MailboxBound | null = null;
  concurrency: Concurrency | null = null;
  /** Whether each payload is checked, wherever it comes from. */
  validates = false;
  relay: Relay | null = null;
  /** Of its children. */
  policy: Policy | null = null;
  stashCapacity = 1_000;
  /** What its life is while it is alive: guarded, where each message is looked at. */
  readonly aliveAs: number = ALIVE;
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
  readonly generation: number = 0;
  restarts = 0;
  failed = 0;
  history: RestartHistory | null = null;
  readonly restart: Restart | null = null;
  /** The hook to run next, which comes before any message. */
  readonly hook: Signal | null = null;
  /** True until `onStart` succeeds: `onStop` runs only for an instance that started. */
  readonly isUnstarted: boolean = false;
  /** How far its instance has ended. */
  readonly ending: number = RUNNING;
  readonly isDraining: boolean = false;
  /** Ends the wait for its children, or for the backoff. */
  timer: Timeout | null = null;
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

/** The timers of an instance, as the cell knows them. */
export interface InstanceTimers {
  /** Nothing waits in the mailbox: the time without a message begins. */
  onIdle(): void;
  onBusy(): void;
  cancelAll(): void;
}

/** What one instance of an actor has besides its closure: it ends with a restart. */
export class Instance {
  /** Of the instance; aborts when it ends. */
  lifetime: AbortController | null = null;
  timers: InstanceTimers | null = null;
  /** What it became, and was before. */
  readonly behaviours: Behaviour[] = [];
  readonly watching = new Set<{ end(): void }>();
  stash: Envelope[] = [];
  /** What is asked and read by its context while it handles nothing, as in its factory. */
  background: Handling | null = null;
  /** Whether its timers and watches have ended: what is set later would outlive it. */
  hasEnded = false;

  static ended(): Instance {
    const instance = new Instance();
    instance.hasEnded = true;
    return instance;
  }

  backgroundOf(cell: Recipient, generation: number): Handling {
    if (this.background === null) {
      // It has no message: it stands for the instance, and is never handled.
      this.background = new Handling(cell, new Signal(BACKGROUND, generation, () => undefined));
      if (this.hasEnded) this.background.end(ENDED);
    }
    return this.background;
  }

  /** Ends its timers and its watches, and what it waits for beside its messages. */
  end(): void {
    this.hasEnded = true;
    this.timers?.cancelAll();
    for (const watch of this.watching) watch.end();
    this.background?.end(ENDED);
  }
}
