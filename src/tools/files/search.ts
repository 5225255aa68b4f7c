import { Glob } from "bun";
import { PIECE } from "./etag";
import { refuseFor } from "./file-error";
import type { Path } from "./path";
import type { SearchItem, SearchRequest } from "./protocol";
import type { EntryKind } from "./root";
import { searchBytes } from "./search-file";
import { type Needle, needleOf } from "./search-needle";
import { STAGING } from "./staging";
import { Effort } from "./steps";
import type { Task, Workspace } from "./workspace";

const USUAL_RESULTS = 1_000;
const MOST_RESULTS = 10_000;
/** What a file and a name cost beside their bytes, in bytes searched. */
const FILE = 8_192;
const NAME = 512;

/**
 * Searches files, directory by directory, in the order of their names; one item for each line that matches, and one at
 * the end. It looks at as many names as the actor's `maxEntries`.
 */
export function search(workspace: Workspace, request: SearchRequest, { signal }: Task): AsyncGenerator<SearchItem> {
  return run(new Search(workspace, request), workspace, signal);
}

async function* run(work: Search, workspace: Workspace, signal: AbortSignal): AsyncGenerator<SearchItem> {
  for (const item of work.items()) {
    if (item !== undefined) yield item;
    else await workspace.pause();
    if (signal.aborted) return;
  }
}

/** What a search gives: lines that match, and undefined where a pause is due. */
type Items<Value = void> = Generator<SearchItem | undefined, Value, undefined>;

interface Entry {
  readonly name: string;
  readonly kind: EntryKind | undefined;
}

class Search {
  readonly #workspace: Workspace;
  readonly #path: Path;
  readonly #needle: Needle;
  readonly #glob: Glob | null;
  readonly #effort = new Effort();
  #buffer = Buffer.allocUnsafeSlow(PIECE);
  /** Matches, names and files to go. */
  #matches: number;
  #names: number;
  #isCut = false;
  #isDone = false;
  #files = 0;
  #skipped = 0;

  constructor(workspace: Workspace, request: SearchRequest) {
    this.#workspace = workspace;
    this.#path = workspace.find(request.path ?? "");
    this.#needle = needleOf(request);
    this.#glob = request.glob === undefined ? null : new Glob(request.glob);
    this.#matches = Math.min(request.maxResults ?? USUAL_RESULTS, MOST_RESULTS);
    this.#names = workspace.limits.maxEntries;
  }

  *items(): Items {
    const { root, status } = this.#workspace;
    const { whole, given, isDirectory } = this.#path;
    const directory = root.open(whole, "directory");
    if (directory >= 0) {
      yield* this.#directory(directory, whole === "" ? "" : `${whole}/`, whole === "" ? 0 : whole.length + 1);
    } else {
      if (isDirectory) refuseFor(directory, given);
      this.#workspace.findFile(given);
      const file = this.#workspace.openFile(whole, given, "read");
      yield* this.#file(file, status.size, whole);
    }
    yield { kind: "end", files: this.#files, skipped: this.#skipped, isCut: this.#isCut };
  }

  /** Searches the files of a directory and of those in it, and closes it. `prefix` is its path, and `from` where that begins for the glob. */
  *#directory(directory: number, prefix: string, from: number): Items {
    const { root, rules } = this.#workspace;
    try {
      const entries = yield* this.#entries(directory, prefix);
      for (const { name, kind } of entries) {
        if (this.#isDone) return;
        const whole = prefix + name;
        const found = kind ?? this.#kindOf(directory, name);
        if (found === "directory") {
          if (rules.denies(whole)) continue;
          const inside = root.openAt(directory, name, "directory");
          if (inside < 0) this.#skipped++;
          else yield* this.#directory(inside, `${whole}/`, from);
        } else if (found === "file" && rules.serves(whole) && this.#glob?.match(whole.slice(from)) !== false) {
          const file = this.#open(directory, name);
          if (file < 0) this.#skipped++;
          else yield* this.#file(file, this.#workspace.status.size, whole);
        }
        if (this.#effort.spend(FILE)) yield;
      }
    } finally {
      root.close(directory);
    }
  }

  *#entries(directory: number, prefix: string): Items<Entry[]> {
    const { root } = this.#workspace;
    const entries: Entry[] = [];
    const add = (name: string | Uint8Array, kind: EntryKind | undefined): void => {
      if (typeof name !== "string") this.#skipped++;
      else if (prefix !== "" || name !== STAGING) entries.push({ name, kind });
    };
    for (;;) {
      const count = root.entries(directory, add);
      if (count < 0) this.#skipped++;
      if (count <= 0) break;
      if (this.#effort.spend(count * NAME)) yield;
      if (entries.length > this.#names) break;
    }
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    if (entries.length > this.#names) {
      this.#isCut = true;
      entries.length = this.#names;
    }
    this.#names -= entries.length;
    return entries;
  }

  #kindOf(directory: number, name: string): EntryKind {
    const { root, status } = this.#workspace;
    return root.statAt(directory, name, status) < 0 ? "other" : status.kind;
  }

  /** Opens a file that is to be searched, with `status` filled; below zero where it is not. */
  #open(directory: number, name: string): number {
    const { root, status, limits } = this.#workspace;
    const file = root.openAt(directory, name, "read");
    if (file < 0) return file;
    if (root.stat(file, status) === 0 && status.kind === "file" && (status.links === 1 || limits.hardLinks))
      return file;
    root.close(file);
    return -1;
  }

  /** Searches an open file, and closes it. */
  *#file(file: number, size: number, path: string): Items {
    let bytes: Buffer | null;
    try {
      bytes = size > this.#workspace.limits.maxReadBytes ? null : yield* this.#read(file, size);
    } finally {
      this.#workspace.root.close(file);
    }
    if (bytes === null) {
      this.#skipped++;
      return;
    }
    const matches = searchBytes(bytes, path, this.#needle, this.#effort);
    for (let step = matches.next(); ; step = matches.next()) {
      if (step.done === true) {
        if (step.value) this.#files++;
        else this.#skipped++;
        return;
      }
      if (step.value === undefined) yield;
      else if (this.#matches-- > 0) yield step.value;
      else {
        this.#files++;
        this.#isCut = true;
        this.#isDone = true;
        return;
      }
    }
  }

  /** What was in a file when it was opened; null where it cannot be read. */
  *#read(file: number, size: number): Items<Buffer | null> {
    const { root } = this.#workspace;
    if (size > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(size);
    let length = 0;
    while (length < size) {
      const part = length === 0 ? this.#buffer : this.#buffer.subarray(length);
      const count = root.read(file, part, Math.min(PIECE, size - length), length);
      if (count < 0) return null;
      if (count === 0) break; // It was cut meanwhile.
      length += count;
      if (this.#effort.spend(count * 2)) yield;
    }
    return this.#buffer.subarray(0, length);
  }
}
