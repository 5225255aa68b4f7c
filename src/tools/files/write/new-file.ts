import { constants } from "node:os";
import { EtagOf, etagOf } from "../etag";
import { expectSuccess, refuse, refuseChanged } from "../file-error";
import { nameOf, type Path } from "../path";
import type { WriteReply } from "../requests/changing";
import { lookUp } from "../tree/stat";
import type { Task, Workspace } from "../workspace";
import { type BesideFile, createBeside, endBeside, fillBeside } from "./beside";
import { expectWritable } from "./limits";
import { Parent } from "./parent";
import { Rights } from "./rights";
import type { Staged } from "./staging";
import { syncDirectories } from "./sync-directories";
import { Target } from "./target";

const { ENOENT, EXDEV, EINVAL, ENOSYS, EPERM, EOPNOTSUPP } = constants.errno;
/** The errors of a file system that cannot exchange two names. */
const NO_EXCHANGE = new Set([-EINVAL, -ENOSYS, -EPERM, -EOPNOTSUPP]);
/** The conditions for replacing a file. */
export interface Condition {
  /** The etag that the old file must have. */
  readonly ifMatch?: string | undefined;
  readonly ifExists?: "replace" | "fail" | undefined;
  /** True flushes the new file to the disk before it is placed. */
  readonly durable?: boolean | undefined;
}

/**
 * A new file. It is written in the staging directory and then placed under its name in one step, so readers find either
 * the old file or the new one. It ends with `commit`, with `abandon`, or with a `commitNow` that returns a reply.
 */
export class NewFile {
  readonly #workspace: Workspace;
  readonly #path: Path;
  readonly #parents: boolean;
  readonly #parent: Parent;
  readonly #staged: Staged;
  /** A copy of the file in the directory of its name. Set when the staged file cannot be moved there. */
  #beside: BesideFile | null = null;
  /** True when that copy is needed. */
  #needsBeside = false;
  #etag: EtagOf | null = null;
  #size = 0;
  #hasEnded = false;
  /** The etag of a file that was written at once. Empty for a copy. */
  #etagAtOnce: string | null = null;
  readonly #rights: Rights;
  readonly #target: Target;
  /** From the last check: true if the name is free. `#before` is the size of the replaced file. */
  #isNew = false;
  #before = 0;

  /** @param parents true makes missing directories on the way. */
  constructor(workspace: Workspace, path: Path, parents: boolean) {
    this.#workspace = workspace;
    this.#path = path;
    this.#parents = parents;
    this.#rights = new Rights(workspace, path);
    this.#target = new Target(workspace, path);
    this.#parent = new Parent(workspace, path);
    this.#parent.enter(parents);
    try {
      this.#staged = workspace.staging.create(path.given);
    } catch (thrown) {
      this.#parent.close();
      throw thrown;
    }
  }

  /** Called before a pause. When the file is placed, its directory is looked at again. */
  pause(): void {
    this.#parent.pause();
  }

  /** Closes the directory before a long pause. When the file is placed, its path is looked up again. */
  leave(): void {
    this.#parent.close();
  }

  get size(): number {
    return this.#size;
  }

