import { type Address, address, type Clock, defineProtocol, type Logger, type Operation, type Ref } from "../../index";
import type { Site } from "../contract";
import { type Problem, problemOf } from "../problem";
import { LiveSession } from "./live-session";
import type { Runtime } from "./message-run";
import { DEFAULTS, type Session, type SessionEvent, type SessionsOptions } from "./options";
import { type SessionRow, SessionStore } from "./store";

/** Events of a page when an actor restores itself. */
const PAGE = 256;
/** Milliseconds between two sweeps for what is too old, at most. */
const SWEEP = 3_600_000;

const AGAIN = "What came before is kept; send the message again, with another Idempotency-Key.";
const DIED = problemOf("unavailable", `The service ended while it answered this message. ${AGAIN}`);
const DELETED = problemOf("gone", "The session was deleted.");

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
  readonly #unresolve: () => void;
  /** The time before which events are being deleted. */
  #aging: number | null = null;
  #sweep: { cancel(): void } | null = null;

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
    this.store = new SessionStore(path, sync, site.clock, JSON.stringify(DIED));
    this.#unresolve = site.system.resolve(`${name}/`, (_at, id) => this.#open(id), { idle });
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
      // What the schema of the options makes of it, which the factory's type says; a JSON object where there is no schema.
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
          if (page.length < PAGE) return;
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
    await live.delete(DELETED, async () => {
      const stopped = this.#site.system.stop(this.refOf(id)); // Its handler may go on for long.
      if (onDelete === undefined) return;
      await stopped;
      await onDelete({ id, owner });
    });
  }

  // ——— Retention and the end

  async #sweepNow(): Promise<void> {
    const { age, idle } = this.#keep;
    const now = this.clock.wallTime();
    try {
      if (idle !== Number.POSITIVE_INFINITY) await this.#deleteUnused(now - idle);
      if (age !== Number.POSITIVE_INFINITY) await this.#deleteAged(Math.round(now - age));
    } catch (thrown) {
      this.log.error(`Old sessions could not be deleted: ${String(thrown)}`, { cause: thrown });
    }
    if (this.isClosing) return;
    const timer = this.clock.setTimer(() => void this.#sweepNow(), Math.max(Math.min(age / 10, idle / 10, SWEEP), 1));
    timer.unref();
    this.#sweep = timer;
  }

  async #deleteUnused(before: number): Promise<void> {
    let row = this.store.unused(before, 0);
    for (; row !== null && !this.isClosing; row = this.store.unused(before, row.number)) {
      const live = this.enter(row.owner, row.id);
      if (live === null) continue;
      try {
        if (live.running.size === 0) await this.delete(live);
      } finally {
        live.leave();
      }
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

/** The end of a message that an orderly shutdown did not wait for. */
export const RESTARTS = problemOf("unavailable", `The service restarts, and ended this message. ${AGAIN}`);
