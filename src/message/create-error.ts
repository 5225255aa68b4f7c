import { type Address, quote } from "./address";
import { type DeliveryError, deliveryError, type Issue, type MessageSource } from "./delivery-error";
import type { Message } from "./message";
import { isUnread, LostConnection, sentenceOf } from "./sentence-of";
import { withhold } from "./withhold";

/** The detail that an error of each kind has beside its message. */
export interface ErrorDetails {
  /** The limit that passed, in milliseconds; or the error that ended the connection while the reply was awaited. */
  readonly timeout: number | Error;
  /** The reason why it was given up. */
  readonly cancelled: unknown;
  readonly "no-recipient": undefined;
  readonly stopped: undefined;
  /** The capacity of the mailbox; or the most messages that the other side of a transport may not have read, as `{ unread: 100 }`. */
  readonly "mailbox-full": number | { readonly unread: number };
  /** More about why it does not have the operation, such as that it is of another version of the protocol. */
  readonly "unknown-operation": Error | undefined;
  readonly "invalid-payload": readonly Issue[];
  /** The thrown value. */
  readonly "handler-failed": unknown;
  /** The circle, from the asker and back to it. */
  readonly "ask-cycle": readonly Address[];
  /** The reason why the message could not leave. */
  readonly unreachable: unknown;
  /** In bytes. */
  readonly "payload-too-large": number;
}

type Kind = DeliveryError["kind"];

/** Most issues that an error shows. */
const MOST_ISSUES = 8;

const numberOf = (detail: unknown): number => (typeof detail === "number" ? detail : 0);
const nothing = (): undefined => undefined;
const itself = (detail: unknown): unknown => detail;

/** The detail that an error of a kind keeps, of one that may have come from anywhere. */
const KEPT: { readonly [K in Kind]: (detail: unknown) => unknown } = {
  timeout: (detail) => timeoutBy(detail),
  cancelled: itself,
  "no-recipient": nothing,
  stopped: nothing,
  "mailbox-full": (detail) => (isUnread(detail) ? { unread: detail.unread } : numberOf(detail)),
  "unknown-operation": (detail) => (detail instanceof Error ? detail : undefined),
  "invalid-payload": (detail) => {
    const issues = Array.isArray(detail) ? detail.slice(0, MOST_ISSUES).filter(isIssue) : [];
    const known = issues.length > 0 ? issues : [withhold({ path: "", message: reasonIn(detail) })];
    return () => known;
  },
  "handler-failed": itself,
  "ask-cycle": (detail) => (Array.isArray(detail) ? detail.filter((at) => typeof at === "string") : []),
  unreachable: itself,
  "payload-too-large": numberOf,
};

/**
 * The detail of a timeout: its limit, or what ended the connection. A message without a limit has `Infinity`, which JSON writes as
 * null.
 *
 * @param limit that of its message.
 */
export function timeoutBy(detail: unknown, limit: number = Number.POSITIVE_INFINITY): number | LostConnection {
  if (LostConnection.is(detail)) return detail;
  if (typeof detail === "number") return detail > 0 ? detail : limit;
  return detail === undefined || detail === null ? limit : new LostConnection(limit, detail);
}

/** The issue of a payload that was refused without any. */
const reasonIn = (detail: unknown): string =>
  detail === undefined || Array.isArray(detail) ? "does not fit, and it is not known why" : sentenceOf(detail);

const isIssue = (value: unknown): value is Issue =>
  typeof value === "object" &&
  value !== null &&
  "path" in value &&
  typeof value.path === "string" &&
  "message" in value &&
  typeof value.message === "string";

/**
 * True for the kind of a delivery error: for code that reads errors from elsewhere, such as a transport.
 *
 * @example
 * if (isErrorKind(frame.error)) out.fail(frame.error, frame.detail);
 */
export const isErrorKind = (kind: unknown): kind is Kind => typeof kind === "string" && Object.hasOwn(KEPT, kind);

/** The error of a kind that came from elsewhere. A kind that this version does not know is a failed handler. */
export function errorFrom(kind: string, source: MessageSource, detail: unknown): DeliveryError {
  if (!isErrorKind(kind)) {
    return deliveryError(
      "handler-failed",
      source,
      new TypeError(`it failed by ${quote(kind)}, which is no known kind`),
    );
  }
  // KEPT gives each kind the detail that it has.
  return deliveryError(kind, source, KEPT[kind](detail) as never);
}

/**
 * Makes a delivery error about a message: for code that carries messages itself, such as a transport or a door.
 *
 * @throws TypeError when the kind is none.
 * @example
 * return err(createDeliveryError("payload-too-large", message, 1_048_576));
 */
export function createDeliveryError<K extends Kind>(
  kind: K,
  message: Message,
  ...detail: undefined extends ErrorDetails[K] ? [detail?: ErrorDetails[K]] : [detail: ErrorDetails[K]]
): Extract<DeliveryError, { kind: K }> {
  if (!isErrorKind(kind)) {
    throw new TypeError(`${quote(kind)} is no kind of delivery error; write one of ${Object.keys(KEPT).join(", ")}.`);
  }
  const source: MessageSource = { to: message.to, type: message.type, toMessage: () => message };
  // The error has the kind that was given.
  return errorFrom(kind, source, detail[0]) as Extract<DeliveryError, { kind: K }>;
}
