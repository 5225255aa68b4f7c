import type { Clock, ClockTimer } from "../../index";
import type { EventLog, LoggedEvent } from "../contract";
import { type Problem, problemOf } from "../problem";
import { type EventRow, type MessageRow, REQUEST, type SessionRow, type SessionStore } from "./store";

/** An event before it has its number. */
export type NewEvent = Omit<LoggedEvent, "id">;

/** A message that is being answered. */
export interface Running {
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
  /** Milliseconds that streams go on while nobody reads. */
  readonly unread: number;
}

/** Called when streams have gone on for long enough with nobody reading. */
const UNREAD = problemOf("cancelled", "Nobody read the session for a while, so that its streams were ended.");

/**
 * A session that something is done with: it numbers the events, and wakes readers once an event is committed. It is in memory while it
 * has readers, running messages or writes under way, and nothing of it is lost with it.
 */
export class LiveSession {
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

  /** Deletes it with all that it has, once `before` has resolved. */
  async delete(problem: Problem, before: () => Promise<void>): Promise<void> {
    this.isDeleted = true;
    for (const running of this.running.values()) running.stop(problem);
    this.#wake();
    try {
      await before();
      await this.#store.delete(this.row.number);
    } catch (thrown) {
      this.isDeleted = false;
      throw thrown;
    }
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
        for (const running of this.running.values()) running.stop(UNREAD);
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

/** The stored events of a session, or of one of its messages, as a log. */
export class View implements EventLog {
  readonly #session: LiveSession;
  readonly #store: SessionStore;
  readonly #message: MessageRow | null;
  /** The last event of a message that has ended. */
  #end: number | null;

  constructor(session: LiveSession, store: SessionStore, message: MessageRow | null) {
    this.#session = session;
    this.#store = store;
    this.#message = message;
    this.#end = message?.lastEvent ?? null;
  }

  get last(): number {
    const message = this.#message;
    if (message === null) return this.#session.committed;
    const { number } = this.#session.row;
    this.#end ??= this.#session.lastOf(message.number) === undefined ? this.#endOf(number, message) : null;
    return this.#end ?? this.#session.lastOf(message.number) ?? message.firstEvent;
  }

  /** Nothing comes after what is committed, where the message was given up. */
  #endOf(session: number, { number, firstEvent }: MessageRow): number {
    return this.#store.message(session, number)?.lastEvent ?? firstEvent;
  }

  get isEndless(): boolean {
    return this.#message === null;
  }

  get isEnded(): boolean {
    const { isDeleted } = this.#session;
    return isDeleted || (this.#message !== null && this.#session.lastOf(this.#message.number) === undefined);
  }

  read(given: number, most: number): readonly LoggedEvent[] | "gone" {
    const rows = this.rows(given, most);
    if (rows === "gone") return rows;
    return rows.map(({ id, event, data }) => (event === null ? { id, data } : { id, event, data }));
  }

  /** The same, as they are stored. */
  rows(given: number, most: number): readonly EventRow[] | "gone" {
    const session = this.#session;
    const { number } = session.row;
    const message = this.#message;
    const after = message === null ? given : Math.max(given, message.firstEvent);
    if (session.isDeleted || after < session.first - 1) return "gone";
    const rows =
      message === null
        ? this.#store.events(number, after, most)
        : this.#store.eventsOf(number, message.number, after, most);
    // The thread that writes may have committed more than the session has heard of: `last` does not count that yet.
    const { committed } = session;
    return (rows.at(-1)?.id ?? 0) <= committed ? rows : rows.filter(({ id }) => id <= committed);
  }

  /** The last event of its message up to an id; null where that would be the first one, or later. */
  rowUpTo(id: number): EventRow | null | "gone" {
    const session = this.#session;
    const message = this.#message;
    if (message === null) return null;
    const row = this.#store.eventUpTo(session.row.number, message, id);
    return row ?? (session.first - 1 > message.firstEvent ? "gone" : null);
  }

  changed(after: number, signal: AbortSignal): Promise<void> {
    const isNew = (): boolean => this.last > after || this.isEnded || signal.aborted;
    if (isNew()) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        if (!isNew()) return;
        forget();
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const forget = this.#session.waitFor(wake);
      signal.addEventListener("abort", wake);
    });
  }
}
