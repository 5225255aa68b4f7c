import type { AskError, AskResult, OpenDoor } from "../../index";
import { mayHaveBegun, withVersions } from "../../link/index";
import type { Connection } from "../connection";
import { durableDifference } from "../versions";
import type { Batch, Entry } from "./batch";
import { keepDeadLetter } from "./dead-letters";
import { type Delivery, withDelivery } from "./delivery";
import type { DurableReceiverOptions } from "./options";
import type { Place } from "./place";
import type { Positions } from "./position";
import { isNoRoom, type Store } from "./store";

/** The options of a receiver with their defaults. */
export type HandlingOptions = Required<Omit<DurableReceiverOptions, "expose">>;

/** The actor that a message is for, and the place of its dead letter. */
export interface Target {
  readonly place: Place;
  readonly door: OpenDoor;
  /** That of its protocol (`versionOf`); undefined for an actor without one. */
  readonly version: string | undefined;
}

/** Finds the target of a message by the id that it has, which is undefined where the target is one for all. Throws when the id is none. */
export type TargetOf = (id: string | undefined) => Target;

/** The parts that the batches of a receiver share. */
export interface HandlingParts {
  readonly connection: Connection;
  readonly place: Place;
  readonly targetOf: TargetOf;
  readonly store: Store;
  readonly positions: Positions;
  readonly options: HandlingOptions;
}

/** One delivery of a batch. */
export interface Delivered {
  readonly batch: Batch;
  readonly sequence: number;
  /** The time at which it was stored, by its server, in microseconds. */
  readonly storedAt: number;
  /** True when the batch may have been delivered before. */
  readonly isKnown: boolean;
  /** True when it may have been handled before, and nobody knows of a delivery. */
  readonly isDoubtful: boolean;
}

/** The reasons that end a batch before its last message. */
export interface Interruptions {
  /** True once another node may have it. */
  isLost(): boolean;
  isClosing(): boolean;
  /** Aborted once `isLost` is true. */
  readonly lost: AbortSignal;
}

/** `done`: each message was handled or is a dead letter. `stopped`: this receiver ends, and the rest is to be handed back. */
export type HandlingEnd = "done" | "lost" | "stopped";

const LONGEST_BACKOFF = 5_000;
/** The wait before a message is handed in again that its actor did not take, in milliseconds. */
const NO_ROOM_WAIT = 20;

/** Errors by which the message itself is refused: it would be refused each time. */
const HOPELESS: ReadonlySet<string> = new Set(["invalid-payload", "unknown-operation", "payload-too-large"]);
/** Errors by which no handler was called. */
const NOT_CALLED: ReadonlySet<string> = new Set(["mailbox-full", "no-recipient", "unreachable", "stopped"]);
/** True where no handler was called. One whose worker died may have been, and may be why. */
const isNotCalled = (error: AskError): boolean => NOT_CALLED.has(error.kind) && !mayHaveBegun(error);

/** Hands the messages of a batch to an actor, one after another. */
export class Handling {
  readonly #parts: HandlingParts;
  readonly #delivered: Delivered;
  readonly #batchId: string;
  readonly #interruptions: Interruptions;
  /** That of the message that is next. */
  #target: Target | undefined;
  /** The messages before this one are done. */
  #done = 0;
  /** The number of calls of the next one's handler. */
  #attempts = 0;
  /** Messages before this one may have been handled. */
  #reach = 0;
  /** As `#reach`, where it came to be known late. */
  #reachOfOthers = 0;
  /** True when the position is kept before each call: a batch was interrupted, and its next interruption is to be known by message. */
  #isCareful = false;

  constructor(parts: HandlingParts, delivered: Delivered, interruptions: Interruptions) {
    this.#parts = parts;
    const { sequence, storedAt } = delivered;
    this.#batchId = `${parts.place.isLater ? "later-" : ""}${sequence}-${storedAt.toString(36)}`; // Delayed ones have the numbers of another stream.
    this.#delivered = delivered;
    this.#interruptions = interruptions;
  }

