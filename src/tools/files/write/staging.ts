import { constants } from "node:os";
import { refuse, refuseFor } from "../file-error";
import { type Name, type Root, Status } from "../root/root";
import { fold } from "../rules";
import { isBeside, isNote, noteOf, removeNoted, removeStaged, writeNote } from "./notes";

/** The directory below the root where files are written before they get their names. Nobody is served it. */
export const STAGING = ".envoi";
const LOCK = "lock";
const DOT = 46;
const { ENOENT, EEXIST, EAGAIN, EPERM, EACCES } = constants.errno;

/** A file that is being written and has no name of its own yet. */
export interface Staged {
  readonly descriptor: number;
  readonly name: string;
}

/** A directory that is being filled and has no name of its own yet. */
export interface StagedDirectory {
  /** What it is in. */
  readonly at: number;
  readonly name: string;
  /** The id of its note, where it is beside its name; what it is in is closed with it then. */
  readonly id?: string;
}

/**
 * Where new files are written: one directory for all, so that what a killed process leaves is found without a walk. Each
 * actor has a mark there, `<id>.owner`, which it keeps locked and which is there before its files, `<id>.<count>`, and after
 * them: a mark that is not locked is that of an actor that is gone, in whichever container it was.
 */
export class Staging {
  readonly #root: Root;
  readonly #status = new Status();
  #id = "";
  #directory = -1;
  #mark = -1;
  #lockFile = -1;
  #count = 0;
  /** Names that were given and are nobody's again: to make new ones took a tenth of a small write. */
  readonly #free: string[] = [];
  #open = 0;

  constructor(root: Root) {
    this.#root = root;
  }

  /** Removes what actors that are gone have left; nothing is made where there is none. */
  sweep(): void {
    const root = this.#root;
    const directory = root.openAt(root.top, STAGING, "directory");
    if (directory < 0) return;
    const owned = new Map<string, string[]>();
    const note = (name: Name): void => {
      const id = typeof name === "string" ? idIn(name) : undefined;
      // Only text has an id.
      if (id !== undefined) owned.set(id, [...(owned.get(id) ?? []), name as string]);
    };
    while (root.entries(directory, note) > 0);
    for (const [id, names] of owned) this.#sweepAfter(directory, id, names);
    root.close(directory);
  }

