import { EtagOf, PIECE } from "../etag";
import { expectSuccess, refuse } from "../file-error";
import type { Workspace } from "../workspace";

/**
 * The etag of an open file of `size` bytes, hashed with pauses until `signal` aborts. The caller holds the write lock
 * meanwhile. A file larger than any etag covers is therefore not hashed: it was neither read nor written at once.
 */
export async function hashFile(
  workspace: Workspace,
  file: number,
  size: number,
  given: string,
  signal?: AbortSignal,
): Promise<string> {
  const { maxReadBytes, maxWriteBytes } = workspace.limits;
  const most = Math.max(maxReadBytes, maxWriteBytes);
  if (size > most) {
    refuse("too-large", given, `${JSON.stringify(given)} has ${size} bytes, and etags are of at most ${most}.`);
  }
  const etag = new EtagOf();
  for (let at = 0; at < size; ) {
    signal?.throwIfAborted();
    const count = workspace.root.read(file, workspace.scratch, PIECE, at);
    expectSuccess(count, given);
    if (count === 0) break;
    etag.add(workspace.scratch.subarray(0, count));
    at += count;
    await workspace.pause();
  }
  return etag.end();
}
