import { isUtf8 } from "node:buffer";
import { PIECE } from "./etag";
import type { Steps } from "./steps";

/** True if bytes are UTF-8. */
export function* isText(bytes: Buffer): Steps<boolean> {
  for (let start = 0; start < bytes.length; ) {
    let end = Math.min(bytes.length, start + PIECE);
    // A character that is cut here goes with the next piece. Its later bytes are 10xxxxxx.
    for (let back = 0; back < 3 && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80; back++) end--;
    if (!isUtf8(bytes.subarray(start, end))) return false;
    start = end;
    if (start < bytes.length) yield;
  }
  return true;
}
