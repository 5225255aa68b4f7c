import { expectSuccess, refuse } from "../file-error";
import { type Name, Status } from "../root/root";
import { IN, type Inotify, type InotifyEvent } from "./inotify";
import type { Source, WatchedTree } from "./watched-tree";

const EVENTS = IN.CREATE | IN.DELETE | IN.MOVED_FROM | IN.MOVED_TO | IN.MODIFY | IN.ATTRIB;
/** The events that may end the whole watch. */
const OF_TOP = IN.DELETE_SELF | IN.MOVE_SELF;
/**
 * Looks between two checks that the directory is still in its place. The kernel reports nothing about the directories
 * above it.
 */
const LOOKS_BETWEEN_CHECKS = 20;

/** A directory. */
interface Node {
  readonly path: string;
  /** The kernel's number of its watch; −1 while unwatched. */
  watch: number;
  /** The known entries; null for an entry that is no directory. */
  readonly entries: Map<string, Node | null>;
}

/**
 * Lets the kernel record events (inotify) and polls it, which is one system call if nothing happened. Each directory is
 * watched before its names are read, so that no change in between is missed. The known names tell a replaced file from
 * a new one.
 */
export class InotifySource implements Source {
  readonly interval = 50;
  readonly #watch: WatchedTree;
  readonly #inotify: Inotify;
  readonly #nodes = new Map<number, Node>();
  readonly #top: Node;
  readonly #status = new Status();
  #inode = 0;
  #device = 0;
  #looks = 0;
  #isGone = false;
  /** False during the first look, since everything found existed before. */
  #isTelling = false;

  constructor(watch: WatchedTree, inotify: Inotify) {
    this.#watch = watch;
    this.#inotify = inotify;
    this.#top = { path: watch.path, watch: -1, entries: new Map() };
  }

