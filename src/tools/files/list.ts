import type { ListReply, ListRequest } from "./protocol";
import type { Task, Workspace } from "./workspace";

/** Lists a directory. */
export function list(_workspace: Workspace, _request: ListRequest, _task: Task): ListReply | Promise<ListReply> {
  throw new Error("not there yet");
}
