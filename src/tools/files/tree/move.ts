import { constants } from "node:os";
import { expectSuccess, refuse, refuseFor } from "../file-error";
import { nameOf, type Path } from "../path";
import { perform } from "../perform";
import type { MoveRequest } from "../requests/changing";
import type { EntryKind, Status } from "../root/root";
import type { Steps } from "../steps";
import type { Task, Workspace } from "../workspace";
import { expectServed } from "./tree";

const { ENOENT, EEXIST, ENOTDIR, ENOTEMPTY, EISDIR, EINVAL, EXDEV } = constants.errno;

type Moved = Record<never, never>;

/**
 * Moves a file or directory in one step. A move onto itself does nothing. Links cannot be moved, and by default neither
 * can files with another name.
 *
 * | at the new name | `ifExists: "fail"` | `ifExists: "replace"` |
 * | --- | --- | --- |
 * | nothing | moved | moved |
 * | a file, for a file | `exists` | replaced |
 * | a directory, for a file | `exists` | `is-directory` |
 * | anything, for a directory | `exists` | `exists` |
 * | a link, for a file | `exists` | `denied` |
 */
export function move(workspace: Workspace, request: MoveRequest, task: Task): Moved | Promise<Moved> {
  const from = workspace.findToChange(request.from, "any");
  const to = workspace.findToChange(request.to, "any");
  expectApart(from, to, "moved");
  // The lock is held from the check to the rename, so no writer adds anything to a checked directory.
  return workspace.exclusively(to.given, null, task, () => {
    const rename = (checked: Identity | null): Moved | Promise<Moved> => {
      const counting = workspace.quota?.counting ?? null;
      if (counting === null) return renameNow(workspace, from, to, request, checked);
      return counting.then(() => {
        task.signal.throwIfAborted();
        return rename(checked);
      });
    };
    if (workspace.rules.areOpen) return rename(null);
    const checked = perform(workspace, expectMovable(workspace, from, to), task);
    return checked instanceof Promise ? checked.then(rename) : rename(checked);
  });
}

/** Identifies a file or directory. */
type Identity = Pick<Status, "inode" | "device">;

/** Refuses to move or copy the root, or a directory into itself. */
export function expectApart(from: Path, to: Path, done: "moved" | "copied"): void {
  if (from.whole === "") refuse("denied", from.given, `The root cannot be ${done}; name what is in it.`);
  if (to.whole === "")
    refuse("exists", to.given, `${JSON.stringify(to.given)} is the root, which exists; name a path in it.`);
  if (to.whole.startsWith(`${from.whole}/`)) refuseInto(from, to);
}

const refuseInto = (from: Path, to: Path): never =>
  refuse("invalid-path", to.given, `${JSON.stringify(to.given)} is in ${JSON.stringify(from.given)} itself.`);

/** Refuses a source that may not be moved. Returns its identity. */
function* expectMovable(workspace: Workspace, from: Path, to: Path): Steps<Identity> {
  const at = workspace.enter(from, false);
  try {
    const kind = kindOf(workspace, at, from);
    const { inode, device } = workspace.status;
    if (kind === "directory") {
      yield* expectServed(workspace, at, nameOf(from), from.given, [from.whole, to.whole]);
    } else {
      for (const { whole, given } of [from, to]) if (!workspace.rules.serves(whole)) workspace.refuseClosed(given);
    }
    return { inode, device };
  } finally {
    workspace.leave(at);
  }
}

/** The kind of the source of a move or copy: a regular file of one name, or a directory. Fills the workspace's status. */
export function kindOf(workspace: Workspace, at: number, path: Path): EntryKind {
  const { root, status, rules } = workspace;
  const code = root.statAt(at, nameOf(path), status);
  // A missing file gets the same answer as a closed one.
  if (code < 0 && !rules.serves(path.whole)) return workspace.refuseClosed(path.given);
  expectSuccess(code, path.given);
  if (status.kind === "directory") return status.kind;
  workspace.expectFile(status, path.given);
  return path.isDirectory ? refuseFor(ENOTDIR, path.given) : status.kind;
}

function renameNow(workspace: Workspace, from: Path, to: Path, request: MoveRequest, checked: Identity | null): Moved {
  const { root, status, quota } = workspace;
  const fromAt = workspace.enter(from, false);
  let toAt = -1;
  try {
    const kind = kindOf(workspace, fromAt, from);
    if (from.whole === to.whole) return {};
    const { inode, device } = status;
    if (checked !== null && (checked.inode !== inode || checked.device !== device)) {
      const { given } = from;
      refuse(
        "changed",
        given,
        `${JSON.stringify(given)} was replaced meanwhile; see what is there, and move it again.`,
      );
    }
    if (kind === "file") expectFileName(to);
    toAt = workspace.enter(to, request.parents ?? true);
    const isReplacing = kind === "file" && request.ifExists === "replace";
    let freed = 0;
    let isFreed = false;
    if (isReplacing) {
      const code = root.statAt(toAt, nameOf(to), status);
      if (code === 0) {
        workspace.expectFile(status, to.given);
        freed = status.size;
        isFreed = true;
        if (status.inode === inode && status.device === device) {
          // Both are names of one file. A rename would leave both.
          expectSuccess(root.unlink(fromAt, nameOf(from)), from.given);
          quota?.add(-freed, -1);
          return {};
        }
      } else if (code !== -ENOENT) refuseFor(code, to.given);
    }
    expectRenamed(root.rename(fromAt, nameOf(from), toAt, nameOf(to), isReplacing), from, to);
    if (isFreed) quota?.add(-freed, -1);
    return {};
  } finally {
    workspace.leave(fromAt);
    if (toAt >= 0) workspace.leave(toAt);
  }
}

/** Refuses a new name that ends in a slash for a file. */
export function expectFileName({ given, isDirectory }: Path): void {
  if (!isDirectory) return;
  refuse("is-directory", given, `${JSON.stringify(given)} names a directory; name the file in it.`);
}

/** Refuses a rename that failed. */
export function expectRenamed(code: number, from: Path, to: Path): void {
  if (code >= 0) return;
  if (code === -EEXIST || code === -ENOTEMPTY) refuseExisting(to);
  if (code === -EXDEV) {
    refuse("io", to.given, `${JSON.stringify(to.given)} is on another file system; copy it there, and delete it here.`);
  }
  if (code === -EINVAL) refuseInto(from, to);
  refuseFor(code, code === -EISDIR ? to.given : from.given);
}

/** Refuses a new name that exists. */
export function refuseExisting({ given }: Path): never {
  const advice = `delete it first, or choose another name; a file is replaced by a file with ifExists: "replace"`;
  return refuse("exists", given, `${JSON.stringify(given)} exists already; ${advice}.`);
}
