import { asDetail } from "./address";

/** Most characters of an object that are shown. */
const MOST_OF_OBJECT = 200;

/** A thrown value as the end of a sentence. Never throws, not even for a hostile value. */
export function sentenceOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return thrown.message === "" ? `${thrown.name}` : `${thrown.name}: ${thrown.message}`;
    if (typeof thrown === "string") return thrown;
    const text = String(thrown);
    return text === "[object Object]" ? asDetail(JSON.stringify(thrown), MOST_OF_OBJECT) : text;
  } catch {
    return "a value that cannot be shown";
  }
}

/** A time as a part of a sentence: rounded, and never 0 for a part of a millisecond. */
export const inMilliseconds = (time: unknown): string =>
  typeof time === "number" ? `${time > 0 ? Math.max(Math.round(time), 1) : time} ms` : `${time} ms`;

/** The limit that passed, as a part of a sentence; nothing for a message without one. */
export const withinTime = (limit: unknown): string =>
  limit === Number.POSITIVE_INFINITY ? "" : ` within ${inMilliseconds(limit)}`;

/** The detail of a timeout whose cause is known: the connection was lost. */
export class LostConnection {
  readonly #timeout: number;
  readonly cause: unknown;

  constructor(timeout: number, cause: unknown) {
    this.#timeout = timeout;
    this.cause = cause;
  }

  get timeout(): number {
    return this.#timeout;
  }

  /** Looks for the private field. Unlike `instanceof`, this runs no code of a hostile value. */
  static is(value: unknown): value is LostConnection {
    return typeof value === "object" && value !== null && #timeout in value;
  }
}

/** The detail of `mailbox-full` where a transport is full, and no mailbox: the most messages that the other side may not have read. */
export interface Unread {
  readonly unread: number;
}

export const isUnread = (detail: unknown): detail is Unread =>
  typeof detail === "object" && detail !== null && "unread" in detail && typeof detail.unread === "number";

/** The end of a sentence about a message that found no room. */
export const fullBy = (full: unknown): string =>
  isUnread(full)
    ? `found ${full.unread} ${full.unread === 1 ? "message" : "messages"} that the other side has not read yet, which is the most; send again later.`
    : `found a full mailbox (capacity ${full}); send again later.`;

/** Why a connection was lost, in brackets. */
const whyLost = (cause: unknown): string =>
  cause instanceof Error && cause.name === "Error" && cause.message !== "" ? cause.message : sentenceOf(cause);

/** The end of a sentence about a message whose connection was lost. */
export const lostBy = (cause: unknown): string =>
  `got no reply: the connection was lost (${whyLost(cause)}); nobody knows whether it was handled.`;

/** True for the cause of an `unreachable` whose message had left before the other side ended (`Outgoing.fail`). Never throws. */
export function hadLeft(cause: unknown): boolean {
  try {
    return cause instanceof Error && "hadLeft" in cause && cause.hadLeft === true;
  } catch {
    return false;
  }
}

/** True for the cause of an `unreachable` whose message came to the other side, which did not hand it in (`Outgoing.fail`). Never throws. */
function hasArrived(cause: unknown): cause is Error {
  try {
    return cause instanceof Error && "hasArrived" in cause && cause.hasArrived === true;
  } catch {
    return false;
  }
}

/** The end of a sentence about a message that was unreachable. */
export function unreachableBy(cause: unknown): string {
  if (hasArrived(cause)) return `was not handled: ${whyLost(cause).replace(/\.$/, "")}; send it again later.`;
  if (hadLeft(cause)) {
    const why = whyLost(cause).replace(/\.$/, "");
    return `had left when the other side ended (${why}): its handler may have begun; send it again only if it may be handled twice.`;
  }
  const why = cause === undefined ? "" : `: ${sentenceOf(cause).replace(/\.$/, "")}`;
  return `could not leave${why}; send again once the connection is back.`;
}
