import { expectSuccess } from "../file-error";
import { leadsTo } from "../root/leads-to";
import { type EntryKind, type Name, Status } from "../root/root";
import type { Source, WatchedTree } from "./watched-tree";

/** Milliseconds between two looks. They are longer if looks take long, so that looking costs at most a tenth of the time. */
const INTERVAL = 250;
const PAUSES_PER_LOOK = 9;
/** Most tries to read the names of a directory that changes meanwhile. */
const TRIES = 3;

/** The last known state of a name. */
interface Seen {
  kind: EntryKind;
  inode: number;
  size: number;
  modified: number;
  changed: number;
  /** Set for a directory that is watched. */
  directory: Directory | null;
}

interface Directory {
  readonly path: string;
  inode: number;
  /** The time of its last change of names. */
  modified: number;
  readonly entries: Map<string, Seen>;
  /** True once it was reported as unreadable. */
  isClosed: boolean;
}

/**
 * Compares the present state with the last one. A file that came and went between two looks leaves only the changed
 * time of its directory. If no name explains that time, an overflow is reported for the directory. Changes are seen by
 * size, inode and times. The clock of these times advances in steps of some 4 ms in kernels before Linux 6.13.
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
    // A deleted root stays open. Only its number of names shows the deletion.
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

  /**
   * True if every write of this actor changes the directory's time: in memory, the staging directory comes and goes
   * there.
   */
  #hasOwnTime({ path }: Directory): boolean {
    return path === "" && this.#watch.workspace.root.resolution === "memory";
  }

  /** The names in a directory, and its time. Both belong to the same moment, unless others keep changing it. */
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

  /** Reports the differences. Returns true if they explain the changed time of the directory. */
  async #compare(directory: Directory, opened: number, names: Set<Name>): Promise<boolean> {
    const { root } = this.#watch.workspace;
    let isExplained = false;
    const found = new Set<string>();
    for (const name of names) {
      if (this.#watch.spend()) {
        await this.#watch.pause();
        // The next look sees the directory that its path leads to now.
        if (!leadsTo(root, directory.path, opened)) return true;
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
        root.statAt(opened, name, this.#status); // The status was overwritten during the pause.
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

  /** Records a name. The status is that of the name. */
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

/** Prefix of a name that is not UTF-8. It is recorded but not reported, since no path can name it. */
const NO_TEXT = "\0";
const keyOf = (name: Name): string =>
  typeof name === "string" ? name : `${NO_TEXT}${Buffer.from(name).toString("latin1")}`;
const below = ({ path }: Directory, name: string): string => (path === "" ? name : `${path}/${name}`);
