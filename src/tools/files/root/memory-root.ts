import { constants } from "node:os";
import type { Clock } from "../../../index";
import { attempt, errnoOf } from "./errno";
import { kindOf, MemoryTimes } from "./memory-times";
import type { EntryKind, Name, Opening, Root, Status } from "./root";
import { openStepByStep } from "./step-by-step";
import type { Volume, VolumeStats } from "./volume";

/** Flags as text mean the same everywhere. Numbers would be those of the machine, not of the volume. */
const FLAGS = { read: "r", write: "r+", append: "a", create: "wx" } as const;

const { ENOENT, EEXIST, ENOTDIR, EISDIR, ELOOP, ENOTEMPTY, EINVAL, EBADF } = constants.errno;

/** An open file of the volume, or an open directory. Its path is updated when this root moves it. */
interface Open {
  readonly file: number | null;
  path: string;
  /** Names that were read but not given yet. */
  names: string[] | null;
}

/**
 * A root in memory. It looks at each name before opening it, and follows no link. All of it is synchronous, so no
 * change can come in between. Times come from the actor's clock, so that a simulation is repeatable.
 */
class MemoryRoot implements Root {
  readonly resolution = "memory";
  readonly top: number;
  readonly #volume: Volume;
  readonly #open = new Map<number, Open>();
  readonly #times: MemoryTimes;
  #next = 0;

  constructor(volume: Volume, directory: string, clock: Clock) {
    this.#volume = volume;
    this.#times = new MemoryTimes(clock);
    this.top = this.#add({ file: null, path: directory, names: null });
  }

