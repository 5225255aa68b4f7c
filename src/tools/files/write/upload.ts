import { byteLength, encode, leastByteLength, partsOf, type Written } from "../content";
import { PIECE } from "../etag";
import { type FileError, FileRefusal } from "../file-error";
import type { Path } from "../path";
import type { BeginWriteRequest, WriteReply } from "../requests/changing";
import type { Task, Workspace } from "../workspace";
import { expectWritable } from "./limits";
import { NewFile } from "./new-file";

/**
 * A file that is written in pieces, in the order in which they were asked for. Once one of them could not be written the
 * file is given up, since a later piece would come after a gap: each later request is told what that one was told.
 */
export class Upload {
  readonly path: Path;
  readonly #workspace: Workspace;
  readonly #request: BeginWriteRequest;
  readonly #file: NewFile;
  /** Bytes of all pieces that were taken, those included that wait. */
  #promised = 0;
  /** Settles once the piece that was taken last is written, or is not going to be; null where none is on its way. */
  #last: Promise<void> | null = null;
  #failure: FileError | null = null;
  /** When it was last asked for something, or last did it, in milliseconds of the clock. */
  #used: number;

  constructor(workspace: Workspace, path: Path, request: BeginWriteRequest) {
    this.path = path;
    this.#workspace = workspace;
    this.#request = request;
    this.#file = new NewFile(workspace, path, request.parents ?? true);
    this.#file.pause();
    this.#used = workspace.clock.monotonicTime();
  }

  /** For how long nothing came, in milliseconds. */
  get idleTime(): number {
    return this.#last === null ? this.#workspace.clock.monotonicTime() - this.#used : 0;
  }

  /** Writes a piece, after those before it. */
  write(piece: Written, task: Task): { size: number } | Promise<{ size: number }> {
    this.#expectWhole();
    const { quota } = this.#workspace;
    let length: number;
    try {
      // By its length in letters first: to count the bytes of a text takes a look at all of it.
      expectWritable(this.#workspace, this.#promised + leastByteLength(piece), this.path.given);
      length = byteLength(piece);
      expectWritable(this.#workspace, this.#promised + length, this.path.given);
      this.#promised += length;
      this.#used = this.#workspace.clock.monotonicTime();
      if (this.#last === null && length <= PIECE && quota?.fits(this.#promised) !== false) {
        this.#file.write(this.#bytesOf(piece));
        return { size: this.#file.size };
      }
    } catch (thrown) {
      throw this.#fail(thrown);
    }
    return this.#writeLater(piece, this.#promised, task.signal);
  }

  async #writeLater(piece: Written, promised: number, signal: AbortSignal): Promise<{ size: number }> {
    const before = this.#last;
    let settle = (): void => {};
    const last = new Promise<void>((resolve) => {
      settle = resolve;
    });
    this.#last = last;
    try {
      await before;
      await this.#admit(promised);
      await this.#writeInPieces(piece, signal);
      return { size: this.#file.size };
    } catch (thrown) {
      throw this.#fail(thrown);
    } finally {
      this.#used = this.#workspace.clock.monotonicTime();
      if (this.#last === last) {
        this.#last = null;
        if (this.#failure !== null) this.#file.abandon();
      }
      settle();
    }
  }

  /** Refuses so many bytes early where there is no room for them; what is placed in the end is looked at again. */
  async #admit(promised: number): Promise<void> {
    const { quota } = this.#workspace;
    if (quota === null || quota.fits(promised)) return;
    this.#expectWhole();
    const more = promised - this.#file.replacedSize();
    await quota.countFor(more);
    quota.admit(more, this.path.given);
  }

  async #writeInPieces(piece: Written, signal: AbortSignal): Promise<void> {
    this.#expectWhole();
    let isFirst = true;
    for (const bytes of partsOf(piece, this.path.given)) {
      if (!isFirst) await this.#workspace.pause();
      isFirst = false;
      signal.throwIfAborted();
      this.#expectWhole(); // It may have been aborted within a pause.
      this.#file.write(bytes);
    }
  }

  #bytesOf(piece: Written): Uint8Array {
    return encode(piece, this.#workspace.scratch, this.path.given);
  }

  /** Gives the file its name, once all pieces are written. None may be asked for any more. */
  finish(): WriteReply | Promise<WriteReply> {
    if (this.#last !== null) return this.#last.then(() => this.finish());
    this.#expectWhole();
    try {
      const reply = this.#file.commitNow(this.#request);
      if (reply !== null) return reply;
    } catch (thrown) {
      throw this.#fail(thrown);
    }
    return this.#file.commit(this.#request).catch((thrown) => {
      throw this.#fail(thrown);
    });
  }

  /** Ends without a trace: at once, or when the piece that is being written comes to a halt. */
  abandon(): void {
    this.#fail(new FileRefusal(this.#givenUp("was aborted")));
  }

  #expectWhole(): void {
    if (this.#failure !== null) throw new FileRefusal(this.#failure);
  }

  #fail(thrown: unknown): unknown {
    this.#failure ??=
      thrown instanceof FileRefusal ? thrown.error : this.#givenUp("was given up with one of its pieces");
    if (this.#last === null) this.#file.abandon();
    return thrown;
  }

  #givenUp(how: string): FileError {
    const { given } = this.path;
    return { kind: "io", path: given, message: `The upload of ${JSON.stringify(given)} ${how}; begin it again.` };
  }
}
