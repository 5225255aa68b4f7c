import type { Result } from "neverthrow";
import { quote } from "../message/address";
import type { DeliveryError } from "../message/delivery-error";
import type { Message } from "../message/message";

/**
 * Sees each message sent through a router before any mailbox does. `message.pattern` is the pattern it is sent in. An
 * interceptor runs on the sender's stack, or in a turn of its own if messages to that address wait. It returns the outcome: the
 * result of `next`, `ok(answer)`, or `drop("why")`.
 *
 * | it returns | the message counts as | an asker gets |
 * | --- | --- | --- |
 * | what `next()` gave | what its handler made of it | that |
 * | `ok(answer)` without `next` | handled | the answer (of a stream: an iterable of items) |
 * | `drop("why")` | dead, by `dropped` | `cancelled`, with why |
 * | an `Err` of another ask, without `next` | failed | that error |
 * | nothing that fits, or it throws | failed | `handler-failed`, with the cause |
 *
 * After `next()` it can only change what the asker gets: the message has its outcome by then.
 *
 * @example
 * router.use((message, next) => next({ ...message, payload: redact(message.payload) }));
 * router.use((message, next) => (isAllowed(message) ? next() : drop("no token")));
 * router.use(async (message, next) => {
 *   const reply = await next();
 *   count(message.type, reply.isOk());
 *   return reply;
 * });
 */
export type Interceptor = (message: Message, next: Next) => Passage | PromiseLike<Passage>;

/**
 * Hands on a message, once: the same one, or another (a changed payload, another address). Resolves to the outcome: for an
 * ask the reply, for a stream its items (an `ActorStream`), for a tell or an offer `ok(undefined)` once the mailbox has the
 * message. Never rejects. If the sender has given up, the message is not sent and the sender's error comes back. A message
 * from outside (`parseMessage`) is still validated, however it was changed.
 *
 * @throws TypeError when it is called twice, after its interceptor returned, or with a value that is not a message.
 */
export type Next = (message?: Message) => Promise<Result<unknown, DeliveryError>>;

/** The result of an interceptor: the outcome of the message, or that it was dropped. */
export type Passage = Result<unknown, DeliveryError> | Dropped;

/**
 * The mark of a dropped message, made by `drop`.
 *
 * @example
 * router.use((message, next) => (message.type === "spam" ? drop("it is spam") : next())); // drop() returns a Dropped
 */
export class Dropped {
  readonly #why: string;

  constructor(why: string) {
    this.#why = why;
  }

  get why(): string {
    return this.#why;
  }
}

/**
 * Drops a message: it becomes a dead letter with the reason `dropped`, and an asker gets `cancelled`.
 *
 * @param why the end of a sentence, for the log and the asker.
 * @throws TypeError when `why` is not a text, or empty.
 * @example
 * router.use((message, next) => (message.metadata?.token === token ? next() : drop("it has no token")));
 */
export function drop(why: string): Dropped {
  if (typeof why !== "string" || why === "") {
    throw new TypeError(`Say why the message is dropped, as in drop("it has no token"); got ${quote(why)}.`);
  }
  return new Dropped(why);
}
