import { constants } from "node:os";
import { expectSuccess, refuse } from "../file-error";
import { nameOf, type Path } from "../path";
import { Status } from "../root/root";
import type { Workspace } from "../workspace";

const { EACCES, EPERM } = constants.errno;
/** Permission bits that a new content keeps: it does not run as its owner (setuid), as a write takes that right away, too. */
const KEPT = 0o777;
const SETGID = 0o2000;
const WRITTEN_BY_OWNER = 0o200;
// Never across a pause, so that all new files can share them.
const staged = new Status();
const directory = new Status();

/** The mode and the group of a file on its way, which are those of the file that it replaces, or of the moment and its directory. */
export class Rights {
  readonly #workspace: Workspace;
  readonly #path: Path;
  /** The permission bits that the file was given; null where it has those that the process gives. */
  #mode: number | null = null;
  /** The group that it was seen to have; null before it was looked at. */
  #group: number | null = null;
  /** The user that it belongs to, which is the actor's, once its mode was set. */
  #owner = 0;

  constructor(workspace: Workspace, path: Path) {
    this.#workspace = workspace;
    this.#path = path;
  }

  /** Gives the file permission bits. */
  setMode(file: number, bits: number): void {
    const mode = bits & KEPT;
    if (mode === this.#mode) return;
    const { root } = this.#workspace;
    // The process's umask is of the moment, and a look at what it made of the file takes half as long as to change it.
    expectSuccess(root.stat(file, staged), this.#path.given);
    if (staged.mode !== mode) expectSuccess(root.chmod(file, mode), this.#path.given);
    this.#mode = mode;
    this.#group = staged.group;
    this.#owner = staged.owner;
  }

  /** Gives a new file the group of its directory, where that is set to be its files' (setgid); false where this user may not. */
  takeGroup(file: number, at: number): boolean {
    expectSuccess(this.#workspace.root.stat(at, directory), this.#path.given);
    return (directory.mode & SETGID) === 0 || this.#setGroup(file, directory.group);
  }

  /** Gives the file the mode of the one that it replaces, and its group where this user may. */
  takeFrom(replaced: Status, file: number, at: number): void {
    this.setMode(file, replaced.mode);
    this.#setGroup(file, replaced.group);
    this.#expectWritable(replaced, at);
  }

  /** Gives another file, which stands for it from now on, the mode that it had. */
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

  /** Refuses to take the place of a file that this user may not write, though a rename could. */
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
