import { constants } from "node:os";
import { leastByteLength, partsOf, type Written } from "../content";
import { differenceOf } from "../difference/difference";
import { Editing } from "../edit/editing";
import { type Content, readWhole } from "../edit/read-whole";
import { EtagOf } from "../etag";
import { refuse, refuseChanged, refuseFor } from "../file-error";
import type { Pace } from "../pace";
import type { Path } from "../path";
import type { Change, Changed } from "../requests/several";
import { lookUp } from "../tree/stat";
import type { Workspace } from "../workspace";
import { expectWritable } from "../write/limits";
import { makeManyParents } from "../write/many-parents";
import { type Condition, NewFile } from "../write/new-file";
import { syncDirectories } from "../write/sync-directories";
import { missingAbove } from "./missing";
import type { Step } from "./step";

const { ENOENT, ETXTBSY } = constants.errno;

export type FileChange = Extract<Change, { kind: "write" | "edit" }>;

/** The new content of a file, and the old content as far as it is known. */
interface Fresh {
  readonly content: Written;
  /** Null if there is no file, undefined if it was not read. */
  readonly before: Content | null | undefined;
  readonly condition: Condition;
  readonly diff: Pick<Changed, "diff">;
}

/** A file to be written or edited. */
export class FileStep implements Step {
  readonly #workspace: Workspace;
  readonly #path: Path;
  readonly #change: FileChange;
  readonly #hasDiff: boolean;
  #file: NewFile | null = null;
  #fresh: Fresh | null = null;
  #size = 0;
  /** The gain in bytes and files found by `try`. */
  #tried = { bytes: 0, files: 0 };
  #isDurable = false;

  constructor(workspace: Workspace, change: FileChange, hasDiff: boolean) {
    this.#workspace = workspace;
    this.#change = change;
    this.#hasDiff = hasDiff;
    this.#path = workspace.findToChange(change.path);
    if (change.kind === "write") expectWritable(workspace, leastByteLength(change), this.given);
  }

  get given(): string {
    return this.#path.given;
  }

  get size(): number {
    return this.#size;
  }

  get more(): number {
    return this.#file?.more ?? this.#tried.bytes;
  }

  get moreFiles(): number {
    return this.#file?.moreFiles ?? this.#tried.files;
  }

  async try(signal: AbortSignal, pace: Pace): Promise<Changed> {
    const { content, before, diff, condition } = await this.#make(signal, true);
    await pace.rest();
    const { root, status } = this.#workspace;
    const code = lookUp(this.#workspace, this.#path);
    const isNew = code === -ENOENT;
    let size = 0;
    if (isNew) this.#expectParents();
    else {
      if (code < 0) refuseFor(code, this.given);
      this.#workspace.expectFile(status, this.given);
      size = status.size;
      await pace.rest();
      const opened = root.open(this.#path.whole, "write");
      if (opened >= 0) root.close(opened);
      else if (opened !== -ETXTBSY) refuseFor(opened, this.given); // A running program can be replaced.
    }
    if (condition.ifMatch !== undefined && before?.etag !== condition.ifMatch) refuseChanged(this.given, before?.etag);
    if (condition.ifMatch === undefined && condition.ifExists === "fail" && !isNew) {
      refuse(
        "exists",
        this.given,
        `${JSON.stringify(this.given)} exists already; read it first, and write with ifMatch.`,
      );
    }
    const etag = new EtagOf();
    for (const part of partsOf(content, this.given)) {
      this.#size += part.length;
      expectWritable(this.#workspace, this.#size, this.given);
      etag.add(part);
      await this.#workspace.pause();
      signal.throwIfAborted();
    }
    this.#tried = { bytes: this.#size - size, files: isNew ? 1 : 0 };
    const { kind } = this.#change;
    return { kind, path: this.given, size: this.#size, etag: etag.end(), created: isNew, ...diff };
  }

  get #makesParents(): boolean {
    return this.#change.kind === "write" && (this.#change.parents ?? true);
  }

  missing(): readonly string[] {
    return this.#makesParents ? missingAbove(this.#workspace, this.#path) : [];
  }

  #expectParents(): void {
    if (this.#makesParents) return;
    this.#workspace.leave(this.#workspace.enter(this.#path, false));
  }

  async stage(signal: AbortSignal): Promise<void> {
    this.#fresh = await this.#make(signal, false);
    if (this.#makesParents) await makeManyParents(this.#workspace, this.#path, { signal });
    const file = new NewFile(this.#workspace, this.#path, this.#makesParents);
    this.#file = file;
    await file.writeSlowly(partsOf(this.#fresh.content, this.given), { signal });
    this.#size = file.size;
  }

  /** Reads the present file as far as needed, and makes the new content. */
  async #make(signal: AbortSignal, isTried: boolean): Promise<Fresh> {
    const change = this.#change;
    if (change.kind === "edit") {
      const { before, after, etag } = await new Editing(this.#workspace, this.#path, change).slowly(signal);
      expectWritable(this.#workspace, after.length, this.given);
      const diff = await this.#differenceOf(before, after, signal);
      return { content: { content: after }, before: { bytes: before, etag }, condition: { ifMatch: etag }, diff };
    }
    const { ifMatch, ifExists } = change;
    if (!this.#hasDiff && !(isTried && ifMatch !== undefined)) {
      return { content: change, before: undefined, condition: { ifMatch, ifExists }, diff: {} };
    }
    const isNew = lookUp(this.#workspace, this.#path) === -ENOENT;
    const before = isNew ? null : await readWhole(this.#workspace, this.#path, signal);
    // The diff is of this file, so this file must be the one replaced.
    const expected = { ifMatch: ifMatch ?? before?.etag, ifExists: isNew ? "fail" : ifExists } as const;
    const condition = this.#hasDiff && ifExists !== "fail" ? expected : { ifMatch, ifExists };
    if (!this.#hasDiff) return { content: change, before, condition, diff: {} };
    const parts: Buffer[] = [];
    let length = 0;
    for (const part of partsOf(change, this.given)) {
      length += part.length;
      expectWritable(this.#workspace, length, this.given);
      parts.push(Buffer.from(part)); // A copy, since the buffer is reused for the next part.
      await this.#workspace.pause();
      signal.throwIfAborted();
    }
    const after = Buffer.concat(parts);
    const diff = await this.#differenceOf(before?.bytes ?? null, after, signal);
    return { content: { content: after }, before, condition, diff };
  }

  async #differenceOf(before: Buffer | null, after: Buffer, signal: AbortSignal): Promise<Pick<Changed, "diff">> {
    if (!this.#hasDiff) return {};
    return { diff: await differenceOf(this.#workspace, { path: this.#path.whole, before, after }, signal) };
  }

  async sync(): Promise<void> {
    this.#isDurable = true;
    await this.#file?.sync();
  }

  get #condition(): Condition {
    return { ...this.#fresh?.condition, durable: this.#isDurable };
  }

  check(): boolean {
    return this.#file?.check(this.#condition) ?? false;
  }

  async prepare(signal: AbortSignal): Promise<void> {
    await this.#file?.prepare(this.#condition, signal);
  }

  place(): boolean {
    return this.#file?.exchange() ?? false;
  }

  undo(): number {
    return this.#file?.undo() ?? 0;
  }

  pause(): void {
    this.#file?.pause();
  }

  keep(): Changed {
    this.#file?.keep();
    return { kind: this.#change.kind, path: this.given, ...this.#file?.reply, ...this.#fresh?.diff };
  }

  syncNames(): Promise<void> {
    return syncDirectories(this.#workspace, this.#path);
  }

  end(): void {
    this.#file?.abandon();
  }
}
