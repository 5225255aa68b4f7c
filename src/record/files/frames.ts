import { MAX_LINE_BYTES } from "../format";

// The frames of zstd, by RFC 8878. A recording has one for each batch, so what is torn or broken costs that batch alone.

const MAGIC = 0xfd2fb528;
/** The sixteen kinds of frames that have no content. */
const SKIPPABLE = 0x184d2a50;
/** The most that a frame may be, compressed or not, in bytes: its batch has been in memory before. */
const MAX_FRAME = 2 * MAX_LINE_BYTES;

/** The reason why the rest of a file cannot be read as frames. */
export class FrameError extends Error {}

/**
 * The length of the frame at the beginning of some bytes. Null where more bytes are needed.
 *
 * @throws FrameError when the bytes are no frame, or one that is too large.
 */
export function frameLength(bytes: Uint8Array): number | null {
  if (bytes.length < 6) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const magic = view.getUint32(0, true);
  if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE) return skippable(view);
  if (magic !== MAGIC) throw new FrameError("has bytes that are no zstd frame");
  const descriptor = view.getUint8(4);
  const isSingle = (descriptor & 0x20) !== 0;
  const sizeAt = 5 + (isSingle ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0);
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  if (sizeBytes === 0) throw new FrameError("has a zstd frame that does not tell its size: decompress it first");
  if (bytes.length < sizeAt + sizeBytes) return null;
  const content = contentSize(view, sizeAt, sizeBytes);
  if (content > MAX_FRAME) throw new FrameError(`has a zstd frame of ${content} bytes: decompress it first`);
  const end = endOfBlocks(view, sizeAt + sizeBytes);
  if (end === null) return null;
  const length = end + (descriptor & 4 ? 4 : 0); // A checksum.
  return bytes.length < length ? null : length;
}

function skippable(view: DataView): number | null {
  if (view.byteLength < 8) return null;
  const length = 8 + view.getUint32(4, true);
  if (length > MAX_FRAME) throw new FrameError(`has a zstd frame of ${length} bytes: decompress it first`);
  return view.byteLength < length ? null : length;
}

/** The size of the content. Where it is told by one or two bytes it is at most 65,791, and counts as 0. */
function contentSize(view: DataView, at: number, bytes: number): number {
  if (bytes <= 2) return 0;
  return bytes === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
}

function endOfBlocks(view: DataView, start: number): number | null {
  for (let at = start; ; ) {
    if (at > MAX_FRAME) throw new FrameError("has a zstd frame that is too long: decompress it first");
    if (view.byteLength < at + 3) return null;
    const head = view.getUint16(at, true) + (view.getUint8(at + 2) << 16);
    const kind = (head >> 1) & 3;
    if (kind === 3) throw new FrameError("has a broken zstd frame");
    at += 3 + (kind === 1 ? 1 : head >> 3); // A block of one byte many times has that byte.
    if (head & 1) return at;
  }
}
