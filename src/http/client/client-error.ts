import type { Problem, ProblemKind } from "../problem";

/**
 * The kind of an error. Most are kinds of the gateway's refusals; these come from the client itself, too, without a status:
 * - `unreachable`: the request was not sent, for sure.
 * - `unknown`: it was sent, and its answer was lost. Nobody knows whether it was handled (P17). It is not sent again.
 * - `timeout`: no answer came in time. Nobody knows whether it was handled, or still will be.
 * - `cancelled`: its signal was aborted, or the client was closed.
 * - `invalid-payload`: the payload cannot be written as JSON.
 * - `payload-too-large`, `too-many-requests`: it is more than the socket takes.
 * - `invalid-response`: the answer is not what a gateway sends.
 */
export type ClientErrorKind = ProblemKind | "unknown" | "invalid-response";

/** The reason why there is no reply. */
export interface ClientError {
  readonly kind: ClientErrorKind;
  /** A sentence: what happened, to which operation, and what to do. */
  readonly message: string;
  /**
   * True when the same request, sent again, may succeed. After `unknown` and `timeout` the operation may then be handled twice: send it
   * again only if that does no harm.
   */
  readonly retryable: boolean;
  /** The status of the response; null when there was none. */
  readonly status: number | null;
  /** For `invalid-payload`: at most eight faults of the payload, each with its place as a JSON Pointer. */
  readonly issues: NonNullable<Problem["issues"]>;
  /** The milliseconds after which the service would be asked again; null where it did not say. */
  readonly retryAfter: number | null;
  /** The error that the runtime threw; undefined for a refusal. */
  readonly cause?: unknown;
}

/**
 * Thrown by a loop over a stream that ends before its end.
 *
 * @example
 * try {
 *   for await (const tick of client.counter.stream("ticks", 3)) console.log(tick);
 * } catch (thrown) {
 *   if (thrown instanceof ClientStreamError && thrown.error.retryable) await later();
 * }
 */
export class ClientStreamError extends Error {
  override readonly name = "ClientStreamError";
  /** Told apart as an ask's errors are. */
  readonly kind: ClientErrorKind;
  readonly error: ClientError;

  constructor(error: ClientError) {
    super(error.message, error.cause === undefined ? undefined : { cause: error.cause });
    this.kind = error.kind;
    this.error = error;
  }
}

/** The kinds that a gateway sends, by their status. The first one is also that of a response without problem details. */
const KINDS: Readonly<Record<number, string>> = {
  400: "bad-request invalid-payload",
  401: "unauthenticated",
  403: "forbidden",
  404: "not-found no-recipient unknown-operation",
  405: "method-not-allowed",
  406: "not-acceptable",
  408: "slow-request",
  409: "conflict",
  410: "gone",
  413: "payload-too-large",
  415: "unsupported-media-type",
  426: "upgrade-required",
  429: "too-many-requests",
  500: "internal-error handler-failed ask-cycle",
  502: "unknown", // The proxy does not say whether the service had the request.
  503: "unavailable cancelled mailbox-full stopped unreachable",
  504: "timeout",
};

/** The status of a kind; undefined for none of a gateway. */
const statusOf = (kind: unknown): number | undefined =>
  Object.keys(KINDS)
    .map(Number)
    .find((status) => typeof kind === "string" && KINDS[status]?.split(" ").includes(kind));

const isKind = (kind: unknown): kind is ClientErrorKind => statusOf(kind) !== undefined;

/** True when the same request may succeed later. */
const isRetryable = (kind: ClientErrorKind): boolean =>
  kind !== "cancelled" && [408, 429, 502, 503, 504].includes(statusOf(kind) ?? 0);

/** Makes an error. */
export const failure = (kind: ClientErrorKind, message: string, more: Partial<ClientError> = {}): ClientError => ({
  kind,
  message,
  retryable: isRetryable(kind),
  status: null,
  issues: [],
  retryAfter: null,
  ...more,
});

