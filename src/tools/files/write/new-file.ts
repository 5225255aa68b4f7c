import { constants } from "node:os";
import { EtagOf, etagOf, PIECE, sizeIn } from "../etag";
import { expectSuccess, refuse, refuseChanged } from "../file-error";
import { nameOf, type Path, parentOf } from "../path";
import type { WriteReply } from "../protocol";
import { Status } from "../root/root";
import { lookUp } from "../tree/stat";
import type { Task, Workspace } from "../workspace";
import { hashFile } from "./hash-file";
import { expectWritable } from "./limits";
import type { Staged } from "./staging";

const { ENOENT, EXDEV, EACCES, EPERM } = constants.errno;
/** Permission bits that a new content keeps: it does not run as its owner (setuid), as a write takes that right away, too. */
const RIGHTS = 0o777;

const SETGID = 0o2000;
// Never across a pause, so that all new files can share them.
const staged = new Status();
const directory = new Status();

/** What a file must be for another one to take its place. */
export interface Condition {
  /** The etag that it must have. */
  readonly ifMatch?: string | undefined;
  readonly ifExists?: "replace" | "fail" | undefined;
  /** Whether the new file is on the disk before it is there. */
  readonly durable?: boolean | undefined;
}

/** A file that was hashed in pieces, as it was then. */
interface Hashed {
  readonly inode: number;
  readonly changed: number;
  readonly etag: string;
}

/**
 * A file on its way: written where nobody looks, and then given its name in one step, so that whoever reads the name finds
 * the old file or the new one. It ends with `commitNow` that gives a reply, with `commit`, or with `abandon`.
 */
export class NewFile {
  readonly #workspace: Workspace;
  readonly #path: Path;
  readonly #parents: boolean;
  /** The directory of its name, as long as nothing can have moved it; −1 after that. */
  #at: number;
  readonly #staged: Staged;
  #etag: EtagOf | null = null;
  #size = 0;
  #hasEnded = false;
  /** Of a file that was written at once; empty for a copy. */
  #etagAtOnce: string | null = null;
  /** The permission bits that it was given; null where it has those that the process gives. */
  #mode: number | null = null;
  /** The group that it was seen to have; null before it was looked at. */
  #group: number | null = null;
  /** The user that it belongs to, which is the actor's, once its mode was set. */
  #owner = 0;

  /** @param parents whether missing directories on the way are made. */
  constructor(workspace: Workspace, path: Path, parents: boolean) {
    this.#workspace = workspace;
    this.#path = path;
    this.#parents = parents;
    this.#at = workspace.enter(path, parents);
    try {
      this.#staged = workspace.staging.create(path.given);
    } catch (thrown) {
      this.#leave();
      throw thrown;
    }
  }

  /** Lets go of the directory before a pause: its path is looked up again when the file gets its name. */
  pause(): void {
    this.#leave();
  }

  get size(): number {
    return this.#size;
  }

