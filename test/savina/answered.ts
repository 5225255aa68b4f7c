import type { AskResult } from "../../src/index";

/** The reply of an ask that is not expected to fail; throws what it came back with instead. */
export function answered<Reply>(result: AskResult<Reply>): Reply {
  if (result.isErr()) throw new Error(result.error.message, { cause: result.error });
  return result.value;
}
