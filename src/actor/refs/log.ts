import type { AnyRef } from "../../message/address";
import type { Logger } from "../events";
import { recipientOf } from "./ref";

/**
 * The log of the system that an actor belongs to, for what a stranger who calls that actor can bring about as often as it likes and
 * must not be told itself: ten lines a second at most, with the count of the others after it.
 *
 * @throws TypeError when it is no reference.
 * @example
 * logOf(counter).error("The door of the counter failed.", { cause });
 */
export function logOf(ref: AnyRef): Logger {
  const { logger, logLimit } = recipientOf(ref).environment;
  return {
    warn(message, details) {
      if (logLimit.admit()) logger.warn(message, details);
    },
    error(message, details) {
      if (logLimit.admit()) logger.error(message, details);
    },
  };
}
