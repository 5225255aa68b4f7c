import type { Approval, ApprovalRequest } from "envoi/tools";

/** The folder of the workspace that an agent may write to. */
export const REPORT = "report";

/** Whether an agent may write there: below `report/`, by a path that does not lead out of it again. */
export function mayWrite(path: unknown): boolean {
  if (typeof path !== "string") return false;
  const [first, ...rest] = path.split("/");
  return first === REPORT && rest.length > 0 && rest.every((name) => name !== "" && name !== "." && name !== "..");
}

/** What is said where it may not. */
export const refusal = (path: unknown): string =>
  `Nothing is written outside of ${REPORT}/: write to ${REPORT}/notes.md, for example; got ${JSON.stringify(path)}.`;

/** Asked by the code actor before code is run and before each call of a tool: the one place that says what code may do. */
export function approve(request: ApprovalRequest): Approval {
  if (request.kind === "run") return true; // The sandbox keeps it from all but its tools.
  if (request.operation === "read" || request.operation === "list") return true;
  const { path } = (request.payload ?? {}) as { path?: unknown }; // Any payload may be asked whether it has one.
  return request.operation === "write" && mayWrite(path) ? true : { refuse: refusal(path) };
}
