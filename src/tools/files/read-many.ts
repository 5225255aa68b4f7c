import { FileRefusal } from "./file-error";
import { Pace } from "./pace";
import { type Budget, read } from "./read";
import type { ReadManyReply, ReadManyRequest } from "./requests/reading";
import type { Task, Workspace } from "./workspace";

/** Most bytes read between two pauses, and the fixed cost of a file in the same unit. */
const BETWEEN_PAUSES = 1024 * 1024;
const FILE = 16 * 1024;

/** Reads files one after the other, each with its own outcome. `maxReadBytes` bounds the total. */
export async function readMany(workspace: Workspace, { reads }: ReadManyRequest, task: Task): Promise<ReadManyReply> {
  const replies: ReadManyReply = [];
  const budget: Budget = { left: workspace.limits.maxReadBytes };
  const pace = new Pace(workspace, BETWEEN_PAUSES);
  for (const request of reads) {
    const { left } = budget;
    try {
      replies.push({ ok: true, value: await read(workspace, request, task, budget) });
    } catch (thrown) {
      if (!(thrown instanceof FileRefusal)) throw thrown;
      const { error } = thrown;
      if (error.kind === "not-found" && workspace.isGone) throw thrown; // The root is gone, so no file can be read.
      replies.push({ ok: false, error });
    }
    if (pace.spend(FILE + left - budget.left)) await pace.pause();
    task.signal.throwIfAborted();
  }
  return replies;
}
