import { constants } from "node:os";
import { expectSuccess, refuse, refuseFor } from "../file-error";
import { nameOf } from "../path";
import type { MakeDirectoryRequest } from "../requests/changing";
import type { Workspace } from "../workspace";

const { EEXIST, ELOOP } = constants.errno;

/** Makes a directory, and the missing ones above it. */
export function makeDirectory(workspace: Workspace, request: MakeDirectoryRequest): { created: boolean } {
  const path = workspace.findToChange(request.path, "any");
  if (path.whole === "") return { created: false };
  const { root, status } = workspace;
  const at = workspace.enter(path, request.parents ?? true);
  try {
    const code = workspace.makeOne(at, nameOf(path), path.given);
    if (code === 0) return { created: true };
    if (code !== -EEXIST) return refuseFor(code, path.given);
    expectSuccess(root.statAt(at, nameOf(path), status), path.given);
    if (status.kind === "directory") return { created: false };
    if (status.kind === "link") return refuseFor(ELOOP, path.given);
    return refuse("exists", path.given, `${JSON.stringify(path.given)} exists already, and is no directory.`);
  } finally {
    workspace.leave(at);
  }
}
