import {
  type Address,
  address,
  type Clock,
  type ClockTimer,
  type Door,
  defineProtocol,
  type Logger,
  type Operation,
  type Ref,
  receive,
} from "../../index";
import type { Site } from "../contract";
import { type Problem, problemOf } from "../problem";
import { LiveSession } from "./live-session";
import type { Runtime } from "./message-run";
import { DEFAULTS, type Session, type SessionEvent, type SessionsOptions } from "./options";
import { type SessionRow, SessionStore } from "./store";
import { WriteError } from "./writer";

/** Events of a page when an actor restores itself. */
const PAGE = 256;
/** Milliseconds between two sweeps for what is too old, at most. */
const SWEEP = 3_600_000;
/** Milliseconds by which a clock that is not set may be ahead or behind between two sweeps. */
const JUMP = 60_000;

/** Most sessions of which the owner and the way to the actor are kept. Each takes half a kilobyte. */
const ENTRIES = 1_000;

/** The owner of a session, and the way to its actor: to whoever is at its address. */
export interface Entry {
  readonly owner: string;
  readonly ref: Ref<unknown>;
  readonly door: Door;
}

const AGAIN = "What came before is kept; send the message again, with another Idempotency-Key.";
const DIED = problemOf("unavailable", `The service ended while it answered this message. ${AGAIN}`);
const DELETED = problemOf("gone", "The session was to be deleted, which ended its messages.");

/** The sessions of one gateway: those that are stored, those that something is done with, and their actors. */
export class SessionBook implements Runtime {
  readonly clock: Clock;
  readonly name: string;
  readonly store: SessionStore;
  readonly log: Logger;
  isClosing = false;
  readonly #site: Site;
  readonly #options: SessionsOptions<unknown>;
  readonly #keep: { readonly age: number; readonly idle: number };
  readonly #limits: { readonly events: number; readonly unread: number };
  readonly #metadata: Operation["payload"] | null;
  readonly #live = new Map<string, LiveSession>();
  /**
   * Sessions that are there, the oldest entry first: a statement on a file takes 12 µs, with its locks, and the reference 3. This gateway alone
   * writes to the file, and all that deletes a session comes by `delete`.
   */
  readonly #entries = new Map<string, Entry>();
  readonly #unresolve: () => void;
  /** The time before which events are being deleted. */
  #aging: number | null = null;
  #sweep: { cancel(): void } | null = null;
  /** The wall time at which monotonic time began, as it was at the last sweep. */
  #start: number | null = null;

  /** @throws Error when the file cannot be used. */
  constructor(site: Site, options: SessionsOptions<unknown>) {
    const { name = DEFAULTS.name, path = DEFAULTS.path, idle = DEFAULTS.idle, unread = DEFAULTS.unread } = options;
    const { metadata } = options;
    const keep = { ...DEFAULTS.keep, ...options.keep };
    this.clock = site.clock;
    this.name = name;
    this.#site = site;
    this.#options = options;
    this.#keep = keep;
    this.#limits = { events: keep.events, unread };
    // A protocol has the validators of all kinds of schema.
    const checked = metadata && defineProtocol("metadata", { check: { payload: metadata } }).operations["check"];
    this.#metadata = checked?.payload ?? null;
    this.log = site.log;
    const sync = options.durability === "power" ? "full" : "normal";
    this.#unresolve = site.system.resolve(`${name}/`, (_at, id) => this.#open(id), { idle });
    try {
      this.store = new SessionStore(path, sync, site.clock, JSON.stringify(DIED)); // Last: it takes the lock of the file.
    } catch (thrown) {
      this.#unresolve();
      throw thrown;
    }
    void this.#sweepNow();
  }

  // ——— Sessions and their actors

  /** A session of an owner. */
  find(owner: string, id: string): SessionRow | null {
    const row = this.store.find(id);
    return row === null || row.owner !== owner || this.#live.get(id)?.isDeleted === true ? null : row;
  }

  /** The same, to do something with it: call `leave` on it. */
  enter(owner: string, id: string): LiveSession | null {
    const known = this.#live.get(id);
    if (known !== undefined && (known.row.owner !== owner || known.isDeleted)) return null;
    const row = known?.row ?? this.find(owner, id);
    if (row === null) return null;
    const live = known ?? this.#liveOf(row);
    live.enter();
    return live;
  }

  #liveOf(row: SessionRow): LiveSession {
    const live = new LiveSession(row, this.store, this.clock, this.#limits, () => this.#live.delete(row.id));
    if (this.#aging !== null) live.forget(this.#aging);
    this.#live.set(row.id, live);
    return live;
  }

  /** The number of messages of a session that are being answered. */
  runningOf(id: string): number {
    return this.#live.get(id)?.running.size ?? 0;
  }

  get running(): number {
    let sum = 0;
    for (const { running } of this.#live.values()) sum += running.size;
    return sum;
  }

  /** The actor of a session, wherever it is in its life. */
  refOf(id: string): Ref<unknown> {
    return this.#site.system.ref(this.#addressOf(id), this.#options.protocol);
  }

  /** The way to the actor of a session of an owner, for what leaves no trace in the session; null if there is no such session. */
  entryOf(owner: string, id: string): Entry | null {
    const entry = this.#entries.get(id) ?? this.#makeEntry(owner, id);
    return entry?.owner === owner ? entry : null;
  }

  #makeEntry(owner: string, id: string): Entry | null {
    if (this.find(owner, id) === null) return null;
    const ref = this.refOf(id);
    const entry = { owner, ref, door: receive(ref) };
    const [oldest] = this.#entries.size < ENTRIES ? [] : this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(id, entry);
    return entry;
  }

  #addressOf(id: string): Address {
    return address(`${this.name}/${id}`);
  }

