import { constants } from "node:os";
import { PIECE } from "../etag";
import { expectSuccess, refuse, refuseFor } from "../file-error";
import { nameOf, type Path, parentOf } from "../path";
import { perform } from "../perform";
import type { CopyReply, MoveRequest } from "../requests/changing";
import { type EntryKind, type Name, type Root, Status } from "../root/root";
import { Trail } from "../root/trail";
import { discard, walk } from "../root/walk";
import type { Steps } from "../steps";
import type { Task, Workspace } from "../workspace";
import { createDirectoryBeside } from "../write/beside";
import { isBesideName } from "../write/notes";
import type { StagedDirectory } from "../write/staging";
import type { Amount } from "../write/usage";
import { expectRenamed, refuseExisting } from "./move";
import { lookUp } from "./stat";
import { expectServed, expectServedBelow, placeCheck } from "./tree";

const { ENOENT, ENOTDIR, ELOOP, ENXIO, EXDEV } = constants.errno;
const SETGID = 0o2000;

/** Hands over the bytes of an open file, up to its size at the opening, one piece a step. */
export function* copyBytes(
  { root, scratch }: Workspace,
  source: number,
  size: number,
  given: string,
  write: (bytes: Uint8Array) => void,
): Steps<number> {
  let position = 0;
  while (position < size) {
    const count = root.read(source, scratch, Math.min(PIECE, size - position), position);
    expectSuccess(count, given);
    if (count === 0) break; // The file was cut meanwhile.
    write(scratch.subarray(0, count));
    position += count;
    yield;
  }
  return position;
}

/** Copies a directory into a staged one, and then places that under its name in one step. */
export async function copyTree(
  workspace: Workspace,
  from: Path,
  to: Path,
  request: MoveRequest,
  task: Task,
): Promise<CopyReply> {
  const { quota, staging } = workspace;
  const { signal } = task;
  const there = lookUp(workspace, to);
  if (there === 0) refuseExisting(to);
  if (there !== -ENOENT) refuseFor(there, to.given);
  const tree = new TreeCopy(workspace, from, to);
  const { bytes, files } = await perform(workspace, tree.measure(), { signal });
  await quota?.countFor(bytes, files);
  quota?.admit(bytes, to.given, files);
  const { parents = true } = request;
  const reply = await copyBy(workspace, tree, to, parents, staging.createDirectory(tree.mode, to.given), signal);
  if (reply !== null) return reply;
  // The new name is on another file system than the staging directory.
  const at = workspace.enter(to, parents);
  try {
    const again = new TreeCopy(workspace, from, to);
    const staged = createDirectoryBeside(workspace, at, to, tree.mode);
    return (await copyBy(workspace, again, to, parents, staged, signal)) ?? refuseMoved(to);
  } finally {
    workspace.leave(at);
  }
}

function refuseMoved({ given }: Path): never {
  const shown = JSON.stringify(given);
  return refuse(
    "changed",
    given,
    `${shown} is on another file system than a moment ago; see what is there, and ask again.`,
  );
}

/** Copies a directory by a staged one. Null if that cannot be placed, since its new name is on another file system. */
async function copyBy(
  workspace: Workspace,
  tree: TreeCopy,
  to: Path,
  parents: boolean,
  staged: StagedDirectory,
  signal: AbortSignal,
): Promise<CopyReply | null> {
  const { root, quota, staging } = workspace;
  const remove = (): void | Promise<void> => perform(workspace, discard(root, staged.at, staged.name), null);
  try {
    inheritGroup(workspace, staged, to);
    const reply = await perform(workspace, tree.copy(staged), { signal });
    const isPlaced = await workspace.exclusively(to.given, null, { signal }, () => {
      const at = workspace.enter(to, parents);
      let code: number;
      try {
        quota?.admit(reply.bytes, to.given, tree.made); // Counts the directories just made on the way as well.
        code = root.rename(staged.at, staged.name, at, nameOf(to), false);
      } finally {
        workspace.leave(at);
      }
      if (code === -EXDEV) return false;
      expectRenamed(code, to, to);
      quota?.add(reply.bytes, tree.made);
      return true;
    });
    if (isPlaced) return reply;
    await remove();
    return null;
  } catch (thrown) {
    await remove();
    throw thrown;
  } finally {
    staging.endDirectory(staged);
  }
}

/** Gives a staged directory the group of its future parent, if that one is setgid. */
function inheritGroup({ root, status }: Workspace, { at, name }: StagedDirectory, to: Path): void {
  const existing = openNearest(root, parentOf(to));
  if (existing < 0) return;
  const code = root.stat(existing, status);
  if (existing !== root.top) root.close(existing);
  const { mode, group } = status;
  if (code < 0 || (mode & SETGID) === 0) return;
  const directory = root.openAt(at, name, "directory");
  if (directory < 0) return;
  // Files made in it inherit the group too.
  if (root.stat(directory, status) === 0 && root.chown(directory, -1, group) === 0) {
    root.chmod(directory, status.mode | SETGID);
  }
  root.close(directory);
}

/** Opens a directory, or the nearest existing one above it. */
export function openNearest(root: Root, whole: string): number {
  for (let path = whole; path !== ""; path = path.slice(0, Math.max(0, path.lastIndexOf("/")))) {
    const opened = root.open(path, "place");
    if (opened !== -ENOENT) return opened;
  }
  return root.top;
}

class TreeCopy {
  /**
   * The mode of the directory itself. Others get no more rights than in the old one, and its owner can always write in
   * it.
   */
  mode = 0o700;
  readonly #workspace: Workspace;
  readonly #from: Path;
  readonly #to: Path;
  readonly #places: readonly string[];
  readonly #status = new Status();
  #entries = 0;
  #files = 0;
  #directories = 0;
  #bytes = 0;
  #leftOut = 0;

