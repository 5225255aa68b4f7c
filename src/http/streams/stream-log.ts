import type { ActorStream, Clock, ClockTimer } from "../../index";
import type { EventLog, LoggedEvent } from "../contract";
import type { Problem } from "../problem";
import type { Encoder } from "./event-format";
import { ticks } from "./event-response";

/** The bounds of a log. */
export interface LogLimits {
  /** Milliseconds that it is kept after its last reader has left. */
  readonly for: number;
  readonly items: number;
  readonly bytes: number;
}

/** Events that are worth a chunk. */
const MANY = 512;

/** One reader of a log, who holds the events that it has not read. */
export interface Follower {
  /** The id of the last event that it has read. */
  at: number;
  leave(): void;
}

class LogFollower implements Follower {
  readonly #on: { readonly read: () => void; readonly left: () => void };
  #at: number;

  constructor(after: number, on: { readonly read: () => void; readonly left: () => void }) {
    this.#at = after;
    this.#on = on;
  }

  get at(): number {
    return this.#at;
  }

  set at(id: number) {
    this.#at = id;
    this.#on.read();
  }

  leave(): void {
    this.#on.left();
  }
}

/**
 * The log of one stream, in memory. It reads the items of its stream while there is room. Events that each reader has are kept until
 * they fill half of the log, for a client that was cut off before they arrived. While no reader is there, nothing is dropped.
 */
export class StreamLog implements EventLog {
  isEnded = false;
  last = 0;
  readonly #clock: Clock;
  readonly #limits: LogLimits;
  readonly #encoder: Encoder;
  readonly #items: ActorStream<unknown>;
  readonly #problemOf: (thrown: unknown) => Problem;
  readonly #onExpiry: () => void;
  readonly #onEnd: () => void;
  /** Those from `#first` on, in arrays: in a Map an event cost three times as much. */
  readonly #events: LoggedEvent[] = [];
  /** For each of them, the bytes of all events up to it. */
  readonly #totals: number[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #followers = new Set<Follower>();
  #first = 1;
  #total = 0;
  #dropped = 0;
  #onRoom: (() => void) | null = null;
  #expiry: ClockTimer | null = null;
  #isClosed = false;
  /** True once it was closed before its end: what is there must not look like all of it. */
  #isCut = false;

  constructor(
    clock: Clock,
    limits: LogLimits,
    encoder: Encoder,
    items: ActorStream<unknown>,
    /** Called when the stream has failed. */
    problemOf: (thrown: unknown) => Problem,
    on: { readonly end: () => void; readonly expiry: () => void },
  ) {
    this.#clock = clock;
    this.#limits = limits;
    this.#encoder = encoder;
    this.#items = items;
    this.#problemOf = problemOf;
    this.#onEnd = on.end;
    this.#onExpiry = on.expiry;
  }

  /** The number of readers that follow it now. */
  get followers(): number {
    return this.#followers.size;
  }

  read(after: number, most: number): readonly LoggedEvent[] | "gone" {
    if (after < this.#first - 1 || this.#isCut) return "gone";
    const start = after + 1 - this.#first;
    return this.#events.slice(start, start + most);
  }

  changed(after: number, signal: AbortSignal): Promise<void> {
    if (this.last > after || this.isEnded || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake);
    });
  }

  /** Adds a reader, who has all events up to an id. */
  follow(after: number): Follower {
    this.#expiry?.cancel();
    const follower = new LogFollower(after, {
      read: () => this.#makeRoom(),
      left: () => {
        if (this.#followers.delete(follower) && this.#followers.size === 0) this.#expireLater();
      },
    });
    this.#followers.add(follower);
    this.#makeRoom();
    return follower;
  }

  /** Reads the stream to its end. Its first step is read already. */
  async run(first: Promise<IteratorResult<unknown, undefined>>): Promise<void> {
    const add = (data: string, event?: string): void => this.#add(data, event);
    try {
      for (let step = await first; step.done !== true; step = await this.#items.next()) {
        if (this.isEnded) return;
        this.#encoder.item(step.value, add);
        while (!this.#isFull) {
          const ready = this.#items.ready(1);
          if (ready.length === 0) break;
          this.#encoder.item(ready[0], add);
        }
        this.#wake();
        if (this.#isFull) await this.#room();
        if (this.isEnded) return;
      }
      if (this.isEnded) return;
      this.#encoder.end(add);
    } catch (thrown) {
      if (this.isEnded) return;
      void this.#items.return(); // An item could not be written.
      this.#encoder.error(this.#problemOf(thrown), add);
    }
    this.#end();
  }

  /** Resolves when no more items come at once, or there are some hundred. */
  async filled(): Promise<void> {
    for (let before = -1; this.last > before && this.last < MANY && !this.isEnded; ) {
      before = this.last;
      await ticks();
    }
  }

  /** Ends the stream before its end. Readers get the problem as the last event. */
  stop(problem: Problem): void {
    if (this.isEnded) return;
    void this.#items.return();
    this.#encoder.error(problem, (data, event) => this.#add(data, event));
    this.#end();
  }

  /** Frees what it holds. Readers have left, or get no more. */
  close(): void {
    this.#isClosed = true;
    this.#expiry?.cancel();
    if (!this.isEnded) {
      this.#isCut = true;
      void this.#items.return();
      this.#end();
    }
  }

  #end(): void {
    this.isEnded = true;
    this.#wake();
    this.#onRoom?.(); // Lets go of the loop that waits for room.
    this.#onEnd();
  }

  #add(data: string, event?: string): void {
    const id = ++this.last;
    this.#total += Buffer.byteLength(data);
    this.#events.push(event === undefined ? { id, data } : { id, event, data });
    this.#totals.push(this.#total);
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  get #isFull(): boolean {
    const { items, bytes } = this.#limits;
    const count = this.last - this.#first + 1;
    return count > 0 && (count >= items || this.#total - this.#dropped >= bytes);
  }

  #room(): Promise<void> {
    return new Promise((resolve) => {
      this.#onRoom = resolve;
    });
  }

  #makeRoom(): void {
    this.#drop();
    if (this.#onRoom === null || this.#isFull) return;
    this.#onRoom();
    this.#onRoom = null;
  }

  /** Drops events that each reader has, beyond half of the log. */
  #drop(): void {
    if (this.#followers.size === 0 || this.isEnded) return; // No event comes that needs the room.
    const { items, bytes } = this.#limits;
    let read = Number.POSITIVE_INFINITY;
    for (const { at } of this.#followers) read = Math.min(read, at);
    const had = Math.min(read, this.last) - this.#first + 1;
    const hadBytes = this.#totals[had - 1] ?? this.#dropped;
    let count = 0;
    while (count < had && (had - count > items / 2 || hadBytes - this.#dropped > bytes / 2)) {
      this.#dropped = this.#totals[count++] ?? this.#dropped;
    }
    if (count === 0) return;
    this.#events.splice(0, count);
    this.#totals.splice(0, count);
    this.#first += count;
  }

  #expireLater(): void {
    if (this.#isClosed) return; // A timer would hold all of it for as long again.
    this.#expiry = this.#clock.setTimer(this.#onExpiry, this.#limits.for);
    this.#expiry.unref();
  }
}
