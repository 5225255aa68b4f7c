import { etagOf, PIECE, sizeIn } from "../etag";
import { expectSuccess } from "../file-error";
import { nameOf, type Path } from "../path";
import type { Workspace } from "../workspace";
import { hashFile } from "./hash-file";

/** A file that was hashed, as it was then. */
interface Hashed {
  readonly inode: number;
  readonly changed: number;
  readonly etag: string;
}

/** The file that has a name now, and whether it is the one of an etag. */
export class Target {
  readonly #workspace: Workspace;
  readonly #path: Path;
  #hashed: Hashed | null = null;

  constructor(workspace: Workspace, path: Path) {
    this.#workspace = workspace;
    this.#path = path;
  }

  /**
   * Its etag, where the workspace's status was just filled with it; null where `hash` has to look at it first, since it is large or another one than at the last look,
   * and undefined where its size tells that it is another one.
   */
  etagIn(at: number, expected: string): string | undefined | null {
    const { root, status, scratch } = this.#workspace;
    const { inode, changed, size } = status;
    const hashed = this.#hashed;
    if (hashed !== null) return hashed.inode === inode && hashed.changed === changed ? hashed.etag : null;
    if (size > PIECE) return size === sizeIn(expected) ? null : undefined;
    const { given } = this.#path;
    const file = root.openAt(at, nameOf(this.#path), "read");
    expectSuccess(file, given);
    let length: number;
    let found: Pick<Hashed, "inode" | "changed">;
    try {
      // It may be another one by now, of which not even the etag is told.
      expectSuccess(root.stat(file, status), given);
      this.#workspace.expectFile(status, given);
      if (status.size > PIECE) return null;
      found = { inode: status.inode, changed: status.changed };
      length = root.read(file, scratch, PIECE, 0);
    } finally {
      root.close(file);
    }
    expectSuccess(length, given);
    this.#hashed = { ...found, etag: etagOf(scratch.subarray(0, length)) };
    return this.#hashed.etag;
  }

  /** Looks at a large file, with the write lock held. */
  async hash(signal: AbortSignal | undefined): Promise<void> {
    const { root, status } = this.#workspace;
    const { given } = this.#path;
    const at = this.#workspace.enter(this.#path, false);
    const file = root.openAt(at, nameOf(this.#path), "read");
    this.#workspace.leave(at);
    expectSuccess(file, given);
    try {
      expectSuccess(root.stat(file, status), given);
      this.#workspace.expectFile(status, given);
      const { inode, changed, size } = status;
      this.#hashed = { inode, changed, etag: await hashFile(this.#workspace, file, size, given, signal) };
    } finally {
      root.close(file);
    }
  }
}
