import { constants } from "node:os";
import type { ClockTimer } from "../../../index";
import { refuse } from "../file-error";
import { type Matcher, matcherOf } from "../glob";
import { Pace } from "../pace";
import type { WatchItem, WatchRequest } from "../requests/watching";
import type { Task, Workspace } from "../workspace";
import { isStaging } from "../write/staging";
import { Inotify } from "./inotify";
import { InotifySource } from "./inotify-source";
import { SnapshotSource } from "./snapshot-source";
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
const LEFT = Symbol("its reader left the watch");

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

/** Watches a directory: `ready` first, and then what happens to what is in it. */
export async function* watch(workspace: Workspace, request: WatchRequest, { signal }: Task): AsyncGenerator<WatchItem> {
  const watched = new WatchedTree(workspace, request);
  const { unread } = watched;
  let wake = (): void => {};
  const leave = (): void => {
    watched.isOver = true;
    wake();
  };
  if (signal.aborted) return;
  signal.addEventListener("abort", leave, { once: true });
  let looks: Looks | null = null;
  try {
    const source = await openSource(watched);
    if (source === null) return;
    looks = new Looks(watched, source, () => wake());
    yield { kind: "ready", path: watched.path };
    while (!watched.isOver) {
      const item = unread.take();
      if (item !== undefined) yield item;
      else if (looks.failure !== null) throw looks.failure.thrown;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    signal.removeEventListener("abort", leave);
    watched.isOver = true;
    await looks?.end();
  }
}

/** Looks at a directory for the first time; null where the reader has left meanwhile. */
async function openSource(watched: WatchedTree): Promise<Source | null> {
  const inotify = watched.workspace.root.resolution === "openat2" ? Inotify.open() : undefined;
  const sources = [() => new SnapshotSource(watched)];
  const all: (() => Source)[] =
    inotify === undefined ? sources : [() => new InotifySource(watched, inotify), ...sources];
  for (const make of all) {
    const source = make();
    let isUsed = false;
    try {
      isUsed = await source.begin();
      if (isUsed) return source;
    } catch (thrown) {
      if (thrown === LEFT) return null;
      throw thrown;
    } finally {
      if (!isUsed) source.dispose();
    }
  }
  return null;
}

/** The looks of a watch, each some time after the end of the one before. */
class Looks {
  /** Why there are no more of them. */
  failure: { readonly thrown: unknown } | null = null;
  readonly #watch: WatchedTree;
  readonly #source: Source;
  readonly #onNews: () => void;
  #timer: ClockTimer | null = null;
  #running: Promise<void> | null = null;

  constructor(watched: WatchedTree, source: Source, onNews: () => void) {
    this.#watch = watched;
    this.#source = source;
    this.#onNews = onNews;
    this.#setTimer();
  }

  #setTimer(): void {
    this.#timer = this.#watch.workspace.clock.setTimer(() => {
      this.#timer = null;
      this.#running = this.#look().finally(() => {
        this.#running = null;
      });
    }, this.#source.interval);
  }

  async #look(): Promise<void> {
    try {
      const looking = this.#source.look();
      if (looking !== undefined) await looking;
      if (!this.#watch.isOver) this.#setTimer();
    } catch (thrown) {
      this.failure = { thrown };
    }
    this.#onNews();
  }

  /** Ends them, and the one that is under way at its next pause. */
  async end(): Promise<void> {
    this.#timer?.cancel();
    await this.#running;
    this.#source.dispose();
  }
}
