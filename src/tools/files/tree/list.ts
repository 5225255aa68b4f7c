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
/** Longest path of a request, in bytes. */
const LONGEST_PATH = 4_095;
const LONGEST_NAME = 255;
/** Names kept of a directory from which only few are wanted, so that it is not read again and again. */
const FEW = 1_024;
/** Entries given, or looked up for details, in one step. */
const STEP = 256;

/**
 * Lists a directory in the order of the names' UTF-16 code units, each directory before its entries. The cursor is the
 * last path of a page. The next page begins with the first path after it, whatever was made or deleted meanwhile.
 */
export function list(workspace: Workspace, request: ListRequest, task: Task): ListReply | Promise<ListReply> {
  return perform(workspace, new Listing(workspace, request).run(), task);
}

/** A directory that is being listed. */
interface Level {
  /** Its path below the root. */
  readonly whole: string;
  /** The prefix of its paths below the listed directory, for globs and cursors. */
  readonly prefix: string;
  /** The prefix of its paths below the root. */
  readonly shown: string;
  names: SortedNames;
  /** The ignore rules in it. Null if nothing is ignored. */
  ignores: Ignores | null;
  next: number;
  /** The open descriptor, or −1. */
  at: number;
  /** The turn in which the path was last seen to lead to this directory. */
  turn: number;
  /** The next name on the cursor's path. An earlier page gave it, but maybe not everything in it. */
  readonly given: string;
  /** The rest of the cursor's path, below that name. */
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
  /** The prefix of all paths, below the root. */
  readonly #base: string;
  readonly #entries: Entry[] = [];
  /** The last level is the current one. */
  readonly #levels: Level[] = [];
  #leftOut = 0;
  /** True if there are more entries than the page has room for. */
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

  /** Opens a directory and reads its names. Returns 0 or a negated errno. */
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
    this.#levels.push(level); // From here on, `run` closes it in any case.
    if (above !== null) level.ignores = yield* above.in(this.#workspace, at, level.shown, this.#effort);
    return yield* this.#read(level, given === "");
  }

  /** @param isFirst true if the names left out here were not counted yet, on this page or an earlier one. */
  *#read(level: Level, isFirst: boolean): Steps<number> {
    const { root, status } = this.#workspace;
    const { at, names } = level;
    const leftOut = this.#leftOut;
    for (;;) {
      yield;
      // Its path leads elsewhere by now, and the rules were checked for that path.
      if (!this.#isInPlace(level)) return -ENOENT;
      const waiting: [name: Name, kind: EntryKind | undefined][] = [];
      const hasGlobs = this.#matches !== null || level.ignores !== null || !this.#workspace.rules.areOpen;
      const count = root.entries(at, hasGlobs ? (name, kind) => waiting.push([name, kind]) : names.add);
      if (count < 0) return count;
      if (count === 0) break;
      // Matching a thousand names at once may take long.
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

  /** True if a name is left out. A name of unknown kind is asked about again once the kind is known. */
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

  /** The filter for names. Null if all are shown. */
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

  /** Gives some entries, up to the next directory to be entered. Returns that directory's name. */
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
    if (level.at < 0 || root.statAt(level.at, name, status) < 0) return; // The entry is gone.
    const { kind, size, modified } = status;
    this.#entries.push({ path: level.shown + name, kind, ...(kind === "file" && { size }), modified });
  }

  *#goInto(level: Level, name: string): Steps<void> {
    this.#close(level); // Only one directory is open, at any depth.
    const whole = level.whole === "" ? name : `${level.whole}/${name}`;
    const code = yield* this.#enter(
      whole,
      `${level.prefix}${name}/`,
      name === level.given ? level.after : "",
      level.ignores,
    );
    if (code === 0) return;
    // A directory that is gone or was replaced has no entries.
    if (code !== -ENOENT && code !== -ENOTDIR && code !== -ELOOP && code !== -EACCES) refuseFor(code, this.#path.given);
    if (code === -EACCES && name !== level.given) this.#leftOut++;
  }

  /** Leaves the directory, or goes on with the names that were too many to keep. */
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
    level.names = this.#namesOf(whole, prefix, `${last}\0`); // The smallest name after it.
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

/** The path in a cursor. It is input from outside, but can only change where a page begins. */
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
