import { constants } from "node:os";
import { refuse, refuseFor } from "./file-error";
import { perform } from "./perform";
import type { EntryKind, Name, Root } from "./root";
import { STAGING } from "./staging";
import type { Steps } from "./steps";
import { Trail } from "./trail";
import type { Task, Workspace } from "./workspace";

const { ENOENT, ENOTDIR, ENOTEMPTY, ELOOP, EACCES } = constants.errno;
/** How often what changes under the walk is looked at again. */
const MOST_TRIES = 16;

/** What is done on the way through a tree. `below` is the path below where the walk began. */
export interface Visitor {
  /** With a directory that was opened, before what is in it. */
  enter?(at: number, below: string): void;
  /** With what is no directory, in the directory `at`; gives whether it is one by now. */
  visit(at: number, name: Name, kind: EntryKind, below: string): boolean | undefined;
  /** With a directory, after all that is in it, in the directory `at`; gives whether to go through it again. */
  leave?(at: number, name: Name, below: string): boolean;
  /** With a directory that cannot be read. */
  fail(code: number, below: string): void;
}

/** A directory on the way. */
interface Level {
  readonly name: Name;
  readonly below: string;
  /** Those in it that are still to be gone into. */
  readonly directories: Name[];
  tries: number;
}

/** Goes through the directory `name`, which is in `start`, and through all that is in it; follows no link. */
export function* walk(workspace: Workspace, start: number, name: Name, visitor: Visitor): Steps<void> {
  yield* new Walk(workspace, start, visitor).run(name);
}

/** Goes through all that is in the root. */
function* walkRoot(workspace: Workspace, visitor: Visitor): Steps<void> {
  const { root } = workspace;
  const top = root.open("", "directory");
  if (top < 0) return refuseFor(top, "");
  try {
    yield* new Walk(workspace, top, visitor).run(null);
  } finally {
    root.close(top);
  }
}

/**
 * Refuses a directory that holds anything which is not served, be it by the name that it has or by one that it would get.
 *
 * @param places the paths of the directory, now and then.
 */
export function* expectServed(
  workspace: Workspace,
  start: number,
  name: Name,
  given: string,
  places: readonly string[],
): Steps<void> {
  const { rules } = workspace;
  if (rules.areOpen) return;
  const refuseAll = (): never =>
    refuse("denied", given, `${JSON.stringify(given)} holds what is not served: the actor's globs close it.`);
  yield* walk(workspace, start, name, {
    enter(_at, below) {
      if (places.some((place) => rules.denies(join(place, below)))) refuseAll();
    },
    visit(_at, _name, _kind, below) {
      return places.every((place) => rules.serves(join(place, below))) ? false : refuseAll();
    },
    fail: (code) => refuseFor(code, given),
  });
}

/** How many bytes all files below the root have, those included that are not served. */
export async function countBytes(workspace: Workspace, task: Task | null): Promise<number> {
  const { root, status } = workspace;
  let bytes = 0;
  const counting = walkRoot(workspace, {
    visit(at, name, kind) {
      if (kind === "file" && root.statAt(at, name, status) === 0) bytes += status.size;
      return false;
    },
    fail(code) {
      if (code !== -EACCES) refuseFor(code, ""); // What may not be read cannot be counted either.
    },
  });
  await perform(workspace, counting, task);
  return bytes;
}

/** A name below a path, for the globs: what is no UTF-8 in it is shown as U+FFFD there. */
const join = (path: string, name: Name): string => {
  if (name === "") return path;
  const text = typeof name === "string" ? name : Buffer.from(name).toString();
  return path === "" ? text : `${path}/${text}`;
};

class Walk {
  readonly #workspace: Workspace;
  readonly #root: Root;
  readonly #trail: Trail;
  readonly #visitor: Visitor;
  readonly #levels: Level[] = [];

  constructor(workspace: Workspace, start: number, visitor: Visitor) {
    this.#workspace = workspace;
    this.#root = workspace.root;
    this.#trail = new Trail(workspace.root, start);
    this.#visitor = visitor;
  }

  /** @param name of the directory in `start`; null for `start` itself, which is then the root. */
  *run(name: Name | null): Steps<void> {
    try {
      if (name === null) yield* this.#enterRoot();
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
      // What was a directory may be a link by now; and a directory again, for whoever swaps them without end.
      const isOther = code === -ENOTDIR || code === -ELOOP;
      if (!isOther || tries === MOST_TRIES) return this.#visitor.fail(code, below);
      const { status } = this.#workspace;
      if (this.#root.statAt(this.#trail.at, name, status) < 0) return;
      if (status.kind !== "directory" && this.#visitor.visit(this.#trail.at, name, status.kind, below) !== true) return;
      yield;
    }
    const level: Level = { name, below, directories: [], tries: 0 };
    this.#levels.push(level);
    this.#visitor.enter?.(this.#trail.at, below);
    yield* this.#read(level);
  }

  *#enterRoot(): Steps<void> {
    const level: Level = { name: "", below: "", directories: [], tries: 0 };
    this.#levels.push(level);
    yield* this.#read(level);
    // Files that are on their way are nobody's yet.
    level.directories.splice(0, level.directories.length, ...level.directories.filter((name) => name !== STAGING));
  }

  /** Visits what is in the directory that the trail has come to, and notes the directories in it. */
  *#read({ below, directories }: Level): Steps<void> {
    const { status } = this.#workspace;
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
        let kind = kinds[i];
        if (kind === undefined && this.#root.statAt(at, name, status) === 0) kind = status.kind;
        if (kind === "directory") directories.push(name);
        else if (kind !== undefined && this.#visitor.visit(at, name, kind, join(below, name)) === true) {
          directories.push(name);
        }
        yield;
      }
      names.length = 0;
      kinds.length = 0;
    }
  }

  *#leave(level: Level): Steps<void> {
    if (level.name === "") {
      this.#levels.pop();
      return;
    }
    const code = yield* this.#trail.ascend();
    if (code < 0) return this.#visitor.fail(code, level.below);
    this.#levels.pop();
    const isAgain = this.#visitor.leave?.(this.#trail.at, level.name, level.below) === true;
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
