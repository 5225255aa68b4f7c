/**
 * Bytes hashed, read and written at a time: some 50 µs of work each. A multiple of 3, since base64 makes 4 letters of 3
 * bytes.
 */
export const PIECE = 192 * 1024;

/**
 * Identifies the bytes of a file by their number and a hash (xxHash3, 64 bits, by Yann Collet). The hash is taken in
 * pieces, each seeded with the hash of the pieces before. It tells writers apart that mean no harm: anyone able to
 * write colliding bytes can write the file anyway.
 */
export class EtagOf {
  #size = 0;
  #hash = 0n;
  /** Bytes that do not fill a piece yet. */
  #rest: Buffer | null = null;
  #restLength = 0;

  /** Adds the next bytes, of any length. */
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

  /** The etag of all bytes. None can be added afterwards. */
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

/** The etag of bytes that are all present. */
export function etagOf(bytes: Uint8Array): string {
  if (bytes.length <= PIECE) return textOf(bytes.length, Bun.hash.xxHash3(bytes, 0n));
  const etag = new EtagOf();
  etag.add(bytes);
  return etag.end();
}

/** The number of bytes that an etag stands for. NaN for an invalid etag. */
export const sizeIn = (etag: string): number => Number.parseInt(etag.slice(0, etag.indexOf("-")), 16);
