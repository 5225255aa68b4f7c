import { constants } from "node:os";
import { refuse, refuseFor } from "../file-error";
import { type Name, type Root, Status } from "../root/root";
import { fold } from "../rules";
import { isBeside, isNote, noteOf, removeNoted, removeStaged, writeNote } from "./notes";

/** The directory below the root in which files are written before they are placed. It is hidden from all requests. */
export const STAGING = ".envoi";
const LOCK = "lock";
const DOT = 46;
const { ENOENT, EEXIST, EAGAIN, EPERM, EACCES } = constants.errno;

/** A file that is being written and was not placed yet. */
export interface Staged {
  readonly descriptor: number;
  readonly name: string;
}

/** A directory that is being filled and was not placed yet. */
export interface StagedDirectory {
  /** The open directory that it is in. */
  readonly at: number;
  readonly name: string;
  /** The id of its note, if it is staged in its target directory. `at` is then closed with it. */
  readonly id?: string;
}

/**
 * The staging directory for new files. There is one for the whole root, so the files of a killed process can be found
 * without a walk.
 * Each actor keeps a locked mark there, `<id>.owner`. It is made before the actor's files, `<id>.<count>`, and removed
 * after them. An unlocked mark therefore belongs to an actor that is gone, whatever container it ran in.
 */
export class Staging {
  readonly #root: Root;
  readonly #status = new Status();
  #id = "";
  #directory = -1;
  #mark = -1;
  #lockFile = -1;
  #count = 0;
  /** Names for reuse. Making new ones took a tenth of a small write. */
  readonly #free: string[] = [];
  #open = 0;

  constructor(root: Root) {
    this.#root = root;
  }

