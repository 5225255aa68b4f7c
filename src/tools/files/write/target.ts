import { etagOf, PIECE, sizeIn } from "../etag";
import { expectSuccess } from "../file-error";
import { nameOf, type Path } from "../path";
import type { Workspace } from "../workspace";
import { hashFile } from "./hash-file";

/** A hashed file, with its status at that time. */
interface Hashed {
  readonly inode: number;
  readonly changed: number;
  readonly etag: string;
}

/** The current file of a name, and its etag. */
export class Target {
  readonly #workspace: Workspace;
  readonly #path: Path;
  #hashed: Hashed | null = null;

  constructor(workspace: Workspace, path: Path) {
    this.#workspace = workspace;
    this.#path = path;
  }

  /**
   * The etag of the file, given its status in the workspace's `status`. Null if `hash` must run first: the file is
   * large, or was replaced since the last look. Undefined if its size already rules out the expected etag.
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
      // It may have been replaced by a file whose etag must not be disclosed.
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

  /** Hashes a large file. The caller holds the write lock. */
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
