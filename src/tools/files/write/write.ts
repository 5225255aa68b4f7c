import { constants } from "node:os";
import { encode, leastByteLength, partsOf, type Written } from "../content";
import { EtagOf, etagOf, PIECE } from "../etag";
import { expectSuccess, refuse, refuseChanged } from "../file-error";
import { nameOf, type Path, parentOf } from "../path";
import type { AppendRequest, WriteReply, WriteRequest } from "../requests/changing";
import { leadsTo } from "../root/leads-to";
import type { Task, Workspace } from "../workspace";
import { hashFile } from "./hash-file";
import { expectWritable } from "./limits";
import { NewFile } from "./new-file";

const { ENOENT, EPERM } = constants.errno;
/** The bits setuid and setgid. */
const RUNS_AS = 0o6000;

/** Writes a file whole or not at all. With `inPlace`, overwrites the file itself. */
export function write(workspace: Workspace, request: WriteRequest, task: Task): WriteReply | Promise<WriteReply> {
  const path = workspace.findToChange(request.path);
  return request.inPlace === true
    ? writeInPlace(workspace, path, request, task)
    : writeWhole(workspace, path, request, task);
}

/** Refuses content by its length before encoding it. Returns true if it must be encoded in parts. */
function isLarge(workspace: Workspace, request: Written, { given }: Path): boolean {
  const least = leastByteLength(request);
  expectWritable(workspace, least, given);
  return least > PIECE;
}

/** Encodes large content into all its parts. A write in place may begin only once the whole is known to be well-formed. */
async function encodeSlowly(
  workspace: Workspace,
  request: Written,
  { given }: Path,
  { signal }: Task,
): Promise<Uint8Array[]> {
  if (request.content instanceof Uint8Array) return [request.content];
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (const part of partsOf(request, given)) {
    bytes += part.length;
    expectWritable(workspace, bytes, given);
    parts.push(part.slice()); // The buffer is reused for the next part.
    await workspace.pause();
    signal.throwIfAborted();
  }
  return parts;
}

const lengthOf = (parts: readonly Uint8Array[]): number => parts.reduce((sum, part) => sum + part.length, 0);

function encodeWritable(workspace: Workspace, request: Written, { given }: Path): Uint8Array {
  const bytes = encode(request, workspace.scratch, given);
  expectWritable(workspace, bytes.length, given);
  return bytes;
}

function writeWhole(
  workspace: Workspace,
  path: Path,
  request: WriteRequest,
  task: Task,
): WriteReply | Promise<WriteReply> {
  if (isLarge(workspace, request, path)) {
    const file = new NewFile(workspace, path, request.parents ?? true);
    return finish(file, file.writeSlowly(partsOf(request, path.given), task), request, task);
  }
  const bytes = encodeWritable(workspace, request, path);
  const file = new NewFile(workspace, path, request.parents ?? true);
  if (bytes.length > PIECE)
    return finish(file, file.writeSlowly(partsOf({ content: bytes }, path.given), task), request, task);
  try {
    file.writeAtOnce(bytes);
    const reply = file.commitNow(request);
    if (reply !== null) return reply;
  } catch (thrown) {
    file.abandon();
    throw thrown;
  }
  return finish(file, null, request, task);
}

async function finish(
  file: NewFile,
  written: Promise<void> | null,
  request: WriteRequest,
  { signal }: Task,
): Promise<WriteReply> {
  try {
    await written;
    return await file.commit(request, signal);
  } catch (thrown) {
    file.abandon();
    throw thrown;
  }
}

