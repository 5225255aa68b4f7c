import { constants } from "node:os";
import { EtagOf, etagOf, PIECE, sizeIn } from "../etag";
import { expectSuccess, refuse, refuseChanged } from "../file-error";
import { nameOf, type Path, parentOf } from "../path";
import type { WriteReply } from "../requests/changing";
import { lookUp } from "../tree/stat";
import type { Task, Workspace } from "../workspace";
import { type BesideFile, createBeside, endBeside } from "./beside";
import { hashFile } from "./hash-file";
import { expectWritable } from "./limits";
import { Rights } from "./rights";
import type { Staged } from "./staging";

const { ENOENT, EXDEV } = constants.errno;
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
  /** The same file beside its name, where it cannot get that from where it was written. */
  #beside: BesideFile | null = null;
  /** Whether it has to be there. */
  #needsBeside = false;
  #etag: EtagOf | null = null;
  #size = 0;
  #hasEnded = false;
  /** Of a file that was written at once; empty for a copy. */
  #etagAtOnce: string | null = null;
  readonly #rights: Rights;

  /** @param parents whether missing directories on the way are made. */
  constructor(workspace: Workspace, path: Path, parents: boolean) {
    this.#workspace = workspace;
    this.#path = path;
    this.#parents = parents;
    this.#rights = new Rights(workspace, path);
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
    this.#rights.setMode(this.#descriptor, bits);
  }

  get #descriptor(): number {
    return (this.#beside ?? this.#staged).descriptor;
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
    if (condition.durable === true || quota?.fits(this.#size, 1) === false) return null;
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
    await quota?.countFor(this.#size, 1);
    await lock.acquire(given);
    let reply: WriteReply | null;
    try {
      signal?.throwIfAborted(); // Others may have had the lock for long.
      reply = this.#place(condition, null);
      let hashed: Hashed | null = null;
      for (let tries = 0; reply === null && tries < 2; tries++) {
        if (this.#needsBeside && this.#beside === null) await this.#stageBeside(condition, signal);
        else hashed = await this.#hashTarget(signal);
        reply = this.#place(condition, hashed);
      }
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
      // What is made there has the group, also for a user who may not give it.
      if (!this.#rights.takeGroup(this.#descriptor, this.#at) && this.#beside === null) {
        this.#needsBeside = true;
        return null;
      }
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
      this.#rights.takeFrom(status, this.#descriptor, this.#at);
    }
    quota?.admit(this.#size - before, given, isNew ? 1 : 0);
    const replaces = condition.ifExists !== "fail";
    const beside = this.#beside;
    const placed =
      beside === null
        ? staging.place(this.#staged, this.#at, name, replaces)
        : root.rename(beside.at, beside.name, this.#at, name, replaces);
    if (placed === -EXDEV && beside === null) {
      this.#needsBeside = true;
      return null;
    }
    if (placed === -EXDEV) {
      const shown = JSON.stringify(given);
      refuse(
        "changed",
        given,
        `${shown} is on another file system than a moment ago; see what is there, and ask again.`,
      );
    }
    expectSuccess(placed, given);
    quota?.add(this.#size - before, isNew ? 1 : 0);
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

  /** Copies the file to beside its name, whose directory is on another file system than where it was written. */
  async #stageBeside({ durable }: Condition, signal: AbortSignal | undefined): Promise<void> {
    const { root, staging, scratch } = this.#workspace;
    const { given } = this.#path;
    this.#leave();
    const at = this.#workspace.enter(this.#path, this.#parents);
    let source = -1;
    try {
      this.#beside = createBeside(this.#workspace, at, this.#path);
      source = staging.openToRead(this.#staged);
      expectSuccess(source, given);
      for (let position = 0; position < this.#size; ) {
        const count = root.read(source, scratch, PIECE, position);
        expectSuccess(count, given);
        if (count === 0) break;
        this.#workspace.writeAll(this.#beside.descriptor, scratch.subarray(0, count), given);
        position += count;
        if (position < this.#size) await this.#workspace.pause();
        signal?.throwIfAborted();
      }
      if (durable === true) expectSuccess(await root.sync(this.#beside.descriptor), given);
    } finally {
      if (source >= 0) root.close(source);
      if (this.#beside === null) this.#workspace.leave(at);
    }
    this.#rights.giveAnew(this.#beside.descriptor);
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
    const { staging } = this.#workspace;
    staging.end(this.#staged, isPlaced && this.#beside === null);
    if (this.#beside !== null) endBeside(this.#workspace, this.#beside, isPlaced);
    this.#leave();
  }

  #leave(): void {
    if (this.#at < 0) return;
    this.#workspace.leave(this.#at);
    this.#at = -1;
  }
}
