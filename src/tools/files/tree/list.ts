import { constants } from "node:os";
import { refuse, refuseFor } from "../file-error";
import { type Ignores, ignoresAbove } from "../gitignore";
import { type Matcher, matcherOf } from "../glob";
import type { Path } from "../path";
import { perform } from "../perform";
import type { Entry, ListReply, ListRequest } from "../requests/reading";
import { leadsTo } from "../root/leads-to";
import type { EntryKind, Name } from "../root/root";
import { Effort, type Steps } from "../steps";
import type { Task, Workspace } from "../workspace";
import { isBeside } from "../write/notes";
import { isStaging } from "../write/staging";
import { SortedNames } from "./sorted-names";

const { ENOENT, ENOTDIR, ELOOP, EACCES } = constants.errno;
/** Longest path in bytes that a request can have. */
const LONGEST_PATH = 4_095;
const LONGEST_NAME = 255;
/** What is kept of a directory of which little is wanted, so that it need not be read again and again. */
const FEW = 1_024;
/** So many entries are given in one step, or have their details looked up. */
const STEP = 256;

/**
 * Lists a directory: by the UTF-16 code units of the names, each directory before what is in it. The cursor is the last
 * path of a page, and the next page begins with what comes after that path, whatever was made or deleted meanwhile.
 */
export function list(workspace: Workspace, request: ListRequest, task: Task): ListReply | Promise<ListReply> {
  return perform(workspace, new Listing(workspace, request).run(), task);
}

/** A directory that is being listed. */
interface Level {
  /** Below the root. */
  readonly whole: string;
  /** What the paths in it begin with, below the directory that is listed: what globs and cursors are about. */
  readonly prefix: string;
  /** What they begin with below the root. */
  readonly shown: string;
  names: SortedNames;
  /** What holds in it; null where nothing is ignored. */
  ignores: Ignores | null;
  next: number;
  /** Open, or −1. */
  at: number;
  /** In which it was seen that the path leads to it. */
  turn: number;
  /** The name on the way of the cursor, which was given on an earlier page; what is in it may not have been. */
  readonly given: string;
  /** Where to go on in what has that name. */
  readonly after: string;
}

class Listing {
  readonly #workspace: Workspace;
  readonly #path: Path;
  readonly #limit: number;
  readonly #isRecursive: boolean;
  readonly #hasDetails: boolean;
  readonly #matches: Matcher | null;
  readonly #heedsIgnores: boolean;
  readonly #effort = new Effort();
  readonly #after: string;
  /** What all paths begin with below the root. */
  readonly #base: string;
  readonly #entries: Entry[] = [];
  /** The last one is gone through. */
  readonly #levels: Level[] = [];
  #leftOut = 0;
  /** Whether the page has no place for an entry that there is. */
  #isFull = false;

  constructor(workspace: Workspace, request: ListRequest) {
    const path = workspace.find(request.path ?? "");
    const { maxEntries } = workspace.limits;
    this.#workspace = workspace;
    this.#path = path;
    const { limit = maxEntries } = request;
    this.#limit = limit >= 1 ? Math.min(limit, maxEntries) : maxEntries;
    this.#isRecursive = request.recursive === true;
    this.#hasDetails = request.details === true;
    this.#matches = request.glob === undefined ? null : matcherOf(request.glob, path.given);
    this.#heedsIgnores = request.gitignore === true;
    this.#base = path.whole === "" ? "" : `${path.whole}/`;
    this.#after = request.cursor === undefined ? "" : pathIn(request.cursor, path.given);
  }