  #add(open: Open): number {
    const descriptor = this.#next++;
    this.#open.set(descriptor, open);
    return descriptor;
  }

  open(path: string, opening: Opening): number {
    const top = this.#open.get(this.top)?.path ?? "";
    // A look at each directory on the way, from the top again each time, takes 10 ms for 500 of them.
    if (this.#isReal(below(top, path.slice(0, Math.max(0, path.lastIndexOf("/")))))) {
      return this.#openPath(below(top, path), opening);
    }
    return openStepByStep(this, path, opening, "");
  }

  /** True if there is no link on the way to a path, and none at it. */
  #isReal(path: string): boolean {
    try {
      return this.#volume.realpathSync(path) === path;
    } catch {
      return false;
    }
  }

  openAt(at: number, name: Name, opening: Opening): number {
    return this.#within(at, name, (path) => this.#openPath(path, opening));
  }

  #openPath(path: string, opening: Opening): number {
    const found = this.#look(path);
    if (typeof found === "number" && found !== -ENOENT) return found;
    if (opening === "place" || opening === "directory") {
      if (typeof found === "number") return found;
      if (found.isSymbolicLink()) return -ELOOP;
      return found.isDirectory() ? this.#add({ file: null, path, names: null }) : -ENOTDIR;
    }
    const creates = opening === "create" || opening === "writeOrCreate";
    if (typeof found === "number") {
      if (!creates) return found;
    } else {
      if (opening === "create") return -EEXIST;
      if (found.isSymbolicLink()) return -ELOOP;
      // As on the disk, a directory may be opened for its status.
      if (found.isDirectory()) return opening === "read" ? this.#add({ file: null, path, names: null }) : -EISDIR;
    }
    try {
      const isNew = typeof found === "number";
      const file = this.#volume.openSync(
        path,
        isNew ? FLAGS.create : FLAGS[opening === "writeOrCreate" ? "write" : opening],
      );
      if (isNew) this.#times.note(this.#volume.fstatSync(file), true);
      return this.#add({ file, path, names: null });
    } catch (thrown) {
      return errnoOf(thrown);
    }
  }

  isInPlace(path: string, directory: number): boolean {
    const open = this.#open.get(directory);
    const top = this.#open.get(this.top);
    if (open === undefined || top === undefined || open.path !== below(top.path, path)) return false;
    // Others may have put a link on the way, by the volume itself.
    return this.#isReal(open.path);
  }

  close(descriptor: number): void {
    const open = this.#open.get(descriptor);
    this.#open.delete(descriptor);
    const file = open?.file ?? null;
    if (file !== null) attempt(() => this.#volume.closeSync(file));
  }

  stat(descriptor: number, into: Status): number {
    const open = this.#open.get(descriptor);
    if (open === undefined) return -EBADF;
    return attempt(() => {
      this.#times.fill(
        into,
        open.file === null ? this.#volume.lstatSync(open.path) : this.#volume.fstatSync(open.file),
      );
    });
  }

  statAt(at: number, name: Name, into: Status): number {
    return this.#within(at, name, (path) => {
      const found = this.#look(path);
      if (typeof found === "number") return found;
      this.#times.fill(into, found);
      return 0;
    });
  }

  read(descriptor: number, into: Uint8Array, length: number, position: number): number {
    const file = this.#fileOf(descriptor);
    if (file < 0) return file;
    try {
      return this.#volume.readSync(file, into, 0, length, position);
    } catch (thrown) {
      return errnoOf(thrown);
    }
  }

  write(descriptor: number, from: Uint8Array, length: number): number {
    const file = this.#fileOf(descriptor);
    if (file < 0) return file;
    try {
      const count = this.#volume.writeSync(file, from, 0, length);
      this.#times.note(this.#volume.fstatSync(file), true);
      return count;
    } catch (thrown) {
      return errnoOf(thrown);
    }
  }

  truncate(descriptor: number, length: number): number {
    return this.#change(descriptor, true, (file) => this.#volume.ftruncateSync(file, length));
  }

  chmod(descriptor: number, mode: number): number {
    return this.#change(descriptor, false, (file) => this.#volume.fchmodSync(file, mode));
  }

  #change(descriptor: number, isContent: boolean, work: (file: number) => void): number {
    const file = this.#fileOf(descriptor);
    if (file < 0) return file;
    return attempt(() => {
      work(file);
      this.#times.note(this.#volume.fstatSync(file), isContent);
    });
  }

  /** All files belong to one user. */
  chown(): number {
    return 0;
  }

  sync(): Promise<number> {
    return Promise.resolve(0);
  }

  entries(directory: number, each: (name: Name, kind: EntryKind | undefined) => void): number {
    const open = this.#open.get(directory);
    if (open === undefined || open.file !== null) return -ENOTDIR;
    try {
      open.names ??= this.#volume.readdirSync(open.path).map(String);
    } catch (thrown) {
      return errnoOf(thrown);
    }
    const given = open.names.splice(0, SOME);
    for (const name of given) {
      const found = this.#look(below(open.path, name));
      each(name, typeof found === "number" ? undefined : kindOf(found));
    }
    return given.length;
  }

  makeDirectory(at: number, name: Name, mode: number): number {
    return this.#within(at, name, (path) => attempt(() => this.#volume.mkdirSync(path, mode)));
  }

  unlink(at: number, name: Name): number {
    return this.#within(at, name, (path) => {
      const found = this.#look(path);
      if (typeof found === "number") return found;
      return found.isDirectory() ? -EISDIR : attempt(() => this.#volume.unlinkSync(path));
    });
  }

  removeDirectory(at: number, name: Name): number {
    return this.#within(at, name, (path) => {
      const found = this.#look(path);
      if (typeof found === "number") return found;
      if (!found.isDirectory()) return -ENOTDIR;
      return this.#isEmpty(path) ? attempt(() => this.#volume.rmdirSync(path)) : -ENOTEMPTY;
    });
  }

  rename(from: number, name: Name, to: number, newName: Name, replace: boolean): number {
    return this.#within(from, name, (path) =>
      this.#within(to, newName, (newPath) => this.#renamePath(path, newPath, replace)),
    );
  }

  exchange(from: number, name: Name, to: number, newName: Name, spare: string): number {
    return this.#within(from, name, (path) =>
      this.#within(to, newName, (newPath) =>
        this.#within(from, spare, (kept) => this.#exchangePaths(path, newPath, kept)),
      ),
    );
  }

  /** All of it is synchronous, so the states in between are never seen. Both are files, and so nothing is below them. */
  #exchangePaths(path: string, newPath: string, kept: string): number {
    const volume = this.#volume;
    const file = this.#look(path);
    const other = this.#look(newPath);
    if (typeof file === "number") return file;
    if (typeof other === "number") return other;
    if (!file.isFile() || !other.isFile()) return -EINVAL;
    return attempt(() => {
      volume.renameSync(newPath, kept);
      volume.renameSync(path, newPath);
      volume.renameSync(kept, path);
      for (const each of [file, other]) this.#times.note(each, false);
    });
  }

  #renamePath(path: string, newPath: string, replace: boolean): number {
    const source = this.#look(path);
    if (typeof source === "number") return source;
    if (newPath.startsWith(`${path}/`)) return -EINVAL;
    const target = this.#look(newPath);
    if (typeof target === "number") {
      if (target !== -ENOENT) return target;
    } else {
      if (!replace) return -EEXIST;
      if (source.ino === target.ino) return 0;
      const code = this.#makeRoom(source, target, newPath);
      if (code < 0) return code;
    }
    return attempt(() => {
      if (source.isSymbolicLink()) this.#moveLink(path, newPath);
      else this.#volume.renameSync(path, newPath);
      this.#times.note(this.#volume.lstatSync(newPath), false);
      this.#follow(path, newPath);
    });
  }

  /** Applies the disks' rules on replacing a name, since volumes differ in theirs. */
  #makeRoom(source: VolumeStats, target: VolumeStats, newPath: string): number {
    if (!target.isDirectory()) {
      return source.isDirectory() ? -ENOTDIR : attempt(() => this.#volume.unlinkSync(newPath));
    }
    if (!source.isDirectory()) return -EISDIR;
    return this.#isEmpty(newPath) ? attempt(() => this.#volume.rmdirSync(newPath)) : -ENOTEMPTY;
  }

  /** memfs 4.80 would move the link's target. */
  #moveLink(path: string, newPath: string): void {
    this.#volume.symlinkSync(String(this.#volume.readlinkSync(path)), newPath);
    this.#volume.unlinkSync(path);
  }

  /** Updates the paths of everything open below a moved directory. */
  #follow(path: string, newPath: string): void {
    for (const open of this.#open.values()) {
      if (open.path === path || open.path.startsWith(`${path}/`)) open.path = newPath + open.path.slice(path.length);
    }
  }

  /** Always succeeds: the volume belongs to this process alone. */
  lock(): number {
    return 0;
  }

  unlock(): void {}

  dispose(): void {
    for (const descriptor of [...this.#open.keys()]) this.close(descriptor);
  }

  #look(path: string): VolumeStats | number {
    try {
      return this.#volume.lstatSync(path);
    } catch (thrown) {
      return errnoOf(thrown);
    }
  }

  #isEmpty(path: string): boolean {
    return this.#volume.readdirSync(path).length === 0;
  }

  #within(at: number, name: Name, work: (path: string) => number): number {
    const open = this.#open.get(at);
    if (open === undefined) return -EBADF;
    return open.file === null ? work(below(open.path, name)) : -ENOTDIR;
  }

  #fileOf(descriptor: number): number {
    const open = this.#open.get(descriptor);
    return open === undefined ? -EBADF : (open.file ?? -EISDIR);
  }
}

/** The number of names that `entries` gives at a time. Each is looked up by its whole path. */
const SOME = 100;

/** The path of a name in a directory. `""` is the directory itself. */
function below(directory: string, name: Name): string {
  if (name === "") return directory;
  return `${directory === "/" ? "" : directory}/${typeof name === "string" ? name : Buffer.from(name).toString()}`;
}

/**
 * Opens a directory of an in-memory file system.
 *
 * @throws any error of looking the directory up.
 */
export function openMemoryRoot(volume: Volume, directory: string, clock: Clock): Root {
  return new MemoryRoot(volume, String(volume.realpathSync(directory)), clock);
}
