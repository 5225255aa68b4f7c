import { checkOptions, type Metadata, type OptionChecks, option } from "../../index";
import type { Connection } from "../connection";
import type { Entry } from "./batch";
import { deadSubjectOf, type Place } from "./place";
import { openStore, type Store } from "./store";

/** A durable message that was given up. It is kept for 30 days. */
export interface DurableDeadLetter {
  /** Its place among the dead letters of the cluster: for `deleteDeadLetter`. */
  readonly sequence: number;
  /** The name of the message (`deliveryOf`). */
  readonly id: string;
  /** The name, or the address of the actor for an id. */
  readonly receiver: string;
  /** The node that sent it. */
  readonly from: string;
  /** Empty for something that could not be read. */
  readonly operation: string;
  readonly payload: unknown;
  readonly metadata?: Metadata | undefined;
  /** The kind of its last error, such as `handler-failed`; `unreadable` for something that is no message of this version. */
  readonly reason: string;
  /** The sentence of that error. */
  readonly message: string;
  /** The number of calls of its handler. */
  readonly attempts: number;
  /** When it was given up, in milliseconds since 1970. */
  readonly at: number;
}

/** The choice of the dead letters to read. */
export interface DeadLettersOptions {
  /** Default: 100. */
  readonly limit?: number;
  /** Only those after this `sequence`. Default: 0. */
  readonly after?: number;
}

const CHECKS: OptionChecks<DeadLettersOptions> = { limit: option.count, after: option.whole(0) };
/** A longer sentence is cut off: the letter must fit where its message did. */
const MOST_TEXT = 500;
/** The longest time until the next letter arrives, in milliseconds. */
const NEXT_WITHIN = 5_000;

/**
 * @internal Keeps a message as a dead letter, once, and says so in the log and by an event.
 *
 * @throws Error (as a rejection) when it could not be kept.
 */
export async function keepDeadLetter(
  connection: Connection,
  store: Store,
  place: Place,
  letter: Omit<DurableDeadLetter, "receiver" | "sequence" | "at" | "operation" | "payload" | "metadata">,
  entry: Entry,
): Promise<void> {
  const { receiver } = place;
  const { id } = letter;
  const { system } = connection;
  const message = letter.message.slice(0, MOST_TEXT);
  const kept = { ...letter, receiver, message, at: system.clock.wallTime(), o: entry.o, p: entry.p, m: entry.m };
  await store.js.publish(deadSubjectOf(connection, place), JSON.stringify(kept), {
    msgID: `${store.created}/${id}`,
    timeout: 1_000,
  });
  system.log.warn(
    `durable message ${id} to ${receiver} became a dead letter after ${letter.attempts} attempts (${letter.reason}): ${message}`,
    { receiver, id, operation: entry.o, reason: letter.reason },
  );
  connection.tell("dead-letter", { receiver, id, operation: entry.o, reason: letter.reason });
}

/** @internal Reads dead letters of a place, the oldest first. Those of a name over the cluster are those of all of its ids. */
export async function readDeadLetters(
  connection: Connection,
  place: Place,
  options: DeadLettersOptions = {},
): Promise<readonly DurableDeadLetter[]> {
  checkOptions(options, CHECKS, "dead letters", "{ limit: 10 }");
  const { limit = 100, after = 0 } = options;
  const { js, deadName } = await openStore(connection);
  const subject = deadSubjectOf(connection, place);
  const { DeliverPolicy } = connection.sdk.jetstream;
  const consumer = await js.consumers.get(deadName, {
    filter_subjects: place.tokens.length === 1 ? [subject, `${subject}.*`] : subject,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: after + 1,
  });
  const letters: DurableDeadLetter[] = [];
  let left = (await consumer.info(true)).num_pending;
  while (left > 0 && letters.length < limit) {
    const message = await consumer.next({ expires: NEXT_WITHIN });
    if (message === null) break;
    left = message.info.pending;
    const { o, p, m, ...letter } = message.json<Omit<DurableDeadLetter, "sequence"> & Entry>(); // keepDeadLetter wrote it.
    letters.push({ ...letter, sequence: message.seq, operation: o, payload: p, metadata: m });
  }
  return letters;
}

/** @internal Deletes a dead letter, such as one that was sent again. */
export async function deleteDeadLetter(connection: Connection, sequence: number): Promise<void> {
  const { jsm, deadName } = await openStore(connection);
  await jsm.streams.deleteMessage(deadName, sequence);
}
