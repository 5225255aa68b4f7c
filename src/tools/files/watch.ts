import type { WatchItem, WatchRequest } from "./protocol";
import type { Task, Workspace } from "./workspace";

/** Watches a directory. */
export function watch(_workspace: Workspace, _request: WatchRequest, _task: Task): AsyncGenerator<WatchItem> {
  throw new Error("not there yet");
}
