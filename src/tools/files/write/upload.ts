import { byteLength, encode, leastByteLength, partsOf, type Written } from "../content";
import { PIECE } from "../etag";
import { type FileError, FileRefusal } from "../file-error";
import type { Path } from "../path";
import type { BeginWriteRequest, WriteReply } from "../requests/changing";
import type { Task, Workspace } from "../workspace";
import { expectWritable } from "./limits";
import { NewFile } from "./new-file";

/**
 * A file that is written in pieces, in the order of the requests. If one piece fails the whole upload fails, since a
 * later piece would leave a gap. Later requests get the same error.
 */
export class Upload {
  readonly path: Path;
  readonly #workspace: Workspace;
  readonly #request: BeginWriteRequest;
  readonly #file: NewFile;
  /** Bytes of all accepted pieces, including those that wait. */
  #promised = 0;
  /** Settles when the last accepted piece was written or failed. Null while no piece is under way. */
  #last: Promise<void> | null = null;
  #failure: FileError | null = null;
  /** The time of the last request or of the end of its work, in milliseconds of the clock. */
  #used: number;

  constructor(workspace: Workspace, path: Path, request: BeginWriteRequest) {
    this.path = path;
    this.#workspace = workspace;
    this.#request = request;
    this.#file = new NewFile(workspace, path, request.parents ?? true);
    this.#file.leave();
    this.#used = workspace.clock.monotonicTime();
  }

  /** The time without a request, in milliseconds. */
  get idleTime(): number {
    return this.#last === null ? this.#workspace.clock.monotonicTime() - this.#used : 0;
  }

  /** Writes a piece after those before it. */
  write(piece: Written, task: Task): { size: number } | Promise<{ size: number }> {
    this.#expectWhole();
    const { quota } = this.#workspace;
    let length: number;
    try {
      // Checks the number of letters first. Counting the bytes of a text would read all of it.
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

  /** Refuses early if there is no room for so many bytes. The quota is checked again when the file is placed. */
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
      this.#expectWhole(); // The upload may have been aborted during the pause.
      this.#file.write(bytes);
    }
  }

  #bytesOf(piece: Written): Uint8Array {
    return encode(piece, this.#workspace.scratch, this.path.given);
  }

  /** Places the file once all pieces are written. No further piece may be requested. */
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

  /** Removes the file, at once or when the current piece stops. */
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
