import { constants } from "node:os";
import { refuse, refuseFor } from "../file-error";
import { type Path, parentOf } from "../path";
import { perform } from "../perform";
import { leadsTo } from "../root/leads-to";
import type { Steps } from "../steps";
import type { Task, Workspace } from "../workspace";

const { ENOENT, EEXIST } = constants.errno;

/**
 * Letters of a path whose missing directories are made at once: 50 of them, each in some 10 µs. 500 took 12 to 60 ms,
 * and 2,000, the most that a path can name, 170.
 */
const SHORT = 100;

/** Makes the missing directories above a path if they may be many, with pauses. Otherwise the work itself makes them. */
export function makeManyParents(workspace: Workspace, path: Path, task: Task): void | Promise<void> {
  if (path.base <= SHORT) return undefined;
  const { root } = workspace;
  if (root.resolution !== "proc-fd") {
    const at = root.open(parentOf(path), "place");
    if (at >= 0) workspace.leave(at);
    if (at !== -ENOENT) return undefined; // Any other error is for the work to tell.
  }
  return perform(workspace, making(workspace, path), task);
}

/**
 * For work that may make directories.
 *
 * @param pathOf gives the path above which they are made. Empty if none are.
 */
export function withManyParents<Request, Value>(
  workspace: Workspace,
  task: Task,
  pathOf: (request: NoInfer<Request>) => string,
  work: (request: Request) => Value | Promise<Value>,
): (request: Request) => Value | Promise<Value> {
  return (request) => {
    const given = pathOf(request);
    if (given.length <= SHORT) return work(request);
    const { signal } = task;
    const made = makeManyParents(workspace, workspace.findToChange(given, "any"), { signal });
    if (made === undefined) return work(request);
    return made.then(() => {
      signal.throwIfAborted();
      return work(request);
    });
  };
}

function* making(workspace: Workspace, path: Path): Steps<void> {
  const { root } = workspace;
  const { given } = path;
  let { turn } = workspace;
  let at = root.top;
  let above = "";
  try {
    for (const name of parentOf(path).split("/")) {
      if (turn !== workspace.turn) {
        turn = workspace.turn;
        // The rules were checked for the path, so nothing is made where others have moved the directory to.
        if (!root.isInPlace(above, at) && !leadsTo(root, above, at)) {
          refuse("changed", given, `A directory above ${JSON.stringify(given)} was moved meanwhile; ask again.`);
        }
      }
      let next = root.openAt(at, name, "place");
      if (next === -ENOENT) {
        const code = workspace.makeOne(at, name, given);
        next = code < 0 && code !== -EEXIST ? code : root.openAt(at, name, "place");
      }
      if (next < 0) refuseFor(next, given);
      workspace.leave(at);
      at = next;
      above += above === "" ? name : `/${name}`;
      yield;
    }
  } finally {
    workspace.leave(at);
  }
}
