import type { WatchItem } from "../requests/watching";

/** Most items waiting for their reader. */
const MOST = 10_000;

/**
 * The items that were found but not read yet. A change is merged into a waiting `created` or `changed` of the same
 * path, since its reader will look at the file after both. When there is no more room, new items are dropped until all
 * others are read. Then one `overflow` stands for them.
 */
export class Unread {
  readonly #path: string;
  #items: WatchItem[] = [];
  #next = 0;
  /** The last waiting item of each path. */
  readonly #last = new Map<string, WatchItem>();
  #hasOverflowed = false;

  /** @param path the path for an overflow. */
  constructor(path: string) {
    this.#path = path;
  }

  add(kind: WatchItem["kind"], path: string): void {
    if (this.#hasOverflowed) return;
    const last = this.#last.get(path)?.kind;
    if (kind === "changed" && (last === "created" || last === "changed")) return;
    if (kind === "overflow" && last === "overflow") return;
    if (this.#items.length - this.#next >= MOST) {
      this.#hasOverflowed = true;
      return;
    }
    const item = { kind, path };
    this.#items.push(item);
    this.#last.set(path, item);
  }

  take(): WatchItem | undefined {
    const item = this.#items[this.#next++];
    if (item !== undefined) {
      // Frees read items even if the reader is always a little behind.
      if (this.#next === MOST) {
        this.#items = this.#items.slice(MOST);
        this.#next = 0;
      }
      if (this.#last.get(item.path) === item) this.#last.delete(item.path);
      return item;
    }
    this.#items = [];
    this.#next = 0;
    if (!this.#hasOverflowed) return undefined;
    this.#hasOverflowed = false;
    return { kind: "overflow", path: this.#path };
  }
}
