import { constants } from "node:os";
import { refuse } from "../file-error";
import { type Matcher, matcherOf } from "../glob";
import { Pace } from "../pace";
import type { WatchItem, WatchRequest } from "../requests/watching";
import type { Workspace } from "../workspace";
import { isStaging } from "../write/staging";
import { Unread } from "./unread";

const { ENOENT, ENOTDIR, ELOOP } = constants.errno;
/** Most names handled between two pauses. */
const BETWEEN_PAUSES = 1_000;

/** Finds events. Each look reports the events since the one before. */
export interface Source {
  /** Milliseconds between two looks. */
  readonly interval: number;
  /** Takes the first look, which reports only overflows. False if this source cannot be used. */
  begin(): Promise<boolean>;
  /** Throws a FileRefusal when the watch is over. */
  look(): void | Promise<void>;
  dispose(): void;
}

/** Thrown through a look whose watch is over. */
export const LEFT = Symbol("its reader left the watch");

/** The watch, as its source sees it. */
export class WatchedTree {
  readonly workspace: Workspace;
  /** The path of the directory, below the root. */
  readonly path: string;
  readonly given: string;
  readonly isRecursive: boolean;
  readonly unread: Unread;
  readonly #matches: Matcher | null;
  readonly #pace: Pace;
  #directories = 0;
  isOver = false;

  constructor(workspace: Workspace, { path, recursive, glob }: WatchRequest) {
    const { whole, given } = workspace.find(path ?? "");
    this.workspace = workspace;
    this.path = whole;
    this.given = given;
    this.isRecursive = recursive ?? true;
    this.unread = new Unread(whole);
    this.#matches = glob === undefined ? null : matcherOf(glob, given);
    this.#pace = new Pace(workspace, BETWEEN_PAUSES);
  }

  /** True if a directory is watched. */
  serves(path: string): boolean {
    return !isStaging(path) && !this.workspace.rules.denies(path);
  }

  /** True if events of a path are reported. */
  tells(path: string, isDirectory: boolean): boolean {
    if (!this.serves(path) || !(isDirectory || this.workspace.rules.serves(path))) return false;
    return this.#matches === null || this.#matches(this.path === "" ? path : path.slice(this.path.length + 1));
  }

  tell(kind: WatchItem["kind"], path: string, isDirectory: boolean): void {
    if (this.tells(path, isDirectory)) this.unread.add(kind, path);
  }

  /** Reports that events of a directory are missing, or will be. */
  tellOverflow(path: string): void {
    this.unread.add("overflow", path);
  }

  /** Reports the same for a directory that cannot be opened. If it is gone, the event of its name says so. */
  tellClosed(path: string, code: number): void {
    if (code !== -ENOENT && code !== -ENOTDIR && code !== -ELOOP) this.tellOverflow(path);
  }

  /** Counts the watched directories. */
  count(more: 1 | -1): void {
    this.#directories += more;
    const most = this.workspace.limits.maxEntries;
    if (this.#directories <= most) return;
    const advice = "watch a part of them, or one directory without those in it";
    refuse(
      "too-large",
      this.given,
      `There are more than ${most} directories in ${JSON.stringify(this.given)}: ${advice}.`,
    );
  }

  /** Notes that a name was handled. Returns true if a pause is due. */
  spend(): boolean {
    return this.#pace.spend(1);
  }

  async pause(): Promise<void> {
    await this.#pace.pause();
    if (this.isOver) throw LEFT;
  }

  /** Ends a watch whose directory is gone or was replaced. */
  end(): never {
    this.unread.add("deleted", this.path);
    return refuse(
      "not-found",
      this.given,
      `${JSON.stringify(this.given)} was deleted or replaced; watch what is there now.`,
    );
  }
}