  *run(): Steps<ListReply> {
    const { root } = this.#workspace;
    const { whole, given } = this.#path;
    try {
      const above = this.#heedsIgnores ? yield* ignoresAbove(this.#workspace, this.#base, this.#effort) : null;
      const code = yield* this.#enter(whole, "", this.#after, above);
      if (code < 0) refuseFor(code, given);
      for (let level = this.#levels.at(-1); level !== undefined && !this.#isFull; level = this.#levels.at(-1)) {
        const directory = this.#give(level);
        yield;
        if (directory !== null) yield* this.#goInto(level, directory);
        else if (level.next >= level.names.sorted.length) yield* this.#endOrGoOn(level);
      }
    } finally {
      for (const { at } of this.#levels) if (at >= 0) root.close(at);
    }
    const last = this.#entries.at(-1);
    return {
      entries: this.#entries,
      ...(this.#isFull && last !== undefined && { cursor: last.path.slice(this.#base.length) }),
      ...(this.#leftOut > 0 && { leftOut: this.#leftOut }),
    };
  }

  /** Opens a directory, and reads its names; gives 0 or a negated errno. */
  *#enter(whole: string, prefix: string, after: string, above: Ignores | null): Steps<number> {
    const { root } = this.#workspace;
    const at = root.open(whole, "directory");
    if (at < 0) return at;
    const slash = after.indexOf("/");
    const given = slash < 0 ? after : after.slice(0, slash);
    const names = this.#namesOf(whole, prefix, given);
    const level: Level = {
      whole,
      prefix,
      shown: this.#base + prefix,
      names,
      ignores: null,
      next: 0,
      at,
      turn: this.#workspace.turn,
      given,
      after: slash < 0 ? "" : after.slice(slash + 1),
    };
    this.#levels.push(level); // Which closes it, whatever happens.
    if (above !== null) level.ignores = yield* above.in(this.#workspace, at, level.shown, this.#effort);
    return yield* this.#read(level, given === "");
  }

  /** @param isFirst whether what is left out of it was not counted before, on this page or an earlier one. */
  *#read(level: Level, isFirst: boolean): Steps<number> {
    const { root, status } = this.#workspace;
    const { at, names } = level;
    const leftOut = this.#leftOut;
    for (;;) {
      yield;
      if (!this.#isInPlace(level)) return -ENOENT; // Its path leads elsewhere by now, and the rules were asked about that.
      const waiting: [name: Name, kind: EntryKind | undefined][] = [];
      const hasGlobs = this.#matches !== null || level.ignores !== null || !this.#workspace.rules.areOpen;
      const count = root.entries(at, hasGlobs ? (name, kind) => waiting.push([name, kind]) : names.add);
      if (count < 0) return count;
      if (count === 0) break;
      // A thousand matches at once may take long.
      for (const [name, kind] of waiting) {
        if (!(yield* this.#isIgnored(level, name, kind))) names.add(name, kind);
        yield;
      }
      // Some file systems do not tell the kinds.
      for (const name of names.unknown.splice(0)) {
        const kind = root.statAt(at, name, status) === 0 ? status.kind : undefined;
        if (kind !== undefined && !(yield* this.#isIgnored(level, name, kind))) names.add(name, kind);
        yield;
      }
      if (names.endBatch()) yield* names.settle();
    }
    if (names.isSmall) names.settleNow();
    else yield* names.settle();
    this.#leftOut = isFirst ? this.#leftOut + names.unnamable : leftOut;
    return 0;
  }

  /** Whether a name is left out; one of which the kind is not known yet is asked about again. */
  *#isIgnored({ ignores, shown }: Level, name: Name, kind: EntryKind | undefined): Steps<boolean> {
    if (ignores === null || kind === undefined || typeof name !== "string") return false;
    return yield* ignores.leavesOut(shown + name, name, kind === "directory", this.#effort);
  }

  #isInPlace(level: Level): boolean {
    const { turn, root } = this.#workspace;
    if (level.turn === turn) return true;
    level.turn = turn;
    return leadsTo(root, level.whole, level.at);
  }

  #namesOf(whole: string, prefix: string, from: string): SortedNames {
    const most = Math.max(FEW, this.#limit - this.#entries.length + 1);
    return new SortedNames({ from, most, admits: this.#admission(whole, prefix) });
  }

  /** What tells whether a name is shown; null where all are. */
  #admission(whole: string, prefix: string): ((name: string, kind: EntryKind) => boolean) | null {
    const { rules } = this.#workspace;
    const matches = this.#matches;
    const isRoot = whole === "";
    const isDeep = whole.length * 3 + LONGEST_NAME >= LONGEST_PATH;
    if (!isDeep && matches === null && rules.areOpen) return isRoot ? isShown : isNotBeside;
    const before = isRoot ? "" : `${whole}/`;
    return (name, kind) => {
      if (isRoot ? isStaging(name) : isBeside(name)) return false;
      if (isDeep && Buffer.byteLength(before) + Buffer.byteLength(name) > LONGEST_PATH) {
        this.#leftOut++;
        return false;
      }
      const isDirectory = kind === "directory";
      if (!(isDirectory ? !rules.denies(before + name) : rules.serves(before + name))) return false;
      return matches === null || (isDirectory && this.#isRecursive) || matches(prefix + name);
    };
  }

  /** Gives some entries: up to a directory that is to be gone into, whose name comes back. */
  #give(level: Level): string | null {
    const { names, prefix, shown, given } = level;
    const { sorted } = names;
    const end = Math.min(level.next + STEP, sorted.length);
    while (level.next < end) {
      const name = sorted[level.next] ?? "";
      const kind = names.kindOf(name);
      const isEntered = kind === "directory" && this.#isRecursive;
      if (name !== given && (!isEntered || this.#matches === null || this.#matches(prefix + name))) {
        if (this.#entries.length >= this.#limit) {
          this.#isFull = true;
          return null;
        }
        if (this.#hasDetails) this.#addWithDetails(level, name);
        else this.#entries.push({ path: shown + name, kind });
      }
      level.next++;
      if (isEntered) return name;
    }
    return null;
  }

  #addWithDetails(level: Level, name: string): void {
    const { root, status, turn } = this.#workspace;
    if (level.at >= 0 && !this.#isInPlace(level)) this.#close(level);
    if (level.at < 0) level.at = root.open(level.whole, "place");
    level.turn = turn;
    if (level.at < 0 || root.statAt(level.at, name, status) < 0) return; // It is gone.
    const { kind, size, modified } = status;
    this.#entries.push({ path: level.shown + name, kind, ...(kind === "file" && { size }), modified });
  }

  *#goInto(level: Level, name: string): Steps<void> {
    this.#close(level); // However deep it is, one is open.
    const whole = level.whole === "" ? name : `${level.whole}/${name}`;
    const code = yield* this.#enter(
      whole,
      `${level.prefix}${name}/`,
      name === level.given ? level.after : "",
      level.ignores,
    );
    if (code === 0) return;
    // One that is gone, or no directory any more, has nothing in it.
    if (code !== -ENOENT && code !== -ENOTDIR && code !== -ELOOP && code !== -EACCES) refuseFor(code, this.#path.given);
    if (code === -EACCES && name !== level.given) this.#leftOut++;
  }

  /** Goes on with the names of a directory that were too many to be kept, or leaves it. */
  *#endOrGoOn(level: Level): Steps<void> {
    const { names, whole, prefix } = level;
    const last = names.sorted.at(-1);
    this.#close(level);
    if (!names.isCut || last === undefined) {
      this.#levels.pop();
      return;
    }
    level.at = this.#workspace.root.open(whole, "directory");
    level.turn = this.#workspace.turn;
    level.names = this.#namesOf(whole, prefix, `${last}\0`); // The least that comes after it.
    level.next = 0;
    if (level.at >= 0) yield* this.#read(level, false);
  }

  #close(level: Level): void {
    if (level.at >= 0) this.#workspace.root.close(level.at);
    level.at = -1;
  }
}

const isShown = (name: string): boolean => !isStaging(name);
const isNotBeside = (name: string): boolean => !isBeside(name);

/** The path that a cursor stands for. It comes from outside: whatever it is, it only says where a page begins. */
function pathIn(cursor: unknown, given: string): string {
  if (typeof cursor !== "string" || cursor === "" || cursor.length > LONGEST_PATH || !cursor.isWellFormed()) {
    return refuse(
      "invalid-path",
      given,
      "A cursor is what the page before came with; leave it out for the first page.",
    );
  }
  return cursor;
}
