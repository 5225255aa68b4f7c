import { type AskError, publicError, publicIssues } from "../index";
import type { RpcErrorObject } from "./contract";

// Errors in both directions: the codes of errors that are sent, and the errors for codes that are received.

/** Longest message of the other side's error that is kept, in characters. */
const MOST_OF_MESSAGE = 1_000;

/**
 * An error of JSON-RPC. A handler that throws one answers its request with that code, message and data; the other side learns all of it.
 * An error that the other side answered, and that is no kind of its own here, is the `cause` of a `handler-failed`.
 *
 * @throws TypeError when the code is no integer, or the message no text.
 * @example
 * throw new RpcError(-32002, "There is no such file.", { uri });
 */
export class RpcError extends Error {
  readonly #code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    if (!Number.isSafeInteger(code)) throw new TypeError(`The code of an RpcError is an integer; got ${String(code)}.`);
    if (typeof message !== "string") throw new TypeError("The message of an RpcError is a text.");
    this.name = "RpcError";
    this.#code = code;
    this.data = data;
  }

  get code(): number {
    return this.#code;
  }

  /** Looks for the private field. Unlike `instanceof`, this runs no code of a hostile value. */
  static is(value: unknown): value is RpcError {
    return typeof value === "object" && value !== null && #code in value;
  }
}

/** The codes of the standard. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;
/** Of LSP and ACP: the request was cancelled. */
const CANCELLED = -32800;

type Kind = AskError["kind"];

/**
 * The code of each kind of error, and its sentence. Kinds without a code in the standard are in the range that it leaves to
 * implementations, apart from the codes of ACP (-32000, -32002) and MCP (-32000, -32001, -32002, -32042). `data.kind` says the kind itself.
 *
 * | kind | code |
 * | --- | --- |
 * | `invalid-payload` | -32602 |
 * | `unknown-operation` | -32601 |
 * | `handler-failed` | -32603, or that of the thrown `RpcError` |
 * | `cancelled` | -32800 |
 * | `timeout` | -32010 |
 * | `no-recipient` | -32011 |
 * | `stopped` | -32012 |
 * | `mailbox-full` | -32013 |
 * | `ask-cycle` | -32014 |
 * | `unreachable` | -32015 |
 * | `payload-too-large` | -32016 |
 */
const TABLE: { readonly [K in Kind]: readonly [code: number, sentence: string] } = {
  "invalid-payload": [INVALID_PARAMS, "The params do not fit the method."],
  "unknown-operation": [METHOD_NOT_FOUND, "There is no such method here."],
  "handler-failed": [INTERNAL_ERROR, "The handler failed."],
  cancelled: [CANCELLED, "The request was cancelled."],
  timeout: [-32010, "No answer came in time."],
  "no-recipient": [-32011, "Nobody is there to handle the request."],
  stopped: [-32012, "The handler has stopped."],
  "mailbox-full": [-32013, "Too much is under way: send the request again later."],
  "ask-cycle": [-32014, "The request would wait for itself."],
  unreachable: [-32015, "The request could not be delivered: send it again later."],
  "payload-too-large": [-32016, "The message is too large: send less."],
};

const RETRYABLE: ReadonlySet<Kind> = new Set(["timeout", "mailbox-full", "unreachable"]);

/** The error of a kind, without a detail. */
export function errorOfKind(kind: Kind, detail: object = {}, sentence: string = TABLE[kind][1]): RpcErrorObject {
  return { code: TABLE[kind][0], message: sentence, data: { kind, retryable: RETRYABLE.has(kind), ...detail } };
}

/**
 * The error as the other side may know it (P18): its kind, and the faults that the sender can mend. It says nothing of a thrown error,
 * except an `RpcError` or one marked by `expose`. Finding the issues of params may take a hundred times as long as refusing them.
 */
export function errorObjectOf(error: AskError): RpcErrorObject {
  switch (error.kind) {
    case "handler-failed": {
      const { cause } = error;
      if (RpcError.is(cause)) return objectOf(cause);
      return errorOfKind("handler-failed", {}, publicError(error).message);
    }
    case "invalid-payload":
      return errorOfKind("invalid-payload", { issues: publicIssues(error.issues) });
    case "timeout":
      return errorOfKind("timeout", { timeout: error.timeout }); // JSON writes Infinity as null.
    case "mailbox-full":
      return errorOfKind("mailbox-full", { capacity: error.capacity });
    case "payload-too-large":
      return errorOfKind("payload-too-large", { limit: error.limit });
    default:
      return errorOfKind(error.kind);
  }
}

const objectOf = ({ code, message, data }: RpcError): RpcErrorObject =>
  data === undefined ? { code, message } : { code, message, data };

/** The meaning of the other side's error here: the arguments of `Outgoing.fail`. */
export interface Failure {
  readonly kind: Kind;
  readonly detail: unknown;
}

/**
 * Reads an error of the other side, which may be anything. `data.kind` names the kind where the other side is one of ours; else the codes
 * of the standard do. Any other error is a failed handler whose cause is an `RpcError`.
 */
export function failureOf(error: unknown): Failure {
  if (typeof error !== "object" || error === null || Array.isArray(error)) return unreadable();
  const { code, message, data } = error as Record<string, unknown>; // Any object has such properties, or not.
  if (!Number.isSafeInteger(code) || typeof message !== "string") return unreadable();
  const thrown = new RpcError(code as number, clip(message), data); // An integer is a number.
  const kind = kindIn(data) ?? kindOf(thrown.code);
  return { kind, detail: detailIn(kind, data) ?? (kind === "invalid-payload" ? refusedThere(thrown) : thrown) };
}

/** The end of a sentence about a payload that the other side has refused without naming its faults. */
const refusedThere = ({ message }: RpcError): string => `is refused by the other side: ${message}`;

const unreadable = (): Failure => ({
  kind: "handler-failed",
  detail: new RpcError(INTERNAL_ERROR, "the other side answered what is neither a result nor an error of JSON-RPC"),
});

const clip = (text: string): string => (text.length <= MOST_OF_MESSAGE ? text : `${text.slice(0, MOST_OF_MESSAGE)}…`);

function kindIn(data: unknown): Kind | undefined {
  const kind = memberOf(data, "kind");
  return typeof kind === "string" && Object.hasOwn(TABLE, kind) ? (kind as Kind) : undefined; // The table has all kinds.
}

function kindOf(code: number): Kind {
  if (code === METHOD_NOT_FOUND) return "unknown-operation";
  if (code === INVALID_PARAMS) return "invalid-payload";
  return code === CANCELLED ? "cancelled" : "handler-failed";
}

/** The detail that a kind has beside its message. Undefined if the error itself is the detail. */
function detailIn(kind: Kind, data: unknown): unknown {
  switch (kind) {
    case "timeout":
      return numberIn(data, "timeout"); // 0: the limit of its sender.
    case "mailbox-full":
      return numberIn(data, "capacity");
    case "payload-too-large":
      return numberIn(data, "limit");
    case "invalid-payload": {
      const issues = memberOf(data, "issues");
      return Array.isArray(issues) ? issues : undefined;
    }
    default:
      return undefined;
  }
}

function numberIn(data: unknown, name: string): number {
  const value = memberOf(data, name);
  return typeof value === "number" ? value : 0;
}

const memberOf = (data: unknown, name: string): unknown =>
  typeof data === "object" && data !== null && Object.hasOwn(data, name)
    ? (data as Record<string, unknown>)[name] // It has it.
    : undefined;
