import { Database } from "bun:sqlite";
import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** Marks a file as ours (`PRAGMA application_id`): the letters "envo". */
const APPLICATION = 0x656e766f;

/**
 * The steps from each version of the schema to the next one, from an empty file on. A step that was released is never changed: a file
 * may have any version.
 */
const MIGRATIONS: readonly string[] = [
  `
    CREATE TABLE sessions (
      number INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      owner TEXT NOT NULL,
      metadata TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      used_at INTEGER NOT NULL,
      first_event INTEGER NOT NULL DEFAULT 1,
      last_event INTEGER NOT NULL DEFAULT 0,
      last_message INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX sessions_of_owner ON sessions (owner, id);
    CREATE TABLE messages (
      session INTEGER NOT NULL,
      number INTEGER NOT NULL,
      first_event INTEGER NOT NULL,
      last_event INTEGER,
      PRIMARY KEY (session, number)
    ) WITHOUT ROWID;
    CREATE INDEX open_messages ON messages (session) WHERE last_event IS NULL;
    CREATE TABLE events (
      session INTEGER NOT NULL,
      id INTEGER NOT NULL,
      message INTEGER NOT NULL,
      at INTEGER NOT NULL,
      event TEXT,
      data TEXT NOT NULL,
      PRIMARY KEY (session, id)
    ) WITHOUT ROWID;
  `,
  `
    ALTER TABLE sessions ADD COLUMN key TEXT;
    ALTER TABLE messages ADD COLUMN key TEXT;
    CREATE UNIQUE INDEX key_of_session ON sessions (owner, key) WHERE key IS NOT NULL;
    CREATE UNIQUE INDEX key_of_message ON messages (session, key) WHERE key IS NOT NULL;
    CREATE INDEX sessions_by_use ON sessions (used_at);
    ALTER TABLE sessions ADD COLUMN first_at INTEGER;
    UPDATE sessions SET first_at = (SELECT at FROM events WHERE session = sessions.number AND id = sessions.first_event);
    CREATE INDEX sessions_by_first ON sessions (first_at) WHERE first_at IS NOT NULL;
  `,
  // Without row numbers, each search of an event passed by others as a whole: beside items of 2 MB, one took 66 µs in place of 1.7.
  `
    ALTER TABLE events RENAME TO former_events;
    CREATE TABLE events (
      session INTEGER NOT NULL,
      id INTEGER NOT NULL,
      message INTEGER NOT NULL,
      at INTEGER NOT NULL,
      event TEXT,
      data TEXT NOT NULL,
      PRIMARY KEY (session, id)
    );
    INSERT INTO events SELECT session, id, message, at, event, data FROM former_events ORDER BY session, id;
    DROP TABLE former_events;
  `,
];

/** The version of the schema that this code reads and writes. */
export const VERSION = MIGRATIONS.length;

/** The path that means a database in memory. */
export const MEMORY = ":memory:";

/** The one path of a file, whichever way leads there: its lock is beside it. */
export function fileAt(path: string): string {
  if (path === MEMORY) return path;
  let at = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    try {
      return realpathSync(at);
    } catch {
      // There is no file yet.
    }
    try {
      at = resolve(realpathSync(dirname(at)), readlinkSync(at)); // SQLite makes the file that a link leads to.
    } catch {
      break;
    }
  }
  try {
    return join(realpathSync(dirname(at)), basename(at));
  } catch {
    return path; // Opening it says what is wrong.
  }
}

/** As many as Linux follows. */
const MOST_LINKS = 40;

/** An open file of sessions, and the lock that keeps other processes out. */
export interface Opened {
  readonly database: Database;
  /** Closes both. */
  close(): void;
}

/**
 * Opens the file, makes it if there is none, and brings its schema to this version.
 *
 * @param prepare what else is done in the same transaction, before anybody reads.
 * @throws Error that says what is wrong with the file, and what to do.
 */
export function openDatabase(path: string, prepare: (database: Database) => void): Opened {
  const lock = path === MEMORY ? null : lockOf(path);
  let database: Database | null = null;
  try {
    database = new Database(path, { create: true, readwrite: true });
    database.run("PRAGMA busy_timeout = 1000"); // A tool may look into the file for a moment.
    const version = versionOf(database, path);
    database.run("PRAGMA journal_mode = WAL");
    const open = database;
    database
      .transaction(() => {
        for (const step of MIGRATIONS.slice(version)) open.run(step);
        open.run(`PRAGMA application_id = ${APPLICATION}`);
        open.run(`PRAGMA user_version = ${VERSION}`);
        prepare(open);
      })
      .immediate();
    return {
      database,
      close() {
        open.close();
        lock?.close();
      },
    };
  } catch (thrown) {
    database?.close();
    lock?.close();
    throw unusable(path, thrown);
  }
}

/**
 * Takes the lock of a file, or throws. It is the lock of SQLite on an empty file beside it, so that the kernel gives it back when the
 * process ends, in whatever way.
 */
function lockOf(path: string): Database {
  let lock: Database | null = null;
  try {
    lock = new Database(`${path}-lock`, { create: true, readwrite: true });
    lock.run("BEGIN EXCLUSIVE");
    return lock;
  } catch (thrown) {
    lock?.close();
    if (codeOf(thrown) !== "SQLITE_BUSY") throw unusable(path, thrown);
    throw new Error(
      `The sessions in ${path} are in use by another gateway: stop it first, or give this one another path. A file of sessions has ` +
        "one gateway at a time, which alone numbers its events.",
    );
  }
}

/** The version of a file, 0 for an empty one. */
function versionOf(database: Database, path: string): number {
  const { user_version: version } = database.query("PRAGMA user_version").get() as { user_version: number };
  const { application_id: application } = database.query("PRAGMA application_id").get() as { application_id: number };
  const { count } = database.query("SELECT count(*) AS count FROM sqlite_schema").get() as { count: number };
  if (application !== APPLICATION && (count > 0 || version > 0)) {
    throw new Refused(`${path} is the database of another program: give sessions a path of their own.`);
  }
  if (version > VERSION) {
    throw new Refused(
      `The sessions in ${path} were written by a newer envoi (version ${version} of the file; this one knows ${VERSION}): install ` +
        "that envoi, or give another path.",
    );
  }
  return version;
}

/** An error whose sentence is complete. */
class Refused extends Error {}

const ADVICE: Readonly<Record<string, string>> = {
  SQLITE_CANTOPEN: "make its folder, and let this process write there",
  SQLITE_NOTADB: "it is no database: move it away, or restore it from a backup",
  SQLITE_CORRUPT: "it is damaged: restore it from a backup, or move it away",
  SQLITE_READONLY: "let this process write the file and its folder",
  SQLITE_FULL: "the disk is full: free some space",
  SQLITE_BUSY: "another program writes to it: end that first",
};

function unusable(path: string, thrown: unknown): Error {
  if (thrown instanceof Refused) return thrown;
  const code = codeOf(thrown);
  const known = Object.keys(ADVICE).find((each) => code.startsWith(each));
  const advice = known === undefined ? "see the cause of this error" : ADVICE[known];
  return new Error(`Sessions cannot be kept in ${path} (${code || String(thrown)}): ${advice}.`, { cause: thrown });
}

/** The name of SQLite's error, such as `SQLITE_FULL`; empty for an error of another kind. */
export function codeOf(thrown: unknown): string {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return "";
  return typeof thrown.code === "string" && thrown.code.startsWith("SQLITE_") ? thrown.code : "";
}
