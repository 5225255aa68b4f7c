import type { DeleteRequest } from "./protocol";
import type { Task, Workspace } from "./workspace";

/** Deletes a file or directory. */
export function remove(
  _workspace: Workspace,
  _request: DeleteRequest,
  _task: Task,
): { deleted: number } | Promise<{ deleted: number }> {
  throw new Error("not there yet");
}
