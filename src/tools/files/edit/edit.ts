import { constants } from "node:os";
import { partsOf } from "../content";
import { differenceOf } from "../difference/difference";
import { EtagOf, PIECE } from "../etag";
import { FileRefusal, refuseFor } from "../file-error";
import type { Path } from "../path";
import type { EditReply, EditRequest } from "../requests/editing";
import type { Task, Workspace } from "../workspace";
import { expectWritable } from "../write/limits";
import { NewFile } from "../write/new-file";
import { type Edited, Editing } from "./editing";

const { ETXTBSY } = constants.errno;
/** Most times an edit starts over because others changed the file. Each time, another writer made progress. */
const MOST_TRIES = 100;

/**
 * Replaces texts and lines in a file, all of them or none. The file is replaced only if it is still the one that was
 * read. If others changed it, the edits are repeated on the new content, except with `ifMatch`. Edits that change
 * nothing write nothing.
 */
export function edit(workspace: Workspace, request: EditRequest, task: Task): EditReply | Promise<EditReply> {
  const path = workspace.findToChange(request.path);
  const work = new Edit(workspace, path, request);
  return work.atOnce() ?? work.slowly(task);
}

class Edit {
  readonly #workspace: Workspace;
  readonly #path: Path;
  readonly #request: EditRequest;
  readonly #editing: Editing;

  constructor(workspace: Workspace, path: Path, request: EditRequest) {
    this.#workspace = workspace;
    this.#path = path;
    this.#request = request;
    this.#editing = new Editing(workspace, path, request);
  }

  /** Edits a small file that no other request is changing. Otherwise does nothing and returns undefined. */
  atOnce(): EditReply | undefined {
    const { durable, dryRun, diff } = this.#request;
    if (durable === true || dryRun === true || diff === true) return undefined;
    const edited = this.#editing.atOnce();
    if (edited === undefined || edited.after.length > PIECE) return undefined;
    const done = this.#unchanged(edited);
    if (done !== undefined) return done;
    const { after, etag } = edited;
    const file = this.#begin(after);
    try {
      file.writeAtOnce(after);
      const reply = file.commitNow({ ifMatch: etag });
      if (reply !== null) return reply;
    } catch (thrown) {
      if (!this.#mayTryAgain(thrown)) {
        file.abandon();
        throw thrown;
      }
    }
    file.abandon();
    return undefined;
  }

  async slowly({ signal }: Task): Promise<EditReply> {
    for (let tries = 1; ; tries++) {
      signal.throwIfAborted();
      const edited = await this.#editing.slowly(signal);
      const diff = await this.#differenceOf(edited, signal);
      if (this.#request.dryRun === true) return { ...(await this.#wouldBe(edited, signal)), ...diff };
      const done = this.#unchanged(edited);
      if (done !== undefined) return { ...done, ...diff };
      const { after, etag } = edited;
      const file = this.#begin(after);
      try {
        if (after.length > PIECE) await file.writeSlowly(partsOf({ content: after }, this.#path.given), { signal });
        else file.writeAtOnce(after);
        const reply = await file.commit({ ifMatch: etag, durable: this.#request.durable }, signal);
        return { ...reply, ...diff };
      } catch (thrown) {
        file.abandon();
        if (tries === MOST_TRIES || !this.#mayTryAgain(thrown)) throw thrown;
      }
      await this.#workspace.pause();
    }
  }

  /** The diff for the reply, if requested. It is made before the change, so that it cannot fail afterwards. */
  async #differenceOf({ before, after }: Edited, signal: AbortSignal): Promise<Pick<EditReply, "diff">> {
    if (this.#request.diff !== true) return {};
    return { diff: await differenceOf(this.#workspace, { path: this.#path.whole, before, after }, signal) };
  }

  /** The reply for a dry run, after all checks that need no change. */
  async #wouldBe({ before, after }: Edited, signal: AbortSignal): Promise<EditReply> {
    const { quota, root } = this.#workspace;
    const { given, whole } = this.#path;
    expectWritable(this.#workspace, after.length, given);
    const opened = root.open(whole, "write");
    if (opened >= 0) root.close(opened);
    else if (opened !== -ETXTBSY) refuseFor(opened, given); // A running program can be replaced, but not written into.
    const more = after.length - before.length;
    await quota?.countFor(more);
    quota?.admit(more, given);
    const etag = new EtagOf();
    for (let at = 0; at < after.length; at += PIECE) {
      etag.add(after.subarray(at, at + PIECE));
      await this.#workspace.pause();
      signal.throwIfAborted();
    }
    return { size: after.length, etag: etag.end(), created: false };
  }

  #begin(text: Buffer): NewFile {
    expectWritable(this.#workspace, text.length, this.#path.given);
    return new NewFile(this.#workspace, this.#path, false);
  }

  #unchanged({ before, after, etag }: Edited): EditReply | undefined {
    if (this.#request.durable === true || !before.equals(after)) return undefined;
    return { size: before.length, etag, created: false };
  }

  #mayTryAgain(thrown: unknown): boolean {
    return this.#request.ifMatch === undefined && thrown instanceof FileRefusal && thrown.error.kind === "changed";
  }
}
