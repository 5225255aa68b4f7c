import { PIECE } from "../etag";
import { expectSuccess } from "../file-error";
import type { Path } from "../path";
import { perform } from "../perform";
import type { CopyReply, MoveRequest } from "../requests/changing";
import type { Task, Workspace } from "../workspace";
import { NewFile } from "../write/new-file";
import { copyBytes, copyTree } from "./copy-tree";
import { expectApart, expectFileName, kindOf, refuseExisting } from "./move";
import { lookUp } from "./stat";

/**
 * Copies a file or directory, whole or not at all: the new name appears when the copy is complete. A file keeps its
 * permission bits unless it replaces another file. A copy of a directory leaves out links and special files, and by
 * default files with another name. It never goes onto an existing directory. The quota bounds every copy, and
 * `maxEntries` that of a directory.
 */
export function copy(workspace: Workspace, request: MoveRequest, task: Task): CopyReply | Promise<CopyReply> {
  const from = workspace.find(request.from);
  const to = workspace.findToChange(request.to, "any");
  expectApart(from, to, "copied");
  const at = workspace.enter(from, false);
  try {
    if (kindOf(workspace, at, from) === "directory") return copyTree(workspace, from, to, request, task);
  } finally {
    workspace.leave(at);
  }
  return copyFile(workspace, from, to, request, task);
}

function copyFile(
  workspace: Workspace,
  from: Path,
  to: Path,
  request: MoveRequest,
  task: Task,
): CopyReply | Promise<CopyReply> {
  const { root, rules, status, scratch } = workspace;
  for (const { whole, given } of [from, to]) if (!rules.serves(whole)) return workspace.refuseClosed(given);
  expectFileName(to);
  const ifExists = request.ifExists ?? "fail";
  if (lookUp(workspace, to) === 0) {
    if (ifExists === "fail") refuseExisting(to);
    workspace.expectFile(status, to.given);
  }
  const source = workspace.openFile(from.whole, from.given, "read");
  const { size, mode } = status;
  let isLarge = false;
  try {
    const file = new NewFile(workspace, to, request.parents ?? true);
    try {
      file.setMode(mode);
      isLarge = size > PIECE;
      if (isLarge) return copyLarge(workspace, from, to, { source, size }, file, ifExists, task.signal);
      const count = root.read(source, scratch, PIECE, 0);
      expectSuccess(count, from.given);
      file.writeAtOnce(scratch.subarray(0, count));
      const reply = file.commitNow({ ifExists });
      return reply === null ? commit(file, ifExists) : { files: 1, bytes: reply.size, leftOut: 0 };
    } catch (thrown) {
      file.abandon();
      throw thrown;
    }
  } finally {
    if (!isLarge) root.close(source);
  }
}

/** A file opened for reading. */
interface Source {
  readonly source: number;
  readonly size: number;
}

async function copyLarge(
  workspace: Workspace,
  from: Path,
  to: Path,
  { source, size }: Source,
  file: NewFile,
  ifExists: "replace" | "fail",
  signal: AbortSignal,
): Promise<CopyReply> {
  const { root, quota } = workspace;
  file.pause();
  try {
    if (quota !== null) {
      // Refuses early, before the disk is filled. The quota is checked again at the end.
      const more = size - file.replacedSize();
      await quota.countFor(more);
      quota.admit(more, to.given);
    }
    await perform(
      workspace,
      copyBytes(workspace, source, size, from.given, (bytes) => {
        if (file.size > 0) workspace.expectInPlace(source, from);
        file.writeCopied(bytes);
      }),
      { signal },
    );
    return await commit(file, ifExists);
  } catch (thrown) {
    file.abandon();
    throw thrown;
  } finally {
    root.close(source);
  }
}

async function commit(file: NewFile, ifExists: "replace" | "fail"): Promise<CopyReply> {
  try {
    const { size } = await file.commit({ ifExists });
    return { files: 1, bytes: size, leftOut: 0 };
  } catch (thrown) {
    file.abandon();
    throw thrown;
  }
}
