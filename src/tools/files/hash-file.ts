import { EtagOf, PIECE } from "./etag";
import { expectSuccess } from "./file-error";
import type { Workspace } from "./workspace";

/** The etag of an open file of `size` bytes, with pauses between its pieces. */
export async function hashFile(workspace: Workspace, file: number, size: number, given: string): Promise<string> {
  const etag = new EtagOf();
  for (let at = 0; at < size; ) {
    const count = workspace.root.read(file, workspace.scratch, PIECE, at);
    expectSuccess(count, given);
    if (count === 0) break;
    etag.add(workspace.scratch.subarray(0, count));
    at += count;
    await workspace.pause();
  }
  return etag.end();
}
