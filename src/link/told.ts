/** An error as it is told to a side that is trusted: with its stack, so that the failure can be found. */
export function toldOf(thrown: unknown): unknown {
  try {
    if (!(thrown instanceof Error)) return String(thrown);
    return { name: String(thrown.name), message: String(thrown.message), stack: String(thrown.stack) };
  } catch {
    return "it threw a value that cannot be told"; // Its getters throw, or it has no text.
  }
}

/** The cause of `unreachable` for a message that the other side had, and did not hand in. */
class Refused extends Error {
  /** By which the core tells it from other causes. */
  readonly hasArrived = true;
}

/** The detail by which a sender is told why the side that had its message did not hand it in. */
export const toldAsRefused = (sentence: string): unknown => ({ refused: sentence });

/** The detail as an error needs it. */
export function revivedRefusal(detail: unknown): unknown {
  if (typeof detail !== "object" || detail === null || !("refused" in detail)) return detail;
  return typeof detail.refused === "string" ? new Refused(detail.refused) : undefined;
}

/** An error that was told with its stack (`tellsErrors`), or the detail as it came. */
export function revivedError(detail: unknown): unknown {
  if (typeof detail !== "object" || detail === null) return detail;
  const { name, message, stack } = detail as Record<string, unknown>; // Any object has such properties, or not.
  // Other values than texts come from nobody who means well, and `String` throws for some of them.
  if (typeof name !== "string" || typeof message !== "string" || typeof stack !== "string") return detail;
  return Object.assign(new Error(message), { name, stack });
}