  #open(id: string): Ref<unknown> | undefined {
    const row = this.store.find(id.slice(this.name.length + 1));
    if (row === null || this.#live.get(row.id)?.isDeleted === true) return undefined;
    const { protocol, factory, actor } = this.#options;
    const session = this.#sessionOf(row);
    return this.#site.system.spawn(id, protocol, (ctx) => factory(ctx, session), actor);
  }

  #sessionOf({ number, id, owner, createdAt, metadata: text }: SessionRow): Session<never> {
    const { store } = this;
    const given: unknown = JSON.parse(text);
    const parsed = this.#metadata?.parse(given);
    return {
      id,
      owner,
      createdAt,
      // The factory's type says what the schema makes of it. Without a schema it is a JSON object.
      metadata: (parsed?.isOk() === true ? parsed.value : given) as never,
      *events(): Iterable<SessionEvent> {
        let after = 0;
        for (;;) {
          const page = store.endedEvents(number, after, PAGE);
          for (const { id, message, event, data } of page) {
            // Only these names are ever stored.
            yield { id, message, event: (event ?? "item") as SessionEvent["event"], data: JSON.parse(data) };
            after = id;
          }
          if (page.length === 0) return;
        }
      },
    };
  }

  /** Checks the metadata of a new session. */
  parseMetadata(metadata: unknown): ReturnType<Operation["payload"]["parse"]> | null {
    return this.#metadata?.parse(metadata) ?? null;
  }

  /** Deletes a session, and stops its actor. */
  async delete(live: LiveSession): Promise<void> {
    const { id, owner } = live.row;
    const { onDelete } = this.#options;
    this.#entries.delete(id);
    await live.delete(DELETED, async () => {
      const stopped = this.#site.system.stop(this.refOf(id)); // Its handler may go on for long.
      if (onDelete === undefined) return;
      if (!(await this.#isOverInTime(stopped))) throw new StillRunning();
      await onDelete({ id, owner });
    });
  }

  /** False if a promise takes longer than an ask may. */
  async #isOverInTime(promise: Promise<unknown>): Promise<boolean> {
    let timer: ClockTimer | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = this.clock.setTimer(() => resolve(false), this.#site.limits.time);
      timer.unref();
    });
    try {
      return await Promise.race([promise.then(() => true), late]);
    } finally {
      timer?.cancel();
    }
  }

  // ——— Retention and the end

  async #sweepNow(): Promise<void> {
    const { age, idle } = this.#keep;
    const now = this.clock.wallTime();
    try {
      if (this.#wasClockSet(now)) {
        this.log.warn(
          `The clock was set: nothing of the ${this.name} is deleted for its age before the next look, in case it is wrong.`,
        );
      } else {
        if (idle !== Number.POSITIVE_INFINITY) await this.#deleteUnused(now - idle);
        if (age !== Number.POSITIVE_INFINITY) await this.#deleteAged(Math.round(now - age));
      }
    } catch (thrown) {
      this.log.error(`Old sessions could not be deleted: ${String(thrown)}`, { cause: thrown });
    }
    if (this.isClosing) return;
    const timer = this.clock.setTimer(() => void this.#sweepNow(), Math.max(Math.min(age / 10, idle / 10, SWEEP), 1));
    timer.unref();
    this.#sweep = timer;
  }

  /** True where the clock has jumped since the last look. */
  #wasClockSet(now: number): boolean {
    const start = now - this.clock.monotonicTime();
    const jump = this.#start === null ? 0 : Math.abs(start - this.#start);
    this.#start = start;
    return jump > JUMP;
  }

  async #deleteUnused(before: number): Promise<void> {
    let row = this.store.unused(before, null);
    for (; row !== null && !this.isClosing; row = this.store.unused(before, row)) {
      const live = this.enter(row.owner, row.id);
      // One whose `onDelete` hangs does not keep the others.
      if (live !== null) await this.#isOverInTime(this.#deleteIfIdle(live));
    }
  }

  async #deleteIfIdle(live: LiveSession): Promise<void> {
    try {
      if (live.running.size + live.beginning.size === 0) await this.delete(live);
    } catch (thrown) {
      if (thrown instanceof WriteError) throw thrown; // None can be deleted at this moment.
      this.log.error(`${this.refOf(live.row.id).address} could not be deleted: ${String(thrown)}`, { cause: thrown });
    } finally {
      live.leave();
    }
  }

  async #deleteAged(before: number): Promise<void> {
    this.#aging = before;
    try {
      for (const live of this.#live.values()) live.forget(before);
      while ((await this.store.age(before)) && !this.isClosing);
    } finally {
      this.#aging = null;
    }
  }

  /** Ends all messages that are being answered. */
  stopAll(problem: Problem): void {
    this.isClosing = true;
    for (const { running } of this.#live.values()) for (const each of running.values()) each.stop(problem);
  }

  /** Resolves when all messages have ended that are being answered now. */
  async allEnded(): Promise<void> {
    await Promise.all([...this.#live.values()].flatMap(({ running }) => [...running.values()].map(({ done }) => done)));
  }

  async close(): Promise<void> {
    this.isClosing = true;
    this.#sweep?.cancel();
    this.#unresolve();
    await this.store.close();
  }
}

/** Thrown when the actor of a session that is to be deleted did not stop in time. */
export class StillRunning extends Error {
  override readonly name = "StillRunning";
  override readonly message = "its actor did not stop in time";
}

/** The end of a message that an orderly shutdown did not wait for. */
export const RESTARTS = problemOf("unavailable", `The service restarts, and ended this message. ${AGAIN}`);
