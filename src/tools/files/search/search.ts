import { PIECE } from "../etag";
import { refuseFor } from "../file-error";
import { type Ignores, ignoresAbove } from "../gitignore";
import type { Path } from "../path";
import type { SearchItem, SearchRequest } from "../requests/searching";
import { leadsTo } from "../root/leads-to";
import type { EntryKind, Name } from "../root/root";
import { Selection } from "../selection";
import { Effort } from "../steps";
import { SortedNames } from "../tree/sorted-names";
import type { Task, Workspace } from "../workspace";
import { isStaging } from "../write/staging";
import { type Needle, needleOf } from "./needle";
import { type Output, searchBytes } from "./search-file";

const USUAL_RESULTS = 1_000;
const MOST_RESULTS = 10_000;
/** The cost of a file and of a name, beside their bytes, in bytes searched. */
const FILE = 8_192;
const NAME = 512;
/** The cost of an actor's glob for each letter of a path: 500 ns for a glob built to be slow. */
const GLOB = 64;
/** The cost of a piece of sorting. */
const SORT = 64 * 1024;

/**
 * Searches files directory by directory, in the order of their names. Gives an item for each matching line or file, and
 * one at the end. Visits at most the actor's `maxEntries` files and directories.
 */
export function search(workspace: Workspace, request: SearchRequest, { signal }: Task): AsyncGenerator<SearchItem> {
  return run(new Search(workspace, request), workspace, signal);
}

async function* run(work: Search, workspace: Workspace, signal: AbortSignal): AsyncGenerator<SearchItem> {
  for (const item of work.items()) {
    if (item !== undefined) yield item;
    else await workspace.pause();
    work.turn++;
    if (signal.aborted) return;
  }
}

/** The output of a search: items, and undefined when a pause is due. */
type Items<Value = void> = Generator<SearchItem | undefined, Value, undefined>;

/** A directory that is being searched. */
interface Level {
  /** The prefix of the paths in it. */
  readonly prefix: string;
  readonly names: SortedNames;
  /** The ignore rules in it. Null if nothing is ignored. */
  ignores: Ignores | null;
  next: number;
  /** The open descriptor, or −1. */
  at: number;
  /** The turn in which the path was last seen to lead to this directory. */
  turn: number;
}

class Search {
  readonly #workspace: Workspace;
  readonly #path: Path;
  readonly #needle: Needle;
  readonly #selection: Selection;
  readonly #output: Output;
  readonly #heedsIgnores: boolean;
  readonly #effort = new Effort();
  #buffer = Buffer.allocUnsafeSlow(PIECE);
  /** The last level is the current one. */
  readonly #levels: Level[] = [];
  /** Matches and names that may still follow. */
  #matchesLeft: number;
  #namesLeft: number;
  /** The number of pauses and waits for the reader. Anything found in an earlier turn may have been moved since. */
  turn = 0;
  #isDone = false;
  #isCut = false;
  #files = 0;
  #skipped = 0;

  constructor(workspace: Workspace, request: SearchRequest) {
    this.#workspace = workspace;
    this.#path = workspace.find(request.path ?? "");
    this.#needle = needleOf(request);
    this.#selection = new Selection(request.glob, request.exclude, this.#path.given);
    const { output = "lines", before = 0, after = 0, gitignore = false } = request;
    this.#output = { output, before: output === "lines" ? before : 0, after };
    this.#heedsIgnores = gitignore;
    this.#matchesLeft = Math.min(request.maxResults ?? USUAL_RESULTS, MOST_RESULTS);
    this.#namesLeft = workspace.limits.maxEntries;
  }

