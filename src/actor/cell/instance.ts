import type { Behaviour, Envelope, Recipient } from "../contract";
import { Handling } from "../envelopes/handling";
import { BACKGROUND, Signal } from "../envelopes/signal";
import { ENDED } from "../reasons";

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
