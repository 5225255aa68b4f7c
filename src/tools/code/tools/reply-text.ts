import { exceeds, faultOf, TOO_LARGE } from "../measure";

/** The reason why a reply cannot be passed to code. */
export class Unserializable {
  constructor(
    readonly reason: string,
    readonly isTooLarge = false,
  ) {}
}

/**
 * Writes a reply as JSON; undefined stays undefined. A value that JSON would silently lose is refused. So is a text of more
 * than `most` bytes, if possible before it is written.
 */
export function replyText(value: unknown, most: number): string | undefined | Unserializable {
  try {
    const fault = faultOf(value, { most, least: 1, refuse: lossOf });
    if (fault !== null) return new Unserializable(`it ${fault}`, fault === TOO_LARGE);
    const text: string | undefined = JSON.stringify(value);
    if (text === undefined) return value === undefined ? text : new Unserializable(`it is a ${typeof value}`);
    return exceeds(text, most) ? new Unserializable(`it ${TOO_LARGE}`, true) : text;
  } catch {
    return new Unserializable("it is too long, or has a getter or toJSON that throws");
  }
}

/** Returns what JSON would lose of a value, or null. */
function lossOf(value: object | bigint): string | null {
  if (typeof value === "bigint") return "has a bigint";
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return "has bytes; ask for text or base64 where that is offered";
  }
  return value instanceof Map || value instanceof Set ? "has a Map or a Set" : null;
}
