import type { PathRequest, StatReply } from "./protocol";
import type { Workspace } from "./workspace";

/** What a path names. */
export function stat(_workspace: Workspace, _request: PathRequest): StatReply {
  throw new Error("not there yet");
}

/** Whether a path names anything. */
export function exists(_workspace: Workspace, _request: PathRequest): boolean {
  throw new Error("not there yet");
}
