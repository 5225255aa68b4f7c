import type { WatchItem } from "../requests/watching";

/** Most items that wait for their reader. */
const MOST = 10_000;

/**
 * What was found and is not read yet. A change of what waits to be told as created or changed is that one: whoever is told
 * of it looks at the file later than both. Where more waits than there is room for, what comes is left out until all
 * else is read; then one `overflow` stands for it.
 */
export class Unread {
  readonly #path: string;
  #items: WatchItem[] = [];
  #next = 0;
  /** The last item of each path that waits. */
  readonly #last = new Map<string, WatchItem>();
  #hasOverflowed = false;

  /** @param path what an overflow names. */
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
      // A reader that is always a little behind would have all that it has read kept.
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
