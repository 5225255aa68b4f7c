import type { Database, Statement } from "bun:sqlite";
import type { Clock } from "../../index";
import type { LoggedEvent } from "../contract";
import { fileAt, MEMORY, type Opened, openDatabase } from "./database";
import { DirectRunner, type Row, ThreadRunner, Writer } from "./writer";

/** A session as it is stored. */
export interface SessionRow {
  /** Its number in the file, which nobody outside sees. */
  readonly number: number;
  readonly id: string;
  readonly owner: string;
  /** JSON. */
  readonly metadata: string;
  /** In milliseconds since 1970. */
  readonly createdAt: number;
  /** The time of its last message. */
  readonly usedAt: number;
  /** The oldest event that is kept. One more than the last one where none is. */
  readonly firstEvent: number;
  /** 0 before the first one. */
  readonly lastEvent: number;
  /** The number of messages that it got so far. */
  readonly lastMessage: number;
}

/** A message of a session as it is stored. Its first event is its request. */
export interface MessageRow {
  readonly number: number;
  readonly firstEvent: number;
  /** Null while it is answered. */
  readonly lastEvent: number | null;
}

/** An event with the message that it belongs to. */
export interface EventRow {
  readonly id: number;
  readonly message: number;
  readonly event: string | null;
  readonly data: string;
}

// The statements of the writer, which are told to its thread by their numbers.
const INSERT_SESSION = 0;
const INSERT_MESSAGE = 1;
const INSERT_EVENT = 2;
const TOUCH = 3;
const END_MESSAGE = 4;
const SET_FIRST = 5;
const AGE = 6;
const PRUNE_EVENTS = 7;
const PRUNE_MESSAGES = 8;
const SET_FIRST_AT = 9;
const DELETE_SESSION = 10;
const DELETE_MESSAGES = 11;
const DELETE_EVENTS = 12;
const FIRST_OF = "(SELECT first_event FROM sessions WHERE number = ?1)";
const WRITES: readonly string[] = [
  "INSERT INTO sessions (number, id, owner, key, metadata, created_at, used_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
  "INSERT INTO messages (session, number, key, first_event) VALUES (?, ?, ?, ?)",
  "INSERT INTO events (session, id, message, at, event, data) VALUES (?, ?, ?, ?, ?, ?)",
  `UPDATE sessions SET last_event = ?2, last_message = ?3, used_at = max(used_at, ?4), first_at = coalesce(first_at, ?4) WHERE number = ?1`,
  "UPDATE messages SET last_event = ?3 WHERE session = ?1 AND number = ?2",
  "UPDATE sessions SET first_event = ?2 WHERE number = ?1",
  `UPDATE sessions SET first_event = coalesce(
    (SELECT id FROM events WHERE session = ?1 AND at >= ?2 ORDER BY id LIMIT 1), last_event + 1) WHERE number = ?1`,
  `DELETE FROM events WHERE session = ?1 AND id < ${FIRST_OF}`,
  `DELETE FROM messages WHERE session = ?1 AND last_event < ${FIRST_OF}`,
  `UPDATE sessions SET first_at =
    (SELECT at FROM events WHERE session = sessions.number AND id = sessions.first_event) WHERE number = ?1`,
  "DELETE FROM sessions WHERE number = ?",
  "DELETE FROM messages WHERE session = ?",
  "DELETE FROM events WHERE session = ?",
];

const SESSION = `SELECT number, id, owner, metadata, created_at AS createdAt, used_at AS usedAt, first_event AS firstEvent,
  last_event AS lastEvent, last_message AS lastMessage FROM sessions`;
const MESSAGE = "SELECT number, first_event AS firstEvent, last_event AS lastEvent FROM messages WHERE session = ?";
const EVENT = "SELECT e.id, e.message, e.event, e.data FROM events AS e";

/** The name of the event that a message begins with: its operation and its payload. */
export const REQUEST = "request";

/** Most sessions that one sweep looks at; the next one follows soon where there were as many. */
const SWEPT = 100;

/**
 * Sessions and their events in a file: one writer, and reads by prepared statements on the main thread, which take some 5 µs and never
 * wait for the writer (WAL).
 */
export class SessionStore {
  readonly writer: Writer;
  readonly #opened: Opened;
  readonly #clock: Clock;
  readonly #byId: Statement<SessionRow, [string]>;
  readonly #byKey: Statement<SessionRow, [string, string]>;
  readonly #page: Statement<SessionRow, [string, string, number]>;
  readonly #count: Statement<{ count: number }, [string]>;
  readonly #message: Statement<MessageRow, [number, number]>;
  readonly #messageByKey: Statement<MessageRow, [number, string]>;
  readonly #events: Statement<EventRow, [number, number, number]>;
  readonly #eventsOf: Statement<EventRow, [number, number, number, number]>;
  readonly #upTo: Statement<EventRow, [number, number, number, number]>;
  readonly #ended: Statement<EventRow, [number, number, number]>;
  readonly #since: Statement<{ id: number }, [number, number]>;
  readonly #unused: Statement<SessionRow, [number, number, number]>;
  readonly #aged: Statement<SessionRow, [number]>;
  #lastNumber: number;
  /** The number of sessions. */
  count: number;

