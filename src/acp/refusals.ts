import { type AskResult, isDeliveryError, quote, StreamError } from "../index";
import { RpcError } from "../rpc/index";

/**
 * Refuses until the client has authenticated (-32000).
 *
 * @example
 * if (!isLoggedIn) throw authRequired();
 */
export const authRequired = (message = "Authenticate first."): RpcError => new RpcError(-32_000, message);

/**
 * Refuses because a resource does not exist (-32002).
 *
 * @param resource its name as the other side gave it, such as the path of a file.
 * @example
 * throw notFound(path);
 */
export const notFound = (resource: string): RpcError =>
  new RpcError(-32_002, `There is no ${quote(resource)}.`, { resource });

/** Refuses a request that comes at the wrong time, such as before `initialize`, or beyond a limit (-32600). */
export const invalidRequest = (message: string): RpcError => new RpcError(-32_600, message);

/** Refuses params that fit the schema but make no sense (-32602). */
export const invalidParams = (message: string): RpcError => new RpcError(-32_602, message);

/**
 * The error to throw after an actor failed that was asked on behalf of the other side: the `RpcError` that this actor threw, or else the
 * error itself. An `RpcError` of an actor further away was not meant for this side, and stays wrapped.
 */
export function refusalIn(thrown: unknown): unknown {
  const error = thrown instanceof StreamError ? thrown.error : thrown;
  return isDeliveryError(error) && error.kind === "handler-failed" && RpcError.is(error.cause) ? error.cause : thrown;
}

/** The reply of an ask. Throws its error, or the refusal that caused it. */
export function replyOf<Reply>(result: AskResult<Reply>): Reply {
  if (result.isErr()) throw refusalIn(result.error);
  return result.value;
}
