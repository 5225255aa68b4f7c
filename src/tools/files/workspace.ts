import { constants } from "node:os";
import type { Clock, Context } from "../../index";
import { byteLength, type Written } from "./content";
import { PIECE } from "./etag";
import { refuse, refuseFor } from "./file-error";
import type { Limits } from "./options";
import { type Path, parentOf, parsePath } from "./path";
import { isNameless, leadsTo } from "./root/leads-to";
import { type Root, Status } from "./root/root";
import type { Rules } from "./rules";
import type { Quota } from "./write/quota";
import { isStaging, STAGING, type Staging } from "./write/staging";
import { stopped, type WriteLock } from "./write/write-lock";

const { ENOENT, EEXIST } = constants.errno;
/** The usual permission bits of a new directory, before the process's umask. */
const NEW_DIRECTORY = 0o777;

/** The request under way, for work that goes on after a pause. Its signal aborts when the asker gives up. */
export type Task = Pick<Context<never>, "signal">;

/** The state shared by the operations of one file actor: its root, and its policy. */
export class Workspace {
  readonly root: Root;
  readonly limits: Limits;
  readonly rules: Rules;
  readonly staging: Staging;
  readonly lock: WriteLock;
  readonly quota: Quota | null;
  readonly clock: Clock;
  /** A buffer for bytes on their way. Never used across a pause. */
  readonly scratch: Buffer = Buffer.allocUnsafeSlow(PIECE);
  /** The result of the last lookup. Never used across a pause. */
  readonly status = new Status();
  /** The number of pauses so far. Anything found in an earlier turn may have been moved since. */
  turn = 0;
  #isDisposed = false;
  /** The number of the root's descriptor. Kept after that is closed, so that `leave` never closes it again. */
  readonly #top: number;

  constructor(parts: Pick<Workspace, "root" | "limits" | "rules" | "staging" | "lock" | "quota" | "clock">) {
    this.root = parts.root;
    this.#top = parts.root.top;
    this.limits = parts.limits;
    this.rules = parts.rules;
    this.staging = parts.staging;
    this.lock = parts.lock;
    this.quota = parts.quota;
    this.clock = parts.clock;
  }

  /** Ends all work. Other files will soon reuse the numbers of the descriptors closed here. */
  dispose(): void {
    this.#isDisposed = true;
    this.lock.dispose();
    this.quota?.dispose();
    this.staging.dispose();
    this.root.dispose();
  }

  /** True if the root was removed. */
  get isGone(): boolean {
    const code = this.root.stat(this.root.top, this.status);
    return code === -ENOENT || (code === 0 && this.status.links === 0);
  }

