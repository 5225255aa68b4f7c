import { type DeliveryError, publicError, publicIssues } from "../index";

/**
 * The status of each kind of refusal, and its name. The kinds of delivery errors are those of an ask; the others are of the
 * gateway itself.
 */
export const STATUSES = {
  "bad-request": 400,
  "invalid-payload": 400,
  unauthenticated: 401,
  forbidden: 403,
  "not-found": 404,
  "no-recipient": 404,
  "unknown-operation": 404,
  "method-not-allowed": 405,
  "not-acceptable": 406,
  "slow-request": 408,
  conflict: 409,
  gone: 410,
  "payload-too-large": 413,
  "unsupported-media-type": 415,
  "upgrade-required": 426,
  "too-many-requests": 429,
  "handler-failed": 500,
  "ask-cycle": 500,
  "internal-error": 500,
  cancelled: 503,
  "mailbox-full": 503,
  stopped: 503,
  unreachable: 503,
  unavailable: 503,
  timeout: 504,
} as const satisfies Record<DeliveryError["kind"], number> & Record<string, number>;

/** The kind of a refusal. */
export type ProblemKind = keyof typeof STATUSES;

/** The reason phrases of RFC 9110. */
export const TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  426: "Upgrade Required",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/** A refusal as its client reads it: problem details (RFC 9457), with the kind beside the standard's fields. */
export interface Problem {
  /** The reason phrase of the status. */
  readonly title: string;
  readonly status: number;
  /** A sentence that says what was wrong, and what to do. */
  readonly detail: string;
  readonly kind: ProblemKind;
  /** True when the same request, sent again, may succeed. */
  readonly retryable: boolean;
  /** For `invalid-payload`: at most eight faults of the payload, each with its place as a JSON Pointer. */
  readonly issues?: readonly { readonly path: string; readonly message: string }[];
}

const RETRYABLE: ReadonlySet<ProblemKind> = new Set([
  "slow-request",
  "too-many-requests",
  "mailbox-full",
  "unreachable",
  "unavailable",
  "stopped",
  "timeout",
]);

/** All that a client learns of a mistake of the service. */
export const SERVICE_FAILED = "The service failed. Its log says why.";

/** Seconds after which a client may try again what was refused for want of room. */
const RETRY_AFTER = "1";

/** A refusal, to be sent in whatever way. */
export function problemOf(kind: ProblemKind, detail: string, more: Pick<Problem, "issues"> = {}): Problem {
  const status = STATUSES[kind];
  return { title: TITLES[status] ?? "", status, detail, kind, retryable: RETRYABLE.has(kind), ...more };
}

/** The problem of a message that failed: no more than `publicError` tells, and the issues of its payload. */
export function problemOfError(error: DeliveryError): Problem {
  const { kind, message } = publicError(error);
  return problemOf(kind, message, error.kind === "invalid-payload" ? { issues: publicIssues(error.issues) } : {});
}

/** The response of a refusal. */
export function refuse(
  kind: ProblemKind,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
  more: Pick<Problem, "issues"> = {},
): Response {
  return refuseProblem(problemOf(kind, detail, more), headers);
}

/** The response of a refusal that is made already. */
export const refuseProblem = (problem: Problem, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      "content-type": "application/problem+json",
      ...(problem.status === 503 && { "retry-after": RETRY_AFTER }),
      ...headers,
    },
  });

/** The response to a message that failed. */
export const refuseError = (error: DeliveryError): Response => refuseProblem(problemOfError(error));
