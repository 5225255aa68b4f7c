import type { Timers } from "../../../index";
import type { Written } from "../content";
import { refuse } from "../file-error";
import { shorten } from "../glob";
import type { BeginWriteRequest, WriteReply } from "../requests/changing";
import type { Task, Workspace } from "../workspace";
import { Upload } from "./upload";

/** Most uploads at once. Each keeps a file open. */
const MOST = 64;
/** Most letters of an invalid id that an error repeats. Valid ids have 36. */
const LONGEST_ID = 100;
/** Longest time between two requests of an upload, in milliseconds. */
const LONGEST_IDLE = 5 * 60_000;

/** An upload that accepts no more pieces, in the form of a request for its path. */
export interface ClosedUpload {
  readonly path: string;
  readonly upload: Upload;
}

/** Files written in pieces, up to 64 at once. An upload ends after five minutes without a request. */
export class Uploads {
  readonly #workspace: Workspace;
  readonly #timers: Timers;
  readonly #open = new Map<string, Upload>();
  /** Uploads that are being placed. */
  readonly #closed = new Set<Upload>();

  constructor(workspace: Workspace, timers: Timers) {
    this.#workspace = workspace;
    this.#timers = timers;
  }

  get count(): number {
    return this.#open.size + this.#closed.size;
  }

  begin(request: BeginWriteRequest): { upload: string } {
    const path = this.#workspace.findToChange(request.path);
    if (this.count >= MOST) {
      refuse("too-large", path.given, `${MOST} files are being written in pieces already; finish or abort one first.`);
    }
    const id = crypto.randomUUID(); // An id that cannot be guessed keeps others from writing to this upload.
    const upload = new Upload(this.#workspace, path, request);
    this.#open.set(id, upload);
    this.#watchIdleness(id, upload, LONGEST_IDLE);
    return { upload: id };
  }

  write(request: { upload: string } & Written, task: Task): { size: number } | Promise<{ size: number }> {
    return this.#find(request.upload).write(request, task);
  }

  /** Accepts no more pieces of an upload, which is then ready to finish. */
  close({ upload: id }: { upload: string }): ClosedUpload {
    const upload = this.#find(id);
    this.#forget(id);
    this.#closed.add(upload);
    return { path: upload.path.given, upload };
  }

  finish({ upload }: ClosedUpload): WriteReply | Promise<WriteReply> {
    const end = (): void => void this.#closed.delete(upload);
    let isDone = true;
    try {
      const reply = upload.finish();
      if (!(reply instanceof Promise)) return reply;
      isDone = false;
      return reply.finally(end);
    } finally {
      if (isDone) end();
    }
  }

  abort({ upload: id }: { upload: string }): Record<never, never> {
    const upload = this.#find(id);
    this.#forget(id);
    upload.abandon();
    return {};
  }

  dispose(): void {
    for (const upload of [...this.#open.values(), ...this.#closed]) upload.abandon();
    this.#open.clear();
  }

  #find(id: string): Upload {
    const upload = this.#open.get(id);
    if (upload !== undefined) return upload;
    const advice = "one ends when it is finished or aborted, and when nothing comes for five minutes; begin a new one";
    return refuse("not-found", id.slice(0, LONGEST_ID), `There is no upload ${shorten(id)}: ${advice}.`);
  }

  #forget(id: string): void {
    this.#open.delete(id);
    this.#timers.cancel(timerOf(id));
  }

  #watchIdleness(id: string, upload: Upload, delay: number): void {
    // One timer for all pieces: resetting it for each would cost as much as writing a small one.
    this.#timers.once(timerOf(id), delay, () => {
      const rest = LONGEST_IDLE - upload.idleTime;
      if (rest > 0) return this.#watchIdleness(id, upload, rest);
      this.#open.delete(id);
      upload.abandon();
    });
  }
}

const timerOf = (id: string): string => `upload ${id}`;
