import { readFileSync, readlinkSync } from "node:fs";
import { constants } from "node:os";
import { refuseFor } from "./file-error";
import { type Name, type Root, Status } from "./root";

/** The directory below the root where files are written before they get their names. Nobody is served it. */
export const STAGING = ".envoi";
const LOCK = "lock";
const { ENOENT, EEXIST, EAGAIN } = constants.errno;

/** A file that is being written and has no name of its own yet. */
export interface Staged {
  readonly descriptor: number;
  readonly name: string;
}

let counter = 0;

/**
 * Where new files are written: one directory for all, so that what a killed process leaves is found without a walk. Its
 * names tell who made them: `<pid namespace>.<pid>.<start of the process>.<count>`.
 */
export class Staging {
  readonly #root: Root;
  #directory = -1;
  #lockFile = -1;
  #open = 0;
  #mode = -1;

  constructor(root: Root) {
    this.#root = root;
  }

  /** Removes what processes that are gone have left; nothing is made where there is none. */
  sweep(): void {
    const directory = this.#root.openAt(this.#root.top, STAGING, "directory");
    if (directory < 0) return;
    const names: Name[] = [];
    while (this.#root.entries(directory, (name) => names.push(name)) > 0);
    for (const name of names) if (typeof name === "string" && isLitter(name)) this.#root.unlink(directory, name);
    this.#root.close(directory);
  }

  /** Makes an empty file. */
  create(path: string): Staged {
    for (let hasDirectory = false; ; ) {
      const directory = this.#ensure(path);
      const name = `${owner()}.${counter++}`;
      const descriptor = this.#root.openAt(directory, name, "create");
      if (descriptor >= 0) {
        this.#open++;
        if (this.#mode < 0) this.#lookAtMode(descriptor);
        return { descriptor, name };
      }
      if (descriptor === -EEXIST) continue; // Another thread of this process.
      if (descriptor !== -ENOENT || hasDirectory) return refuseFor(descriptor, path);
      hasDirectory = true; // Somebody removed the directory; it is made anew, once.
      this.#closeAll();
    }
  }

  /** The permission bits of a new file, which are the process's to say; −1 before there was one. */
  get mode(): number {
    return this.#mode;
  }

  #lookAtMode(descriptor: number): void {
    const status = new Status();
    if (this.#root.stat(descriptor, status) === 0) this.#mode = status.mode;
  }

  /** Gives a staged file its name; what it gives is 0 or a negated errno. */
  place({ name }: Staged, at: number, newName: string, replace: boolean): number {
    return this.#root.rename(this.#directory, name, at, newName, replace);
  }

  /** Ends with a staged file; one that was not placed is removed. */
  end({ descriptor, name }: Staged, isPlaced: boolean): void {
    this.#root.close(descriptor);
    if (!isPlaced) this.#root.unlink(this.#directory, name);
    this.#open--;
    if (this.#open === 0 && this.#root.resolution === "memory") this.#remove(); // Tests look at the whole of it.
  }

  /** Takes the lock that all processes share; false while another has it. */
  lock(path: string): boolean {
    if (this.#root.resolution === "memory") return true;
    if (this.#lockFile < 0) {
      const opened = this.#root.openAt(this.#ensure(path), LOCK, "writeOrCreate");
      if (opened < 0) return refuseFor(opened, path);
      this.#lockFile = opened;
    }
    const code = this.#root.lock(this.#lockFile);
    if (code < 0 && code !== -EAGAIN) return refuseFor(code, path);
    return code === 0;
  }

  unlock(): void {
    if (this.#root.resolution !== "memory") this.#root.unlock(this.#lockFile);
  }

  dispose(): void {
    this.#closeAll();
  }

  #ensure(path: string): number {
    if (this.#directory >= 0) return this.#directory;
    const root = this.#root;
    const made = root.makeDirectory(root.top, STAGING, 0o700);
    if (made < 0 && made !== -EEXIST) return refuseFor(made, path);
    const directory = root.openAt(root.top, STAGING, "directory");
    if (directory < 0) return refuseFor(directory, path);
    this.#directory = directory;
    if (made === 0 && root.resolution !== "memory") this.#hideFromGit();
    return directory;
  }

  #hideFromGit(): void {
    const file = this.#root.openAt(this.#directory, ".gitignore", "create");
    if (file < 0) return;
    this.#root.write(file, Buffer.from("*\n"), 2);
    this.#root.close(file);
  }

  #closeAll(): void {
    for (const descriptor of [this.#directory, this.#lockFile]) if (descriptor >= 0) this.#root.close(descriptor);
    this.#directory = -1;
    this.#lockFile = -1;
  }

  #remove(): void {
    this.#closeAll();
    this.#root.removeDirectory(this.#root.top, STAGING);
  }
}

let own: string | undefined;

/** What the names begin with that this process gives. */
function owner(): string {
  own ??= `${pidNamespace()}.${process.pid}.${startOf(process.pid) ?? 0}`;
  return own;
}

/** Whether a name in the staging directory is that of a process which is gone. Those of other containers cannot be told, and stay. */
function isLitter(name: string): boolean {
  const [, namespace, pid, start] = /^(\d+)\.(\d+)\.(\d+)\.\d+$/.exec(name) ?? [];
  if (namespace === undefined || namespace !== pidNamespace()) return false;
  return String(startOf(Number(pid)) ?? "gone") !== start;
}

function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  } catch {
    return "0";
  }
}

/** When a process began, in ticks since the machine did: the 22nd field of its stat, after a name in parentheses. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
