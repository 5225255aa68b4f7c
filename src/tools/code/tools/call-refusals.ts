/** Most calls of a run that may be open at once. */
export const MOST_CALLS = 1_000;

const refusal = (kind: string, message: string): string => JSON.stringify({ ok: false, kind, message });

/** The tier's own answers to calls that it does not pass on. */
export const REFUSALS = {
  tooMany: refusal("budget", `${MOST_CALLS} calls are open already; await some of them first.`),
  tooLarge: refusal("invalid-payload", "The payload is larger than all that the run may write; hand over less."),
  unanswerable: refusal("budget", "The answer is too large to come into code; ask for less."),
  none: refusal("unknown-operation", "This run has no tools."),
  over: refusal("cancelled", "The run has ended, and its tools with it."),
} as const;
