import { PIECE } from "../etag";
import { expectSuccess, refuseFor } from "../file-error";
import { type Path, parentOf } from "../path";
import type { Workspace } from "../workspace";
import { besideOf } from "./notes";
import type { Staged, StagedDirectory } from "./staging";

/** A file that is written in the directory of its final name. */
export interface BesideFile extends Staged {
  /** The open directory. */
  readonly at: number;
  /** The id of its note. */
  readonly id: string;
}

/** Makes an empty file in the directory of a path. */
export function createBeside({ root, staging }: Workspace, at: number, path: Path): BesideFile {
  const id = staging.note(parentOf(path), path.given);
  const name = besideOf(id);
  const descriptor = root.openAt(at, name, "create");
  if (descriptor >= 0) return { at, name, descriptor, id };
  staging.forget(id);
  return refuseFor(descriptor, path.given);
}

/** Copies the first `size` bytes of a staged file into this file, with pauses. */
export async function fillBeside(
  workspace: Workspace,
  { given }: Path,
  { descriptor }: BesideFile,
  staged: Staged,
  size: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { root, staging, scratch } = workspace;
  const source = staging.openToRead(staged);
  expectSuccess(source, given);
  try {
    for (let position = 0; position < size; ) {
      const count = root.read(source, scratch, PIECE, position);
      expectSuccess(count, given);
      if (count === 0) break;
      workspace.writeAll(descriptor, scratch.subarray(0, count), given);
      position += count;
      if (position < size) await workspace.pause();
      signal?.throwIfAborted();
    }
  } finally {
    root.close(source);
  }
}

/** Closes the file and its directory, and forgets its note. Removes the file unless it was placed. */
export function endBeside(workspace: Workspace, { at, name, descriptor, id }: BesideFile, isPlaced: boolean): void {
  const { root, staging } = workspace;
  root.close(descriptor);
  if (!isPlaced) root.unlink(at, name);
  staging.forget(id);
  workspace.leave(at);
}

/** Makes an empty directory in the parent directory of a path. */
export function createDirectoryBeside(
  { root, staging }: Workspace,
  at: number,
  path: Path,
  mode: number,
): StagedDirectory {
  const id = staging.note(parentOf(path), path.given);
  const name = besideOf(id);
  const code = root.makeDirectory(at, name, mode);
  if (code === 0) return { at, name, id };
  staging.forget(id);
  return refuseFor(code, path.given);
}