function writeInPlace(
  workspace: Workspace,
  path: Path,
  request: WriteRequest,
  task: Task,
): WriteReply | Promise<WriteReply> {
  const { root, scratch } = workspace;
  const overwrite = (parts: readonly Uint8Array[]): Promise<WriteReply> => {
    const opened = openInPlace(workspace, path, request, "write", lengthOf(parts));
    return closing(workspace, path, opened, overwriteSlowly(workspace, path, opened, parts, request, task));
  };
  const isSlow = isLarge(workspace, request, path);
  return workspace.exclusively(path.given, request, task, () => {
    if (isSlow) return encodeSlowly(workspace, request, path, task).then(overwrite);
    const bytes = encodeWritable(workspace, request, path);
    if (bytes.length > PIECE || request.durable === true || request.ifMatch !== undefined) {
      // After a pause, the scratch buffer belongs to another request.
      return overwrite([bytes.buffer === scratch.buffer ? Buffer.from(bytes) : bytes]);
    }
    const opened = openInPlace(workspace, path, request, "write", bytes.length);
    try {
      workspace.quota?.admit(bytes.length - opened.size, path.given);
      writeOver(workspace, opened, bytes, path.given);
      cut(workspace, opened, bytes.length, path.given);
    } catch (thrown) {
      removeEmpty(workspace, path, opened);
      throw thrown;
    } finally {
      root.close(opened.file);
    }
    return { size: bytes.length, etag: etagOf(bytes), created: opened.created };
  });
}

async function overwriteSlowly(
  workspace: Workspace,
  path: Path,
  opened: Opened,
  parts: readonly Uint8Array[],
  { ifMatch, durable }: WriteRequest,
  { signal }: Task,
): Promise<WriteReply> {
  const { given, whole } = path;
  if (ifMatch !== undefined) {
    const file = workspace.openFile(whole, given, "read");
    const { size, inode, device } = workspace.status;
    const found = await hashFile(workspace, file, size, given, signal).finally(() => workspace.root.close(file));
    // The file may have been replaced since it was opened for writing.
    if (found !== ifMatch || inode !== opened.inode || device !== opened.device) refuseChanged(given, found);
  }
  const length = lengthOf(parts);
  const etag = new EtagOf();
  const more = Math.max(0, length - opened.size);
  workspace.quota?.admit(more, given);
  workspace.quota?.hold(more);
  try {
    for (const part of parts) {
      for (let at = 0; at < part.length; at += PIECE) {
        signal.throwIfAborted();
        workspace.expectInPlace(opened.file, path);
        const bytes = part.subarray(at, at + PIECE);
        workspace.writeAll(opened.file, bytes, given);
        etag.add(bytes);
        await workspace.pause();
      }
    }
  } catch (thrown) {
    countTorn(workspace, opened);
    throw thrown;
  } finally {
    workspace.quota?.hold(-more);
  }
  cut(workspace, opened, length, given);
  if (durable === true) expectSuccess(await workspace.root.sync(opened.file), given);
  return { size: length, etag: etag.end(), created: opened.created };
}

/** Writes all bytes at once. */
function writeOver(workspace: Workspace, opened: Opened, bytes: Uint8Array, given: string): void {
  try {
    workspace.writeAll(opened.file, bytes, given);
  } catch (thrown) {
    countTorn(workspace, opened);
    throw thrown;
  }
}

/** Adds the written part of a failed write to the quota. */
function countTorn({ root, status, quota }: Workspace, { file, size }: Opened): void {
  if (quota !== null && root.stat(file, status) === 0) quota.add(status.size - size);
}

/** Cuts the file off after the `length` bytes that were written. */
function cut({ root, quota }: Workspace, { file, size }: Opened, length: number, given: string): void {
  if (size > length) expectSuccess(root.truncate(file, length), given);
  quota?.add(length - size);
}

interface Opened {
  readonly file: number;
  /** The size before the write. */
  readonly size: number;
  readonly inode: number;
  readonly device: number;
  readonly created: boolean;
}

/** Opens a file for a write in place. Makes a missing file if `bytes` fit into the quota. */
function openInPlace(
  workspace: Workspace,
  path: Path,
  { ifExists, ifMatch, parents = true }: Pick<WriteRequest, "ifExists" | "ifMatch" | "parents">,
  opening: "write" | "append",
  bytes: number,
): Opened {
  const { root, status } = workspace;
  const { whole, given } = path;
  const file = root.open(whole, opening);
  if (file === -ENOENT) {
    if (ifMatch !== undefined) refuseChanged(given);
    workspace.quota?.admit(bytes, given, 1); // Refuse before an empty file is made.
    const at = workspace.enter(path, parents);
    let created: number;
    try {
      workspace.quota?.admit(bytes, given, 1); // Making the parent directories has changed the count.
      created = root.openAt(at, nameOf(path), "create");
    } finally {
      workspace.leave(at);
    }
    expectSuccess(created, given);
    workspace.quota?.add(0, 1);
    return { file: created, size: 0, inode: 0, device: 0, created: true }; // A new file has no etag to compare.
  }
  expectSuccess(file, given);
  try {
    expectSuccess(root.stat(file, status), given);
    workspace.expectFile(status, given);
    if (ifExists === "fail" && ifMatch === undefined)
      refuse("exists", given, `${JSON.stringify(given)} exists already.`);
    if ((status.mode & RUNS_AS) !== 0) expectUnprivileged(root.chmod(file, status.mode & ~RUNS_AS), given);
  } catch (thrown) {
    root.close(file);
    throw thrown;
  }
  const { size, inode, device } = status;
  return { file, size, inode, device, created: false };
}

