import type { Issue } from "./delivery-error";

// The marks are kept here and not in a field, so nothing that came from outside can carry one.
const exposed = new WeakSet<object>();
const withheld = new WeakSet<Issue>();

/**
 * Allows the message of an error to leave the process: `createErrorResponse` then tells that text, and nothing else of the error.
 * Without the mark it tells only that the handler failed. The mark does not pass on by itself: when a `ctx.ask` gives an error
 * whose cause is exposed, throw `error.cause` and not the error.
 *
 * @returns the same error.
 * @throws TypeError when the value is not an Error.
 * @example
 * throw expose(new Error("There is no such city."));
 */
export function expose<E extends Error>(error: E): E {
  if (!(error instanceof Error))
    throw new TypeError('expose() marks an Error, as in expose(new Error("No such city."))');
  exposed.add(error);
  return error;
}

/** The message of an exposed error; undefined for anything else. */
export function exposedText(thrown: unknown): string | undefined {
  if (typeof thrown !== "object" || thrown === null || !exposed.has(thrown)) return undefined;
  try {
    return String((thrown as Error).message); // Only Errors are marked.
  } catch {
    return undefined;
  }
}

/** Marks an issue that quotes an error of a schema. */
export function withhold(issue: Issue): Issue {
  withheld.add(issue);
  return issue;
}

/**
 * Makes issues safe to show to a stranger: an issue that quotes an error of a schema says only that the payload cannot be
 * checked. The others stay the same objects.
 *
 * @example
 * if (error.kind === "invalid-payload") respond(publicIssues(error.issues));
 */
export const publicIssues = (issues: readonly Issue[]): readonly Issue[] =>
  issues.map((issue) => (withheld.has(issue) ? { path: issue.path, message: "cannot be checked" } : issue));
