import { constants } from "node:os";
import { refuse } from "../file-error";
import { type Matcher, matcherOf } from "../glob";
import { Pace } from "../pace";
import type { WatchItem, WatchRequest } from "../requests/watching";
import type { Workspace } from "../workspace";
import { isStaging } from "../write/staging";
import { Unread } from "./unread";

const { ENOENT, ENOTDIR, ELOOP } = constants.errno;
/** Most names that are worked on between two pauses. */
const BETWEEN_PAUSES = 1_000;

/** Finds out what happens: asked again and again, it tells the watch what happened since. */
export interface Source {
  /** Between two looks, in milliseconds. */
  readonly interval: number;
  /** Looks for the first time, and tells nothing but what is not going to be told; false where it cannot be used. */
  begin(): Promise<boolean>;
  /** Throws a FileRefusal where the watch is over. */
  look(): void | Promise<void>;
  dispose(): void;
}

/** Thrown through a look whose watch is over. */
export const LEFT = Symbol("its reader left the watch");

/** What a source knows of the watch that it is for. */
export class WatchedTree {
  readonly workspace: Workspace;
  /** The directory, below the root. */
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

  /** Whether a directory is looked into. */
  serves(path: string): boolean {
    return !isStaging(path) && !this.workspace.rules.denies(path);
  }

  /** Whether what happens to a path is told. */
  tells(path: string, isDirectory: boolean): boolean {
    if (!this.serves(path) || !(isDirectory || this.workspace.rules.serves(path))) return false;
    return this.#matches === null || this.#matches(this.path === "" ? path : path.slice(this.path.length + 1));
  }

  tell(kind: WatchItem["kind"], path: string, isDirectory: boolean): void {
    if (this.tells(path, isDirectory)) this.unread.add(kind, path);
  }

  /** Tells that more happened, or will happen, in a directory than is told. */
  tellOverflow(path: string): void {
    this.unread.add("overflow", path);
  }

  /** Tells the same of a directory that cannot be opened, unless it is gone, which is told where its name is. */
  tellClosed(path: string, code: number): void {
    if (code !== -ENOENT && code !== -ENOTDIR && code !== -ELOOP) this.tellOverflow(path);
  }

  /** Counts the directories that are watched. */
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

  /** Notes that a name was worked on; whether a pause is due. */
  spend(): boolean {
    return this.#pace.spend(1);
  }

  async pause(): Promise<void> {
    await this.#pace.pause();
    if (this.isOver) throw LEFT;
  }

  /** Ends a watch whose directory is gone, or is another one now. */
  end(): never {
    this.unread.add("deleted", this.path);
    return refuse(
      "not-found",
      this.given,
      `${JSON.stringify(this.given)} was deleted or replaced; watch what is there now.`,
    );
  }
}
