import { type DeliveryError, isErrorKind, type Outgoing } from "../../index";
import type { EndLine } from "../format";
import { isNode } from "./json";

type Kind = DeliveryError["kind"];

/** An error that was recorded: of its class, only the name is known. */
export function errorFrom(recorded: unknown): Error {
  const { name, message, ...others } = isNode(recorded) ? recorded : { message: recorded };
  const error = new Error(typeof message === "string" ? message : "failed when it was recorded");
  const own = typeof name === "string" ? { name, ...others } : others;
  for (const [key, value] of Object.entries(own)) {
    Object.defineProperty(error, key, { value, enumerable: key !== "name", configurable: true, writable: true });
  }
  return error;
}

/** Fails a message as it failed when it was recorded: with the kind that its sender got. */
export function failAs(out: Outgoing, { outcome, error, reason, carried }: EndLine): void {
  // The error of a transport is the one that its sender got. That of a handler is the cause of it.
  const kind: unknown = outcome === "dead" ? reason : carried === true ? error?.kind : undefined;
  if (isErrorKind(kind) && kind !== "handler-failed") out.fail(kind, detailOf(kind, error));
  else out.fail("handler-failed", errorFrom(causeOf(error, kind) ?? error ?? { message: reason }));
}

/** The error that a handler elsewhere threw. */
const causeOf = (error: unknown, kind: unknown): unknown =>
  kind === "handler-failed" && isNode(error) ? error["cause"] : undefined;

/** The detail of an error of a kind, as far as it was recorded. */
function detailOf(kind: Kind, error: unknown): unknown {
  const { timeout, capacity, limit, issues, path, reason, cause } = isNode(error) ? error : {};
  switch (kind) {
    case "timeout":
      return timeout;
    case "mailbox-full":
      return capacity;
    case "payload-too-large":
      return limit;
    case "invalid-payload":
      return issues;
    case "ask-cycle":
      return path;
    case "cancelled":
      return reason ?? "was given up when it was recorded";
    default:
      return errorFrom(cause ?? error);
  }
}
