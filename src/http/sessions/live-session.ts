import type { Clock, ClockTimer } from "../../index";
import type { LoggedEvent } from "../contract";
import { type Problem, problemOf } from "../problem";
import { View, type Viewed } from "./session-view";
import { type MessageRow, REQUEST, type SessionRow, type SessionStore } from "./store";
import { WriteError } from "./writer";

/** An event before it has its number. */
export type NewEvent = Omit<LoggedEvent, "id">;

/** A message that is being answered. */
export interface Running {
  /** False for an ask, which has a time of its own. */
  readonly isStream: boolean;
  /** Ends it before its end. Its readers get the problem as the last event. */
  stop(problem: Problem): void;
  /** True for a message that a chat of the AI SDK's hooks waits for. */
  answers(chat: string): boolean;
  /** Resolves once its last event is committed, or was given up. */
  readonly done: Promise<void>;
}

/** The limits of a session. */
export interface SessionLimits {
  /** Most events that are kept. */
  readonly events: number;
  /** Milliseconds that streams go on while nobody reads, and no message comes. */
  readonly unread: number;
}

/** Called when streams have gone on for long enough with nobody reading. */
const UNREAD = problemOf("cancelled", "Nobody read the session for a while, so that its streams were ended.");

/**
 * A session that something is done with: it numbers the events, and wakes readers once an event is committed. It is in memory while it
 * has readers, running messages or writes under way, and nothing of it is lost with it.
 */
export class LiveSession implements Viewed {
  readonly row: SessionRow;
  readonly running = new Map<number, Running>();
  /** Messages that are being stored, by their idempotency key, or by a symbol where they have none. */
  readonly beginning = new Map<string | symbol, Promise<MessageRow>>();
  /** True while it is deleted, and from then on. */
  isDeleted = false;
  /** The oldest event that can be read. Set before older ones are deleted, so that nobody reads over a gap. */
  first: number;
  /** The last event that is committed. */
  committed: number;
  readonly #store: SessionStore;
  readonly #clock: Clock;
  readonly #limits: SessionLimits;
  readonly #onUnused: () => void;
  readonly #waiting = new Set<() => void>();
  readonly #followers = new Set<Follower>();
  readonly #lastOf = new Map<number, number>();
  /** Messages without a stored end, because it was to be deleted then. */
  readonly #cut = new Set<number>();
  #last: number;
  #lastMessage: number;
  #uses = 0;
  #unread: ClockTimer | null = null;
  #onRoom: (() => void)[] = [];

  constructor(
    row: SessionRow,
    store: SessionStore,
    clock: Clock,
    limits: SessionLimits,
    /** Called when nothing is done with it any more. */
    onUnused: () => void,
  ) {
    this.row = row;
    this.first = row.firstEvent;
    this.committed = row.lastEvent;
    this.#last = row.lastEvent;
    this.#lastMessage = row.lastMessage;
    this.#store = store;
    this.#clock = clock;
    this.#limits = limits;
    this.#onUnused = onUnused;
  }

  // ——— Keeping it in memory

  enter(): void {
    this.#uses++;
  }

