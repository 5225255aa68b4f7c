import { exceeds, faultOf, TOO_LARGE } from "../measure";

/** Why a reply does not come across. */
export class Unserializable {
  constructor(
    readonly reason: string,
    readonly isTooLarge = false,
  ) {}
}

/**
 * A reply as JSON, undefined where there is none. What JSON would lose without a word is refused, and so is a text of more
 * bytes than `most`, before it is written where that can be told.
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

/** What would not be in a text. */
function lossOf(value: object | bigint): string | null {
  if (typeof value === "bigint") return "has a bigint";
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return "has bytes; ask for text or base64 where that is offered";
  }
  return value instanceof Map || value instanceof Set ? "has a Map or a Set" : null;
}
