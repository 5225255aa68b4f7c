import type { ClockTimer } from "../../../index";
import type { WatchItem, WatchRequest } from "../requests/watching";
import type { Task, Workspace } from "../workspace";
import { Inotify } from "./inotify";
import { InotifySource } from "./inotify-source";
import { SnapshotSource } from "./snapshot-source";
import { LEFT, type Source, WatchedTree } from "./watched-tree";

/**
 * Watches a directory: gives `ready` first, and then the events in it.
 *
 * @param openQueue opens a queue of the kernel. Undefined if there is none left.
 */
export async function* watch(
  workspace: Workspace,
  request: WatchRequest,
  { signal }: Task,
  openQueue: () => Inotify | undefined = Inotify.open,
): AsyncGenerator<WatchItem> {
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
    const source = await openSource(watched, openQueue);
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

/** Looks at a directory for the first time. Null if the reader has left meanwhile. */
async function openSource(watched: WatchedTree, openQueue: () => Inotify | undefined): Promise<Source | null> {
  const inotify = watched.workspace.root.resolution === "openat2" ? openQueue() : undefined;
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
  /** Set when the looks have ended with an error. */
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

  /** Ends the looks. One under way ends at its next pause. */
  async end(): Promise<void> {
    this.#timer?.cancel();
    await this.#running;
    this.#source.dispose();
  }
}
