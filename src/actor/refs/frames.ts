import type { Address } from "../../message/address";
import type { AskError } from "../../message/delivery-error";
import type { Metadata, Pattern } from "../../message/message";
import { checkMetadata, type Progress } from "../envelopes/call-options";

// The frames between a transport and a responder.

/** A message as it travels: the parts of an `Outgoing` that its receiver needs, as plain data. */
export interface MessageFrame {
  readonly kind: "message";
  /** That of the `Outgoing`. All other frames about the message have it too. */
  readonly id: string;
  readonly to: Address;
  readonly pattern: Pattern;
  /** True for an offer, beside asks and streams. Default: false. */
  readonly isAwaited?: boolean;
  readonly type: string;
  readonly payload?: unknown;
  readonly metadata?: Metadata | undefined;
  /** Milliseconds. No limit where it is no number: JSON writes `Infinity` as null. Less than 1 counts as 1. */
  readonly timeLeft?: number | null;
  /** Items that the reader of a stream has room for. Default: 0. */
  readonly credit?: number;
  /** Default: false. */
  readonly wantsProgress?: boolean;
}

/** A frame from the side that sends messages, as plain data. */
export type RequestFrame =
  | MessageFrame
  /** Nobody waits for the message any more. */
  | { readonly kind: "cancel"; readonly id: string }
  /** The reader of a stream has room for so many more items. */
  | { readonly kind: "credit"; readonly id: string; readonly count: number };

/** The outcome of a message, or a part of it. */
export type Answer =
  /** The reply to an ask; an offer was taken; a stream is at its end. */
  | { readonly kind: "reply"; readonly payload?: unknown }
  | { readonly kind: "items"; readonly items: readonly unknown[] }
  /** `error` and `detail` are what `Outgoing.fail` takes. They tell no more than `publicError`. */
  | { readonly kind: "failure"; readonly error: AskError["kind"]; readonly detail?: unknown };

/**
 * A frame to the side that sent a message, as plain data. Outcomes are numbered from 0 for each message: a transport that loses or
 * reorders frames can tell.
 */
export type AnswerFrame =
  | (Answer & { readonly id: string; readonly index: number })
  | ({ readonly kind: "progress"; readonly id: string } & Progress);

const PATTERNS: readonly unknown[] = ["tell", "ask", "stream"] satisfies Pattern[];

/** True for a value from outside that can be taken. The door itself takes any operation, payload and address. */
export function isFrame(value: unknown): value is RequestFrame {
  if (typeof value !== "object" || value === null) return false;
  const { kind, id, pattern, metadata } = value as Record<string, unknown>; // Any object has such properties, or not.
  if (typeof id !== "string") return false;
  if (kind === "cancel" || kind === "credit") return true;
  return kind === "message" && PATTERNS.includes(pattern) && (metadata === undefined || isMetadata(metadata));
}

function isMetadata(value: unknown): boolean {
  try {
    checkMetadata(value, "a message");
    return true;
  } catch {
    return false;
  }
}
