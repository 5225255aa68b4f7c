import type { JsMsg } from "@nats-io/jetstream";
import { checkOptions, type Metadata, type OptionChecks, option, readJson } from "../../index";
import type { Connection } from "../connection";
import { DEEPEST, type Entry } from "./batch";
import { deadSubjectOf, type Place } from "./place";
import { codeOf, openStore, type Store } from "./store";

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
  /**
   * That of the message; undefined where it was too large to be kept beside its reason, which `message` says. Of something that could not be read, the first bytes that
   * fit, as base64.
   */
  readonly payload: unknown;
  readonly metadata?: Metadata | undefined;
  /** The kind of its last error, such as `handler-failed`; `unreadable` for something that is no message of this version. */
  readonly reason: string;
  /** The sentence of that error. Where the message does not fit because another version of the protocol sent it, both versions stand before it (`versionOf`). */
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
/** A longer sentence, or a longer name of an operation or a node, is cut off: the letter must fit where its message did. */
const MOST_TEXT = 500;
/** The characters of a sentence where there is no room for more. */
const SHORT_TEXT = 100;
const NOT_KEPT = " (its payload is not kept: it is too large for a dead letter)";
/** The bytes of a letter's headers, at most. */
const HEADERS = 160;
/** JetStream's code for a message that is larger than its stream takes. */
const TOO_LARGE = 10_054;
/** The longest time until the next letter arrives, in milliseconds. */
const NEXT_WITHIN = 5_000;

type Letter = Omit<DurableDeadLetter, "sequence" | "operation" | "payload" | "metadata"> & Entry;

const largest = ({ nc }: Connection): number => (nc.info?.max_payload ?? 1_048_576) - HEADERS;

/** @internal The first bytes of a text that could not be read, as base64: as many as a dead letter has room for. */
export function firstOf(connection: Connection, bytes: Uint8Array): string {
  const most = largest(connection);
  const room = most - Math.min(4_096, most / 2);
  return Buffer.from(bytes.subarray(0, Math.floor(room / 4) * 3)).toString("base64");
}

/** A letter, and what is kept in place of one that is too large. */
function* shorter(letter: Letter): Generator<Letter> {
  yield letter;
  const message = letter.message.slice(0, SHORT_TEXT);
  yield { ...letter, message };
  const { p: _payload, ...rest } = { ...letter, message: `${message}${NOT_KEPT}` };
  yield rest;
  const { m: _metadata, ...least } = rest;
  yield { ...least, o: least.o.slice(0, SHORT_TEXT), from: least.from.slice(0, SHORT_TEXT) };
}

/**
 * @internal Keeps a message as a dead letter, once, and says so in the log and by an event. Where there is no room for its payload, it is kept without it: a message that
 * nobody can give up would hold those behind it for ever.
 *
 * @throws Error (as a rejection) when it could not be kept.
 */
export async function keepDeadLetter(
  connection: Connection,
  store: Store,
  place: Place,
  { id, from, ...letter }: Omit<Letter, "receiver" | "at" | keyof Entry>,
  { o, p, m }: Entry,
): Promise<void> {
  const { receiver } = place;
  const { system } = connection;
  const [message, operation] = [letter.message.slice(0, MOST_TEXT), o.slice(0, MOST_TEXT)];
  const at = system.clock.wallTime();
  const sender = from.slice(0, MOST_TEXT);
  const whole: Letter = { ...letter, id, from: sender, receiver, message, at, o: operation, p, ...(m && { m }) };
  let refusal: unknown;
  let isKept = false;
  for (const kept of shorter(whole)) {
    const text = JSON.stringify(kept);
    if (Buffer.byteLength(text) > largest(connection)) continue;
    try {
      const options = { msgID: `${store.created}/${id}`, timeout: 1_000 };
      await store.js.publish(deadSubjectOf(connection, place), text, options);
      isKept = true;
      break;
    } catch (thrown) {
      if (codeOf(thrown) !== TOO_LARGE) throw thrown;
      refusal = thrown;
    }
  }
  if (!isKept) throw refusal ?? new Error(`a dead letter needs more than the servers take (max_payload)`);
  system.log.warn(
    `durable message ${id} to ${receiver} became a dead letter after ${letter.attempts} attempts (${letter.reason}): ${message}`,
    { receiver, id, operation, reason: letter.reason },
  );
  connection.tell("dead-letter", { receiver, id, operation, reason: letter.reason });
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
    const message = await connection.asked(() => consumer.next({ expires: NEXT_WITHIN }));
    if (message === null) break;
    left = message.info.pending;
    letters.push(readLetter(message, place));
  }
  return letters;
}

/** Reads a dead letter. Whoever may publish there may have written anything: that is a letter, too, so that it can be deleted. */
function readLetter(message: JsMsg, { receiver }: Place): DurableDeadLetter {
  const read = readJson(message.string(), { depth: DEEPEST });
  const sequence = message.seq;
  if (read.isOk() && isLetter(read.value)) {
    const { o, p, m, ...letter } = read.value;
    return { ...letter, sequence, operation: o, payload: p, metadata: m };
  }
  const what = { id: "", from: "", operation: "", payload: undefined, attempts: 0, at: 0 };
  return { ...what, sequence, receiver, reason: "unreadable", message: "It is no dead letter of this version." };
}

const isLetter = (value: unknown): value is Letter =>
  typeof value === "object" && value !== null && "reason" in value && "o" in value && typeof value.o === "string";

/** @internal Deletes a dead letter, such as one that was sent again. */
export async function deleteDeadLetter(connection: Connection, sequence: number): Promise<void> {
  const { jsm, deadName } = await openStore(connection);
  await jsm.streams.deleteMessage(deadName, sequence);
}
