import type { Result } from "neverthrow";
import { quote } from "../message/address";
import type { DeliveryError } from "../message/delivery-error";
import type { Message } from "../message/message";

/**
 * Sees each message that is sent through a router, before any mailbox does; `message.pattern` is the one that it is sent
 * in. It runs on the sender's stack, or in a turn of its own where messages to that address wait. It says what comes of it: what `next` gave, `ok(answer)`, or `drop("why")`.
 *
 * | it returns | the message counts as | an asker gets |
 * | --- | --- | --- |
 * | what `next()` gave | what its handler made of it | that |
 * | `ok(answer)` without `next` | handled | the answer (of a stream: an iterable of items) |
 * | `drop("why")` | dead, by `dropped` | `cancelled`, with why |
 * | an `Err` of another ask, without `next` | failed | that error |
 * | nothing that fits, or it throws | failed | `handler-failed`, with the cause |
 *
 * What it does after `next()` changes what the asker gets, and no more: the message has its outcome by then.
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
 * Hands on a message, once: the same one, or another (a changed payload, another address). What came of it: for an ask
 * the reply, for a stream its items (an `ActorStream`), for a tell or an offer `ok(undefined)` once the mailbox has it. It
 * never rejects. A message whose sender has given up is not sent: its error comes back. One that came from outside
 * (`parseMessage`) stays validated, however it is changed.
 *
 * @throws TypeError when it is called twice, after its interceptor returned, or with what is no message.
 */
export type Next = (message?: Message) => Promise<Result<unknown, DeliveryError>>;

/** What an interceptor says of a message: what came of it, or that it was dropped. */
export type Passage = Result<unknown, DeliveryError> | Dropped;

/** That a message goes no further; made by `drop`. */
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
 * Lets a message go no further: it becomes a dead letter with the reason `dropped`, and an asker gets `cancelled`.
 *
 * @param why the end of a sentence, for the log and the asker.
 * @throws TypeError when it does not say why.
 * @example
 * router.use((message, next) => (message.metadata?.token === token ? next() : drop("it has no token")));
 */
export function drop(why: string): Dropped {
  if (typeof why !== "string" || why === "") {
    throw new TypeError(`Say why the message is dropped, as in drop("it has no token"); got ${quote(why)}.`);
  }
  return new Dropped(why);
}
