import type { Written } from "./content";
import type { BeginWriteRequest, WriteReply } from "./protocol";
import type { Task, Workspace } from "./workspace";

/** Files that are written in pieces. */
export class Uploads {
  constructor(readonly workspace: Workspace) {}

  get count(): number {
    return 0;
  }

  begin(_request: BeginWriteRequest): { upload: string } {
    throw new Error("not there yet");
  }

  write(_request: { upload: string } & Written, _task: Task): { size: number } | Promise<{ size: number }> {
    throw new Error("not there yet");
  }

  finish(_request: { upload: string }): WriteReply | Promise<WriteReply> {
    throw new Error("not there yet");
  }

  abort(_request: { upload: string }): Record<never, never> {
    throw new Error("not there yet");
  }

  dispose(): void {}
}