  *items(): Items {
    const { root, status } = this.#workspace;
    const { whole, given, isDirectory } = this.#path;
    const directory = root.open(whole, "directory");
    if (directory >= 0) yield* this.#tree(directory, whole === "" ? "" : `${whole}/`);
    else {
      if (isDirectory || whole === "") refuseFor(directory, given);
      this.#workspace.findFile(given);
      const file = this.#workspace.openFile(whole, given, "read");
      yield* this.#file(file, status.size, whole);
    }
    yield { kind: "end", files: this.#files, skipped: this.#skipped, isCut: this.#isCut };
  }

  /** Searches a directory and everything below it, and closes it. */
  *#tree(directory: number, prefix: string): Items {
    const { root } = this.#workspace;
    try {
      const ignores = this.#heedsIgnores ? yield* ignoresAbove(this.#workspace, prefix, this.#effort) : null;
      yield* this.#enter(directory, prefix, prefix.length, ignores);
      for (let level = this.#levels.at(-1); level !== undefined && !this.#isDone; level = this.#levels.at(-1)) {
        const name = level.names.sorted[level.next++];
        if (name === undefined) {
          this.#close(level);
          this.#levels.pop();
          continue;
        }
        const whole = level.prefix + name;
        const isDirectory = level.names.kindOf(name) === "directory";
        if (level.turn !== this.turn) this.#close(level);
        level.turn = this.turn;
        if (level.at < 0) level.at = root.open(level.prefix.slice(0, -1), "place");
        const opened = level.at < 0 ? level.at : this.#open(level.at, name, isDirectory);
        if (opened < 0) this.#skipped++;
        else if (!isDirectory) yield* this.#file(opened, this.#workspace.status.size, whole);
        else {
          this.#close(level); // Only one directory is open, at any depth.
          yield* this.#enter(opened, `${whole}/`, prefix.length, level.ignores);
        }
        if (this.#effort.spend(FILE)) yield;
      }
    } finally {
      for (const level of this.#levels) this.#close(level);
    }
  }

  #close(level: Level): void {
    if (level.at >= 0) this.#workspace.root.close(level.at);
    level.at = -1;
  }

  /** Reads the names of an open directory. `from` is where the part of its path for the glob begins. */
  *#enter(at: number, prefix: string, from: number, above: Ignores | null): Items {
    const { root, rules, status } = this.#workspace;
    const names = new SortedNames({
      from: "",
      most: this.#namesLeft,
      admits: (name, kind) => {
        const whole = prefix + name;
        if (isStaging(whole)) return false;
        if (kind === "directory") return !rules.denies(whole);
        return kind === "file" && rules.serves(whole);
      },
    });
    const level: Level = { prefix, names, ignores: null, next: 0, at, turn: this.turn };
    const isAll = above === null && this.#selection.isAll;
    const cost = rules.areOpen ? NAME : NAME + GLOB * prefix.length;
    this.#levels.push(level); // From here on, `items` closes it in any case.
    const ignores = above === null ? null : yield* above.in(this.#workspace, at, prefix, this.#effort);
    level.ignores = ignores;
    for (;;) {
      // Its path may lead elsewhere by now, and the rules are checked for that path.
      const isInPlace = level.turn === this.turn || leadsTo(root, prefix.slice(0, -1), at);
      level.turn = this.turn;
      const waiting: [name: Name, kind: EntryKind | undefined][] = [];
      const count = isInPlace ? root.entries(at, (name, kind) => waiting.push([name, kind])) : -1;
      if (count < 0) this.#skipped++;
      if (count <= 0) break;
      for (const [name, kind] of waiting) {
        if (isAll || (yield* this.#wants(name, kind, prefix, from, ignores))) names.add(name, kind);
        if (this.#effort.spend(cost)) yield;
      }
      // Some file systems do not tell the kinds.
      for (const name of names.unknown.splice(0)) {
        const kind = root.statAt(at, name, status) === 0 ? status.kind : undefined;
        if (kind !== undefined && (isAll || (yield* this.#wants(name, kind, prefix, from, ignores))))
          names.add(name, kind);
        if (this.#effort.spend(FILE)) yield;
      }
      if (names.endBatch()) yield* this.#settle(names);
    }
    yield* this.#settle(names);
    this.#namesLeft -= names.sorted.length;
    this.#skipped += names.unnamable;
    if (names.isCut) this.#isCut = true;
  }

  /** True if the request includes a name. A name of unknown kind is asked about again once the kind is known. */
  *#wants(
    name: Name,
    kind: EntryKind | undefined,
    prefix: string,
    from: number,
    ignores: Ignores | null,
  ): Items<boolean> {
    if (kind === undefined || typeof name !== "string") return true;
    const whole = prefix + name;
    const isDirectory = kind === "directory";
    if (ignores !== null && (yield* ignores.leavesOut(whole, name, isDirectory, this.#effort))) return false;
    return yield* this.#selection.admits(whole.slice(from), isDirectory, this.#effort);
  }

  *#settle(names: SortedNames): Items {
    if (names.isSmall) return names.settleNow();
    for (const _ of names.settle()) if (this.#effort.spend(SORT)) yield;
  }

  /** Opens an entry to be searched, and fills `status` for a file. Below zero if it is not searched. */
  #open(directory: number, name: string, isDirectory: boolean): number {
    const { root, status, limits } = this.#workspace;
    if (isDirectory) return root.openAt(directory, name, "directory");
    const file = root.openAt(directory, name, "read");
    if (file < 0) return file;
    if (root.stat(file, status) === 0 && status.kind === "file" && (status.links === 1 || limits.hardLinks))
      return file;
    root.close(file);
    return -1;
  }

  /** Searches an open file and closes it. */
  *#file(file: number, size: number, path: string): Items {
    let bytes: Buffer | null;
    try {
      bytes = size > this.#workspace.limits.maxReadBytes ? null : yield* this.#read(file, size, path);
    } finally {
      this.#workspace.root.close(file);
    }
    if (bytes === null) {
      this.#skipped++;
      return;
    }
    const matches = searchBytes(bytes, path, this.#needle, this.#output, this.#effort);
    for (let step = matches.next(); ; step = matches.next()) {
      if (step.done === true) {
        if (step.value) this.#files++;
        else this.#skipped++;
        return;
      }
      if (step.value === undefined) yield;
      else if (this.#matchesLeft-- > 0) yield step.value;
      else {
        this.#files++;
        this.#isCut = true;
        this.#isDone = true;
        return;
      }
    }
  }

  /** The bytes of a file, up to its size at the opening. Null if it cannot be read. */
  *#read(file: number, size: number, path: string): Items<Buffer | null> {
    const { root } = this.#workspace;
    if (size > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(size);
    let length = 0;
    while (length < size) {
      const part = length === 0 ? this.#buffer : this.#buffer.subarray(length);
      const count = root.read(file, part, Math.min(PIECE, size - length), length);
      if (count < 0) return null;
      if (count === 0) break; // The file was cut meanwhile.
      length += count;
      if (!this.#effort.spend(count * 2)) continue;
      yield;
      if (!this.#workspace.isInPlace(file, path)) return null;
    }
    return this.#buffer.subarray(0, length);
  }
}
