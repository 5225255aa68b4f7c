import type { SearchItem, SearchRequest } from "./protocol";
import type { Task, Workspace } from "./workspace";

/** Searches files. */
export function search(_workspace: Workspace, _request: SearchRequest, _task: Task): AsyncGenerator<SearchItem> {
  throw new Error("not there yet");
}
