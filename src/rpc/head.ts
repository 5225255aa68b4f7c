import type { RequestId } from "./contract";
import { isId } from "./conventions";

/** Characters of the beginning of a message that are read. */
export const HEAD = 256;

const BEGIN = /^\s*\{/;
const MEMBER = /\s*"(jsonrpc|id|method)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d{1,16}|null)\s*,/y;
const CONTENT = /\s*"(result|error|params)"\s*:/y;

/** A message of which only the beginning was read. */
export interface Head {
  readonly id: RequestId;
  readonly isResponse: boolean;
}

/**
 * Reads the id of a request or a response from the beginning of a text that is refused, because its sender or its asker waits for an
 * answer. Undefined when the beginning has no id, such as when the id comes last.
 */
export function headOf(text: string): Head | undefined {
  const head = text.slice(0, HEAD);
  let at = BEGIN.exec(head)?.[0].length;
  if (at === undefined) return undefined;
  const members = new Map<string, unknown>();
  for (;;) {
    MEMBER.lastIndex = CONTENT.lastIndex = at;
    const member = MEMBER.exec(head);
    if (member === null) break;
    const [whole, name = "", value = ""] = member;
    members.set(name, valueIn(value));
    at += whole.length;
  }
  const content = CONTENT.exec(head)?.[1];
  const id = members.get("id");
  if (content === undefined || !members.has("id") || !isId(id)) return undefined;
  const isResponse = content !== "params";
  return isResponse === members.has("method") ? undefined : { id, isResponse };
}

function valueIn(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined; // A wrong escape.
  }
}
