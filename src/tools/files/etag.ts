/** So many bytes are hashed, read and written at a time: some 50 µs of work each. A multiple of 3, which base64 makes 4 letters of. */
export const PIECE = 192 * 1024;

/**
 * Stands for the bytes of a file: their number, and a hash of them (xxHash3, 64 bits, by Yann Collet; taken in pieces, each
 * seeded with that of the pieces before). It tells two writers apart that mean each other no harm: whoever can write
 * bytes that collide can write the file.
 */
export class EtagOf {
  #size = 0;
  #hash = 0n;
  /** What does not fill a piece yet. */
  #rest: Buffer | null = null;
  #restLength = 0;

  /** Adds the next bytes, however many. */
  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#restLength === 0 && bytes.length - at >= PIECE) {
        this.#take(bytes.subarray(at, at + PIECE));
        at += PIECE;
        continue;
      }
      this.#rest ??= Buffer.allocUnsafeSlow(PIECE);
      const part = bytes.subarray(at, at + PIECE - this.#restLength);
      this.#rest.set(part, this.#restLength);
      this.#restLength += part.length;
      at += part.length;
      if (this.#restLength === PIECE) this.#flush();
    }
  }

  /** The etag of all bytes; none can be added after it. */
  end(): string {
    if (this.#restLength > 0 || this.#size === 0) this.#flush();
    return textOf(this.#size, this.#hash);
  }

  #flush(): void {
    this.#take((this.#rest ?? Buffer.alloc(0)).subarray(0, this.#restLength));
    this.#restLength = 0;
  }

  #take(piece: Uint8Array): void {
    this.#size += piece.length;
    this.#hash = Bun.hash.xxHash3(piece, this.#hash);
  }
}

const textOf = (size: number, hash: bigint): string => `${size.toString(16)}-${hash.toString(16)}`;

/** The etag of bytes that are all there. */
export function etagOf(bytes: Uint8Array): string {
  if (bytes.length <= PIECE) return textOf(bytes.length, Bun.hash.xxHash3(bytes, 0n));
  const etag = new EtagOf();
  etag.add(bytes);
  return etag.end();
}

/** How many bytes an etag stands for; NaN for what is none. */
export const sizeIn = (etag: string): number => Number.parseInt(etag.slice(0, etag.indexOf("-")), 16);
