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

/** Is told when an actor has ended. */
interface Watcher {
  tell(error: unknown): void;
}

/** State that only some actors need, so that an idle one stays small. */
export class Extras<Self extends Member<Self>> {
  // ——— Of its options
  bound: MailboxBound | null = null;
  concurrency: Concurrency | null = null;
  /** True when each payload is checked, wherever it comes from. */
  validates = false;
  relay: Relay | null = null;
  /** The supervision of its children. */
  policy: Policy | null = null;
  stashCapacity = 1_000;
  /** Its life while it is alive: `GUARDED` if each message is checked. */
  readonly aliveAs: number = ALIVE;
  phase = 0;

  // ——— Of the present message, where one at a time is handled
  handling: Handling | null = null;
  onFulfilled: ((value: unknown) => void) | null = null;
  onRejected: ((thrown: unknown) => void) | null = null;

  // ——— Of its life
  children: Children<Self> | null = null;
  /** The state that a restart ends. */
  instance: Instance | null = null;
  /** The number of instances before this one; `restarts` counts those that began after a failure. */
  readonly generation: number = 0;
  restarts = 0;
  failed = 0;
  history: RestartHistory | null = null;
  readonly restart: Restart | null = null;
  /** The hook to run next, which comes before any message. */
  readonly hook: Signal | null = null;
  /** True until `onStart` succeeds: `onStop` runs only for an instance that started. */
  readonly isUnstarted: boolean = false;
  /** The stage of its instance's end. */
  readonly ending: number = RUNNING;
  readonly isDraining: boolean = false;
  /** The limit of its wait for handlers or children, or its backoff. */
  timer: Timeout | null = null;
  /** The failure for which its supervisor stopped it. */
  stopError: { readonly error: unknown } | null = null;
  // Made when the first one comes: empty, they cost each actor that ever awaited 63 bytes.
  whenStopped: Set<() => void> | null = null;
  watchers: Few<Watcher> = null;
}

/** The abort reason of the signals of a stopped actor. */
export const stopReason = (address: Address): DOMException =>
  new DOMException(`The actor ${address} was stopped.`, "AbortError");

/** The error sentence for a timer or a watch that is set after its instance ended. */
export const endedSentence = (address: Address, what: string): string =>
  `This instance of ${address} has ended, by a stop or a restart: ${what} would never be called; set it in onStart or a handler.`;

/** The cell's view of an instance's timers. */
export interface InstanceTimers {
  /** The mailbox is empty: the receive timeout begins. */
  onIdle(): void;
  onBusy(): void;
  cancelAll(): void;
}

/** The state of one instance beside its closure; a restart ends it. */
export class Instance {
  /** Aborts when the instance ends. */
  lifetime: AbortController | null = null;
  timers: InstanceTimers | null = null;
  /** The behaviours before each `become`, the first one first. */
  readonly behaviours: Behaviour[] = [];
  readonly watching = new Set<{ end(): void }>();
  stash: Envelope[] = [];
  /** Holds the asks and reads of its context outside of messages, as in its factory. */
  background: Handling | null = null;
  /** True once its timers and watches have ended: a later one would outlive it. */
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

  /** Ends its timers, its watches, and its waits outside of messages. */
  end(): void {
    this.hasEnded = true;
    this.timers?.cancelAll();
    for (const watch of this.watching) watch.end();
    this.background?.end(ENDED);
  }
}
