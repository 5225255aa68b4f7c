import type { EditRequest, WriteReply } from "./protocol";
import type { Task, Workspace } from "./workspace";

/** Replaces texts in a file. */
export function edit(_workspace: Workspace, _request: EditRequest, _task: Task): WriteReply | Promise<WriteReply> {
  throw new Error("not there yet");
}
