import type { Behaviour, Cell } from "./cell";
import type { Envelope } from "./envelope";
import { ActorTimers } from "./timers";
import type { Watch } from "./watch";

/** What one instance of an actor has besides its closure: it ends with a restart. */
export class Instance {
  /** Of the instance; aborts when it ends. */
  lifetime: AbortController | null = null;
  timers: ActorTimers | null = null;
  /** What it became, and was before. */
  readonly behaviours: Behaviour[] = [];
  readonly watching = new Set<Watch>();
  stash: Envelope[] = [];
  /** Whether its timers and watches have ended: what is set later would outlive it. */
  hasEnded = false;

  static ended(): Instance {
    const instance = new Instance();
    instance.hasEnded = true;
    return instance;
  }

  timersOf(cell: Cell): ActorTimers {
    this.timers ??= new ActorTimers(cell, this);
    return this.timers;
  }

  /** Ends its timers and its watches. */
  end(): void {
    this.hasEnded = true;
    this.timers?.cancelAll();
    for (const watch of this.watching) watch.end();
  }
}
