import { close, constants, fdatasync, fstat, open, openSync, write, writeSync } from "node:fs";

/** Makes a file that only its owner reads. It fails where there is one: two recordings never share a file. */
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
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
    } catch (error) {
      throw new WriteError(error as Error, written);
    } finally {
      this.#size += written;
    }
  }

  /** Adds bytes at once, also those that `write` is at. */
  writeSync(bytes: Uint8Array): void {
    for (let written = 0; written < bytes.length; ) {
      const count = writeSync(this.#fd, bytes, written, bytes.length - written, this.#size + written);
      if (count === 0) throw new Error("nothing could be written");
      written += count;
    }
    this.#size += bytes.length;
  }

  /** True once the file is in no folder any more: what is written then is read by nobody. */
  async isDeleted(): Promise<boolean> {
    return (await once<{ readonly nlink: number }>((done) => fstat(this.#fd, done))).nlink === 0;
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

type Done<Value> = (error: NodeJS.ErrnoException | null, value: Value) => void;

const once = <Value>(start: (done: Done<Value>) => void): Promise<Value> =>
  new Promise((resolve, reject) => start((error, value) => (error ? reject(error) : resolve(value))));
