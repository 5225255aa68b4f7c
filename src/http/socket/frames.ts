import type { Progress } from "../../index";
import type { Problem } from "../problem";

// The frames of a socket. docs/websocket-protocol.md has each of them with an example.

/** The sub-protocol: its name has the version of the protocol. */
export const PROTOCOL = "envoi.v1";

/** A message to an exposed operation. */
export interface MessageOfClient {
  readonly kind: "ask" | "offer" | "stream";
  /** Chosen by the client. All frames about the message have it. */
  readonly id: string;
  /** The name under which the actor is exposed. */
  readonly to: string;
  /** The operation. */
  readonly type: string;
  readonly payload?: unknown;
  /** Milliseconds until the client gives up. Default: the limit of the gateway; for a stream: none. */
  readonly timeLeft?: number;
  /** Of a stream: the items that the client has room for. Default: 0. */
  readonly credit?: number;
  /** Of an ask. Default: false. */
  readonly wantsProgress?: boolean;
  /** The trace that the message belongs to (W3C trace context). */
  readonly traceparent?: string;
  /** The state of that trace. */
  readonly tracestate?: string;
}

/** A message without an answer. */
export type TellOfClient = Omit<MessageOfClient, "kind" | "id" | "credit" | "wantsProgress"> & {
  readonly kind: "tell";
};

/** A frame to the gateway. */
export type ClientFrame =
  /** The first frame of a socket whose request had no credentials. */
  | { readonly kind: "authenticate"; readonly token: string }
  | MessageOfClient
  | TellOfClient
  /** Nobody waits for the message any more, or reads the topic. */
  | { readonly kind: "cancel"; readonly id: string }
  /** The reader of a stream has room for so many more items. */
  | { readonly kind: "credit"; readonly id: string; readonly count: number }
  | { readonly kind: "subscribe"; readonly id: string; readonly topic: string }
  /** Is the gateway still there? A browser does not show its pages the pings of WebSocket. */
  | { readonly kind: "ping" };

/** The bounds of a socket, as its client is told. */
export interface SocketLimits {
  /** Most bytes of a text. */
  readonly text: number;
  /** Deepest nesting of a text. */
  readonly depth: number;
  /** Most frames of a text. */
  readonly frames: number;
  /** Most messages under way. */
  readonly messages: number;
  readonly subscriptions: number;
}

/** A frame from the gateway. */
export type ServerFrame =
  /** The first one, once the caller is known. */
  | { readonly kind: "welcome"; readonly limits: SocketLimits }
  /** The reply to an ask; without a payload, an offer was taken. */
  | { readonly kind: "reply"; readonly id: string; readonly payload?: unknown }
  /** Items of a stream, or of a topic. */
  | { readonly kind: "items"; readonly id: string; readonly items: readonly unknown[] }
  /** The stream came to its end. */
  | { readonly kind: "end"; readonly id: string }
  | ({ readonly kind: "progress"; readonly id: string } & Progress)
  /** The message or the subscription failed, or was refused. */
  | { readonly kind: "failure"; readonly id: string; readonly problem: Problem }
  | { readonly kind: "subscribed"; readonly id: string }
  /** So many items of a topic were left out, because the client did not read. */
  | { readonly kind: "missed"; readonly id: string; readonly count: number }
  /** The service ends: no new messages are taken, and the socket closes once those under way have ended. */
  | { readonly kind: "goodbye" }
  /** The answer to a ping. */
  | { readonly kind: "pong" };

const LONGEST_ID = 128;

/** Says what is wrong with a frame from outside, as the reason of a close has it; undefined for one that is right. */
export function faultOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return "A frame is an object with a kind.";
  const frame = value as Record<string, unknown>; // Any object has such properties, or not.
  const { kind, id } = frame;
  if (kind === "authenticate") return typeof frame["token"] === "string" ? undefined : "A token is a text.";
  if (kind === "ping") return undefined;
  if (kind !== "tell" && (typeof id !== "string" || id === "" || id.length > LONGEST_ID)) {
    return `A frame has an id: a text of 1 to ${LONGEST_ID} characters.`;
  }
  switch (kind) {
    case "ask":
    case "tell":
    case "offer":
    case "stream":
      return faultOfMessage(frame);
    case "cancel":
      return undefined;
    case "credit":
      return isCount(frame["count"], 1) ? undefined : "The count of a credit is a whole number from 1.";
    case "subscribe":
      return typeof frame["topic"] === "string" ? undefined : "A subscription names its topic.";
    default:
      return "There is no frame of that kind.";
  }
}

function faultOfMessage(frame: Record<string, unknown>): string | undefined {
  const { to, type, timeLeft, credit, wantsProgress, traceparent, tracestate } = frame;
  if (typeof to !== "string" || typeof type !== "string") return "A message has to and type, which are texts.";
  if (timeLeft !== undefined && !(typeof timeLeft === "number" && timeLeft > 0)) {
    return "timeLeft is a number of milliseconds above 0.";
  }
  if (credit !== undefined && !isCount(credit, 0)) return "The credit of a stream is a whole number from 0.";
  if (wantsProgress !== undefined && typeof wantsProgress !== "boolean") return "wantsProgress is true or false.";
  if (traceparent !== undefined && typeof traceparent !== "string") return "traceparent is a text.";
  if (tracestate !== undefined && typeof tracestate !== "string") return "tracestate is a text.";
  return undefined;
}

const isCount = (value: unknown, least: number): boolean => Number.isSafeInteger(value) && (value as number) >= least; // It is one.
