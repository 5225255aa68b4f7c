import { close, constants, fdatasync, fstat, open, openSync, read, write, writeSync } from "node:fs";

/** Makes a file that only its owner reads. It fails where there is one: two recordings never share a file. */
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
const MODE = 0o600;

/** The reason why bytes were not written, and the number of those that were. */
export class WriteError extends Error {
  readonly written: number;
  constructor(cause: Error, written: number) {
    super(cause.message, { cause });
    this.written = written;
  }
}

/**
 * A file that is being written, at its end. Each write names its place, so that one whose outcome nobody waits for any more can be
 * done again: a process that exits writes the bytes that are on their way once more, at the same place.
 */
export class Part {
  readonly path: string;
  readonly number: number;
  /** The monotonic time at which it was opened. */
  readonly openedAt: number;
  readonly #fd: number;
  #size = 0;
  /** The bytes of the last write that has succeeded. */
  #last: Uint8Array | null = null;

  private constructor(path: string, number: number, openedAt: number, fd: number) {
    this.path = path;
    this.number = number;
    this.openedAt = openedAt;
    this.#fd = fd;
  }

  static openSync(path: string, number: number, openedAt: number): Part {
    return new Part(path, number, openedAt, openSync(path, FLAGS, MODE));
  }

  static async open(path: string, number: number, openedAt: number): Promise<Part> {
    const fd = await once<number>((done) => open(path, FLAGS, MODE, done));
    return new Part(path, number, openedAt, fd);
  }

  /** Bytes written. */
  get size(): number {
    return this.#size;
  }

  /** Adds bytes. @throws WriteError when not all of them could be written. */
  async write(bytes: Uint8Array): Promise<void> {
    let written = 0;
    try {
      while (written < bytes.length) {
        const [from, at] = [written, this.#size + written];
        const count = await once<number>((done) => write(this.#fd, bytes, from, bytes.length - from, at, done));
        if (count === 0) throw new Error("nothing could be written");
        written += count;
      }
      this.#last = bytes;
    } catch (error) {
      throw new WriteError(error as Error, written);
    } finally {
      this.#size += written;
    }
  }

  /** Adds bytes at once that `write` was given or would be: those that it has written are not written again. */
  finishSync(bytes: Uint8Array): void {
    if (bytes !== this.#last) this.writeSync(bytes);
  }

  /** Adds bytes at once. */
  writeSync(bytes: Uint8Array): void {
    for (let written = 0; written < bytes.length; ) {
      const count = writeSync(this.#fd, bytes, written, bytes.length - written, this.#size + written);
      if (count === 0) throw new Error("nothing could be written");
      written += count;
    }
    this.#size += bytes.length;
  }

  /**
   * Looks whether the file is still what was written: what is added to one that was deleted or cut off is read by nobody.
   *
   * @throws Error when it is not.
   */
  async check(): Promise<void> {
    const { nlink, size } = await once<Stats>((done) => fstat(this.#fd, done));
    if (nlink === 0) throw new Error("somebody deleted the file");
    // A write behind the end of an emptied file has filled it with zeros up to there. No header begins with one.
    if (size < this.#size || (await this.#firstByte()) === 0) throw new Error("somebody cut the file off");
  }

  async #firstByte(): Promise<number | undefined> {
    const byte = new Uint8Array(1);
    await once<number>((done) => read(this.#fd, byte, 0, 1, 0, done));
    return byte[0];
  }

  /** Waits until the disk has it, and closes it. */
  async close(): Promise<void> {
    await once<void>((done) => fdatasync(this.#fd, done)).finally(() => once<void>((done) => close(this.#fd, done)));
  }

  /** Closes it without waiting for the disk. */
  abandon(): void {
    close(this.#fd, () => {}); // Nothing can be done about it.
  }
}

type Stats = { readonly nlink: number; readonly size: number };
type Done<Value> = (error: NodeJS.ErrnoException | null, value: Value) => void;

const once = <Value>(start: (done: Done<Value>) => void): Promise<Value> =>
  new Promise((resolve, reject) => start((error, value) => (error ? reject(error) : resolve(value))));
