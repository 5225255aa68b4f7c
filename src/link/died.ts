import { type AskError, StreamError } from "../index";

/** The cause of `unreachable` for a message that had left. */
export class Died extends Error {
  /** By which the core, and `mayHaveBegun` of each bundle, tell it from other causes. */
  readonly hadLeft = true;

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/**
 * True for an error that leaves it open whether the handler began: `timeout`, `cancelled`, `handler-failed`, a `stopped` whose handler had begun, and an
 * `unreachable` whose message had left for a worker that died before it answered. Send such a message again only if it may be handled twice. False for an error
 * of a message that was not handled.
 *
 * @example
 * const reply = await render.ask("draw", scene);
 * if (reply.isErr() && mayHaveBegun(reply.error)) await lookWhatIsDone(scene);
 */
export function mayHaveBegun(failure: AskError | StreamError): boolean {
  const error = failure instanceof StreamError ? failure.error : failure;
  switch (error.kind) {
    case "timeout":
    case "cancelled":
    case "handler-failed":
      return true;
    case "stopped":
      return error.hadBegun;
    case "unreachable":
      return hadLeft(error.cause);
    default:
      return false;
  }
}

/** True for the cause of an `unreachable` whose message had left. */
export const hadLeft = (cause: unknown): boolean =>
  cause instanceof Error && "hadLeft" in cause && cause.hadLeft === true;

/** The detail by which the sender on the other side of another link is told so, too. */
export const toldAsDied = (sentence: string): unknown => ({ hadLeft: sentence });

/** The detail as an error needs it. */
export function revivedDied(detail: unknown): unknown {
  if (typeof detail !== "object" || detail === null || !("hadLeft" in detail)) return detail;
  return typeof detail.hadLeft === "string" ? new Died(detail.hadLeft) : undefined;
}

/** The detail of a message whose handler had begun when its actor stopped. */
export const BEGUN = toldAsDied("its actor stopped while it handled the message");

/**
 * The kind by which a failure is told to the other side: nobody knows what became of a message whose handler had begun (P17). The actors of a side that
 * leaves stop with it, which is no end of the references to them.
 */
export function kindToTell(kind: AskError["kind"], detail: unknown, isLeaving: boolean): AskError["kind"] {
  if (kind !== "stopped") return kind;
  if (detail === BEGUN) return "timeout";
  return isLeaving ? "unreachable" : kind;
}
