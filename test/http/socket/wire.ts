/** A frame of WebSocket (RFC 6455, section 5.2) as a client may send it, right or wrong. */
export interface Shape {
  readonly opcode: number;
  /** Default: none. */
  readonly payload?: string | Uint8Array;
  /** False for a frame that is continued. Default: true. */
  readonly isLast?: boolean;
  /** The three reserved bits. Default: 0. */
  readonly reserved?: number;
  /** Four bytes, or null for none, which no client may leave out. */
  readonly mask?: readonly number[] | null;
  /** The length that it tells. Default: its own. */
  readonly tells?: number | bigint;
}

export const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export function bytesOf({ opcode, payload = "", isLast = true, reserved = 0, mask = MASK, tells }: Shape): Buffer {
  const data = Buffer.from(payload as string); // Of bytes, it makes a copy.
  const length = tells ?? data.length;
  const head = length < 126 ? Buffer.alloc(2) : length < 65_536 ? Buffer.alloc(4) : Buffer.alloc(10);
  head[0] = (isLast ? 0x80 : 0) | (reserved << 4) | opcode;
  head[1] = (mask === null ? 0 : 0x80) | (head.length === 2 ? Number(length) : head.length === 4 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(Number(length), 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  if (mask === null) return Buffer.concat([head, data]);
  return Buffer.concat([head, Buffer.from(mask), data.map((byte, index) => byte ^ (mask[index % 4] ?? 0))]);
}

const MASK = [0x37, 0xfa, 0x21, 0x3d];

/** A frame of a server. */
export interface Answer {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** The whole frames in the bytes that a server sent after its handshake. It sends none in parts. */
export function answersIn(bytes: Buffer): Answer[] {
  const answers: Answer[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
    const short = (bytes[at + 1] ?? 0) & 0x7f;
    const start = at + (short < 126 ? 2 : short === 126 ? 4 : 10);
    if (start > bytes.length) break;
    const length =
      short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    if (start + length > bytes.length) break;
    answers.push({ opcode: (bytes[at] ?? 0) & 0x0f, payload: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return answers;
}
