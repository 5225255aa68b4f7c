import type { AskResult } from "../../src/index";

/** What became of an ask: its reply, or the kind of its error, with the path of a circle. */
export function said(result: AskResult<string>): string {
  if (result.isOk()) return result.value;
  return result.error.kind === "ask-cycle" ? `ask-cycle ${result.error.path.join(" → ")}` : result.error.kind;
}
