import type { CopyReply, MoveRequest } from "./protocol";
import type { Task, Workspace } from "./workspace";

/** Copies a file or directory. */
export function copy(_workspace: Workspace, _request: MoveRequest, _task: Task): CopyReply | Promise<CopyReply> {
  throw new Error("not there yet");
}
