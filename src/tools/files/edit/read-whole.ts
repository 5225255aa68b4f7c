import { EtagOf, PIECE } from "../etag";
import { refuse, refuseFor } from "../file-error";
import type { Path } from "../path";
import type { Workspace } from "../workspace";

/** The whole content of a file. */
export interface Content {
  readonly bytes: Buffer;
  readonly etag: string;
}

/** Opens a file to be edited, and fills `status`. */
export function openWhole(workspace: Workspace, { whole, given }: Path): number {
  const file = workspace.openFile(whole, given, "read");
  const { size } = workspace.status;
  const most = workspace.limits.maxReadBytes;
  if (size <= most) return file;
  workspace.root.close(file);
  const shown = JSON.stringify(given);
  return refuse("too-large", given, `${shown} has ${size} bytes, and a file of at most ${most} is edited.`);
}

/** Reads a file to be edited, with pauses. */
export async function readWhole(workspace: Workspace, path: Path, signal: AbortSignal): Promise<Content> {
  const { root, status } = workspace;
  const file = openWhole(workspace, path);
  try {
    const bytes = Buffer.allocUnsafeSlow(status.size);
    const etag = new EtagOf();
    let length = 0;
    while (length < bytes.length) {
      const part = bytes.subarray(length, length + PIECE);
      const count = root.read(file, part, part.length, length);
      if (count < 0) return refuseFor(count, path.given);
      if (count === 0) break; // The file was cut meanwhile.
      etag.add(part.subarray(0, count));
      length += count;
      if (length < bytes.length) await workspace.pause();
      signal.throwIfAborted();
    }
    return { bytes: bytes.subarray(0, length), etag: etag.end() };
  } finally {
    root.close(file);
  }
}