  leave(): void {
    if (--this.#uses === 0) this.#onUnused();
  }

  // ——— Writing

  /** Begins a message, and resolves once its request is stored. */
  async begin(request: string, key: string | null): Promise<MessageRow> {
    const number = ++this.#lastMessage;
    const firstEvent = this.#last + 1;
    const start = this.#store.begin(this.row.number, number, key, firstEvent);
    await this.#write(number, [{ event: REQUEST, data: request }], [start]);
    return { number, firstEvent, lastEvent: null };
  }

  /** Appends events of a message, and resolves once they are committed. Readers see them then, and not before. */
  async append(message: number, events: readonly NewEvent[], isEnd: boolean): Promise<void> {
    if (this.isDeleted && isEnd) this.cut(message);
    const last = this.#last + events.length;
    await this.#write(message, events, isEnd ? [this.#store.end(this.row.number, message, last)] : []);
  }

  async #write(message: number, events: readonly NewEvent[], more: ReturnType<SessionStore["trim"]>): Promise<void> {
    if (this.isDeleted) return; // Its rows are being deleted: none comes after that.
    const numbered = events.map((event): LoggedEvent => ({ id: ++this.#last, ...event }));
    const last = this.#last;
    const rows = [...more, ...this.#store.append(this.row.number, message, this.#lastMessage, numbered)];
    const most = this.#limits.events;
    if (last - this.first + 1 > most + most / 10) {
      this.first = last - most + 1;
      rows.push(...this.#store.trim(this.row.number, this.first));
    }
    await this.#store.write(rows, () => this.#store.events(this.row.number, last - 1, 1)[0]?.id === last);
    // A number that was given to an event which could not be written is never used again.
    if (last > this.committed) this.committed = last;
    this.#lastOf.set(message, last);
    this.#wake();
  }

  /** The number of messages that it got so far. */
  get lastMessage(): number {
    return this.#lastMessage;
  }

  /** Events from before a time are about to be deleted: nobody reads them any more. */
  forget(before: number): void {
    this.first = Math.max(this.first, this.#store.firstSince(this.row.number, before) ?? this.committed + 1);
  }

  add(message: number, running: Running): void {
    this.enter();
    this.running.set(message, running);
    this.#unread?.cancel(); // Its client is there.
    this.#unread = null;
    this.#readersChanged();
  }

  /** A message has ended: its last event is committed. */
  remove(message: number): void {
    this.running.delete(message);
    this.#lastOf.delete(message);
    this.#readersChanged();
    this.#wake();
    this.leave();
  }

  /** Deletes it with all that it has, once `before` has resolved. Where that fails it stays, and its messages end with the problem. */
  async delete(problem: Problem, before: () => Promise<void>): Promise<void> {
    this.isDeleted = true;
    for (const running of this.running.values()) running.stop(problem);
    this.#wake();
    try {
      await before();
      await this.#store.delete(this.row.number);
    } catch (thrown) {
      this.isDeleted = false;
      await this.#endCut(problem);
      throw thrown;
    }
  }

  /** Notes a message that ends without a stored end, because the session is being deleted. */
  cut(message: number): void {
    this.#cut.add(message);
  }

  async #endCut(problem: Problem): Promise<void> {
    for (const message of this.#cut) {
      this.#cut.delete(message);
      try {
        await this.append(message, [{ event: "error", data: JSON.stringify(problem) }], true);
      } catch (thrown) {
        if (!(thrown instanceof WriteError)) throw thrown; // The next start ends what cannot be stored now.
      } finally {
        this.#lastOf.delete(message);
      }
    }
    this.#wake();
  }

  // ——— Reading

  /** The last event of a message that is committed; undefined once the message has ended. */
  lastOf(message: number): number | undefined {
    return this.#lastOf.get(message);
  }

  /** The events of all messages, or those of one without its request. */
  view(message: MessageRow | null): View {
    return new View(this, this.#store, message);
  }

  /** Adds a reader of a view, who has all events up to an id. */
  follow(view: View, after: number): Follower {
    const follower = new Follower(view, after, (hasLeft) => {
      if (hasLeft) this.#followers.delete(follower);
      this.#readersChanged();
      if (hasLeft) this.leave();
    });
    this.enter();
    this.#followers.add(follower);
    this.#readersChanged();
    return follower;
  }

  waitFor(wakeUp: () => void): () => void {
    this.#waiting.add(wakeUp);
    return () => this.#waiting.delete(wakeUp);
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /**
   * Resolves once no reader has anything left to read in the older half of what is kept, so that none loses events for being slow; or when
   * the message has been given up.
   */
  async room(isOver: () => boolean): Promise<void> {
    while (this.#isCrowded && !isOver()) await new Promise<void>((resolve) => this.#onRoom.push(resolve));
  }

  /** Lets messages look again whether they go on. */
  letGo(): void {
    for (const resolve of this.#onRoom.splice(0)) resolve();
  }

  get #isCrowded(): boolean {
    for (const { at, view } of this.#followers) {
      if (view.last > at && this.committed - at > this.#limits.events / 2) return true;
    }
    return false;
  }

  /** Called when a reader has read on, come or left, and when a message begins or ends. */
  #readersChanged(): void {
    if (this.#onRoom.length > 0 && !this.#isCrowded) this.letGo();
    if (this.#followers.size > 0 || this.running.size === 0) {
      this.#unread?.cancel();
      this.#unread = null;
    } else if (this.#unread === null && this.#limits.unread !== Number.POSITIVE_INFINITY) {
      this.#unread = this.#clock.setTimer(() => {
        this.#unread = null;
        for (const running of this.running.values()) if (running.isStream) running.stop(UNREAD);
      }, this.#limits.unread);
      this.#unread.unref();
    }
  }
}

/** One reader of a view. */
export class Follower {
  readonly view: View;
  readonly #onChange: (hasLeft: boolean) => void;
  #at: number;
  #hasLeft = false;

  constructor(view: View, after: number, onChange: (hasLeft: boolean) => void) {
    this.view = view;
    this.#at = after;
    this.#onChange = onChange;
  }

  /** The last event that the reader has. */
  get at(): number {
    return this.#at;
  }

  set at(id: number) {
    this.#at = id;
    this.#onChange(false);
  }

  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#onChange(true);
  }
}
