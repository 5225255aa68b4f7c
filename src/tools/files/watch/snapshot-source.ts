import { expectSuccess } from "../file-error";
import { leadsTo } from "../root/leads-to";
import { type EntryKind, type Name, Status } from "../root/root";
import type { Source, WatchedTree } from "./watched-tree";

/** Between two looks, in milliseconds; longer where looks take long, which are to cost a tenth of the time at most. */
const INTERVAL = 250;
const PAUSES_PER_LOOK = 9;
/** Most tries to read the names of a directory that is changed meanwhile. */
const TRIES = 3;

/** What was seen of a name. */
interface Seen {
  kind: EntryKind;
  inode: number;
  size: number;
  modified: number;
  changed: number;
  /** Where it is a directory that is looked into. */
  directory: Directory | null;
}

interface Directory {
  readonly path: string;
  inode: number;
  /** When names in it changed. */
  modified: number;
  readonly entries: Map<string, Seen>;
  /** Whether it was told that it cannot be looked into. */
  isClosed: boolean;
}

/**
 * Compares what is there with what was there at the last look. What came and went between two looks leaves nothing but the
 * time of its directory: where that changed, and no name explains it, it is told as an overflow there. Changes are seen
 * by size, inode and times, whose clock goes on by some 4 ms in kernels before Linux 6.13.
 */
export class SnapshotSource implements Source {
  interval = INTERVAL;
  readonly #watch: WatchedTree;
  readonly #top: Directory;
  readonly #status = new Status();
  #isTelling = false;

  constructor(watch: WatchedTree) {
    this.#watch = watch;
    this.#top = createDirectory(watch.path);
  }

  async begin(): Promise<boolean> {
    const { workspace, path, given } = this.#watch;
    const directory = workspace.root.open(path, "directory");
    expectSuccess(directory, given);
    workspace.root.close(directory);
    await this.#lookInto(this.#top);
    this.#isTelling = true;
    return true;
  }

  async look(): Promise<void> {
    const { clock } = this.#watch.workspace;
    const begun = clock.monotonicTime();
    if (this.#isInPlace()) {
      await this.#lookInto(this.#top);
      this.interval = Math.max(INTERVAL, PAUSES_PER_LOOK * (clock.monotonicTime() - begun));
      return;
    }
    await this.#empty(this.#top);
    this.#watch.end();
  }

