import { constants } from "node:os";
import type { Steps } from "../steps";
import { type EntryKind, type Name, type Root, Status } from "./root";
import { Trail } from "./trail";

const { ENOENT, ENOTDIR, ENOTEMPTY, ELOOP, EISDIR, EPERM } = constants.errno;
/** Most retries for an entry that changes during the walk. */
const MOST_TRIES = 16;

/** The callbacks of a walk. `below` is the path below the start of the walk. */
export interface Visitor {
  /** Called before every other callback, with the current place. That place may have been moved during a pause. */
  check?(trail: Trail): void;
  /** True leaves the name out. */
  skips?(name: Name): boolean;
  /** Called with an open directory, before its entries. */
  enter?(at: number, name: Name, below: string): void;
  /** Called with an entry of `at` that is no directory. Returns true if it has become one. */
  visit(at: number, name: Name, kind: EntryKind, below: string): boolean | Steps<boolean>;
  /** Called after all entries of a directory, which is in `at`. Returns true to walk through it again. */
  leave?(at: number, name: Name, below: string): boolean | Steps<boolean>;
  /** Called with a directory that cannot be read. */
  fail(code: number, below: string): void;
}

/** A directory on the way. */
interface Level {
  readonly name: Name;
  readonly below: string;
  /** The directories in it that are still to be entered. */
  readonly directories: Name[];
  tries: number;
}

/** Walks through the directory `name` in `start` and everything below it. Follows no link. */
export function walk(root: Root, start: number, name: Name, visitor: Visitor): Steps<void> {
  return new Walk(root, start, visitor).run(name);
}

/** Walks through everything below an open directory, except the directory `except` in it. */
export function walkIn(root: Root, directory: number, except: string, visitor: Visitor): Steps<void> {
  return new Walk(root, directory, visitor).run(null, except);
}

/** Removes a directory and everything below it, as far as possible. */
export function discard(root: Root, start: number, name: Name): Steps<void> {
  return walk(root, start, name, {
    visit: (at, entry) => {
      const code = root.unlink(at, entry);
      return code === -EISDIR || code === -EPERM;
    },
    leave: (at, entry) => root.removeDirectory(at, entry) === -ENOTEMPTY,
    fail: () => {},
  });
}

/** A name below a path, for the globs. Bytes that are not UTF-8 are shown as U+FFFD. */
export const join = (path: string, name: Name): string => {
  if (name === "") return path;
  const text = typeof name === "string" ? name : Buffer.from(name).toString();
  return path === "" ? text : `${path}/${text}`;
};

class Walk {
  readonly #root: Root;
  readonly #trail: Trail;
  readonly #visitor: Visitor;
  readonly #status = new Status();
  readonly #levels: Level[] = [];

  constructor(root: Root, start: number, visitor: Visitor) {
    this.#root = root;
    this.#trail = new Trail(root, start);
    this.#visitor = visitor;
  }

  /** @param name the directory in `start`, or null for `start` itself, whose entry `except` is then skipped. */
  *run(name: Name | null, except?: string): Steps<void> {
    try {
      if (name === null) yield* this.#begin(except);
      else yield* this.#enter(name, "");
      for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
        const next = level.directories.pop();
        if (next === undefined) yield* this.#leave(level);
        else yield* this.#enter(next, join(level.below, next));
      }
    } finally {
      this.#trail.dispose();
    }
  }

  *#enter(name: Name, below: string): Steps<void> {
    for (let tries = 0; ; tries++) {
      const code = this.#trail.descend(name);
      if (code === 0) break;
      if (code === -ENOENT) return;
      // The directory may have become a link by now. Another program may swap the two without end.
      const isOther = code === -ENOTDIR || code === -ELOOP;
      if (!isOther || tries === MOST_TRIES) return this.#visitor.fail(code, below);
      const status = this.#status;
      if (this.#root.statAt(this.#trail.at, name, status) < 0) return;
      if (status.kind !== "directory" && !(yield* this.#visit(name, status.kind, below))) return;
      yield;
    }
    const level: Level = { name, below, directories: [], tries: 0 };
    this.#levels.push(level);
    this.#visitor.check?.(this.#trail);
    this.#visitor.enter?.(this.#trail.at, name, below);
    yield* this.#read(level);
  }

  *#begin(except: string | undefined): Steps<void> {
    const level: Level = { name: "", below: "", directories: [], tries: 0 };
    this.#levels.push(level);
    yield* this.#read(level);
    const wanted = level.directories.filter((name) => name !== except);
    level.directories.splice(0, level.directories.length, ...wanted);
  }

  /** Visits the entries of the current directory and collects the directories among them. */
  *#read({ below, directories }: Level): Steps<void> {
    const status = this.#status;
    const { at } = this.#trail;
    const names: Name[] = [];
    const kinds: (EntryKind | undefined)[] = [];
    for (;;) {
      const count = this.#root.entries(at, (name, kind) => {
        names.push(name);
        kinds.push(kind);
      });
      if (count < 0) return this.#visitor.fail(count, below);
      if (count === 0) return;
      yield;
      for (const [i, name] of names.entries()) {
        if (this.#visitor.skips?.(name) === true) continue;
        let kind = kinds[i];
        if (kind === undefined && this.#root.statAt(at, name, status) === 0) kind = status.kind;
        if (kind === "directory") directories.push(name);
        else if (kind !== undefined && (yield* this.#visit(name, kind, join(below, name)))) directories.push(name);
        yield;
      }
      names.length = 0;
      kinds.length = 0;
    }
  }

  *#visit(name: Name, kind: EntryKind, below: string): Steps<boolean> {
    this.#visitor.check?.(this.#trail);
    const isDirectory = this.#visitor.visit(this.#trail.at, name, kind, below);
    return typeof isDirectory === "boolean" ? isDirectory : yield* isDirectory;
  }

  *#leave(level: Level): Steps<void> {
    if (level.name === "") {
      this.#levels.pop();
      return;
    }
    const code = yield* this.#trail.ascend();
    if (code < 0) return this.#visitor.fail(code, level.below);
    this.#levels.pop();
    this.#visitor.check?.(this.#trail);
    const left = this.#visitor.leave?.(this.#trail.at, level.name, level.below) ?? false;
    const isAgain = typeof left === "boolean" ? left : yield* left;
    yield;
    if (!isAgain) return;
    const next = level.tries === MOST_TRIES ? -ENOTEMPTY : this.#trail.descend(level.name);
    if (next === -ENOENT) return;
    if (next < 0) return this.#visitor.fail(next, level.below);
    level.tries++;
    this.#levels.push(level);
    yield* this.#read(level);
  }
}