  /** Removes the files of actors that are gone. Makes no staging directory if there is none. */
  sweep(): void {
    const root = this.#root;
    const directory = root.openAt(root.top, STAGING, "directory");
    if (directory < 0) return;
    const owned = new Map<string, string[]>();
    const note = (name: Name): void => {
      const id = typeof name === "string" ? idIn(name) : undefined;
      // `idIn` finds an id only in a name that is text.
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

  /** Makes an empty directory for a tree that will be placed as a whole. */
  createDirectory(mode: number, path: string): StagedDirectory {
    for (let isAnew = false; ; ) {
      const at = this.#ensure(path);
      const name = `${this.#id}.${this.#count++}`;
      const code = this.#root.makeDirectory(at, name, mode);
      if (code === 0) {
        this.#open++;
        return { at, name };
      }
      if (code === -EEXIST) continue; // The name is taken; the next one differs.
      if (code !== -ENOENT || isAnew) return refuseFor(code, path);
      isAnew = true;
      this.#leave();
    }
  }

  /** Notes that a file will be staged in the directory `whole`. Returns the id of the note. */
  note(whole: string, path: string): string {
    const directory = this.#ensure(path);
    const id = `${this.#id}.${this.#count++}`;
    const code = writeNote(this.#root, directory, id, whole);
    return code < 0 ? this.#refuse(code, STAGING, path) : id;
  }

  /** Removes a note. */
  forget(id: string): void {
    if (this.#directory >= 0) this.#root.unlink(this.#directory, noteOf(id));
  }

  /** Opens a staged file a second time, for reading. */
  openToRead({ name }: Staged): number {
    return this.#root.openAt(this.#directory, name, "read");
  }

  /** Ends a staged directory that was placed or removed. */
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

  /** Places a staged file under its name. Returns 0 or a negated errno. */
  place({ name }: Staged, at: number, newName: string, replace: boolean): number {
    return this.#root.rename(this.#directory, name, at, newName, replace);
  }

  /** Exchanges the names of a staged file and another one, which is staged from then on. */
  exchange({ name }: Staged, at: number, newName: string): number {
    return this.#root.exchange(this.#directory, name, at, newName, `${this.#id}.${this.#count++}`);
  }

  /** Moves a placed file back. */
  takeBack({ name }: Staged, at: number, newName: string): number {
    return this.#root.rename(at, newName, this.#directory, name, false);
  }

  /** Reserves an unused name for a file that will be moved here. `endDirectory` ends the reservation. */
  reserve(path: string): StagedDirectory {
    const at = this.#ensure(path);
    this.#open++;
    return { at, name: `${this.#id}.${this.#count++}` };
  }

  /** Removes a file that was moved to a reserved name. */
  removeKept({ name }: StagedDirectory): void {
    // A stopped actor has closed the directory. The next actor removes the file.
    if (this.#directory >= 0) this.#root.unlink(this.#directory, name);
  }

  /** Ends a staged file, and removes it unless it was placed. */
  end({ descriptor, name }: Staged, isPlaced: boolean): void {
    this.#root.close(descriptor);
    if (!isPlaced) this.#root.unlink(this.#directory, name);
    this.#free.push(name);
    this.#open--;
    if (this.#open === 0 && this.#root.resolution === "memory") this.#leave(); // Tests compare the whole volume.
  }

  /** Takes the lock among all processes. False while another process holds it. */
  lock(path: string): boolean {
    const root = this.#root;
    if (root.resolution === "memory") return true;
    for (;;) {
      if (this.#lockFile < 0) this.#lockFile = this.#openLock(path);
      const code = root.lock(this.#lockFile);
      if (code === -EAGAIN) return false;
      if (code < 0) return refuseFor(code, path);
      if (root.stat(this.#lockFile, this.#status) === 0 && this.#status.links > 0) return true;
      // The lock file was deleted, so others now lock another file.
      root.unlock(this.#lockFile);
      root.close(this.#lockFile);
      this.#lockFile = -1;
    }
  }

  #openLock(path: string): number {
    this.#createLock(path);
    return this.#openIn(() => LOCK, "write", path).descriptor;
  }

  /** Makes the lock file if it is missing. */
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

  /** Opens a file in the staging directory. Makes that directory once more if it was removed. */
  #openIn(nameOf: () => string, opening: "create" | "write", path: string): Staged {
    for (let isAnew = false; ; ) {
      const directory = this.#ensure(path);
      const name = nameOf();
      const descriptor = this.#root.openAt(directory, name, opening);
      if (descriptor >= 0) return { descriptor, name };
      if (descriptor === -EEXIST) continue; // The name is taken; the next one differs.
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
      // A directory with entries is not the one just made.
      if (root.entries(directory, () => {}) === 0) this.#giveToOwner(directory);
      this.#hideFromGit();
    }
    this.#leaveMark(path);
    return directory;
  }

  /** Refuses a request because of the staging directory or of an entry in it. `name` is the path of the culprit. */
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
   * Gives a new file to the owner of the root. Otherwise that user could not serve the root after an actor of the
   * system's root user did. Never call it for an existing file, which may be another name of a file elsewhere.
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
      // Linux stores names of up to some 30 letters in the entry itself. A longer name took a write 160 ns more.
      this.#id = crypto.randomUUID().slice(-12);
      const mark = root.openAt(this.#directory, markOf(this.#id), "create");
      const code = mark < 0 ? mark : root.lock(mark);
      if (code === 0) this.#giveToOwner(mark);
      if (code === 0 && root.stat(mark, this.#status) === 0 && this.#status.links > 0) {
        this.#mark = mark;
        return;
      }
      if (mark >= 0) root.close(mark);
      // Another actor's sweep was quicker and took this mark for one of an actor that is gone.
      if (code === 0 || (mark >= 0 && code === -EAGAIN)) continue;
      root.close(this.#directory);
      this.#directory = -1;
      refuseFor(code, path);
    }
  }

  /** Closes the directory and removes the mark. */
  #leave(): void {
    const root = this.#root;
    if (this.#directory < 0) return;
    if (this.#mark >= 0) {
      root.unlink(this.#directory, markOf(this.#id));
      root.unlock(this.#mark);
      root.close(this.#mark);
    }
    root.close(this.#directory);
    this.#free.length = 0; // The next mark has a different id.
    this.#mark = -1;
    this.#directory = -1;
    if (root.resolution === "memory") root.removeDirectory(root.top, STAGING);
  }
}

/**
 * True for the staging directory, for a file staged beside its name, and for anything in them. Some file systems do not
 * tell `.ENVOI` from `.envoi`, so all such spellings count.
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

/** The id of the actor that owns a name in the directory. Undefined for other names. */
const idIn = (name: string): string | undefined => /^([0-9a-f-]{12,36})\.(?:owner|\d+(?:\.at)?)$/.exec(name)?.[1];
