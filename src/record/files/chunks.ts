import { open, stat } from "node:fs/promises";
import { RecordingError } from "./faults";
import { FrameError, frameLength } from "./frames";
import { isCompressed } from "./names";

const CHUNK = 256 * 1024;

/**
 * A piece of a file's text, or the reason why some of it cannot be read. `isLast`: nothing behind it can be. `isCut`: the file ends where it
 * should not.
 */
export type Chunk =
  | { readonly bytes: Uint8Array; readonly wrong?: undefined }
  | { readonly bytes?: undefined; readonly wrong: string; readonly isLast: boolean; readonly isCut: boolean };

/** Reads a file piece by piece; a compressed one is decompressed, frame by frame. */
export const chunksOf = (path: string): AsyncGenerator<Chunk> => (isCompressed(path) ? contents(path) : pieces(path));

async function* pieces(path: string): AsyncGenerator<Chunk & { readonly bytes: Uint8Array }> {
  // To open a pipe waits for its writer, and a device may have no end.
  const found = await stat(path);
  if (!found.isFile() && !found.isDirectory()) throw new RecordingError(`${path} is no file, but a pipe or a device.`);
  const file = await open(path);
  try {
    while (true) {
      const buffer = new Uint8Array(CHUNK); // A new one each time: lines that began in it are kept.
      const { bytesRead } = await file.read(buffer, 0, CHUNK);
      if (bytesRead === 0) return;
      yield { bytes: buffer.subarray(0, bytesRead) };
    }
  } finally {
    await file.close();
  }
}

async function* contents(path: string): AsyncGenerator<Chunk> {
  let begun = new Begun();
  try {
    for await (const { bytes } of pieces(path)) {
      begun.add(bytes);
      for (let frame = begun.take(); frame !== null; frame = begun.take()) {
        const content = await contentOf(frame);
        yield content === null ? { wrong: "has a broken zstd frame", isLast: false, isCut: false } : { bytes: content };
      }
    }
  } catch (error) {
    if (!(error instanceof FrameError)) throw error;
    // The beginning of the next frame is not known.
    yield { wrong: `${error.message}; nothing behind them can be read`, isLast: true, isCut: false };
    begun = new Begun();
  }
  if (begun.length === 0) return;
  yield { wrong: "ends within a zstd frame, which was not written whole", isLast: true, isCut: true };
}

async function contentOf(frame: Uint8Array): Promise<Uint8Array | null> {
  try {
    return await Bun.zstdDecompress(frame as Uint8Array<ArrayBuffer>); // No other buffers are made here.
  } catch {
    return null;
  }
}

/** The bytes of frames that have begun. */
class Begun {
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  add(bytes: Uint8Array): void {
    const left = this.length;
    if (left === 0) {
      [this.#bytes, this.#start, this.#end] = [bytes, 0, bytes.length];
      return;
    }
    if (this.#end + bytes.length > this.#bytes.length) {
      // Twice as much as is needed: to copy all of a long frame for each piece of it took time by the square of its length.
      const larger = new Uint8Array(2 * (left + bytes.length));
      larger.set(this.#bytes.subarray(this.#start, this.#end));
      [this.#bytes, this.#start, this.#end] = [larger, 0, left];
    }
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** Takes the next whole frame, which holds until more is added. Null if there is none. */
  take(): Uint8Array | null {
    const rest = this.#bytes.subarray(this.#start, this.#end);
    const length = frameLength(rest);
    if (length === null) return null;
    this.#start += length;
    return rest.subarray(0, length);
  }
}
