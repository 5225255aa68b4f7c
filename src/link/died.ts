import type { AskError, StreamError } from "../index";

/** The cause of `unreachable` for a message that had left. */
export class Died extends Error {
  /** By which the core, and `mayHaveBegun` of each bundle, tell it from other causes. */
  readonly hadLeft = true;

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/**
 * True for an `unreachable` whose message had left for a worker that died before it answered: its handler may have begun, and may even have ended. Send it again only if
 * it may be handled twice. An `unreachable` for which it is false was not handled, and can be sent again at once.
 *
 * @example
 * const reply = await render.ask("draw", scene);
 * if (reply.isErr() && mayHaveBegun(reply.error)) await lookWhatIsDone(scene);
 */
export function mayHaveBegun(error: AskError | StreamError): boolean {
  const cause = error.kind === "unreachable" && "cause" in error ? error.cause : undefined;
  return cause instanceof Error && "hadLeft" in cause && cause.hadLeft === true;
}

/** The detail by which the sender on the other side of another link is told so, too. */
export const toldAsDied = (sentence: string): unknown => ({ hadLeft: sentence });

/** The detail as an error needs it. */
export function revivedDied(detail: unknown): unknown {
  if (typeof detail !== "object" || detail === null || !("hadLeft" in detail)) return detail;
  return typeof detail.hadLeft === "string" ? new Died(detail.hadLeft) : undefined;
}
