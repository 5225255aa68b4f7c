import { constants } from "node:os";
import { EtagOf, etagOf } from "../etag";
import { expectSuccess, refuse, refuseChanged } from "../file-error";
import { nameOf, type Path } from "../path";
import type { WriteReply } from "../requests/changing";
import { lookUp } from "../tree/stat";
import type { Task, Workspace } from "../workspace";
import { type BesideFile, createBeside, endBeside, fillBeside } from "./beside";
import { expectWritable } from "./limits";
import { Rights } from "./rights";
import type { Staged } from "./staging";
import { syncDirectories } from "./sync-directories";
import { Target } from "./target";

const { ENOENT, EXDEV, EINVAL, ENOSYS, EPERM, EOPNOTSUPP } = constants.errno;
/** What a file system says that does not know the call. */
const NO_EXCHANGE = new Set([-EINVAL, -ENOSYS, -EPERM, -EOPNOTSUPP]);
/** What a file must be for another one to take its place. */
export interface Condition {
  /** The etag that it must have. */
  readonly ifMatch?: string | undefined;
  readonly ifExists?: "replace" | "fail" | undefined;
  /** Whether the new file is on the disk before it is there. */
  readonly durable?: boolean | undefined;
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
  readonly #target: Target;
  /** By the last check: whether there is no such file yet, and the bytes of the one that is replaced. */
  #isNew = false;
  #before = 0;

  /** @param parents whether missing directories on the way are made. */
  constructor(workspace: Workspace, path: Path, parents: boolean) {
    this.#workspace = workspace;
    this.#path = path;
    this.#parents = parents;
    this.#rights = new Rights(workspace, path);
    this.#target = new Target(workspace, path);
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

  /** Brings its bytes to the disk. */
  async sync(): Promise<void> {
    expectSuccess(await this.#workspace.root.sync(this.#descriptor), this.#path.given);
  }

  /** Gives the file its name, if nothing has to be waited for; null where `commit` is needed. */
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

  /** Gives the file its name, unless `signal` aborts before. */
  async commit(condition: Condition, signal?: AbortSignal): Promise<WriteReply> {
    const { lock, quota } = this.#workspace;
    const { given } = this.#path;
    this.#leave();
    if (condition.durable === true) await this.sync();
    await quota?.countFor(this.#size, 1);
    await lock.acquire(given);
    let reply: WriteReply | null;
    try {
      signal?.throwIfAborted(); // Others may have had the lock for long.
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

  /** Ends without a trace. */
  abandon(): void {
    this.#end(false);
  }

  /** Does what `check` or `exchange` found to be missing, with the lock held. */
  async prepare(condition: Condition, signal: AbortSignal | undefined): Promise<void> {
    this.#leave();
    if (this.#needsBeside && this.#beside === null) await this.#stageBeside(condition, signal);
    else await this.#target.hash(signal);
  }

  /**
   * Whether the file may get its name now, with the lock held; false where `prepare` has to do something first. It is the name
   * where its path leads now, since the rules were asked about that path.
   */
  check(condition: Condition): boolean {
    if (this.#at < 0) this.#at = this.#workspace.enter(this.#path, this.#parents);
    const { root, status } = this.#workspace;
    const { given } = this.#path;
    const code = root.statAt(this.#at, nameOf(this.#path), status);
    this.#isNew = code === -ENOENT;
    this.#before = 0;
    if (this.#isNew) {
      if (condition.ifMatch !== undefined) refuseChanged(given);
      // What is made there has the group, also for a user who may not give it.
      if (this.#rights.takeGroup(this.#descriptor, this.#at) || this.#beside !== null) return true;
      this.#needsBeside = true;
      return false;
    }
    expectSuccess(code, given);
    this.#workspace.expectFile(status, given);
    const { size } = status;
    if (condition.ifMatch !== undefined) {
      const etag = this.#target.etagIn(this.#at, condition.ifMatch);
      if (etag === null) return false;
      if (etag !== condition.ifMatch) refuseChanged(given, etag);
    } else if (condition.ifExists === "fail") {
      refuse("exists", given, `${JSON.stringify(given)} exists already; read it first, and write with ifMatch.`);
    }
    this.#before = size;
    // A file that is replaced keeps its rights; a new one gets those that the process gives.
    this.#rights.takeFrom(status, this.#descriptor, this.#at);
    return true;
  }

  /** How many bytes more there will be, by the last check. */
  get more(): number {
    return this.#size - this.#before;
  }

  /** How many files more: 1, or 0 where one is replaced. */
  get moreFiles(): number {
    return this.#isNew ? 1 : 0;
  }

  /** The step itself, with the lock held; null where `prepare` has to do something first. */
  #place(condition: Condition): WriteReply | null {
    if (!this.check(condition)) return null;
    const { root, staging, quota } = this.#workspace;
    const { given } = this.#path;
    const name = nameOf(this.#path);
    quota?.admit(this.more, given, this.moreFiles);
    const replaces = condition.ifExists !== "fail";
    const beside = this.#beside;
    const placed =
      beside === null
        ? staging.place(this.#staged, this.#at, name, replaces)
        : root.rename(beside.at, beside.name, this.#at, name, replaces);
    if (!this.#isPlaced(placed)) return null;
    quota?.add(this.more, this.moreFiles);
    this.#end(true);
    return this.reply;
  }

  /** Gives the file its name so that `undo` can take it back, right after its check; false where it has to be prepared first. */
  exchange(): boolean {
    const { root, staging } = this.#workspace;
    const name = nameOf(this.#path);
    const beside = this.#beside;
    if (this.#isNew) {
      return this.#isPlaced(
        beside === null
          ? staging.place(this.#staged, this.#at, name, false)
          : root.rename(beside.at, beside.name, this.#at, name, false),
      );
    }
    const code =
      beside === null
        ? staging.exchange(this.#staged, this.#at, name)
        : root.exchange(beside.at, beside.name, this.#at, name, `${beside.name}0`);
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

  /** Takes back what `exchange` did, in the same turn; 0 or a negated errno. */
  undo(): number {
    const { root, staging } = this.#workspace;
    const name = nameOf(this.#path);
    const beside = this.#beside;
    if (beside === null) {
      return this.#isNew
        ? staging.takeBack(this.#staged, this.#at, name)
        : staging.exchange(this.#staged, this.#at, name);
    }
    return this.#isNew
      ? root.rename(this.#at, name, beside.at, beside.name, false)
      : root.exchange(beside.at, beside.name, this.#at, name, `${beside.name}0`);
  }

  /** Ends with a file that `exchange` gave its name: removes the old one. */
  keep(): void {
    this.#end(this.#isNew);
  }

  /** What is told of it once it has its name. */
  get reply(): WriteReply {
    const etag = this.#etagAtOnce ?? (this.#etag ?? new EtagOf()).end();
    return { size: this.#size, etag, created: this.#isNew };
  }

  /** Whether a rename was done; false where the file has to be beside its name first. */
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

  /** Copies the file to beside its name, whose directory is on another file system than where it was written. */
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
    this.#leave();
  }

  #leave(): void {
    if (this.#at < 0) return;
    this.#workspace.leave(this.#at);
    this.#at = -1;
  }
}