  /** How many bytes the file has that this one would replace now. */
  replacedSize(): number {
    const { status } = this.#workspace;
    return lookUp(this.#workspace, this.#path) === 0 && status.kind === "file" ? status.size : 0;
  }

  /** Gives the file permission bits; if it replaces another one, it has that one's in the end. */
  setMode(bits: number): void {
    const mode = bits & RIGHTS;
    if (mode === this.#mode) return;
    const { root } = this.#workspace;
    const { descriptor } = this.#staged;
    // The process's umask is of the moment, and a look at what it made of the file takes half as long as to change it.
    expectSuccess(root.stat(descriptor, staged), this.#path.given);
    if (staged.mode !== mode) expectSuccess(root.chmod(descriptor, mode), this.#path.given);
    this.#mode = mode;
    this.#group = staged.group;
    this.#owner = staged.owner;
  }

  /** Refuses to take the place of a file that this user may not write, though a rename could. */
  #expectWritable({ mode, owner }: Status): void {
    const mine = this.#owner;
    if (mine === 0 || (mine === owner && (mode & 0o200) !== 0)) return;
    const { root } = this.#workspace;
    const { given } = this.#path;
    const opened = root.openAt(this.#at, nameOf(this.#path), "write");
    if (opened >= 0) root.close(opened);
    if (opened !== -EACCES && opened !== -EPERM) return;
    const advice = "have its mode changed, or delete it first if it is to be another file";
    refuse("denied", given, `${JSON.stringify(given)} may not be written by this user: ${advice}.`);
  }

  /** Gives the file a group, unless this user may not. */
  #setGroup(group: number): void {
    if (group === this.#group) return;
    const { root } = this.#workspace;
    const { descriptor } = this.#staged;
    expectSuccess(root.stat(descriptor, staged), this.#path.given);
    if (staged.group !== group) root.chown(descriptor, -1, group);
    this.#group = group;
  }

  /** Gives a new file the group of its directory, where that is set to be its files' (setgid). */
  #takeGroup(): void {
    expectSuccess(this.#workspace.root.stat(this.#at, directory), this.#path.given);
    if ((directory.mode & SETGID) !== 0) this.#setGroup(directory.group);
  }

  /** Writes the next bytes of a copy, whose etag nobody asks for: that of the reply is empty. */
  writeCopied(bytes: Uint8Array): void {
    this.#workspace.writeAll(this.#staged.descriptor, bytes, this.#path.given);
    this.#size += bytes.length;
    this.#etagAtOnce = "";
  }

  /** Writes all of a small file. */
  writeAtOnce(bytes: Uint8Array): void {
    this.#workspace.writeAll(this.#staged.descriptor, bytes, this.#path.given);
    this.#size = bytes.length;
    this.#etagAtOnce = etagOf(bytes);
  }

  /** Writes the next bytes. */
  write(bytes: Uint8Array): void {
    this.#workspace.writeAll(this.#staged.descriptor, bytes, this.#path.given);
    this.#size += bytes.length;
    this.#etag ??= new EtagOf();
    this.#etag.add(bytes);
  }

  /** Writes bytes with pauses between their parts, until the asker gives up. */
  async writeSlowly(parts: Iterable<Uint8Array>, { signal }: Task): Promise<void> {
    this.#leave();
    for (const part of parts) {
      expectWritable(this.#workspace, this.#size + part.length, this.#path.given);
      this.write(part);
      await this.#workspace.pause();
      signal.throwIfAborted();
    }
  }

  /** Gives the file its name, if nothing has to be waited for; null where `commit` is needed. */
  commitNow(condition: Condition): WriteReply | null {
    const { lock, quota } = this.#workspace;
    if (condition.durable === true || quota?.fits(this.#size) === false) return null;
    if (!lock.tryAcquire(this.#path.given)) return null;
    try {
      return this.#place(condition, null);
    } finally {
      lock.release();
    }
  }

  /** Gives the file its name, unless `signal` aborts before. */
  async commit(condition: Condition, signal?: AbortSignal): Promise<WriteReply> {
    const { root, lock, quota } = this.#workspace;
    const { given } = this.#path;
    this.#leave();
    if (condition.durable === true) expectSuccess(await root.sync(this.#staged.descriptor), given);
    await quota?.countFor(this.#size);
    await lock.acquire(given);
    let reply: WriteReply | null;
    try {
      signal?.throwIfAborted(); // Others may have had the lock for long.
      reply = this.#place(condition, null) ?? this.#place(condition, await this.#hashTarget(signal));
    } finally {
      lock.release();
    }
    if (condition.durable === true) await this.#syncDirectories();
    return reply ?? refuse("changed", given, `${JSON.stringify(given)} is changed by others without end; try again.`);
  }

  /** Ends without a trace. */
  abandon(): void {
    this.#end(false);
  }

  /**
   * The step itself, with the lock held; null where the present file has to be hashed in pieces first. The file gets its
   * name where its path leads now, since the rules were asked about that path.
   */
  #place(condition: Condition, hashed: Hashed | null): WriteReply | null {
    if (this.#at < 0) this.#at = this.#workspace.enter(this.#path, this.#parents);
    const { root, staging, status, quota } = this.#workspace;
    const { given } = this.#path;
    const name = nameOf(this.#path);
    const code = root.statAt(this.#at, name, status);
    const isNew = code === -ENOENT;
    let before = 0;
    if (isNew) {
      if (condition.ifMatch !== undefined) refuseChanged(given);
      this.#takeGroup();
    } else {
      expectSuccess(code, given);
      this.#workspace.expectFile(status, given);
      if (condition.ifMatch !== undefined) {
        const etag = this.#etagNow(condition.ifMatch, hashed);
        if (etag === null) return null;
        if (etag !== condition.ifMatch) refuseChanged(given, etag);
      } else if (condition.ifExists === "fail") {
        refuse("exists", given, `${JSON.stringify(given)} exists already; read it first, and write with ifMatch.`);
      }
      before = status.size;
      // A file that is replaced keeps its rights; a new one gets those that the process gives.
      this.setMode(status.mode);
      this.#setGroup(status.group);
      this.#expectWritable(status);
    }
    quota?.admit(this.#size - before, given);
    const placed = staging.place(this.#staged, this.#at, name, condition.ifExists !== "fail");
    if (placed === -EXDEV) {
      refuse(
        "io",
        given,
        `${JSON.stringify(given)} is on another file system than the root; write it with inPlace: true.`,
      );
    }
    expectSuccess(placed, given);
    quota?.add(this.#size - before);
    this.#end(true);
    return { size: this.#size, etag: this.#etagAtOnce ?? (this.#etag ?? new EtagOf()).end(), created: isNew };
  }

  /**
   * The etag of the file that has the name, whose status was just read; null where it is too large to be hashed at once,
   * undefined where its size tells that it is another one.
   */
  #etagNow(expected: string, hashed: Hashed | null): string | undefined | null {
    const { root, status, scratch } = this.#workspace;
    const { inode, changed, size } = status;
    if (hashed !== null) return hashed.inode === inode && hashed.changed === changed ? hashed.etag : null;
    if (size > PIECE) return size === sizeIn(expected) ? null : undefined;
    const { given } = this.#path;
    const file = root.openAt(this.#at, nameOf(this.#path), "read");
    expectSuccess(file, given);
    let length: number;
    try {
      // It may be another one by now, of which not even the etag is told.
      expectSuccess(root.stat(file, status), given);
      this.#workspace.expectFile(status, given);
      if (status.size > PIECE) return null;
      length = root.read(file, scratch, PIECE, 0);
    } finally {
      root.close(file);
    }
    expectSuccess(length, given);
    return etagOf(scratch.subarray(0, length));
  }

  async #hashTarget(signal: AbortSignal | undefined): Promise<Hashed> {
    const { root, status } = this.#workspace;
    const { given } = this.#path;
    const file = root.openAt(this.#at, nameOf(this.#path), "read");
    this.#leave();
    expectSuccess(file, given);
    try {
      expectSuccess(root.stat(file, status), given);
      this.#workspace.expectFile(status, given);
      const { inode, changed, size } = status;
      return { inode, changed, etag: await hashFile(this.#workspace, file, size, given, signal) };
    } finally {
      root.close(file);
    }
  }

  /** Brings the names on the way to the disk, those of new directories included. */
  async #syncDirectories(): Promise<void> {
    const { root } = this.#workspace;
    for (let whole = parentOf(this.#path); ; whole = whole.slice(0, Math.max(0, whole.lastIndexOf("/")))) {
      const directory = root.open(whole, "directory");
      expectSuccess(directory, this.#path.given);
      const code = await root.sync(directory);
      root.close(directory);
      expectSuccess(code, this.#path.given);
      if (whole === "") return;
    }
  }

  #end(isPlaced: boolean): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#workspace.staging.end(this.#staged, isPlaced);
    this.#leave();
  }

  #leave(): void {
    if (this.#at < 0) return;
    this.#workspace.leave(this.#at);
    this.#at = -1;
  }
}
