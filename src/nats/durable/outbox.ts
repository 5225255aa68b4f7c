import {
  type Address,
  type ClockTimer,
  createDeliveryError,
  createMessage,
  type DeliveryError,
  err,
  type Message,
  ok,
  type Result,
} from "../../index";
import type { Connection } from "../connection";
import { batchOverhead, writeBatch } from "./batch";
import type { DurableLevel } from "./options";
import { keyOfPlace, laterOf, type Place, subjectOf, waitingSubject } from "./place";
import { forget, isNoRoom, levelOf, NoSchedules, noRoom, openStore, type Store } from "./store";

/** A durable message that JetStream has. */
export interface Stored {
  /** The level that it has by now; more than was asked for, where the cluster has more. */
  readonly level: DurableLevel;
  /** Its place in the stream. Messages that were sent in one turn share it. */
  readonly sequence: number;
  /** True when a message of the same name was stored before, so that this one was not. */
  readonly isDuplicate: boolean;
}

/** @internal A message that waits until JetStream has it. */
export interface Waiting {
  /** The name or the address of its receiver. */
  readonly receiver: string;
  readonly to: Address;
  /** That of the protocol by which it is sent (`versionOf`): messages of one version share a batch. */
  readonly version: string;
  /** As JSON. */
  readonly text: string;
  readonly bytes: number;
  /** The name that its sender gave it: it is stored alone then. */
  readonly id: string | undefined;
  /** The time at which it is handed in, in milliseconds since 1970; undefined for at once. */
  readonly at: number | undefined;
  readonly timeout: number;
  readonly level: DurableLevel;
  readonly serversSync: boolean;
  readonly operation: string;
  readonly payload: unknown;
}

interface Held extends Waiting {
  /** By the monotonic clock. */
  readonly deadline: number;
  /** True while a try may have been stored that nobody has answered. */
  isSent: boolean;
  isSettled: boolean;
  readonly resolve: (result: Result<Stored, DeliveryError>) => void;
}

/** The most messages in a batch: its receiver hands back what is left of it when it stops. */
const MOST_IN_BATCH = 1_000;
/** A batch gets no message more beyond these bytes, so that a receiver holds little in memory. */
const LARGE_BATCH = 256 * 1024;
/** The time that one try waits for its acknowledgement, and the time that the next one waits after a refusal, in milliseconds. */
const [TRY_WITHIN, TRY_AGAIN_AFTER] = [1_000, 100];

/** Tries without an answer after which the log says why, where that can be found. */
const SILENT = 2;

const LEVELS: readonly DurableLevel[] = ["stored", "replicated", "synced"];

/** True for a message that shares no batch. */
const isAlone = ({ id, at }: Waiting): boolean => id !== undefined || at !== undefined;

/** True where nobody knows whether the try was stored. */
const isNoAnswer = (thrown: unknown): boolean => thrown instanceof Error && thrown.name === "TimeoutError";

/** The bytes of headers that name nothing, and of those that name a time and a subject for it. */
const [HEADERS, SCHEDULE_HEADERS] = [64, 640];

/** The bytes that a message to this server may have, beside those of its batch and of its headers, which have this name. */
const largestEntry = ({ nc }: Connection, beside: number, name: string, isDelayed: boolean): number => {
  const most = nc.info?.max_payload ?? 1_048_576;
  const headers = HEADERS + Buffer.byteLength(name) + (isDelayed ? SCHEDULE_HEADERS : 0);
  return most - Math.max(headers, Math.min(4_096, Math.floor(most / 4))) - beside;
};

/**
 * @internal The name by which JetStream knows a message with an id. Receivers and ids may have slashes, so the length says where the first one ends. The library cuts
 * blanks off the end of a header, so the last character is none.
 */
export const nameOfId = (receiver: string, id: string): string => `id/${receiver.length}/${receiver}/${id}/`;

/**
 * @internal The messages of this node to one place. One batch is under way at a time, and what comes meanwhile makes the next one: so their order
 * holds when a batch has to be sent again, and batches grow with the load.
 */
export class Outbox {
  readonly #connection: Connection;
  readonly #key: string;
  readonly #subject: string;
  readonly #laterSubject: string;
  #waiting: Held[] = [];
  #underWay: readonly Held[] = [];
  #isSending = false;
  #count = 0;
  /** The last error of JetStream; undefined once it has stored something again. */
  #refusal: unknown;
  /** True while the log says that the stream stores nothing. */
  #isMute = false;
  #timer: { readonly at: number; readonly timer: ClockTimer } | undefined;

