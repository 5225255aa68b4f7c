import type { AskError, AskOptions, Result } from "../../index";
import { resultOf } from "../reply";
import type { CodeError } from "./code-error";
import type { CodeExecutionRef, ExecuteReply, ExecuteRequest } from "./protocol";

/**
 * Asks for an execution, and waits for as long as it may take. By default it waits until the actor answers, which is when the
 * run's time is up at the latest. A plain ask waits 5 s: a run alone may take that long, and it may also wait for a place and
 * for approval. An actor that asks on behalf of its own asker passes its signal, so that both give up together:
 * `runCode(code, request, { signal: ctx.signal })`.
 *
 * @throws RangeError or TypeError at once for an invalid option.
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
