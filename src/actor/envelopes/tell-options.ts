import { quote } from "../../message/address";
import type { Metadata } from "../../message/message";

/** The metadata and the deadline beside the payload of a message. */
export interface TellOptions {
  /**
   * Data for the handler beside the payload, such as a trace context: its `ctx.metadata`. A plain object, which is copied at the
   * call; the values in it are not. Default: none, and in a handler what `inheritedMetadata` names of the message that it
   * handles. A key that is set to `undefined` is not inherited.
   */
  readonly metadata?: Metadata;
  /**
   * The milliseconds, from the call on, after which the message is not handled any more. It then becomes a dead letter with the
   * reason `timeout`, when its turn comes; a handler that has begun is not ended. The handler sees what is left of it as
   * `ctx.deadline`, and nothing that it sends through `ctx` is handled later. Default: `Infinity`, and in a handler that of the
   * message that it handles.
   */
  readonly deadline?: number;
}

/** Throws on invalid options, before anything is sent. */
export function checkTellOptions(options: TellOptions, what = "a tell"): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(
      `The options of ${what} are an object, such as { metadata: { user: "Ada" } }; got ${quote(options)}. An operation ` +
        "without a payload takes its options in the place of the payload.",
    );
  }
  checkBeside(options, what);
}

/** Checks what travels beside a payload. */
export function checkBeside({ metadata, deadline = 1 }: TellOptions, what: string): void {
  if (metadata !== undefined) checkMetadata(metadata, what);
  if (typeof deadline === "number" && deadline > 0) return;
  throw new RangeError(
    `The deadline of ${what} is a number of milliseconds above 0, or Infinity; got ${quote(deadline)}.`,
  );
}

/** Throws unless it is a plain object of data. */
export function checkMetadata(metadata: unknown, what: string): void {
  if (!isPlain(metadata)) {
    throw new TypeError(
      `The metadata of ${what} is a plain object of data, such as { user: "Ada" }; got ${quote(metadata)}.`,
    );
  }
  for (const key of Object.keys(metadata)) {
    const kind = typeof metadata[key];
    if (kind !== "function" && kind !== "symbol") continue;
    throw new TypeError(`The metadata of ${what} is data; ${quote(key)} in it is a ${kind}: send what it stands for.`);
  }
}

/** True for an object that a literal or JSON.parse made, also in another realm. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
