import { constants } from "node:os";
import { refuse, refuseFor } from "../file-error";
import { type Path, parentOf } from "../path";
import { perform } from "../perform";
import type { Name } from "../root/root";
import type { Trail } from "../root/trail";
import { join, walk, walkIn } from "../root/walk";
import type { Steps } from "../steps";
import type { Task, Workspace } from "../workspace";
import { isBesideName } from "../write/notes";
import { STAGING } from "../write/staging";
import type { Amount } from "../write/usage";

const { EACCES } = constants.errno;

/**
 * Refuses a directory that contains anything not served, under its present path or its new one.
 *
 * @param places the present and the future path of the directory.
 */
export function* expectServed(
  workspace: Workspace,
  start: number,
  name: Name,
  given: string,
  places: readonly string[],
): Steps<void> {
  if (workspace.rules.areOpen) return;
  yield* walk(workspace.root, start, name, {
    enter: (_at, _name, below) => expectServedBelow(workspace, below, true, given, places),
    visit(_at, _name, _kind, below) {
      expectServedBelow(workspace, below, false, given, places);
      return false;
    },
    fail: (code) => refuseFor(code, given),
  });
}

/** Refuses the directory for one entry in it. */
export function expectServedBelow(
  { rules }: Workspace,
  below: string,
  isDirectory: boolean,
  given: string,
  places: readonly string[],
): void {
  if (rules.areOpen) return;
  const isServed = (whole: string): boolean => (isDirectory ? !rules.denies(whole) : rules.serves(whole));
  if (places.every((place) => isServed(join(place, below)))) return;
  refuse("denied", given, `${JSON.stringify(given)} holds what is not served: the actor's globs close it.`);
}

/**
 * Makes the check for a walk that reads or changes entries. The check ends the walk if its directory was moved during a
 * pause, since the rules were checked for the old path.
 */
export function placeCheck(workspace: Workspace, path: Path): (trail: Trail) => void {
  let { turn } = workspace;
  return (trail) => {
    if (workspace.turn === turn) return;
    turn = workspace.turn;
    if (trail.isInPlace(parentOf(path), !workspace.rules.areOpen)) return;
    const { given } = path;
    refuse(
      "changed",
      given,
      `${JSON.stringify(given)} was moved or replaced meanwhile; see what is there, and ask again.`,
    );
  };
}

/** Counts all bytes below the root, and all files and directories, including those that are not served. */
export async function countAll(workspace: Workspace, task: Task | null): Promise<Amount> {
  const { root, status } = workspace;
  let bytes = 0;
  let files = 0;
  const top = root.open("", "directory");
  if (top < 0) return refuseFor(top, "");
  // Unplaced files are not counted.
  const counting = walkIn(root, top, STAGING, {
    skips: isBesideName,
    enter() {
      files++;
    },
    visit(at, name, kind) {
      if (kind === "file" && root.statAt(at, name, status) === 0) {
        bytes += status.size;
        files++;
      }
      return false;
    },
    fail(code) {
      if (code !== -EACCES) refuseFor(code, ""); // Unreadable directories cannot be counted.
    },
  });
  try {
    await perform(workspace, counting, task);
  } finally {
    root.close(top);
  }
  return { bytes, files };
}
