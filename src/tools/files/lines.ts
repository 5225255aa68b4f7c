const LF = 10;
/** Bytes scanned in JavaScript before a native call scans the rest. The call costs as much as this scan. */
const NEAR = 64;

/** The index of the next line end, or −1. Fast for long lines, and for text where every byte is a line end. */
export function nextLineEnd(bytes: Buffer, from: number): number {
  const near = Math.min(bytes.length, from + NEAR);
  for (let at = from; at < near; at++) if (bytes[at] === LF) return at;
  return near < bytes.length ? bytes.indexOf(LF, near) : -1;
}
