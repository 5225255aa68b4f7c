import type { MoveRequest } from "./protocol";
import type { Task, Workspace } from "./workspace";

/** Moves a file or directory. */
export function move(
  _workspace: Workspace,
  _request: MoveRequest,
  _task: Task,
): Record<never, never> | Promise<Record<never, never>> {
  throw new Error("not there yet");
}