  #sweepAfter(directory: number, id: string, names: readonly string[]): void {
    const root = this.#root;
    const mark = root.openAt(directory, markOf(id), "write");
    if (mark < 0 && mark !== -ENOENT) return;
    if (mark < 0 || root.lock(mark) === 0) {
      for (const name of names) {
        if (name === markOf(id)) continue;
        if (isNote(name)) removeNoted(root, directory, name);
        removeStaged(root, directory, name);
      }
      root.unlink(directory, markOf(id));
    }
    if (mark < 0) return;
    root.unlock(mark);
    root.close(mark);
  }

  /** Makes an empty directory, for a tree that is to be placed as a whole. */
  createDirectory(mode: number, path: string): StagedDirectory {
    for (let isAnew = false; ; ) {
      const at = this.#ensure(path);
      const name = `${this.#id}.${this.#count++}`;
      const code = this.#root.makeDirectory(at, name, mode);
      if (code === 0) {
        this.#open++;
        return { at, name };
      }
      if (code === -EEXIST) continue; // Somebody has taken the name; the next one is another.
      if (code !== -ENOENT || isAnew) return refuseFor(code, path);
      isAnew = true;
      this.#leave();
    }
  }

  /** Leaves a note of what is going to be staged in a directory, whose path is `whole`; gives its id. */
  note(whole: string, path: string): string {
    const directory = this.#ensure(path);
    const id = `${this.#id}.${this.#count++}`;
    const code = writeNote(this.#root, directory, id, whole);
    return code < 0 ? this.#refuse(code, STAGING, path) : id;
  }

  /** Removes such a note. */
  forget(id: string): void {
    if (this.#directory >= 0) this.#root.unlink(this.#directory, noteOf(id));
  }

  /** Opens a staged file once more, to be read. */
  openToRead({ name }: Staged): number {
    return this.#root.openAt(this.#directory, name, "read");
  }

  /** Ends with a staged directory, which was placed, or of which nothing is left. */
  endDirectory({ id }: Pick<StagedDirectory, "id"> = {}): void {
    if (id !== undefined) {
      this.forget(id);
      return;
    }
    this.#open--;
    if (this.#open === 0 && this.#root.resolution === "memory") this.#leave();
  }

  /** Makes an empty file. */
  create(path: string): Staged {
    const name = (): string => this.#free.pop() ?? `${this.#id}.${this.#count++}`;
    const staged = this.#openIn(name, "create", path);
    this.#open++;
    return staged;
  }

  /** Gives a staged file its name; what it gives is 0 or a negated errno. */
  place({ name }: Staged, at: number, newName: string, replace: boolean): number {
    return this.#root.rename(this.#directory, name, at, newName, replace);
  }

  /** Lets a staged file and another one exchange their names: the other one is staged then. */
  exchange({ name }: Staged, at: number, newName: string): number {
    return this.#root.exchange(this.#directory, name, at, newName, `${this.#id}.${this.#count++}`);
  }

  /** Takes a file back that was placed. */
  takeBack({ name }: Staged, at: number, newName: string): number {
    return this.#root.rename(at, newName, this.#directory, name, false);
  }

  /** A name that nobody has, for a file that is going to be moved here; `endDirectory` ends with it. */
  reserve(path: string): StagedDirectory {
    const at = this.#ensure(path);
    this.#open++;
    return { at, name: `${this.#id}.${this.#count++}` };
  }

  /** Removes a file that was moved to a reserved name. */
  removeKept({ name }: StagedDirectory): void {
    if (this.#directory >= 0) this.#root.unlink(this.#directory, name); // Closed once the actor is gone: the next one removes it.
  }

  /** Ends with a staged file; one that was not placed is removed. */
  end({ descriptor, name }: Staged, isPlaced: boolean): void {
    this.#root.close(descriptor);
    if (!isPlaced) this.#root.unlink(this.#directory, name);
    this.#free.push(name);
    this.#open--;
    if (this.#open === 0 && this.#root.resolution === "memory") this.#leave(); // Tests look at the whole of it.
  }

  /** Takes the lock that all processes share; false while another has it. */
  lock(path: string): boolean {
    const root = this.#root;
    if (root.resolution === "memory") return true;
    for (;;) {
      if (this.#lockFile < 0) this.#lockFile = this.#openLock(path);
      const code = root.lock(this.#lockFile);
      if (code === -EAGAIN) return false;
      if (code < 0) return refuseFor(code, path);
      if (root.stat(this.#lockFile, this.#status) === 0 && this.#status.links > 0) return true;
      // Somebody deleted the file, so that others lock another one.
      root.unlock(this.#lockFile);
      root.close(this.#lockFile);
      this.#lockFile = -1;
    }
  }

  #openLock(path: string): number {
    this.#createLock(path);
    return this.#openIn(() => LOCK, "write", path).descriptor;
  }

  /** Makes the lock file where there is none. */
  #createLock(path: string): void {
    const created = this.#root.openAt(this.#ensure(path), LOCK, "create");
    if (created < 0) return;
    this.#giveToOwner(created);
    this.#root.close(created);
  }

  unlock(): void {
    if (this.#root.resolution !== "memory") this.#root.unlock(this.#lockFile);
  }

  dispose(): void {
    this.#leave();
    if (this.#lockFile >= 0) this.#root.close(this.#lockFile);
    this.#lockFile = -1;
  }

  /** Opens a file in the directory, which is made anew, once, where somebody has removed it. */
  #openIn(nameOf: () => string, opening: "create" | "write", path: string): Staged {
    for (let isAnew = false; ; ) {
      const directory = this.#ensure(path);
      const name = nameOf();
      const descriptor = this.#root.openAt(directory, name, opening);
      if (descriptor >= 0) return { descriptor, name };
      if (descriptor === -EEXIST) continue; // Somebody has taken the name; the next one is another.
      if (descriptor !== -ENOENT || isAnew) return this.#refuse(descriptor, `${STAGING}/${name}`, path);
      isAnew = true;
      this.#leave();
      if (name === LOCK) this.#createLock(path);
    }
  }

  #ensure(path: string): number {
    if (this.#directory >= 0) return this.#directory;
    const root = this.#root;
    const made = root.makeDirectory(root.top, STAGING, 0o700);
    if (made < 0 && made !== -EEXIST) return this.#refuse(made, STAGING, path);
    const directory = root.openAt(root.top, STAGING, "directory");
    if (directory < 0) return this.#refuse(directory, STAGING, path);
    this.#directory = directory;
    if (root.resolution === "memory") return directory;
    if (made === 0) {
      // What is not empty is not what was made.
      if (root.entries(directory, () => {}) === 0) this.#giveToOwner(directory);
      this.#hideFromGit();
    }
    this.#leaveMark(path);
    return directory;
  }

  /** Refuses a request because of what is in the staging directory, or of that itself: `name` is where. */
  #refuse(code: number, name: string, path: string): never {
    const root = this.#root;
    const status = this.#status;
    const [at, last] = name === STAGING ? [root.top, name] : [this.#directory, name.slice(STAGING.length + 1)];
    const again = `write ${JSON.stringify(path)} again`;
    if (at < 0 || root.statAt(at, last, status) < 0) return refuseFor(code, path);
    const isOther = name === STAGING ? status.kind !== "directory" : status.kind !== "file";
    if (isOther) {
      const what = {
        link: "a symbolic link",
        directory: "a directory",
        file: "no directory",
        other: "no regular file",
      };
      const advice = `remove it, since files are written in ${STAGING} first, and ${again}`;
      return refuse("denied", path, `${name} below the root is ${what[status.kind]}; ${advice}.`);
    }
    if (code !== -EACCES && code !== -EPERM) return refuseFor(code, path);
    const advice = `give it to this one (chown), or remove it once nobody uses it, and ${again}`;
    return refuse(
      "denied",
      path,
      `${name} below the root, where files are written first, is another user's: ${advice}.`,
    );
  }

  /**
   * Gives what was made just now to whoever the root belongs to: where an actor of the system's user (root) served it once, its
   * owner can serve it later. Never what was there before, which may be a name of another file.
   */
  #giveToOwner(made: number): void {
    const root = this.#root;
    if (process.geteuid?.() !== 0 || root.stat(root.top, this.#status) < 0) return;
    const { owner, group } = this.#status;
    if (owner !== 0) root.chown(made, owner, group);
  }

  #hideFromGit(): void {
    const file = this.#root.openAt(this.#directory, ".gitignore", "create");
    if (file < 0) return;
    this.#root.write(file, Buffer.from("*\n"), 2);
    this.#giveToOwner(file);
    this.#root.close(file);
  }

  #leaveMark(path: string): void {
    const root = this.#root;
    for (;;) {
      // Short, since Linux keeps names of some 30 letters with the entry itself: a longer one took a write 160 ns more.
      this.#id = crypto.randomUUID().slice(-12);
      const mark = root.openAt(this.#directory, markOf(this.#id), "create");
      const code = mark < 0 ? mark : root.lock(mark);
      if (code === 0) this.#giveToOwner(mark);
      if (code === 0 && root.stat(mark, this.#status) === 0 && this.#status.links > 0) {
        this.#mark = mark;
        return;
      }
      if (mark >= 0) root.close(mark);
      // One that sweeps was quicker, and took it for a mark of one that is gone.
      if (code === 0 || (mark >= 0 && code === -EAGAIN)) continue;
      root.close(this.#directory);
      this.#directory = -1;
      refuseFor(code, path);
    }
  }

  /** Closes the directory, and takes the mark away. */
  #leave(): void {
    const root = this.#root;
    if (this.#directory < 0) return;
    if (this.#mark >= 0) {
      root.unlink(this.#directory, markOf(this.#id));
      root.unlock(this.#mark);
      root.close(this.#mark);
    }
    root.close(this.#directory);
    this.#free.length = 0; // The next mark has another id.
    this.#mark = -1;
    this.#directory = -1;
    if (root.resolution === "memory") root.removeDirectory(root.top, STAGING);
  }
}

/**
 * Whether a path is that of the directory, or of what is staged beside its name, or in it, by any name that a file system may take for it: some do not tell
 * `.ENVOI` from `.envoi`.
 */
export function isStaging(whole: string): boolean {
  if (isBeside(whole)) return true;
  const first = whole.charCodeAt(0);
  if (first !== DOT && first < 128) return false;
  const slash = whole.indexOf("/");
  const name = slash < 0 ? whole : whole.slice(0, slash);
  return name === STAGING || fold(name) === STAGING;
}

const markOf = (id: string): string => `${id}.owner`;

/** Whose file a name in the directory is; undefined where it is no actor's. */
const idIn = (name: string): string | undefined => /^([0-9a-f-]{12,36})\.(?:owner|\d+(?:\.at)?)$/.exec(name)?.[1];
