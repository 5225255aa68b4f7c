import type { AskError, AskOptions, Result } from "../../index";
import { resultOf } from "../reply";
import type { CodeError } from "./code-error";
import type { CodeExecutionRef, ExecuteReply, ExecuteRequest } from "./protocol";

/**
 * Asks for an execution, and waits for as long as it may take: an ask waits 5 s by default, which is what a run may take
 * beside its wait for a place, and for an approval. Default: it waits until the actor answers, which it does when the run's
 * time is up. An actor that asks for whom it serves says so, so that both give up together: `runCode(code, request, { signal:
 * ctx.signal })`.
 *
 * @throws RangeError or TypeError at once when an option cannot be one.
 * @example
 * const ran = await runCode(code, { code: "while (true);", timeout: 100 });
 * if (ran.isErr()) console.log(ran.error.kind); // "timeout", with what was logged
 */
export async function runCode(
  code: CodeExecutionRef,
  request: ExecuteRequest,
  options: AskOptions = {},
): Promise<Result<ExecuteReply, CodeError | AskError>> {
  return resultOf(await code.ask("execute", request, { timeout: Number.POSITIVE_INFINITY, ...options }));
}
