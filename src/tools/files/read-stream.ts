import type { ReadStreamRequest } from "./protocol";
import type { Task, Workspace } from "./workspace";

/** Reads a file of any size. */
export function readStream(
  _workspace: Workspace,
  _request: ReadStreamRequest,
  _task: Task,
): AsyncGenerator<string | Uint8Array> {
  throw new Error("not there yet");
}