  constructor(connection: Connection, place: Place) {
    this.#connection = connection;
    this.#key = keyOfPlace(place);
    this.#subject = subjectOf(connection, place);
    this.#laterSubject = subjectOf(connection, laterOf(place));
  }

  get size(): number {
    return this.#waiting.length + this.#underWay.length;
  }

  add(message: Waiting): Promise<Result<Stored, DeliveryError>> {
    const { clock } = this.#connection.system;
    const deadline = clock.monotonicTime() + message.timeout;
    return new Promise((resolve) => {
      this.#waiting.push({ ...message, deadline, isSent: false, isSettled: false, resolve });
      this.#watch(deadline);
      if (this.#isSending) return;
      this.#isSending = true;
      clock.macrotask(() => void this.#sendAll()); // All that leaves in this turn goes together.
    });
  }

  /**
   * The bytes that a message in here may have.
   *
   * @param beside those of its batch (`batchOverhead`).
   */
  largest(beside: number, name: string | undefined, isDelayed: boolean): number {
    return largestEntry(this.#connection, beside, name ?? this.#nameOf([]), isDelayed);
  }

  /** Nothing is sent any more. */
  close(): void {
    const cause = new Error("the cluster was closed before the message was stored");
    for (const held of [...this.#underWay, ...this.#waiting]) this.#giveUp(held, cause);
    this.#timer?.timer.cancel();
    this.#timer = undefined;
  }

  async #sendAll(): Promise<void> {
    for (let batch = this.#next(); batch.length > 0; batch = this.#next()) {
      this.#underWay = batch;
      await this.#send(batch);
      this.#underWay = [];
    }
    this.#isSending = false;
  }

  #next(): readonly Held[] {
    this.#waiting = this.#waiting.filter((held) => !held.isSettled);
    const first = this.#waiting[0];
    if (first === undefined) return [];
    const { version } = first;
    let [count, bytes] = [1, first.bytes];
    const most = Math.min(LARGE_BATCH, this.largest(batchOverhead(this.#connection.node, version), undefined, false));
    if (!isAlone(first)) {
      for (; count < MOST_IN_BATCH; count++) {
        const held = this.#waiting[count];
        if (held === undefined || isAlone(held) || held.version !== version) break;
        if (bytes + held.bytes + 1 > most) break;
        bytes += held.bytes + 1;
      }
    }
    return this.#waiting.splice(0, count);
  }

  /** Sends a batch until JetStream has it, or nobody waits for it any more. Its name makes a second arrival harmless. */
  async #send(whole: readonly Held[]): Promise<void> {
    const connection = this.#connection;
    let batch = whole;
    const version = whole[0]?.version ?? ""; // Each batch has a first one.
    this.#count++;
    const msgID = this.#nameOf(batch);
    const schedule = this.#scheduleOf(batch);
    const subject = schedule === undefined ? this.#subject : waitingSubject(connection);
    let isUnanswered = false;
    let silent = 0;
    while (batch.some((held) => !held.isSettled)) {
      try {
        const store = await openStore(connection, schedule !== undefined);
        for (const held of batch) this.#checkLevel(held, store);
        const left = Math.max(...batch.map((held) => held.deadline)) - connection.system.clock.monotonicTime();
        if (left <= 0) {
          // Its time is over here before the timer has said so, which would not find it any more.
          for (const held of batch) this.#giveUp(held, this.#refusal);
        }
        // Those that were refused must not leave with the others. Once a try may have been stored, its name must go on to mean the same.
        if (!isUnanswered) batch = batch.filter((held) => !held.isSettled);
        if (batch.every((held) => held.isSettled)) return;
        for (const held of batch) held.isSent = true;
        const texts = batch.map((held) => held.text);
        const timeout = Math.max(1, Math.min(TRY_WITHIN, left));
        const { seq, duplicate } = await store.js.publish(subject, writeBatch(connection.node, version, texts), {
          msgID,
          timeout,
          ...(schedule !== undefined && { schedule }),
        });
        this.#refusal = undefined;
        this.#isMute = false;
        for (const held of batch) {
          // The name of a batch is this node's own: a duplicate of it is an earlier try of this one.
          const isDuplicate = duplicate && held.id !== undefined;
          this.#settle(held, ok({ level: levelOf(store.replicas, held.serversSync), sequence: seq, isDuplicate }));
        }
        return;
      } catch (thrown) {
        isUnanswered ||= isNoAnswer(thrown);
        for (const held of batch) held.isSent = isUnanswered;
        const isFull = isNoRoom(thrown);
        this.#refusal = isFull ? noRoom(connection, thrown) : thrown;
        if (connection.isClosed || isFull || thrown instanceof NoSchedules) {
          for (const held of batch) this.#giveUp(held, this.#refusal);
          return;
        }
        if (isNoAnswer(thrown)) {
          if (++silent === SILENT) void this.#lookWhy();
          continue;
        }
        forget(connection); // Perhaps the stream is gone, or has no leader at this moment.
        await this.#pause();
      }
    }
  }

  /** The time at which a delayed message is handed in. The batch is that message alone. */
  #scheduleOf([first]: readonly Held[]): { specification: Date; target: string } | undefined {
    if (first?.at === undefined) return undefined;
    return { specification: new Date(first.at), target: this.#laterSubject };
  }

  #nameOf([first]: readonly Held[]): string {
    if (first?.id !== undefined) return nameOfId(first.receiver, first.id);
    return `batch/${this.#key}/${this.#connection.incarnation}/${this.#count}`;
  }

  /**
   * Says once in the log that the stream stores nothing, where JetStream answers all the same: a server whose disk refused a write (2.14) keeps that stream
   * still until it is started anew, also when there is room again.
   */
  async #lookWhy(): Promise<void> {
    if (this.#isMute || this.#connection.nc.isClosed()) return;
    try {
      const { jsm, name } = await openStore(this.#connection);
      await jsm.streams.info(name);
      this.#isMute = true;
      const sentence = `the stream ${name} answers, and stores nothing: its disk may be full. Look for a write error in the log of its server, make room, and start that server anew.`;
      this.#connection.system.log.warn(sentence, { receiver: this.#key });
      this.#connection.tell("error", { text: sentence });
    } catch {
      // JetStream is away as a whole: the connection tells that.
    }
  }

  /** Refuses a message whose level the stream does not have. */
  #checkLevel(held: Held, store: Store): void {
    const level = levelOf(store.replicas, held.serversSync);
    if (LEVELS.indexOf(level) >= LEVELS.indexOf(held.level)) return;
    this.#giveUp(
      held,
      new Error(
        `the stream ${store.name} has the level ${level}, and ${held.level} was asked for: connect with replicas: 3, and state serversSync where the servers sync always`,
      ),
    );
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#connection.system.clock.setTimer(resolve, TRY_AGAIN_AFTER));
  }

  /** Tells the senders whose time is over. */
  #watch(deadline: number): void {
    if (this.#timer !== undefined && this.#timer.at <= deadline) return;
    this.#timer?.timer.cancel();
    const { clock } = this.#connection.system;
    const timer = clock.setTimer(() => this.#expire(), Math.max(0, deadline - clock.monotonicTime()));
    this.#timer = { at: deadline, timer };
  }

  #expire(): void {
    this.#timer = undefined;
    const now = this.#connection.system.clock.monotonicTime();
    let next = Number.POSITIVE_INFINITY;
    for (const held of [...this.#underWay, ...this.#waiting]) {
      if (held.isSettled) continue;
      if (held.deadline <= now) this.#giveUp(held, this.#refusal);
      else next = Math.min(next, held.deadline);
    }
    if (next < Number.POSITIVE_INFINITY) this.#watch(next);
  }

  /** A message that never left is known not to be stored; of any other one nobody knows. */
  #giveUp(held: Held, cause: unknown): void {
    const message = this.#messageOf(held);
    const error = held.isSent
      ? createDeliveryError("timeout", message, held.timeout)
      : createDeliveryError("unreachable", message, cause ?? new Error("JetStream has not answered in time"));
    this.#settle(held, err(error));
  }

  #messageOf({ to, operation, payload }: Held): Message {
    return createMessage(to, operation, payload);
  }

  #settle(held: Held, result: Result<Stored, DeliveryError>): void {
    if (held.isSettled) return;
    held.isSettled = true;
    held.resolve(result);
  }
}
