import { constants } from "node:os";
import { refuseFor } from "../file-error";
import { nameOf, type Path, parentOf } from "../path";
import type { PathRequest, StatReply } from "../requests/reading";
import type { Workspace } from "../workspace";

const { ENOENT, ENOTDIR, ELOOP } = constants.errno;

/** The status of a path. A link is not followed. */
export function stat(workspace: Workspace, request: PathRequest): StatReply {
  const path = workspace.find(request.path);
  const code = lookUpServed(workspace, path);
  if (code < 0) return refuseFor(code, path.given);
  const { kind, size, modified, mode } = workspace.status;
  return { kind, size: kind === "file" ? size : 0, modified, mode };
}

/** True if the path exists, be it as a link. */
export function exists(workspace: Workspace, request: PathRequest): boolean {
  const path = workspace.find(request.path);
  const code = lookUpServed(workspace, path);
  if (code === -ENOENT || code === -ENOTDIR) return false;
  return code < 0 ? refuseFor(code, path.given) : true;
}

function lookUpServed(workspace: Workspace, path: Path): number {
  const code = lookUp(workspace, path);
  // With `allow`, a missing file gets the same answer as a closed one.
  if (code === 0 && workspace.status.kind === "directory") return code;
  return workspace.rules.serves(path.whole) ? code : workspace.refuseClosed(path.given);
}

/** Fills the workspace's status for a path, served or not. Returns 0 or a negated errno. */
export function lookUp(workspace: Workspace, path: Path): number {
  const { root, status } = workspace;
  if (path.whole === "") return root.stat(root.top, status);
  const at = path.base === 0 ? root.top : root.open(parentOf(path), "place");
  const code = at < 0 ? at : root.statAt(at, nameOf(path), status);
  if (at >= 0) workspace.leave(at);
  if (code < 0 || status.kind === "directory" || !path.isDirectory) return code;
  return status.kind === "link" ? -ELOOP : -ENOTDIR; // The path ends in a slash.
}