  constructor(workspace: Workspace, from: Path, to: Path) {
    this.#workspace = workspace;
    this.#from = from;
    this.#to = to;
    this.#places = [from.whole, to.whole];
  }

  /** The number of files and directories made. */
  get made(): number {
    return this.#files + this.#directories;
  }

  /** Measures the tree, and refuses one that is too large or not served. */
  *measure(): Steps<Amount> {
    const { root } = this.#workspace;
    const status = this.#status;
    const name = nameOf(this.#from);
    const at = this.#workspace.enter(this.#from, false);
    let bytes = 0;
    let files = 0;
    try {
      yield* expectServed(this.#workspace, at, name, this.#from.given, this.#places);
      yield* walk(root, at, name, {
        skips: isBesideName,
        enter: (directory) => {
          this.#countEntry();
          files++;
          if (this.#entries === 1 && root.stat(directory, status) === 0) this.mode = status.mode;
        },
        visit: (directory, entry, kind) => {
          this.#countEntry();
          if (kind === "file" && root.statAt(directory, entry, status) === 0 && this.#isCopied()) {
            bytes += status.size;
            files++;
          }
          return false;
        },
        fail: (code) => refuseFor(code, this.#from.given),
      });
    } finally {
      this.#workspace.leave(at);
    }
    this.mode = this.#modeOfDirectory(this.mode);
    this.#entries = 0;
    return { bytes, files };
  }

  /** Copies everything in the directory into a staged one. */
  *copy(staged: StagedDirectory): Steps<CopyReply> {
    const { root } = this.#workspace;
    const trail = new Trail(root, staged.at);
    const at = this.#workspace.enter(this.#from, false);
    try {
      yield* walk(root, at, nameOf(this.#from), {
        check: placeCheck(this.#workspace, this.#from),
        skips: isBesideName,
        enter: (directory, name, below) => {
          this.#countEntry();
          this.#expectServed(below, true);
          this.#enter(trail, directory, below === "" ? staged.name : name, below === "");
        },
        visit: (directory, name, kind, below) => {
          this.#countEntry();
          this.#expectServed(below, false);
          return this.#copyEntry(trail, directory, name, kind);
        },
        leave: () => this.#leave(trail),
        fail: (code) => refuseFor(code, this.#from.given),
      });
      return { files: this.#files, bytes: this.#bytes, leftOut: this.#leftOut };
    } finally {
      trail.dispose();
      this.#workspace.leave(at);
    }
  }

  /** Refuses an entry that appeared after `measure` and is not served. */
  #expectServed(below: string, isDirectory: boolean): void {
    expectServedBelow(this.#workspace, below, isDirectory, this.#from.given, this.#places);
  }

  #enter(trail: Trail, source: number, name: Name, isTop: boolean): void {
    const { root } = this.#workspace;
    const { given } = this.#to;
    if (!isTop) {
      expectSuccess(root.stat(source, this.#status), this.#from.given);
      expectSuccess(root.makeDirectory(trail.at, name, this.#modeOfDirectory(this.#status.mode)), given);
    }
    expectSuccess(trail.descend(name), given);
    this.#directories++;
  }

  *#leave(trail: Trail): Steps<boolean> {
    expectSuccess(yield* trail.ascend(), this.#to.given);
    return false;
  }

  #copyEntry(trail: Trail, directory: number, name: Name, kind: EntryKind): boolean | Steps<boolean> {
    const { root } = this.#workspace;
    const status = this.#status;
    if (kind !== "file") return this.#leaveOut();
    const source = root.openAt(directory, name, "read");
    if (source === -ENOENT) return false;
    // It may have been replaced by something else.
    if (source === -ELOOP || source === -ENXIO || source === -ENOTDIR) return this.#leaveOut();
    expectSuccess(source, this.#from.given);
    let isLarge = false;
    try {
      expectSuccess(root.stat(source, status), this.#from.given);
      if (!this.#isCopied()) return this.#leaveOut();
      const { size, mode } = status;
      const target = root.openAt(trail.at, name, "create");
      expectSuccess(target, this.#to.given);
      const copying = this.#copyBytes(source, size, target, mode & 0o777);
      isLarge = size > PIECE;
      if (isLarge) return this.#closing(copying, source);
      for (const _ of copying);
      return false;
    } finally {
      if (!isLarge) root.close(source);
    }
  }

  *#closing(copying: Steps<void>, source: number): Steps<boolean> {
    try {
      yield* copying;
      return false;
    } finally {
      this.#workspace.root.close(source);
    }
  }

  *#copyBytes(source: number, size: number, target: number, mode: number): Steps<void> {
    const { root } = this.#workspace;
    const { given } = this.#to;
    try {
      expectSuccess(root.chmod(target, mode), given);
      const write = (bytes: Uint8Array): void => this.#workspace.writeAll(target, bytes, given);
      this.#bytes += yield* copyBytes(this.#workspace, source, size, this.#from.given, write);
      this.#files++;
    } finally {
      root.close(target);
    }
  }

  #leaveOut(): false {
    this.#leftOut++;
    return false;
  }

  /** True if the file of the last status is to be copied. */
  #isCopied(): boolean {
    return this.#status.kind === "file" && (this.#status.links < 2 || this.#workspace.limits.hardLinks);
  }

  #modeOfDirectory = (mode: number): number => (mode & 0o777) | 0o700;

  #countEntry(): void {
    const { maxEntries } = this.#workspace.limits;
    if (++this.#entries <= maxEntries) return;
    const { given } = this.#from;
    const advice = `copy what is in it, part by part`;
    refuse("too-large", given, `${JSON.stringify(given)} has more than ${maxEntries} entries; ${advice}.`);
  }
}
