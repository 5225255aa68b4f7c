import { CodeRefusal } from "./code-refusal";
import type { ExecuteRequest } from "./protocol";
import type { Isolation } from "./tier";

/** A run or a call that needs approval. `signal` is aborted when nobody waits for it any more. */
export type ApprovalRequest =
  | {
      readonly kind: "run";
      readonly code: string;
      readonly language: NonNullable<ExecuteRequest["language"]>;
      readonly isolation: Isolation;
      /** The value that the code will see as `input`. */
      readonly input: unknown;
      readonly signal: AbortSignal;
    }
  | {
      readonly kind: "call";
      readonly tool: string;
      readonly operation: string;
      readonly payload: unknown;
      readonly signal: AbortSignal;
    };

/**
 * The approver's answer. True allows the request; false and `{ refuse: reason }` refuse it. `{ code }` replaces the code of a
 * run, `{ payload }` the payload of a call. A new payload is validated like the original one.
 */
export type Approval =
  | boolean
  | { readonly refuse: string }
  | { readonly code: string }
  | { readonly payload: unknown };

/** Decides about each run and each call of a tool, at once or later. One that throws refuses. */
export type Approve = (request: ApprovalRequest) => Approval | PromiseLike<Approval>;

/** The refusal of a run whose asker no longer waits. */
export const GONE = new CodeRefusal(
  "stopped",
  "Its asker gave up, or the code actor was stopped, before the run was approved.",
);

/** Returns the code that may run: the original or a replacement. An approver that throws or gives no valid answer refuses. */
export async function approveRun(
  approve: Approve,
  request: ApprovalRequest & { readonly kind: "run" },
): Promise<string | CodeRefusal> {
  if (request.signal.aborted) return GONE;
  try {
    const approval = await unlessAborted(approve(request), request.signal);
    return approval === GONE ? GONE : codeOf(approval, request.code);
  } catch {
    // The error belongs to the host; the asker must not see it.
    return refusal("The run was not approved, because whoever approves runs failed.");
  }
}

/** Returns the code that an answer allows. An answer with `refuse` refuses, whatever else it contains. */
function codeOf(approval: unknown, own: string): string | CodeRefusal {
  if (approval === true) return own;
  if (approval === false) return refusal("The run was not approved; write other code.");
  if (typeof approval === "object" && approval !== null) {
    if ("refuse" in approval && approval.refuse !== undefined) {
      return refusal(`The run was not approved: ${String(approval.refuse)}`);
    }
    if ("code" in approval && typeof approval.code === "string") return approval.code;
  }
  return refusal('The run was not approved: whoever approves answers true, false, { refuse: "why" } or { code }.');
}

/** Resolves to the value, or to GONE as soon as the signal is aborted. */
export function unlessAborted<Value>(
  value: Value | PromiseLike<Value>,
  signal: AbortSignal,
): Promise<Value | typeof GONE> {
  return new Promise((resolve, reject) => {
    const onAbort = () => resolve(GONE);
    signal.addEventListener("abort", onAbort, { once: true });
    const stop = () => signal.removeEventListener("abort", onAbort);
    Promise.resolve(value).finally(stop).then(resolve, reject);
    if (signal.aborted) onAbort();
  });
}

const refusal = (message: string): CodeRefusal => new CodeRefusal("refused", message);