/** Removes a file that was just made and is still empty, since writing it failed. */
function removeEmpty(workspace: Workspace, path: Path, { file, created }: Opened): void {
  const { root, status } = workspace;
  if (!created || root.stat(file, status) < 0 || status.size > 0 || !leadsTo(root, path.whole, file)) return;
  const at = path.base === 0 ? root.top : root.open(parentOf(path), "place");
  if (at < 0) return;
  if (root.unlink(at, nameOf(path)) === 0) workspace.quota?.add(0, -1);
  workspace.leave(at);
}

/** Closes a file when the write ends. */
async function closing<Value>(workspace: Workspace, path: Path, opened: Opened, work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (thrown) {
    removeEmpty(workspace, path, opened);
    throw thrown;
  } finally {
    workspace.root.close(opened.file);
  }
}

/**
 * Clears setuid and setgid, so new content does not run as the file's owner or group. The kernel does this only for a
 * user who may not change the rights.
 */
function expectUnprivileged(code: number, given: string): void {
  if (code !== -EPERM) expectSuccess(code, given);
}

type Appended = { size: number };

/** Appends to a file, and makes it if it is missing. It appends all bytes or none. */
export function append(workspace: Workspace, request: AppendRequest, task: Task): Appended | Promise<Appended> {
  const path = workspace.findToChange(request.path);
  const { root, scratch } = workspace;
  const add = (parts: readonly Uint8Array[]): Promise<Appended> => {
    const opened = openInPlace(workspace, path, request, "append", lengthOf(parts));
    return closing(workspace, path, opened, addSlowly(workspace, path, opened, parts, request, task));
  };
  const isSlow = isLarge(workspace, request, path);
  return workspace.exclusively(path.given, request, task, () => {
    if (isSlow) return encodeSlowly(workspace, request, path, task).then(add);
    const bytes = encodeWritable(workspace, request, path);
    if (bytes.length > PIECE || request.durable === true) {
      return add([bytes.buffer === scratch.buffer ? Buffer.from(bytes) : bytes]);
    }
    const opened = openInPlace(workspace, path, request, "append", bytes.length);
    const { file, size } = opened;
    try {
      workspace.quota?.admit(bytes.length, path.given);
      workspace.writeAll(file, bytes, path.given);
      workspace.quota?.add(bytes.length);
    } catch (thrown) {
      root.truncate(file, size);
      removeEmpty(workspace, path, opened);
      throw thrown;
    } finally {
      root.close(file);
    }
    return { size: size + bytes.length };
  });
}

async function addSlowly(
  workspace: Workspace,
  path: Path,
  { file, size }: Opened,
  parts: readonly Uint8Array[],
  { durable }: AppendRequest,
  { signal }: Task,
): Promise<Appended> {
  const { given } = path;
  const length = lengthOf(parts);
  workspace.quota?.admit(length, given);
  workspace.quota?.hold(length);
  try {
    for (const part of parts) {
      for (let at = 0; at < part.length; at += PIECE) {
        signal.throwIfAborted();
        workspace.expectInPlace(file, path);
        workspace.writeAll(file, part.subarray(at, at + PIECE), given);
        await workspace.pause();
      }
    }
    if (durable === true) expectSuccess(await workspace.root.sync(file), given);
  } catch (thrown) {
    workspace.root.truncate(file, size);
    throw thrown;
  } finally {
    workspace.quota?.hold(-length);
  }
  workspace.quota?.add(length);
  return { size: size + length };
}
