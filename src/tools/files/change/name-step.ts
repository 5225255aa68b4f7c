import { constants } from "node:os";
import { differenceOf } from "../difference/difference";
import { readWhole } from "../edit/read-whole";
import { expectSuccess, refuse, refuseChanged } from "../file-error";
import type { Pace } from "../pace";
import { nameOf, type Path, parentOf } from "../path";
import type { Change, Changed } from "../requests/several";
import { openNearest } from "../tree/copy-tree";
import { expectApart, expectFileName, expectRenamed } from "../tree/move";
import { lookUp } from "../tree/stat";
import type { Workspace } from "../workspace";
import { makeManyParents } from "../write/many-parents";
import { besideOf } from "../write/notes";
import { Parent } from "../write/parent";
import type { StagedDirectory } from "../write/staging";
import { syncDirectories } from "../write/sync-directories";
import { Target } from "../write/target";
import { missingAbove } from "./missing";
import type { Step } from "./step";

const { ENOENT, EXDEV } = constants.errno;

export type NameChange = Extract<Change, { kind: "move" | "delete" }>;

/** A file to be moved or deleted. A deleted file is kept in the staging directory until no step can fail any more. */
export class NameStep implements Step {
  readonly #workspace: Workspace;
  readonly #kind: NameChange["kind"];
  readonly #ifMatch: string | undefined;
  readonly #parents: boolean;
  readonly #hasDiff: boolean;
  readonly #from: Path;
  /** Null for a delete. */
  readonly #to: Path | null;
  readonly #target: Target;
  readonly #fromParent: Parent;
  /** Null for a delete. */
  readonly #toParent: Parent | null;
  /** The place of a deleted file until the end. */
  #kept: StagedDirectory | null = null;
  #needsHash = false;
  #needsBeside = false;
  #isPlaced = false;
  #bytes = 0;
  #diff: Pick<Changed, "diff"> = {};
  /** The etag of the content in the diff. */
  #seen: string | undefined;