/** An object from outside, of which nothing is known. */
export type Unknown = { readonly [name: string]: unknown };

export const isObject = (value: unknown): value is Unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value of a JSON text; undefined if it is none. */
export function jsonIn(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** The error that problem details tell; undefined for anything else. */
export function errorOfProblem(problem: unknown, retryAfter: number | null = null): ClientError | undefined {
  if (!isObject(problem)) return undefined;
  const { kind, detail, status, retryable, issues } = problem;
  if (typeof detail !== "string" || typeof status !== "number") return undefined;
  const known = isKind(kind) ? kind : kindOf(status);
  return failure(known, detail, {
    status,
    retryAfter,
    issues: Array.isArray(issues) ? issues.filter(isIssue) : [],
    ...(typeof retryable === "boolean" && { retryable }),
  });
}

const isIssue = (issue: unknown): issue is ClientError["issues"][number] =>
  isObject(issue) && typeof issue["path"] === "string" && typeof issue["message"] === "string";

function kindOf(status: number): ClientErrorKind {
  const kind = KINDS[status]?.split(" ")[0];
  if (isKind(kind)) return kind;
  return status >= 500 ? "unavailable" : status >= 400 ? "bad-request" : "invalid-response";
}

/** The error of an answer that no gateway gives. */
export const strange = (what: string, status: number | null = null): ClientError =>
  failure(
    "invalid-response",
    `The answer to ${what} is none of a gateway: is the url that of one, and the operation of this kind?`,
    { status },
  );

/** The error of a response that is a refusal, with the text of its body. */
export function errorOfResponse(response: Response, text: string, what: string): ClientError {
  const { status, headers } = response;
  const retryAfter = retryAfterOf(headers);
  const isProblem = headers.get("content-type")?.startsWith("application/problem+json") === true;
  const told = isProblem ? errorOfProblem(jsonIn(text)?.value, retryAfter) : undefined;
  if (told !== undefined) return told;
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    const to = headers.get("location"); // A browser does not tell.
    const sentence = `${what} was redirected${to === null ? "" : ` to ${to.slice(0, 200)}`}: write the url of the gateway itself.`;
    return failure("invalid-response", sentence, { status: status || null });
  }
  const sentence = `${what} was answered with status ${status} by something before the gateway.`;
  return failure(kindOf(status), sentence, { status, retryAfter });
}

/** The milliseconds that a header `retry-after` asks for, in seconds or by a date: that is compared with the service's own clock. */
function retryAfterOf(headers: Headers): number | null {
  const asked = headers.get("retry-after") ?? "";
  if (/^\d{1,9}$/.test(asked)) return Number(asked) * 1000;
  const wait = Date.parse(asked) - Date.parse(headers.get("date") ?? "");
  return wait >= 0 ? wait : null;
}

/** The codes that runtimes give to a connection that was never made: nothing was sent. A browser does not tell. */
const NEVER_SENT =
  /^(?:ConnectionRefused|FailedToOpenSocket|E(?:CONNREFUSED|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH)|UND_ERR_CONNECT_TIMEOUT|DNS\w*)$/;

/** Thrown where a request could not be made: its cause says why. */
export class NotSent extends Error {}

/** The error of a request whose response did not come, or not to its end. */
export function errorOfNetwork(thrown: unknown, what: string): ClientError {
  if (thrown instanceof NotSent) {
    return failure("unreachable", `${what} was not sent: its headers could not be made.`, { cause: thrown.cause });
  }
  const codes = [thrown, isObject(thrown) ? thrown["cause"] : undefined].map((each) => isObject(each) && each["code"]);
  return codes.some((code) => typeof code === "string" && NEVER_SENT.test(code))
    ? failure("unreachable", `${what} was not sent: the service cannot be reached.`, { cause: thrown })
    : failure("unknown", `The answer to ${what} was lost: nobody knows whether it was handled.`, { cause: thrown });
}
