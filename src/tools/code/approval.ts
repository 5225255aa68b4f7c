import { CodeRefusal } from "./code-refusal";
import type { ExecuteRequest } from "./protocol";
import type { Isolation } from "./tier";

/** What is about to happen. `signal` is aborted when nobody waits for it any more. */
export type ApprovalRequest =
  | {
      readonly kind: "run";
      readonly code: string;
      readonly language: NonNullable<ExecuteRequest["language"]>;
      readonly isolation: Isolation;
      /** What the code will see as `input`. */
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
 * What is to become of it: true lets it happen, false and `{ refuse: reason }` do not; a run may be given other `code`, and a
 * call another `payload`, which is validated as the first one was.
 */
export type Approval =
  | boolean
  | { readonly refuse: string }
  | { readonly code: string }
  | { readonly payload: unknown };

export type Approve = (request: ApprovalRequest) => Approval | PromiseLike<Approval>;

/** What is told to whoever does not wait any more. */
export const GONE = new CodeRefusal(
  "crashed",
  "Its asker gave up, or the code actor was stopped, before the run was approved.",
);

/** The code that may run: its own, or another one. Whoever approves and fails, or says what is no answer, refuses. */
export async function approveRun(
  approve: Approve,
  request: ApprovalRequest & { readonly kind: "run" },
): Promise<string | CodeRefusal> {
  if (request.signal.aborted) return GONE;
  try {
    const approval = await unlessAborted(approve(request), request.signal);
    return approval === GONE ? GONE : codeOf(approval, request.code);
  } catch {
    // What it threw is the host's own, and not for whoever asks.
    return refusal("The run was not approved, because whoever approves runs failed.");
  }
}

/** What an answer lets run. One that refuses does so whatever else it says. */
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

/** What is waited for, or GONE as soon as nobody waits any more. */
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