  constructor(workspace: Workspace, change: NameChange, hasDiff: boolean) {
    this.#workspace = workspace;
    this.#kind = change.kind;
    this.#ifMatch = change.ifMatch;
    this.#hasDiff = hasDiff && change.kind === "delete";
    this.#parents = change.kind === "move" && (change.parents ?? true);
    this.#from = workspace.findToChange(change.kind === "move" ? change.from : change.path);
    this.#to = change.kind === "move" ? workspace.findToChange(change.to) : null;
    if (this.#to !== null) {
      expectApart(this.#from, this.#to, "moved");
      expectFileName(this.#to);
    }
    this.#target = new Target(workspace, this.#from);
    this.#fromParent = new Parent(workspace, this.#from);
    this.#toParent = this.#to === null ? null : new Parent(workspace, this.#to);
  }

  get given(): string {
    return this.#from.given;
  }

  get size(): number {
    return 0;
  }

  get more(): number {
    return this.#to === null ? -this.#bytes : 0;
  }

  get moreFiles(): number {
    return this.#to === null ? -1 : 0;
  }

  get #changed(): Changed {
    return { kind: this.#kind, path: (this.#to ?? this.#from).given, ...this.#diff };
  }

  async try(signal: AbortSignal, pace: Pace): Promise<Changed> {
    try {
      await this.#open(signal);
      await pace.rest();
      if (this.#to !== null) {
        this.#expectFree(this.#to, lookUp(this.#workspace, this.#to));
        if (!this.#parents) this.#workspace.leave(this.#workspace.enter(this.#to, false));
        await pace.rest();
      }
      this.pause();
      if (!this.#look()) {
        await this.#target.hash(signal);
        this.pause();
        if (!this.#look()) refuseChanged(this.given);
      }
      if (this.#to !== null) this.#expectSameDevice(this.#to);
    } finally {
      this.#leave();
    }
    return this.#changed;
  }

  missing(): readonly string[] {
    return this.#to !== null && this.#parents ? missingAbove(this.#workspace, this.#to) : [];
  }

  /** Refuses a new name on another file system than the file. */
  #expectSameDevice(to: Path): void {
    const { root, status } = this.#workspace;
    expectSuccess(root.statAt(this.#fromParent.at, nameOf(this.#from), status), this.given);
    const { device } = status;
    const nearest = openNearest(root, to.base === 0 ? "" : parentOf(to));
    const code = nearest < 0 ? nearest : root.stat(nearest, status);
    if (nearest >= 0) this.#workspace.leave(nearest);
    expectSuccess(code, to.given);
    if (status.device !== device) expectRenamed(-EXDEV, this.#from, to);
  }

  async stage(signal: AbortSignal): Promise<void> {
    await this.#open(signal);
    if (this.#to !== null && this.#parents) await makeManyParents(this.#workspace, this.#to, { signal });
  }

  async #open(signal: AbortSignal): Promise<void> {
    this.#fromParent.enter(false);
    if (!this.#hasDiff) return;
    const { bytes, etag } = await readWhole(this.#workspace, this.#from, signal);
    this.#seen = etag;
    const versions = { path: this.#from.whole, before: bytes, after: null };
    this.#diff = { diff: await differenceOf(this.#workspace, versions, signal) };
  }

  async sync(): Promise<void> {}

  /** Checks the file of the old name. False if it must be hashed first. */
  #look(): boolean {
    const { root, status } = this.#workspace;
    const at = this.#fromParent.enter(false);
    expectSuccess(root.statAt(at, nameOf(this.#from), status), this.given);
    this.#workspace.expectFile(status, this.given);
    this.#bytes = status.size;
    const expected = this.#ifMatch ?? this.#seen;
    if (expected === undefined) return true;
    const etag = this.#target.etagIn(at, expected);
    if (etag === null) return false;
    if (etag !== expected) refuseChanged(this.given, etag);
    return true;
  }

  check(): boolean {
    const { root, status, staging } = this.#workspace;
    this.#needsHash = !this.#look();
    if (this.#needsHash) return false;
    if (this.#to === null || this.#toParent === null) {
      if (this.#kept === null && !this.#needsBeside) this.#kept = staging.reserve(this.given);
      return true;
    }
    const at = this.#toParent.enter(this.#parents);
    this.#expectFree(this.#to, root.statAt(at, nameOf(this.#to), status));
    return true;
  }

  /** Refuses a new name that exists. `code` and the workspace's status are those of the name. */
  #expectFree({ given }: Path, code: number): void {
    if (code === -ENOENT) return;
    expectSuccess(code, given);
    const { status } = this.#workspace;
    if (status.kind === "link" || status.kind === "other") this.#workspace.expectFile(status, given);
    refuse("exists", given, `${JSON.stringify(given)} exists already; choose another name, or write this one.`);
  }

  async prepare(signal: AbortSignal): Promise<void> {
    if (this.#needsHash) await this.#target.hash(signal);
    if (this.#needsBeside && this.#kept === null) this.#keepBeside();
  }

  place(): boolean {
    const { root } = this.#workspace;
    const name = nameOf(this.#from);
    const { at: fromAt } = this.#fromParent;
    if (this.#to !== null && this.#toParent !== null) {
      expectRenamed(root.rename(fromAt, name, this.#toParent.at, nameOf(this.#to), false), this.#from, this.#to);
      return true;
    }
    const kept = this.#kept;
    if (kept === null) return false;
    const at = kept.id === undefined ? kept.at : fromAt;
    const code = root.rename(fromAt, name, at, kept.name, false);
    if (code === -EXDEV && kept.id === undefined) {
      // The staging directory is on another file system, so the file is kept beside its name.
      this.#workspace.staging.endDirectory();
      this.#kept = null;
      this.#needsBeside = true;
      return false;
    }
    expectSuccess(code, this.given);
    this.#isPlaced = true;
    return true;
  }

  #keepBeside(): void {
    const id = this.#workspace.staging.note(parentOf(this.#from), this.given);
    this.#kept = { at: -1, name: besideOf(id), id };
  }

  undo(): number {
    const { root } = this.#workspace;
    const name = nameOf(this.#from);
    this.#isPlaced = false;
    const { at } = this.#fromParent;
    if (this.#to !== null && this.#toParent !== null) {
      return root.rename(this.#toParent.at, nameOf(this.#to), at, name, false);
    }
    const kept = this.#kept;
    if (kept === null) return 0;
    return root.rename(kept.id === undefined ? kept.at : at, kept.name, at, name, false);
  }

  pause(): void {
    this.#fromParent.pause();
    this.#toParent?.pause();
  }

  #leave(): void {
    this.#fromParent.close();
    this.#toParent?.close();
  }

  keep(): Changed {
    this.#endKept();
    return this.#changed;
  }

  /** Removes the kept file, if there is one, and ends its place. */
  #endKept(): void {
    const kept = this.#kept;
    if (kept === null) return;
    const { root, staging } = this.#workspace;
    if (this.#isPlaced && kept.id === undefined) staging.removeKept(kept);
    else if (this.#isPlaced) root.unlink(this.#fromParent.at, kept.name);
    staging.endDirectory(kept);
    this.#kept = null;
  }

  async syncNames(): Promise<void> {
    await syncDirectories(this.#workspace, this.#from);
    if (this.#to !== null) await syncDirectories(this.#workspace, this.#to);
  }

  end(): void {
    this.#endKept();
    this.#leave();
  }
}