  /**
   * @param died the data of the `error` event that ends each message which the last process did not end.
   * @throws Error when the file cannot be used.
   */
  constructor(given: string, sync: "full" | "normal", clock: Clock, died: string) {
    const path = fileAt(given);
    const opened = openDatabase(path, (database) => endOpenMessages(database, clock.wallTime(), died));
    const { database } = opened;
    this.#opened = opened;
    this.#clock = clock;
    const pragmas = [`PRAGMA synchronous = ${sync}`, "PRAGMA busy_timeout = 1000"];
    this.writer = new Writer(
      path === MEMORY ? new DirectRunner(database, WRITES) : new ThreadRunner({ path, pragmas, statements: WRITES }),
    );
    this.#byId = database.prepare(`${SESSION} WHERE id = ?`);
    this.#byKey = database.prepare(`${SESSION} WHERE owner = ? AND key = ?`);
    this.#page = database.prepare(`${SESSION} WHERE owner = ? AND id < ? ORDER BY id DESC LIMIT ?`);
    this.#count = database.prepare("SELECT count(*) AS count FROM sessions WHERE owner = ?");
    this.#message = database.prepare(`${MESSAGE} AND number = ?`);
    this.#messageByKey = database.prepare(`${MESSAGE} AND key = ?`);
    this.#events = database.prepare(`${EVENT} WHERE e.session = ? AND e.id > ? ORDER BY e.id LIMIT ?`);
    this.#eventsOf = database.prepare(
      `${EVENT} WHERE e.session = ? AND e.id > ? AND e.message = ? AND e.event IS NOT '${REQUEST}' ORDER BY e.id LIMIT ?`,
    );
    this.#upTo = database.prepare(
      `${EVENT} WHERE e.session = ? AND e.id > ? AND e.id <= ? AND e.message = ? ORDER BY e.id DESC LIMIT 1`,
    );
    this.#ended = database.prepare(
      `${EVENT} JOIN messages AS m ON m.session = e.session AND m.number = e.message
        WHERE e.session = ? AND e.id > ? AND m.last_event IS NOT NULL ORDER BY e.id LIMIT ?`,
    );
    this.#since = database.prepare("SELECT id FROM events WHERE session = ? AND at >= ? ORDER BY id LIMIT 1");
    // In the order of its index: in that of their numbers it looked at each session, for 28 ms with 200,000 of them.
    this.#unused = database.prepare(
      `${SESSION} WHERE used_at < ? AND (used_at, number) > (?, ?) ORDER BY used_at, number LIMIT 1`,
    );
    this.#aged = database.prepare(`${SESSION} WHERE first_at < ? ORDER BY first_at LIMIT ${SWEPT}`);
    const totals = database.prepare<{ last: number; count: number }, []>(
      "SELECT coalesce(max(number), 0) AS last, count(*) AS count FROM sessions",
    );
    const { last, count } = totals.get() ?? { last: 0, count: 0 };
    this.#lastNumber = last;
    this.count = count;
  }

  // ——— Reads

  find(id: string): SessionRow | null {
    return this.#byId.get(id);
  }

  findByKey(owner: string, key: string): SessionRow | null {
    return this.#byKey.get(owner, key);
  }

  /** The sessions of an owner, the newest first, that were made before one; at most so many. */
  page(owner: string, before: string, most: number): SessionRow[] {
    return this.#page.all(owner, before, most);
  }

  countOf(owner: string): number {
    return this.#count.get(owner)?.count ?? 0;
  }

  message(session: number, number: number): MessageRow | null {
    return this.#message.get(session, number);
  }

  messageByKey(session: number, key: string): MessageRow | null {
    return this.#messageByKey.get(session, key);
  }

  /** At most so many events, and fewer where they are long: at least one, if there is one. */
  events(session: number, after: number, most: number): EventRow[] {
    return someOf(this.#events.iterate(session, after, most));
  }

  /** The events of a message but for its request. */
  eventsOf(session: number, message: number, after: number, most: number): EventRow[] {
    return someOf(this.#eventsOf.iterate(session, after, message, most));
  }

  /** The last event of a message up to an id, if there is one beside its request. */
  eventUpTo(session: number, { number, firstEvent }: MessageRow, id: number): EventRow | null {
    return this.#upTo.get(session, firstEvent, id, number);
  }

  /** The events of all messages that have ended. */
  endedEvents(session: number, after: number, most: number): EventRow[] {
    return someOf(this.#ended.iterate(session, after, most));
  }

  /** The first event from a time on, if there is one. */
  firstSince(session: number, at: number): number | undefined {
    return this.#since.get(session, at)?.id;
  }

  // ——— Writes. Each resolves once it is committed, and rejects with a WriteError.

  async create(id: string, owner: string, key: string | null, metadata: string): Promise<SessionRow> {
    const at = Math.round(this.#clock.wallTime());
    const number = ++this.#lastNumber;
    await this.write([[INSERT_SESSION, number, id, owner, key, metadata, at, at]], () => this.find(id) !== null);
    this.count++;
    return { number, id, owner, metadata, createdAt: at, usedAt: at, firstEvent: 1, lastEvent: 0, lastMessage: 0 };
  }

  /**
   * Writes rows. A thread that ended by itself may have written them before, which `isThere` says.
   *
   * @throws WriteError (as a rejection) when they could not be written.
   */
  async write(rows: readonly Row[], isThere: () => boolean): Promise<void> {
    try {
      await this.writer.write(rows);
    } catch (thrown) {
      if (!isThere()) throw thrown;
    }
  }

  /** The rows that append events to a session, all of one message. */
  append(session: number, message: number, lastMessage: number, events: readonly LoggedEvent[]): Row[] {
    const at = Math.round(this.#clock.wallTime());
    const rows: Row[] = events.map(({ id, event, data }) => [
      INSERT_EVENT,
      session,
      id,
      message,
      at,
      event ?? null,
      data,
    ]);
    rows.push([TOUCH, session, events.at(-1)?.id ?? 0, lastMessage, at]);
    return rows;
  }

  begin(session: number, message: number, key: string | null, firstEvent: number): Row {
    return [INSERT_MESSAGE, session, message, key, firstEvent];
  }

  end(session: number, message: number, lastEvent: number): Row {
    return [END_MESSAGE, session, message, lastEvent];
  }

  /** Forgets the events before one. */
  trim(session: number, firstEvent: number): Row[] {
    return [[SET_FIRST, session, firstEvent], ...pruning(session)];
  }

  async delete(session: number): Promise<void> {
    await this.writer.write([
      [DELETE_EVENTS, session],
      [DELETE_MESSAGES, session],
      [DELETE_SESSION, session],
    ]);
    this.count--;
  }

  /** The next session after another one that was used last before a time, those that were used first before the others. */
  unused(before: number, after: SessionRow | null): SessionRow | null {
    return this.#unused.get(before, after?.usedAt ?? Number.MIN_SAFE_INTEGER, after?.number ?? 0);
  }

  /** Forgets events from before a time, of a hundred sessions at most. True when there may be more. */
  async age(before: number): Promise<boolean> {
    const aged = this.#aged.all(before);
    const rows = aged.flatMap(({ number }): Row[] => [[AGE, number, before], ...pruning(number)]);
    if (rows.length > 0) await this.writer.write(rows);
    return aged.length === SWEPT;
  }

  /** Writes what is handed in already, and closes the file. */
  async close(): Promise<void> {
    await this.writer.close();
    this.#opened.close();
  }
}

/** Characters of events after which a read takes no more: a hundred events of 5 MB are half a gigabyte. */
const LONG = 65_536;

function someOf(rows: Iterable<EventRow>): EventRow[] {
  const some: EventRow[] = [];
  let length = 0;
  for (const row of rows) {
    some.push(row);
    length += row.data.length;
    if (length >= LONG) break;
  }
  return some;
}

const pruning = (session: number): Row[] => [
  [PRUNE_EVENTS, session],
  [PRUNE_MESSAGES, session],
  [SET_FIRST_AT, session],
];

/** Ends the messages that were being answered when the last process ended. */
function endOpenMessages(database: Database, at: number, data: string): void {
  const open = database.prepare<{ session: number; number: number }, []>(
    "SELECT session, number FROM messages WHERE last_event IS NULL ORDER BY session, number",
  );
  for (const { session, number } of open.all()) {
    database.run("UPDATE sessions SET last_event = last_event + 1, first_at = coalesce(first_at, ?) WHERE number = ?", [
      at,
      session,
    ]);
    const last = "(SELECT last_event FROM sessions WHERE number = ?1)";
    database.run(
      `INSERT INTO events (session, id, message, at, event, data) VALUES (?1, ${last}, ?2, ?3, 'error', ?4)`,
      [session, number, at, data],
    );
    database.run(`UPDATE messages SET last_event = ${last} WHERE session = ?1 AND number = ?2`, [session, number]);
  }
}
