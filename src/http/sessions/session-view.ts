import type { EventLog, LoggedEvent } from "../contract";
import type { EventRow, MessageRow, SessionRow, SessionStore } from "./store";

/** The session that a view shows. */
export interface Viewed {
  readonly row: SessionRow;
  /** True while it is deleted, and from then on. */
  readonly isDeleted: boolean;
  /** The oldest event that can be read. */
  readonly first: number;
  /** The last event that is committed. */
  readonly committed: number;
  /** The last event of a message that is committed; undefined once the message has ended. */
  lastOf(message: number): number | undefined;
  /** Calls back when something has changed, until the returned function is called. */
  waitFor(wakeUp: () => void): () => void;
}

/** The stored events of a session, or of one of its messages, as a log. */
export class View implements EventLog {
  readonly #session: Viewed;
  readonly #store: SessionStore;
  readonly #message: MessageRow | null;
  /** The last event of a message that has ended. */
  #end: number | null;

  constructor(session: Viewed, store: SessionStore, message: MessageRow | null) {
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
    if (this.#message !== null)
      return rows.map(({ id, event, data }) => (event === null ? { id, data } : { id, event, data }));
    return rows.map(({ id, message, event, data }) =>
      event === null ? { id, message, data } : { id, message, event, data },
    );
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
