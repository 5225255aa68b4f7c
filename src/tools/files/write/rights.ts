import { constants } from "node:os";
import { expectSuccess, refuse } from "../file-error";
import { nameOf, type Path } from "../path";
import { Status } from "../root/root";
import type { Workspace } from "../workspace";

const { EACCES, EPERM } = constants.errno;
/** The permission bits that new content keeps. Setuid goes, as it does with every write. */
const KEPT = 0o777;
const SETGID = 0o2000;
const WRITTEN_BY_OWNER = 0o200;
// All new files share these, since neither is used across a pause.
const staged = new Status();
const directory = new Status();

/** The mode and the group of a new file. They come from the replaced file, or else from the umask and the directory. */
export class Rights {
  readonly #workspace: Workspace;
  readonly #path: Path;
  /** The permission bits that were set. Null while the file has the process's defaults. */
  #mode: number | null = null;
  /** The group of the file. Null before the first look. */
  #group: number | null = null;
  /** The owner of the file, which is the actor's user. Known once the mode was set. */
  #owner = 0;

  constructor(workspace: Workspace, path: Path) {
    this.#workspace = workspace;
    this.#path = path;
  }

  /** Sets the permission bits. */
  setMode(file: number, bits: number): void {
    const mode = bits & KEPT;
    if (mode === this.#mode) return;
    const { root } = this.#workspace;
    // The process's umask may change at any time. A look at the file's bits takes half as long as setting them.
    expectSuccess(root.stat(file, staged), this.#path.given);
    if (staged.mode !== mode) expectSuccess(root.chmod(file, mode), this.#path.given);
    this.#mode = mode;
    this.#group = staged.group;
    this.#owner = staged.owner;
  }

  /** Gives a new file the group of its directory, if that is setgid. False if this user may not set it. */
  takeGroup(file: number, at: number): boolean {
    expectSuccess(this.#workspace.root.stat(at, directory), this.#path.given);
    return (directory.mode & SETGID) === 0 || this.#setGroup(file, directory.group);
  }

  /** Gives the file the mode of the replaced one, and its group if this user may. */
  takeFrom(replaced: Status, file: number, at: number): void {
    this.setMode(file, replaced.mode);
    this.#setGroup(file, replaced.group);
    this.#expectWritable(replaced, at);
  }

  /** Gives the same mode to another file, which takes the place of the first from now on. */
  giveAnew(file: number): void {
    const mode = this.#mode;
    this.#mode = null;
    this.#group = null;
    if (mode !== null) this.setMode(file, mode);
  }

  #setGroup(file: number, group: number): boolean {
    if (group === this.#group) return true;
    const { root } = this.#workspace;
    expectSuccess(root.stat(file, staged), this.#path.given);
    if (staged.group !== group && root.chown(file, -1, group) < 0) return false;
    this.#group = group;
    return true;
  }

  /** Refuses to replace a file that this user may not write, although a rename could. */
  #expectWritable({ mode, owner }: Status, at: number): void {
    if (this.#owner === 0 || (this.#owner === owner && (mode & WRITTEN_BY_OWNER) !== 0)) return;
    const { root } = this.#workspace;
    const { given } = this.#path;
    const opened = root.openAt(at, nameOf(this.#path), "write");
    if (opened >= 0) root.close(opened);
    if (opened !== -EACCES && opened !== -EPERM) return;
    const advice = "have its mode changed, or delete it first if it is to be another file";
    refuse("denied", given, `${JSON.stringify(given)} may not be written by this user: ${advice}.`);
  }
}