  #isInPlace(): boolean {
    const { root } = this.#watch.workspace;
    const at = root.open(this.#watch.path, "place");
    if (at < 0) return false;
    const code = root.stat(at, this.#status);
    root.close(at);
    // A root that was deleted is still open: only its number of names tells.
    return code === 0 && this.#status.inode === this.#top.inode && this.#status.links > 0;
  }

  async #lookInto(directory: Directory): Promise<void> {
    const { root } = this.#watch.workspace;
    if (this.#watch.spend()) await this.#watch.pause();
    const opened = root.open(directory.path, "directory");
    if (opened < 0) {
      if (!directory.isClosed) this.#watch.tellClosed(directory.path, opened);
      directory.isClosed = true;
      return;
    }
    directory.isClosed = false;
    try {
      if (root.stat(opened, this.#status) < 0) return;
      const isFirst = directory.inode < 0;
      if (isFirst) this.#watch.count(1);
      else if (this.#status.inode !== directory.inode) await this.#empty(directory);
      directory.inode = this.#status.inode;
      const before = directory.modified;
      const names = await this.#namesIn(directory, opened);
      const isExplained = await this.#compare(directory, opened, names);
      if (before !== directory.modified && !isExplained && !isFirst && !this.#hasOwnTime(directory)) {
        this.#watch.tellOverflow(directory.path);
      }
    } finally {
      root.close(opened);
    }
    for (const { directory: inner } of directory.entries.values()) if (inner !== null) await this.#lookInto(inner);
  }

  /** Whether the time of a directory changes with each write of this actor: in memory, where it makes and removes its own there. */
  #hasOwnTime({ path }: Directory): boolean {
    return path === "" && this.#watch.workspace.root.resolution === "memory";
  }

  /** The names in a directory, and its time, which are of the same moment unless others never let go of it. */
  async #namesIn(directory: Directory, opened: number): Promise<Set<Name>> {
    const { root } = this.#watch.workspace;
    for (let tries = 1; ; tries++) {
      const reading = tries === 1 ? opened : root.open(directory.path, "directory");
      const names = new Set<Name>();
      root.stat(opened, this.#status);
      directory.modified = this.#status.modified;
      try {
        while (reading >= 0 && root.entries(reading, (name) => names.add(name)) > 0) {
          if (this.#watch.spend()) await this.#watch.pause();
        }
      } finally {
        if (reading >= 0 && reading !== opened) root.close(reading);
      }
      root.stat(opened, this.#status);
      if (directory.modified === this.#status.modified || tries === TRIES) return names;
    }
  }

  /** Tells what is different; whether that explains that the time of the directory is. */
  async #compare(directory: Directory, opened: number, names: Set<Name>): Promise<boolean> {
    const { root } = this.#watch.workspace;
    let isExplained = false;
    const found = new Set<string>();
    for (const name of names) {
      if (this.#watch.spend()) {
        await this.#watch.pause();
        if (!leadsTo(root, directory.path, opened)) return true; // The next look finds what its path leads to now.
      }
      if (root.statAt(opened, name, this.#status) < 0) continue;
      const key = keyOf(name);
      found.add(key);
      const seen = directory.entries.get(key);
      if (seen === undefined) {
        this.#appear(directory, key);
        isExplained = true;
        continue;
      }
      const { kind, inode, size, modified, changed } = this.#status;
      if (seen.inode !== inode) isExplained = true;
      if (seen.kind !== kind || (kind === "directory" && seen.inode !== inode)) {
        await this.#vanish(directory, key);
        root.statAt(opened, name, this.#status); // What it was is overwritten within a pause.
        this.#appear(directory, key);
      } else if (seen.inode !== inode || seen.size !== size || seen.modified !== modified || seen.changed !== changed) {
        Object.assign(seen, { inode, size, modified, changed });
        if (kind !== "directory") this.#tell("changed", below(directory, key), false);
      }
    }
    for (const name of directory.entries.keys()) {
      if (found.has(name)) continue;
      await this.#vanish(directory, name);
      isExplained = true;
    }
    return isExplained;
  }

  /** Notes a name, whose status was just looked up. */
  #appear(directory: Directory, name: string): void {
    const { kind, inode, size, modified, changed } = this.#status;
    const path = below(directory, name);
    const isEntered =
      kind === "directory" && this.#watch.isRecursive && this.#watch.serves(path) && !path.includes(NO_TEXT);
    const inner = isEntered ? createDirectory(path) : null;
    directory.entries.set(name, { kind, inode, size, modified, changed, directory: inner });
    if (this.#isTelling) this.#tell("created", path, kind === "directory");
  }

  async #vanish(directory: Directory, name: string): Promise<void> {
    const seen = directory.entries.get(name);
    directory.entries.delete(name);
    if (seen?.directory) {
      await this.#empty(seen.directory);
      if (seen.directory.inode >= 0) this.#watch.count(-1);
    }
    this.#tell("deleted", below(directory, name), seen?.kind === "directory");
  }

  #tell(kind: "created" | "changed" | "deleted", path: string, isDirectory: boolean): void {
    if (!path.includes(NO_TEXT)) this.#watch.tell(kind, path, isDirectory);
  }

  async #empty(directory: Directory): Promise<void> {
    for (const name of directory.entries.keys()) {
      if (this.#watch.spend()) await this.#watch.pause();
      await this.#vanish(directory, name);
    }
  }

  dispose(): void {}
}

const createDirectory = (path: string): Directory => ({
  path,
  inode: -1,
  modified: 0,
  entries: new Map(),
  isClosed: false,
});

/** Before a name that is no UTF-8: it is noted and not told, since no path can name it. */
const NO_TEXT = "\0";
const keyOf = (name: Name): string =>
  typeof name === "string" ? name : `${NO_TEXT}${Buffer.from(name).toString("latin1")}`;
const below = ({ path }: Directory, name: string): string => (path === "" ? name : `${path}/${name}`);
