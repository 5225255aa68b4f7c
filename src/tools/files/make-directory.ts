import type { MakeDirectoryRequest } from "./protocol";
import type { Workspace } from "./workspace";

/** Makes a directory. */
export function makeDirectory(_workspace: Workspace, _request: MakeDirectoryRequest): { created: boolean } {
  throw new Error("not there yet");
}
