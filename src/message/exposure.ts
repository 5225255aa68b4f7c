import type { Issue } from "./delivery-error";

// By the objects themselves, and not by a field: nothing that came from outside can carry the mark.
const exposed = new WeakSet<object>();
const withheld = new WeakSet<Issue>();

/**
 * Marks an error as one whose message may leave the process: `createErrorResponse` then tells that text, and nothing else of it.
 * Without the mark it tells that the handler failed, and nothing of what it threw. The mark does not pass on by itself: where a
 * `ctx.ask` came back with an error whose cause was exposed, throw `error.cause`, and not the error.
 *
 * @returns the same error.
 * @throws TypeError when it is no Error.
 * @example
 * throw expose(new Error("There is no such city."));
 */
export function expose<E extends Error>(error: E): E {
  if (!(error instanceof Error))
    throw new TypeError('expose() marks an Error, as in expose(new Error("No such city."))');
  exposed.add(error);
  return error;
}

/** The text of an error that was exposed; undefined of anything else. */
export function exposedText(thrown: unknown): string | undefined {
  if (typeof thrown !== "object" || thrown === null || !exposed.has(thrown)) return undefined;
  try {
    return String((thrown as Error).message); // Only Errors are marked.
  } catch {
    return undefined;
  }
}

/** Marks an issue that quotes what a schema threw. */
export function withhold(issue: Issue): Issue {
  withheld.add(issue);
  return issue;
}

/**
 * Issues as a stranger may be told them: one that quotes what a schema threw says only that it cannot be checked. The others stay
 * the same objects.
 *
 * @example
 * if (error.kind === "invalid-payload") respond(publicIssues(error.issues));
 */
export const publicIssues = (issues: readonly Issue[]): readonly Issue[] =>
  issues.map((issue) => (withheld.has(issue) ? { path: issue.path, message: "cannot be checked" } : issue));
