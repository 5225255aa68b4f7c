import type { AskError } from "../index";

/** The cause of `unreachable` for a message that had left. */
export class Died extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** True for an `unreachable` whose message had left for a side that died, so that its handler may have begun. */
export const mayHaveBegun = (error: AskError): boolean => error.kind === "unreachable" && error.cause instanceof Died;