  async begin(): Promise<boolean> {
    const { workspace, path, given } = this.#watch;
    const directory = workspace.root.open(path, "directory");
    expectSuccess(directory, given);
    const code = workspace.root.stat(directory, this.#status);
    workspace.root.close(directory);
    expectSuccess(code, given);
    this.#inode = this.#status.inode;
    this.#device = this.#status.device;
    try {
      await this.#scan(this.#top, true);
    } catch (thrown) {
      if (thrown !== NO_WATCH) throw thrown;
      for (const node of [...this.#nodes.values()]) this.#release(node); // They count for the watch.
      return false;
    }
    this.#isTelling = true;
    return true;
  }

  look(): void | Promise<void> {
    if (++this.#looks % LOOKS_BETWEEN_CHECKS === 0) this.#isGone ||= !this.#isInPlace();
    const events = this.#inotify.read();
    if (events.length > 0 || this.#isGone) return this.#tellAll(events);
  }

  async #tellAll(first: InotifyEvent[]): Promise<void> {
    let hasOverflowed = false;
    try {
      for (let events = first; events.length > 0; events = this.#inotify.read()) {
        // If the watched directory was moved, its entries have other paths now, which the rules may close.
        this.#isGone ||= !this.#isInPlace();
        if (this.#isGone) break;
        for (const event of events) {
          if (this.#watch.spend()) await this.#watch.pause();
          if ((event.mask & IN.Q_OVERFLOW) !== 0) hasOverflowed = true;
          else await this.#tell(event);
        }
      }
      if (hasOverflowed) {
        this.#watch.tellOverflow(this.#top.path);
        await this.#scan(this.#top, true);
      }
    } catch (thrown) {
      if (thrown !== NO_WATCH) throw thrown;
      const advice = "raise fs.inotify.max_user_watches, or watch a part of it";
      refuse("io", this.#watch.given, `The system watches no more directories: ${advice}.`);
    }
    if (!this.#isGone) return;
    await this.#empty(this.#top);
    this.#watch.end();
  }

  async #tell({ watch, mask, name }: InotifyEvent): Promise<void> {
    const node = this.#nodes.get(watch);
    if (node === undefined) return; // The node was released meanwhile.
    if ((mask & IN.IGNORED) !== 0) this.#release(node);
    if ((mask & (OF_TOP | IN.IGNORED)) !== 0 && node === this.#top) this.#isGone ||= !this.#isInPlace();
    if ((mask & IN.UNMOUNT) !== 0) await this.#scan(node, true);
    if (name === "" || name === null) return;
    const isDirectory = (mask & IN.ISDIR) !== 0;
    if ((mask & (IN.CREATE | IN.MOVED_TO)) !== 0) await this.#appear(node, name, isDirectory);
    // A file that exchanged names with another one counts as changed.
    const isExchanged = (mask & IN.MOVED_FROM) !== 0 && node.entries.get(name) === null && this.#isFile(node, name);
    if (isExchanged) this.#watch.tell("changed", below(node, name), false);
    else if ((mask & (IN.DELETE | IN.MOVED_FROM)) !== 0) await this.#vanish(node, name);
    // An exchange of two names arrives as two moves. The second one removes the name that the first one brought.
    if ((mask & IN.MOVED_FROM) !== 0 && !isExchanged) await this.#lookFor(node, name);
    if ((mask & (IN.MODIFY | IN.ATTRIB)) !== 0 && node.entries.get(name) === null) {
      this.#watch.tell("changed", below(node, name), false);
    }
  }

  /** Handles a name that exists and may already be known. */
  async #appear(node: Node, name: string, isDirectory: boolean): Promise<void> {
    const path = below(node, name);
    if (!this.#watch.serves(path) || !(isDirectory || this.#watch.tells(path, false))) return;
    const before = node.entries.get(name);
    if (before !== undefined && (before !== null) !== isDirectory) await this.#vanish(node, name);
    const known = node.entries.get(name);
    if (known === null) {
      this.#watch.tell("changed", path, false);
      return;
    }
    const child = known ?? (isDirectory ? { path, watch: -1, entries: new Map() } : null);
    if (known === undefined) {
      node.entries.set(name, child);
      if (this.#isTelling) this.#watch.tell("created", path, isDirectory);
    }
    if (child !== null && this.#watch.isRecursive) await this.#scan(child, false);
  }

  /** Handles a name that is gone. */
  async #vanish(node: Node, name: string): Promise<void> {
    const known = node.entries.get(name);
    if (known === undefined) return;
    node.entries.delete(name);
    if (known !== null) {
      await this.#empty(known);
      this.#release(known, true);
    }
    this.#watch.tell("deleted", below(node, name), known !== null);
  }

  async #empty(node: Node): Promise<void> {
    for (const name of node.entries.keys()) {
      if (this.#watch.spend()) await this.#watch.pause();
      await this.#vanish(node, name);
    }
  }

  async #lookFor(node: Node, name: string): Promise<void> {
    if (this.#isThere(node, name)) await this.#appear(node, name, this.#status.kind === "directory");
  }

  #isFile(node: Node, name: string): boolean {
    return this.#isThere(node, name) && this.#status.kind !== "directory";
  }

  /** True if a name exists. Fills the status. */
  #isThere(node: Node, name: string): boolean {
    const { root } = this.#watch.workspace;
    const at = root.open(node.path, "place");
    if (at < 0) return false;
    const code = root.statAt(at, name, this.#status);
    root.close(at);
    return code === 0;
  }

  /** Watches a directory and finds its new and missing entries. `isDeep` includes the directories below it. */
  async #scan(node: Node, isDeep: boolean): Promise<void> {
    const { root } = this.#watch.workspace;
    const directory = root.open(node.path, "directory");
    if (directory < 0) {
      this.#watch.tellClosed(node.path, directory);
      return;
    }
    const found = new Map<string, boolean>();
    try {
      const isAnother = this.#attach(node, directory);
      if (isAnother) await this.#empty(node);
      for (let hasMore = true; hasMore; ) {
        const names: [Name, isDirectory: boolean | undefined][] = [];
        hasMore = root.entries(directory, (name, kind) => names.push([name, kind && kind === "directory"])) > 0;
        for (const [name, isDirectory] of names) {
          if (typeof name !== "string") continue; // No path can name it.
          found.set(
            name,
            isDirectory ?? (root.statAt(directory, name, this.#status) === 0 && this.#status.kind === "directory"),
          );
        }
        if (this.#watch.spend()) await this.#watch.pause();
      }
    } finally {
      root.close(directory);
    }
    for (const name of node.entries.keys()) if (!found.has(name)) await this.#vanish(node, name);
    for (const [name, isDirectory] of found) {
      if (this.#watch.spend()) await this.#watch.pause();
      const known = node.entries.get(name);
      if (known === undefined || (known !== null) !== isDirectory) await this.#appear(node, name, isDirectory);
      else if (known !== null && isDeep && this.#watch.isRecursive) await this.#scan(known, true);
    }
  }

  /** Watches an open directory. Returns true if it is not the one that the node stood for. */
  #attach(node: Node, directory: number): boolean {
    const watch = this.#inotify.add(directory, node === this.#top ? EVENTS | OF_TOP : EVENTS);
    if (watch < 0) throw NO_WATCH;
    if (node.watch === watch) return false;
    const isAnother = node.watch >= 0;
    this.#release(node, true);
    const other = this.#nodes.get(watch);
    if (other !== undefined) {
      if (this.#isAt(other.path, directory)) {
        this.#watch.tellOverflow(node.path); // A mount shows it in two places, but the kernel reports only one.
        return isAnother;
      }
      this.#release(other); // It was moved here. Its old place will be reported as deleted.
    }
    node.watch = watch;
    this.#nodes.set(watch, node);
    this.#watch.count(1);
    return isAnother;
  }

  /** True if a path leads to an open directory. */
  #isAt(path: string, directory: number): boolean {
    const { root } = this.#watch.workspace;
    if (root.stat(directory, this.#status) < 0) return false;
    const { inode, device } = this.#status;
    return this.#leadsTo(path, inode, device);
  }

  #leadsTo(path: string, inode: number, device: number): boolean {
    const { root } = this.#watch.workspace;
    const at = root.open(path, "place");
    if (at < 0) return false;
    const code = root.stat(at, this.#status);
    root.close(at);
    // A deleted root stays open. Only its number of names shows the deletion.
    return code === 0 && this.#status.inode === inode && this.#status.device === device && this.#status.links > 0;
  }

  #isInPlace(): boolean {
    return this.#leadsTo(this.#watch.path, this.#inode, this.#device);
  }

  /** Drops the watch of a directory. `isEnded` also removes it from the kernel. */
  #release(node: Node, isEnded = false): void {
    if (node.watch < 0) return;
    this.#nodes.delete(node.watch);
    if (isEnded) this.#inotify.remove(node.watch);
    node.watch = -1;
    this.#watch.count(-1);
  }

  dispose(): void {
    this.#inotify.close();
  }
}

/** Thrown when the system allows no more watches. */
const NO_WATCH = Symbol("no more watches");

const below = ({ path }: Node, name: string): string => (path === "" ? name : `${path}/${name}`);
