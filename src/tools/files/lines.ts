const LF = 10;
/** So many bytes are looked at one by one before a call looks at the rest: it costs as much as that. */
const NEAR = 64;

/** Where the next line end is, or −1: quick for long lines, and where each byte is one. */
export function nextLineEnd(bytes: Buffer, from: number): number {
  const near = Math.min(bytes.length, from + NEAR);
  for (let at = from; at < near; at++) if (bytes[at] === LF) return at;
  return near < bytes.length ? bytes.indexOf(LF, near) : -1;
}
