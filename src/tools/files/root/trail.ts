import { constants } from "node:os";
import type { Steps } from "../steps";
import { leadsTo } from "./leads-to";
import { type Name, type Root, Status } from "./root";

/** Most directories open at once. Those further up are opened again on the way back. */
const KEPT = 64;
/** Longest path in UTF-16 code units that always fits into a system call. */
const LONGEST = 1_300;
const { ESTALE } = constants.errno;

interface Level {
  readonly name: Name;
  /** Open, or −1. */
  descriptor: number;
  readonly inode: number;
  readonly device: number;
}

/**
 * The way down a tree. Each directory is opened by its name in the one before, never by a path. A trail may be longer
 * than a path can be, and deeper than the number of files that a process may open.
 */
export class Trail {
  readonly #root: Root;
  readonly #start: number;
  readonly #levels: Level[] = [];
  readonly #status = new Status();

  /** @param start the directory in which the trail begins. The trail never closes it. */
  constructor(root: Root, start: number) {
    this.#root = root;
    this.#start = start;
  }

  /** The current directory, opened for reading. */
  get at(): number {
    return this.#levels.at(-1)?.descriptor ?? this.#start;
  }

  /** Enters a directory. Returns 0 or a negated errno. */
  descend(name: Name): number {
    const descriptor = this.#root.openAt(this.at, name, "directory");
    if (descriptor < 0) return descriptor;
    const code = this.#root.stat(descriptor, this.#status);
    if (code < 0) {
      this.#root.close(descriptor);
      return code;
    }
    const { inode, device } = this.#status;
    this.#levels.push({ name, descriptor, inode, device });
    this.#close(this.#levels[this.#levels.length - 1 - KEPT]);
    return 0;
  }

  /** Goes back to the directory before. Gives 0 or a negated errno: −ESTALE if that directory was moved away. */
  *ascend(): Steps<number> {
    this.#close(this.#levels.pop());
    return this.at >= 0 ? 0 : yield* this.#openAgain();
  }

  *#openAgain(): Steps<number> {
    for (const [i, level] of this.#levels.entries()) {
      const before = this.#levels[i - 1];
      const descriptor = this.#root.openAt(before?.descriptor ?? this.#start, level.name, "directory");
      if (descriptor < 0) return descriptor;
      level.descriptor = descriptor;
      // The last ones stay open for the next steps back.
      if (i <= this.#levels.length - KEPT) this.#close(before);
      yield;
    }
    const last = this.#levels.at(-1);
    const code = this.#root.stat(this.at, this.#status);
    if (code < 0) return code;
    return last?.inode === this.#status.inode && last.device === this.#status.device ? 0 : -ESTALE;
  }

  /**
   * True if every directory of the trail is still in its place.
   *
   * @param parent the path of the directory in which the trail began.
   * @param isWhole false skips the check of a trail that is longer than a path. That check goes name by name, or in
   * parts.
   */
  isInPlace(parent: string, isWhole: boolean): boolean {
    const path = this.#pathFrom(parent);
    if (path !== null) return leadsTo(this.#root, path, this.at);
    return !isWhole || (leadsTo(this.#root, parent, this.#start) && this.#isBelowStart());
  }

  /** The path of the current directory. Null if it is too long for a path or contains bytes that are not UTF-8. */
  #pathFrom(parent: string): string | null {
    let path = parent;
    for (const { name } of this.#levels) {
      if (typeof name !== "string" || path.length + name.length >= LONGEST) return null;
      path = path === "" ? name : `${path}/${name}`;
    }
    return path;
  }

  #isBelowStart(): boolean {
    let at = this.#start;
    for (let i = 0; i < this.#levels.length; ) {
      const [part, next] = this.#partFrom(i);
      const descriptor = this.#root.openAt(at, part, "place");
      if (at !== this.#start) this.#root.close(at);
      if (descriptor < 0) return false;
      at = descriptor;
      i = next;
    }
    const code = this.#root.stat(at, this.#status);
    if (at !== this.#start) this.#root.close(at);
    const last = this.#levels.at(-1);
    return code === 0 && last?.inode === this.#status.inode && last.device === this.#status.device;
  }

  /** The next name, or as many names as the kernel resolves in one call, and the level after them. */
  #partFrom(level: number): [part: Name, next: number] {
    let next = level + 1;
    let part = this.#levels[level]?.name ?? "";
    if (this.#root.resolution !== "openat2") return [part, next];
    for (; typeof part === "string" && part.length < LONGEST / 2; next++) {
      const name = this.#levels[next]?.name;
      if (typeof name !== "string") break;
      part += `/${name}`;
    }
    return [part, next];
  }

  dispose(): void {
    for (const level of this.#levels) this.#close(level);
  }

  #close(level: Level | undefined): void {
    if (level === undefined || level.descriptor < 0) return;
    this.#root.close(level.descriptor);
    level.descriptor = -1;
  }
}