  /** The current size of the file that this one would replace. */
  replacedSize(): number {
    const { status } = this.#workspace;
    return lookUp(this.#workspace, this.#path) === 0 && status.kind === "file" ? status.size : 0;
  }

  /** Sets the permission bits. A file that replaces another one gets that one's bits in the end. */
  setMode(bits: number): void {
    this.#rights.setMode(this.#descriptor, bits);
  }

  get #descriptor(): number {
    return (this.#beside ?? this.#staged).descriptor;
  }

  /** Writes the next bytes of a copy. The etag in its reply stays empty, since no caller uses it. */
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

  /** Writes bytes with pauses between the parts, until the asker gives up. */
  async writeSlowly(parts: Iterable<Uint8Array>, { signal }: Task): Promise<void> {
    this.pause();
    for (const part of parts) {
      expectWritable(this.#workspace, this.#size + part.length, this.#path.given);
      this.write(part);
      await this.#workspace.pause();
      signal.throwIfAborted();
    }
  }

  /** Flushes its bytes to the disk. */
  async sync(): Promise<void> {
    expectSuccess(await this.#workspace.root.sync(this.#descriptor), this.#path.given);
  }

  /** Places the file if it need not wait for anything. Null means that `commit` is needed. */
  commitNow(condition: Condition): WriteReply | null {
    const { lock, quota } = this.#workspace;
    if (condition.durable === true || quota?.fits(this.#size, 1) === false) return null;
    if (!lock.tryAcquire(this.#path.given)) return null;
    try {
      return this.#place(condition);
    } finally {
      lock.release();
    }
  }

  /** Places the file, unless `signal` aborts before. */
  async commit(condition: Condition, signal?: AbortSignal): Promise<WriteReply> {
    const { lock, quota } = this.#workspace;
    const { given } = this.#path;
    this.pause();
    if (condition.durable === true) await this.sync();
    await quota?.countFor(this.#size, 1);
    await lock.acquire(given);
    let reply: WriteReply | null;
    try {
      signal?.throwIfAborted(); // The wait for the lock may have been long.
      reply = this.#place(condition);
      for (let tries = 0; reply === null && tries < 2; tries++) {
        await this.prepare(condition, signal);
        reply = this.#place(condition);
      }
    } finally {
      lock.release();
    }
    if (condition.durable === true) await syncDirectories(this.#workspace, this.#path);
    return reply ?? refuse("changed", given, `${JSON.stringify(given)} is changed by others without end; try again.`);
  }

  /** Ends and removes the staged file. */
  abandon(): void {
    this.#end(false);
  }

  /** Prepares what `check` or `exchange` could not do at once. The caller holds the lock. */
  async prepare(condition: Condition, signal: AbortSignal | undefined): Promise<void> {
    this.pause();
    if (this.#needsBeside && this.#beside === null) await this.#stageBeside(condition, signal);
    else await this.#target.hash(signal);
  }

  /**
   * True if the file may be placed now; false if `prepare` must run first. The caller holds the lock.
   */
  check(condition: Condition): boolean {
    const at = this.#parent.enter(this.#parents);
    const { root, status } = this.#workspace;
    const { given } = this.#path;
    const code = root.statAt(at, nameOf(this.#path), status);
    this.#isNew = code === -ENOENT;
    this.#before = 0;
    if (this.#isNew) {
      if (condition.ifMatch !== undefined) refuseChanged(given);
      // A file made in this directory gets the group, even if this user may not set it.
      if (this.#rights.takeGroup(this.#descriptor, at) || this.#beside !== null) return true;
      this.#needsBeside = true;
      return false;
    }
    expectSuccess(code, given);
    this.#workspace.expectFile(status, given);
    const { size } = status;
    if (condition.ifMatch !== undefined) {
      const etag = this.#target.etagIn(at, condition.ifMatch);
      if (etag === null) return false;
      if (etag !== condition.ifMatch) refuseChanged(given, etag);
    } else if (condition.ifExists === "fail") {
      refuse("exists", given, `${JSON.stringify(given)} exists already; read it first, and write with ifMatch.`);
    }
    this.#before = size;
    // A replaced file passes on its mode and group. A new file gets the process's defaults.
    this.#rights.takeFrom(status, this.#descriptor, at);
    return true;
  }

  /** The number of bytes that the root gains, by the last check. */
  get more(): number {
    return this.#size - this.#before;
  }

  /** The number of files that the root gains: 1, or 0 for a replacement. */
  get moreFiles(): number {
    return this.#isNew ? 1 : 0;
  }

  /** Places the file; the caller holds the lock. Null if `prepare` must run first. */
  #place(condition: Condition): WriteReply | null {
    if (!this.check(condition)) return null;
    const { root, staging, quota } = this.#workspace;
    const { given } = this.#path;
    const { at } = this.#parent;
    const name = nameOf(this.#path);
    quota?.admit(this.more, given, this.moreFiles);
    const replaces = condition.ifExists !== "fail";
    const beside = this.#beside;
    const placed =
      beside === null
        ? staging.place(this.#staged, at, name, replaces)
        : root.rename(beside.at, beside.name, at, name, replaces);
    if (!this.#isPlaced(placed)) return null;
    quota?.add(this.more, this.moreFiles);
    this.#end(true);
    return this.reply;
  }

  /** Places the file right after its check, in a way that `undo` can take back. False if `prepare` must run first. */
  exchange(): boolean {
    const { root, staging } = this.#workspace;
    const { at } = this.#parent;
    const name = nameOf(this.#path);
    const beside = this.#beside;
    if (this.#isNew) {
      return this.#isPlaced(
        beside === null
          ? staging.place(this.#staged, at, name, false)
          : root.rename(beside.at, beside.name, at, name, false),
      );
    }
    const code =
      beside === null
        ? staging.exchange(this.#staged, at, name)
        : root.exchange(beside.at, beside.name, at, name, `${beside.name}0`);
    if (NO_EXCHANGE.has(code)) {
      const { given } = this.#path;
      const shown = JSON.stringify(given);
      refuse(
        "io",
        given,
        `${shown} is on a file system that cannot exchange two files, and so take a change back; write it by itself.`,
      );
    }
    return this.#isPlaced(code);
  }

  /** Takes back an `exchange` in the same turn. Returns 0 or a negated errno. */
  undo(): number {
    const { root, staging } = this.#workspace;
    const { at } = this.#parent;
    const name = nameOf(this.#path);
    const beside = this.#beside;
    if (beside === null) {
      return this.#isNew ? staging.takeBack(this.#staged, at, name) : staging.exchange(this.#staged, at, name);
    }
    return this.#isNew
      ? root.rename(at, name, beside.at, beside.name, false)
      : root.exchange(beside.at, beside.name, at, name, `${beside.name}0`);
  }

  /** Ends after `exchange`: removes the old file. */
  keep(): void {
    this.#end(this.#isNew);
  }

  /** The reply for a placed file. */
  get reply(): WriteReply {
    const etag = this.#etagAtOnce ?? (this.#etag ?? new EtagOf()).end();
    return { size: this.#size, etag, created: this.#isNew };
  }

  /** True if the rename succeeded. False if the file must be copied to the directory of its name first. */
  #isPlaced(code: number): boolean {
    const { given } = this.#path;
    if (code === -EXDEV && this.#beside === null) {
      this.#needsBeside = true;
      return false;
    }
    if (code === -EXDEV) {
      const shown = JSON.stringify(given);
      refuse(
        "changed",
        given,
        `${shown} is on another file system than a moment ago; see what is there, and ask again.`,
      );
    }
    expectSuccess(code, given);
    return true;
  }

  /** Copies the file into the directory of its name, which is on another file system than the staging directory. */
  async #stageBeside({ durable }: Condition, signal: AbortSignal | undefined): Promise<void> {
    const at = this.#workspace.enter(this.#path, this.#parents);
    try {
      this.#beside = createBeside(this.#workspace, at, this.#path);
    } catch (thrown) {
      this.#workspace.leave(at);
      throw thrown;
    }
    await fillBeside(this.#workspace, this.#path, this.#beside, this.#staged, this.#size, signal);
    if (durable === true) await this.sync();
    this.#rights.giveAnew(this.#beside.descriptor);
  }

  #end(isPlaced: boolean): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { staging } = this.#workspace;
    staging.end(this.#staged, isPlaced && this.#beside === null);
    if (this.#beside !== null) endBeside(this.#workspace, this.#beside, isPlaced);
    this.#parent.close();
  }
}
