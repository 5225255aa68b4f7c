import { constants } from "node:os";
import { expectSuccess, FileRefusal, refuse, refuseFor } from "../file-error";
import { nameOf, type Path } from "../path";
import { perform } from "../perform";
import type { DeleteRequest } from "../requests/changing";
import type { EntryKind, Name } from "../root/root";
import { walk } from "../root/walk";
import type { Steps } from "../steps";
import type { Task, Workspace } from "../workspace";
import { expectServed, expectServedBelow, placeCheck } from "./tree";

const { ENOENT, ENOTDIR, ENOTEMPTY, EEXIST, EISDIR, EPERM, ELOOP } = constants.errno;

type Deleted = { deleted: number };

/**
 * Deletes a file, a link, or a directory with everything in it. Only the name is deleted: links are not followed, and
 * other names of the same file stay. `maxEntries` does not apply.
 */
export function remove(workspace: Workspace, request: DeleteRequest, task: Task): Deleted | Promise<Deleted> {
  const path = workspace.findToChange(request.path, "any");
  if (path.whole === "") return refuse("denied", path.given, "The root cannot be deleted; delete what is in it.");
  return new Deletion(workspace, path).run(request.recursive === true, task);
}

class Deletion {
  readonly #workspace: Workspace;
  readonly #path: Path;
  #deleted = 0;

  constructor(workspace: Workspace, path: Path) {
    this.#workspace = workspace;
    this.#path = path;
  }

  run(isRecursive: boolean, task: Task): Deleted | Promise<Deleted> {
    const isDirectory = this.#workspace.exclusively(this.#path.given, null, task, () => this.#removeOne());
    if (isDirectory instanceof Promise) return isDirectory.then((is) => this.#goOn(is, isRecursive, task));
    return this.#goOn(isDirectory, isRecursive, task);
  }

  #goOn(isDirectory: boolean, isRecursive: boolean, task: Task): Deleted | Promise<Deleted> {
    if (!isDirectory) return { deleted: 1 };
    const { given } = this.#path;
    if (isRecursive) return perform(this.#workspace, this.#removeAll(), task);
    return refuse(
      "is-directory",
      given,
      `${JSON.stringify(given)} is a directory that is not empty; delete it with recursive: true.`,
    );
  }

  /** Removes a file or an empty directory. Returns true for a directory that is not empty. */
  #removeOne(): boolean {
    const { root, status, rules } = this.#workspace;
    const { whole, given, isDirectory } = this.#path;
    const name = nameOf(this.#path);
    const at = this.#workspace.enter(this.#path, false);
    try {
      const code = root.statAt(at, name, status);
      const { kind, size } = status;
      if ((code < 0 || kind !== "directory") && !rules.serves(whole)) return this.#workspace.refuseClosed(given);
      expectSuccess(code, given);
      if (kind === "directory") {
        const removed = root.removeDirectory(at, name);
        if (removed === -ENOTEMPTY || removed === -EEXIST) return true;
        expectSuccess(removed, given);
        this.#workspace.quota?.add(0, -1);
        return false;
      }
      if (isDirectory) return refuseFor(kind === "link" ? ELOOP : ENOTDIR, given); // The path ends in a slash.
      expectSuccess(root.unlink(at, name), given);
      if (kind === "file") this.#workspace.quota?.add(-size, -1);
      return false;
    } finally {
      this.#workspace.leave(at);
    }
  }

  *#removeAll(): Steps<Deleted> {
    const { whole, given } = this.#path;
    const name = nameOf(this.#path);
    const at = this.#workspace.enter(this.#path, false);
    try {
      yield* expectServed(this.#workspace, at, name, given, [whole]);
      yield* walk(this.#workspace.root, at, name, {
        check: placeCheck(this.#workspace, this.#path),
        // An entry may have appeared since the check of the whole.
        enter: (_directory, _entry, below) => expectServedBelow(this.#workspace, below, true, given, [whole]),
        visit: (directory, entry, kind, below) => this.#unlink(directory, entry, kind, below),
        leave: (directory, entry, below) => this.#removeDirectory(directory, entry, below),
        fail: (code) => refuseFor(code, given),
      });
      return { deleted: this.#deleted };
    } catch (thrown) {
      if (!(thrown instanceof FileRefusal) || this.#deleted === 0) throw thrown;
      const { kind, path, message } = thrown.error;
      return refuse(kind, path, `${message} ${this.#deleted} of what is in it were deleted before.`);
    } finally {
      this.#workspace.leave(at);
    }
  }

  /** Returns true if the entry is a directory by now. */
  #unlink(at: number, name: Name, kind: EntryKind, below: string): boolean {
    const { root, status, rules, quota } = this.#workspace;
    const { whole, given } = this.#path;
    // The entry appeared after the check of the whole.
    if (!rules.areOpen && !rules.serves(`${whole}/${below}`)) return this.#workspace.refuseClosed(given);
    const isCounted = quota !== null && kind === "file" && root.statAt(at, name, status) === 0;
    const code = root.unlink(at, name);
    if (code === -EISDIR || (code === -EPERM && root.statAt(at, name, status) === 0 && status.kind === "directory")) {
      return true;
    }
    if (code === -ENOENT) return false;
    expectSuccess(code, given);
    if (isCounted) quota.add(-status.size, -1);
    this.#deleted++;
    return false;
  }

  /** Returns true if the directory has entries again. */
  #removeDirectory(at: number, name: Name, below: string): boolean {
    const { root } = this.#workspace;
    const { whole, given } = this.#path;
    expectServedBelow(this.#workspace, below, true, given, [whole]);
    const code = root.removeDirectory(at, name);
    if (code === -ENOTEMPTY || code === -EEXIST) return true;
    if (code === -ENOENT) return false;
    // It may have been replaced by a link.
    expectSuccess(code === -ENOTDIR ? root.unlink(at, name) : code, given);
    if (code === 0) this.#workspace.quota?.add(0, -1);
    this.#deleted++;
    return false;
  }
}
