import { createPieces, type Encoding, type Pieces } from "./content";
import { refuse, refuseFor } from "./file-error";
import { Pace } from "./pace";
import type { ReadStreamRequest } from "./requests/reading";
import type { Workspace } from "./workspace";

const CHUNK = 128 * 1024;
/** Most bytes read between two pauses: some 300 µs from the cache. */
const BETWEEN_PAUSES = 2 * 1024 * 1024;

/** Reads a file of any size, up to its size at the opening. A file that grows would otherwise never end. */
export async function* readStream(
  workspace: Workspace,
  request: ReadStreamRequest,
): AsyncGenerator<string | Uint8Array> {
  const { encoding = "bytes", offset = 0, length = Number.POSITIVE_INFINITY } = request;
  const { chunkBytes: chunk = CHUNK } = request;
  const { root } = workspace;
  const path = workspace.findFile(request.path);
  const { given, whole } = path;
  const file = workspace.openFile(whole, given, "read");
  try {
    const end = Math.min(workspace.status.size, offset + length);
    const take = takerOf(encoding, encoding === "base64" ? chunk - (chunk % 3) : chunk, given);
    const pace = new Pace(workspace, BETWEEN_PAUSES);
    for (let position = offset; position < end; ) {
      if (position > offset) workspace.expectInPlace(file, path); // The reader may have paused for hours.
      const into = take.room(end - position);
      const count = readAll(workspace, file, into, position, given);
      if (count > 0) yield take.item(into, count);
      if (count < into.length) refuseCut(given);
      position += count;
      if (position < end && pace.spend(count)) await pace.pause();
    }
    take.end();
  } finally {
    root.close(file);
  }
}

/** Fills `into` as far as the file goes. Returns how far. */
function readAll({ root }: Workspace, file: number, into: Uint8Array, position: number, given: string): number {
  let filled = 0;
  while (filled < into.length) {
    const rest = filled === 0 ? into : into.subarray(filled);
    const count = root.read(file, rest, rest.length, position + filled);
    if (count < 0) refuseFor(count, given);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

function refuseCut(given: string): never {
  return refuse("changed", given, `${JSON.stringify(given)} was cut while it was read; read it again.`);
}

/** Provides the buffers for a stream and makes its items. */
interface Taker {
  /** A buffer for the next item, which has at most `left` bytes. */
  room(left: number): Uint8Array;
  item(room: Uint8Array, count: number): string | Uint8Array;
  end(): void;
}

function takerOf(encoding: Encoding, chunk: number, given: string): Taker {
  return encoding === "bytes" ? new BytesTaker(chunk) : new TextTaker(chunk, createPieces(encoding, given));
}

/** Reads bytes straight into their item. Copying them from a shared buffer would add half of the cost of the read. */
class BytesTaker implements Taker {
  readonly #chunk: number;

  constructor(chunk: number) {
    this.#chunk = chunk;
  }

  room(left: number): Uint8Array {
    // Zeroing the buffer first would cost a fifth of the read.
    return new Uint8Array(Buffer.allocUnsafeSlow(Math.min(this.#chunk, left)).buffer);
  }

  item(room: Uint8Array, count: number): Uint8Array {
    return count === room.length ? room : room.slice(0, count); // The rest of the buffer was never written.
  }

  end(): void {}
}

class TextTaker implements Taker {
  readonly #pieces: Pieces;
  readonly #chunk: number;
  #buffer = Buffer.alloc(0);

  constructor(chunk: number, pieces: Pieces) {
    this.#chunk = chunk;
    this.#pieces = pieces;
  }

  room(left: number): Uint8Array {
    const length = Math.min(this.#chunk, left);
    if (this.#buffer.length === 0) this.#buffer = Buffer.allocUnsafeSlow(length);
    return this.#buffer.subarray(0, length);
  }

  item(_room: Uint8Array, count: number): string {
    return this.#pieces.next(this.#buffer.subarray(0, count)) as string; // `bytes` is handled by the other taker.
  }

  end(): void {
    this.#pieces.end();
  }
}