  async run(): Promise<HandlingEnd> {
    const { batch, isKnown, isDoubtful } = this.#delivered;
    const entries = batch.e;
    if (isDoubtful) this.#reach = entries.length;
    if (isKnown && !(await this.#untilTrue(() => this.#recall()))) return this.#interrupted();
    for (let entry = entries[this.#done]; entry !== undefined; entry = entries[this.#done]) {
      if (!(await this.#finish(entry))) return this.#interrupted();
      this.#done++;
      this.#attempts = 0;
    }
    return "done";
  }

  /** Reads how far an earlier delivery came. Where nothing is known, any message may have been handled. */
  async #recall(): Promise<true> {
    const { positions, store } = this.#parts;
    const { sequence, storedAt, batch } = this.#delivered;
    const known = await positions.of(store.created, sequence, storedAt);
    this.#done = known?.done ?? 0;
    this.#attempts = known?.attempts ?? 0;
    this.#reach = known?.reach ?? batch.e.length;
    this.#isCareful = true;
    return true;
  }

  async #interrupted(): Promise<HandlingEnd> {
    if (this.#interruptions.isLost()) return "lost";
    await this.#keepPosition().catch(() => undefined); // Without it, the rest is delivered as what may be handled.
    return "stopped";
  }

  /** No position is kept without room for it: a batch that nobody may handle would never make room. */
  async #keepPosition(): Promise<true> {
    const { positions, store } = this.#parts;
    const { sequence, storedAt } = this.#delivered;
    const [done, attempts, reach] = [this.#done, this.#attempts, this.#reach];
    try {
      while (!(await positions.put({ stream: store.created, sequence, storedAt, done, attempts, reach }))) {
        // Another one has kept its position since. It may have held this batch before, and its word was late.
        const other = await positions.of(store.created, sequence, storedAt);
        if (this.#interruptions.isLost()) throw new Error("another node has the batch");
        this.#reachOfOthers = Math.max(this.#reachOfOthers, other?.reach ?? 0);
      }
    } catch (thrown) {
      if (!isNoRoom(thrown)) throw thrown;
      await positions.forget();
    }
    return true;
  }

  /** Calls the handler of a message until it is done or given up. False when that was interrupted. */
  async #finish(entry: Entry): Promise<boolean> {
    const { options } = this.#parts;
    const target = this.#targetOf(entry);
    if (target instanceof Error) return await this.#giveUp(this.#parts.place, entry, "unreadable", target.message);
    this.#target = target;
    if (this.#attempts >= options.attempts) {
      // Its node went each time while it was handled.
      const message = `the node went ${this.#attempts} times while it was handled`;
      return await this.#giveUp(target.place, entry, "handler-failed", message);
    }
    const { clock } = this.#parts.connection.system;
    let refusedSince: number | undefined;
    while (!this.#isInterrupted) {
      const mayRepeat = this.#attempts > 0 || this.#done < this.#reach;
      this.#attempts++;
      this.#reach = Math.max(this.#reach, this.#done + 1);
      if (this.#isCareful) await this.#untilTrue(() => this.#keepPosition());
      if (this.#isInterrupted) {
        this.#attempts--; // It was not called.
        return false;
      }
      const isRepeat = mayRepeat || this.#done < this.#reachOfOthers;
      const result = await this.#call(target, entry, { attempt: this.#attempts, mayRepeat: isRepeat });
      if (result.isOk()) return true;
      if (this.#interruptions.lost.aborted) return false;
      const { kind, message } = result.error;
      if (HOPELESS.has(kind)) {
        return await this.#giveUp(target.place, entry, kind, this.#withVersions(kind, message, target));
      }
      if (target.door.isStopped) return false;
      if (isNotCalled(result.error)) {
        const now = clock.monotonicTime();
        refusedSince ??= now;
        // The actor for an id that is refused for so long cannot be made: a handler that took as long would have failed, too.
        if (entry.i === undefined || now - refusedSince < options.handlerTimeout) this.#attempts--;
        else refusedSince = now;
        if (this.#attempts >= options.attempts) return await this.#giveUp(target.place, entry, kind, message);
        await this.#wait(NO_ROOM_WAIT);
        continue;
      }
      if (this.#attempts >= options.attempts) return await this.#giveUp(target.place, entry, kind, message);
      refusedSince = undefined;
      this.#isCareful = true;
      await this.#wait(Math.min(options.backoff * 2 ** (this.#attempts - 1), LONGEST_BACKOFF));
    }
    return false;
  }

  #call(
    target: Target,
    { o, p, m }: Entry,
    { attempt, mayRepeat }: Pick<Delivery, "attempt" | "mayRepeat">,
  ): Promise<AskResult> {
    const delivery: Delivery = { id: this.#id, from: this.#delivered.batch.n, attempt, mayRepeat };
    const versions = this.#differenceTo(target);
    const metadata = withDelivery(versions === undefined ? m : withVersions(m, versions), delivery);
    const { lost: signal } = this.#interruptions;
    return target.door.ask(o, p, { metadata, timeout: this.#parts.options.handlerTimeout, signal });
  }

  /** Names the version by which the batch was sent and that of its receiver's protocol, where they are different. */
  #differenceTo({ version }: Target): string | undefined {
    const { n, s } = this.#delivered.batch;
    return durableDifference(this.#parts.connection, n, s, version);
  }

  /** The sentence of a message that does not fit, with both versions first: its end is cut off where there is no room. */
  #withVersions(kind: string, message: string, target: Target): string {
    const versions = kind === "payload-too-large" ? undefined : this.#differenceTo(target);
    return versions === undefined || message.includes(versions) ? message : `${versions}: ${message}`;
  }

  /** Servers that have lost what they stored give its numbers again: so a name has the time, too. */
  get #id(): string {
    return `${this.#batchId}.${this.#done}`;
  }

  #targetOf({ i }: Entry): Target | Error {
    try {
      return this.#parts.targetOf(i);
    } catch (thrown) {
      return thrown instanceof Error ? thrown : new Error(String(thrown));
    }
  }

  #giveUp(place: Place, entry: Entry, reason: string, message: string): Promise<boolean> {
    const { connection, store } = this.#parts;
    const letter = { id: this.#id, from: this.#delivered.batch.n, reason, message, attempts: this.#attempts };
    let isTold = false;
    return this.#untilTrue(async () => {
      try {
        await keepDeadLetter(connection, store, place, letter, entry);
        return true;
      } catch (thrown) {
        if (!isTold) {
          const sentence = `durable message ${letter.id} to ${place.receiver} waits, and those behind it: JetStream does not take it as a dead letter (${String(thrown)}).`;
          connection.system.log.warn(`${sentence} Make room, or delete dead letters.`, { cause: thrown });
          connection.tell("error", { text: sentence });
        }
        isTold = true;
        throw thrown;
      }
    });
  }

  get #isInterrupted(): boolean {
    const isStopped = this.#target?.door.isStopped ?? false;
    return this.#interruptions.isLost() || this.#interruptions.isClosing() || isStopped;
  }

  /** Tries again while the servers are away. False when that was interrupted. */
  async #untilTrue(attempt: () => Promise<true>): Promise<boolean> {
    while (!this.#isInterrupted) {
      try {
        return await attempt();
      } catch {
        await this.#wait(this.#parts.options.backoff);
      }
    }
    return false;
  }

  #wait(delay: number): Promise<void> {
    return new Promise((resolve) => this.#parts.connection.system.clock.setTimer(resolve, delay));
  }
}