  /** Lets timers, I/O and other actors run. */
  pause(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.clock.macrotask(() => {
        this.turn++;
        if (this.#isDisposed) reject(stopped(""));
        else resolve();
      });
    });
  }

  /** Reads the path of a request that only looks. */
  find(given: unknown): Path {
    const path = parsePath(given);
    const { whole } = path;
    if (isStaging(whole)) {
      return refuse("denied", path.given, `${STAGING} is where files are written before they get their names.`);
    }
    if (this.rules.denies(whole)) return this.refuseClosed(path.given);
    return path;
  }

  /** Reads the path of a file to be read. */
  findFile(given: unknown): Path {
    const path = this.find(given);
    if (path.isDirectory || path.whole === "") {
      return refuse("is-directory", path.given, `${JSON.stringify(path.given)} names a directory; name a file in it.`);
    }
    if (!this.rules.serves(path.whole)) return this.refuseClosed(path.given);
    return path;
  }

  /** Reads the path of a file to be changed, or of a directory with the kind `"any"`. */
  findToChange(given: unknown, kind: "file" | "any" = "file"): Path {
    const path = kind === "file" ? this.findFile(given) : this.find(given);
    if (this.limits.readOnly)
      return refuse("read-only", path.given, "This file actor changes nothing: it is read-only.");
    return path;
  }

  /** Refuses a path that the globs close. */
  refuseClosed(given: string): never {
    return refuse("denied", given, `${JSON.stringify(given)} is not served: the actor's globs close it.`);
  }

  /** Opens the directory that a path is in. `parents` makes it if it is missing. `leave` closes it. */
  enter(path: Path, parents: boolean): number {
    if (path.base === 0) return this.root.top;
    const parent = parentOf(path);
    const at = this.root.open(parent, "place");
    if (at >= 0) return at;
    if (at !== -ENOENT || !parents) return refuseFor(at, path.given);
    return this.makeAll(parent, path.given).at;
  }

  /** Closes a directory opened by `enter`. */
  leave(at: number): void {
    if (at !== this.#top) this.root.close(at);
  }

  /** Makes a directory if the quota has room for one more. Returns 0 or a negated errno. */
  makeOne(at: number, name: string, given: string): number {
    const { root, quota } = this;
    if (quota?.boundsFiles === true && root.statAt(at, name, this.status) === -ENOENT) quota.admit(0, given, 1);
    const code = root.makeDirectory(at, name, NEW_DIRECTORY);
    if (code === 0) quota?.add(0, 1);
    return code;
  }

  /** Makes a directory and the missing ones above it, each opened through the one before. Opens the last one. */
  makeAll(whole: string, given: string): { readonly at: number; readonly made: number } {
    const { root } = this;
    let at = root.top;
    let made = 0;
    for (const name of whole.split("/")) {
      let code: number;
      let next: number;
      try {
        code = this.makeOne(at, name, given);
        next = code < 0 && code !== -EEXIST ? code : root.openAt(at, name, "place");
      } finally {
        this.leave(at);
      }
      if (next < 0) return refuseFor(next, given);
      if (code === 0) made++;
      at = next;
    }
    return { at, made };
  }

  /**
   * True if an open file has not been moved since a pause, as far as the rules depend on its path. A file that was
   * replaced or deleted is nowhere else, so reading may go on.
   */
  isInPlace(file: number, whole: string): boolean {
    return this.rules.areOpen || leadsTo(this.root, whole, file) || isNameless(this.root, file);
  }

  /** Refuses to go on with an open file that was moved during a pause. */
  expectInPlace(file: number, { whole, given }: Path): void {
    if (this.isInPlace(file, whole)) return;
    refuse("changed", given, `${JSON.stringify(given)} was moved meanwhile; see where it is, and ask again.`);
  }

  /** Refuses anything but a regular file with one name. `status` is that of the file. */
  expectFile({ kind, links }: Status, given: string): void {
    if (kind === "file") {
      if (links > 1 && !this.limits.hardLinks) {
        refuse(
          "denied",
          given,
          `${JSON.stringify(given)} has another name, which may be outside of the root (a hard link); it is served with hardLinks: true.`,
        );
      }
      return;
    }
    const shown = JSON.stringify(given);
    if (kind === "directory") refuse("is-directory", given, `${shown} is a directory; name a file.`);
    if (kind === "link") refuse("denied", given, `${shown} is a symbolic link; links are not followed.`);
    refuse("not-a-file", given, `${shown} is a FIFO, a socket or a device; only regular files are served.`);
  }

  /** Opens a regular file and fills `status`. */
  openFile(whole: string, given: string, opening: "read" | "write" | "append"): number {
    const { root, status } = this;
    const file = root.open(whole, opening);
    if (file < 0) return refuseFor(file, given);
    try {
      const code = root.stat(file, status);
      if (code < 0) refuseFor(code, given);
      this.expectFile(status, given);
    } catch (thrown) {
      root.close(file);
      throw thrown;
    }
    return file;
  }

  /**
   * Runs work with the write lock: at once if the lock is free and `more` fits into the quota. Otherwise it waits,
   * until the asker gives up.
   */
  exclusively<Value>(
    given: string,
    more: Written | null,
    task: Task,
    work: () => Value | Promise<Value>,
  ): Value | Promise<Value> {
    const bytes = this.quota === null || more === null ? 0 : byteLength(more);
    const files = more === null ? 0 : 1;
    if (this.quota?.fits(bytes, files) === false || !this.lock.tryAcquire(given)) {
      return this.#afterOthers(given, bytes, files, task, work);
    }
    let isOurs = true;
    try {
      const done = work();
      if (!(done instanceof Promise)) return done;
      isOurs = false;
      return done.finally(() => this.lock.release());
    } finally {
      if (isOurs) this.lock.release();
    }
  }

  async #afterOthers<Value>(
    given: string,
    bytes: number,
    files: number,
    { signal }: Task,
    work: () => Value | Promise<Value>,
  ): Promise<Value> {
    await this.quota?.countFor(bytes, files);
    await this.lock.acquire(given);
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      this.lock.release();
    }
  }

  /** Writes all bytes. */
  writeAll(file: number, bytes: Uint8Array, given: string): void {
    for (let at = 0; at < bytes.length; ) {
      const rest = at === 0 ? bytes : bytes.subarray(at);
      const count = this.root.write(file, rest, rest.length);
      if (count < 0) refuseFor(count, given);
      at += count;
    }
  }
}
