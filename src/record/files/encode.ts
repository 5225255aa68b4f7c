import type { Batch } from "./waiting";

/** Bytes up to which a frame is compressed at once: it takes as long as to hand it to another thread. */
const FEW = 16 * 1024;

/** The bytes of some lines; where they are compressed, one zstd frame, which can be read without those before it. */
export async function encode(lines: Batch["lines"], isCompressed: boolean): Promise<Uint8Array> {
  const bytes = bytesOf(lines);
  if (!isCompressed) return bytes;
  return bytes.length <= FEW ? Bun.zstdCompressSync(bytes) : await Bun.zstdCompress(bytes);
}

export function encodeSync(lines: Batch["lines"], isCompressed: boolean): Uint8Array {
  const bytes = bytesOf(lines);
  return isCompressed ? Bun.zstdCompressSync(bytes) : bytes;
}

const bytesOf = (lines: Batch["lines"]): Uint8Array => Buffer.from(`${lines.join("\n")}\n`);
