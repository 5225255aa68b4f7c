import { isUtf8 } from "node:buffer";
import { partsOf } from "../content";
import { EtagOf, etagOf, PIECE } from "../etag";
import { FileRefusal, refuse, refuseChanged, refuseFor } from "../file-error";
import { isText } from "../is-text";
import type { Path } from "../path";
import type { EditRequest, WriteReply } from "../requests/changing";
import { finishAtOnce, finishSlowly, type Steps } from "../steps";
import type { Task, Workspace } from "../workspace";
import { expectWritable } from "../write/limits";
import { NewFile } from "../write/new-file";
import { type Misfit, type Replacement, replaceAll } from "./match";
import { lineAt, nearest } from "./nearest";

/** How often an edit begins again because others changed the file meanwhile. Each time somebody else's work was done. */
const MOST_TRIES = 100;
/** Most places that are told of a text that occurs often. */
const MOST_PLACES = 20;
const LF = 10;

/**
 * Replaces texts in a file: all of them, or none. The file is exchanged only if it is still the one that was read; without
 * `ifMatch` the edits are made anew in what others made of it meanwhile. Edits that leave it as it is write nothing.
 */
export function edit(workspace: Workspace, request: EditRequest, task: Task): WriteReply | Promise<WriteReply> {
  const path = workspace.findToChange(request.path);
  const work = new Edit(workspace, path, request);
  return work.atOnce() ?? work.slowly(task);
}

interface Content {
  readonly bytes: Buffer;
  readonly etag: string;
}

class Edit {
  readonly #workspace: Workspace;
  readonly #path: Path;
  readonly #request: EditRequest;
  readonly #replacements: readonly Replacement[];

  constructor(workspace: Workspace, path: Path, request: EditRequest) {
    this.#workspace = workspace;
    this.#path = path;
    this.#request = request;
    expectEditable(workspace, request, path.given);
    this.#replacements = replacementsOf(request, path.given);
  }

  /** Edits a small file that nobody else is about to change; undefined, and nothing done, where that is not so. */
  atOnce(): WriteReply | undefined {
    const { root, scratch, status } = this.#workspace;
    const { durable } = this.#request;
    const opened = this.#open();
    if (status.size >= PIECE || durable === true) {
      root.close(opened);
      return undefined;
    }
    const length = root.read(opened, scratch, PIECE, 0);
    root.close(opened);
    if (length < 0) return refuseFor(length, this.#path.given);
    const bytes = scratch.subarray(0, length);
    if (!isUtf8(bytes)) return this.#refuseBytes();
    const etag = etagOf(bytes);
    this.#expectMatch(etag);
    const edited = finishAtOnce(replaceAll(bytes, this.#replacements, MOST_PLACES));
    if (edited === undefined || "places" in edited || edited.text.length > PIECE) return undefined;
    const done = this.#unchanged(bytes, edited.text, etag);
    if (done !== undefined) return done;
    const file = this.#begin(edited.text);
    try {
      file.writeAtOnce(edited.text);
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

  async slowly({ signal }: Task): Promise<WriteReply> {
    for (let tries = 1; ; tries++) {
      signal.throwIfAborted();
      const { bytes, etag } = await this.#read(signal);
      this.#expectMatch(etag);
      const edited = await this.#finish(replaceAll(bytes, this.#replacements, MOST_PLACES), signal);
      if ("places" in edited) return this.#refuseMisfit(edited, signal);
      const done = this.#unchanged(bytes, edited.text, etag);
      if (done !== undefined) return done;
      const file = this.#begin(edited.text);
      try {
        if (edited.text.length > PIECE)
          await file.writeSlowly(partsOf({ content: edited.text }, this.#path.given), { signal });
        else file.writeAtOnce(edited.text);
        return await file.commit({ ifMatch: etag, durable: this.#request.durable }, signal);
      } catch (thrown) {
        file.abandon();
        if (tries === MOST_TRIES || !this.#mayTryAgain(thrown)) throw thrown;
      }
      await this.#workspace.pause();
    }
  }

  /** Opens the file, with `status` filled. */
  #open(): number {
    const { whole, given } = this.#path;
    const file = this.#workspace.openFile(whole, given, "read");
    const { size } = this.#workspace.status;
    const most = this.#workspace.limits.maxReadBytes;
    if (size <= most) return file;
    this.#workspace.root.close(file);
    const shown = JSON.stringify(given);
    return refuse("too-large", given, `${shown} has ${size} bytes, and a file of at most ${most} is edited.`);
  }

  async #read(signal: AbortSignal): Promise<Content> {
    const { root, status } = this.#workspace;
    const file = this.#open();
    try {
      const bytes = Buffer.allocUnsafeSlow(status.size);
      const etag = new EtagOf();
      let length = 0;
      while (length < bytes.length) {
        const part = bytes.subarray(length, length + PIECE);
        const count = root.read(file, part, part.length, length);
        if (count < 0) return refuseFor(count, this.#path.given);
        if (count === 0) break; // It was cut meanwhile.
        etag.add(part.subarray(0, count));
        length += count;
        if (length < bytes.length) await this.#workspace.pause();
        signal.throwIfAborted();
      }
      const content = bytes.subarray(0, length);
      if (!(await this.#finish(isText(content), signal))) return this.#refuseBytes();
      return { bytes: content, etag: etag.end() };
    } finally {
      root.close(file);
    }
  }

  #finish<Value>(steps: Steps<Value>, signal: AbortSignal): Promise<Value> {
    return finishSlowly(steps, this.#workspace, signal);
  }

  #begin(text: Buffer): NewFile {
    expectWritable(this.#workspace, text.length, this.#path.given);
    return new NewFile(this.#workspace, this.#path, false);
  }

  #unchanged(before: Buffer, after: Buffer, etag: string): WriteReply | undefined {
    if (this.#request.durable === true || !before.equals(after)) return undefined;
    return { size: before.length, etag, created: false };
  }

  #expectMatch(etag: string): void {
    const { ifMatch } = this.#request;
    if (ifMatch !== undefined && ifMatch !== etag) refuseChanged(this.#path.given, etag);
  }

  #mayTryAgain(thrown: unknown): boolean {
    return this.#request.ifMatch === undefined && thrown instanceof FileRefusal && thrown.error.kind === "changed";
  }

  #refuseBytes(): never {
    const { given } = this.#path;
    return refuse("not-text", given, `${JSON.stringify(given)} is not UTF-8 text; only text is edited.`);
  }

  async #refuseMisfit({ index, text, places }: Misfit, signal: AbortSignal): Promise<never> {
    const { given } = this.#path;
    const count = this.#request.edits.length;
    const which =
      count === 1 ? "The edit was not made" : `Edit ${index + 1} of ${count} does not fit, and none was made`;
    const after = index === 0 ? "" : " (as the edits before it left the text)";
    const shown = JSON.stringify(given);
    if (places.length > 0) {
      const lines = await this.#finish(linesOf(text, places), signal);
      const often = places.length === MOST_PLACES ? `${MOST_PLACES} times or more` : `${places.length} times`;
      return refuse(
        "ambiguous-match",
        given,
        `${which}: its oldText occurs ${often} in ${shown}, at line ${lines.map(({ line }) => line).join(", ")}${after}; make it longer, so that it occurs once.`,
        { lines },
      );
    }
    const oldText = this.#request.edits[index]?.oldText ?? "";
    const found = await this.#finish(nearest(text, oldText), signal);
    const [first] = found?.lines ?? [];
    if (found === null || first === undefined) {
      return refuse(
        "no-match",
        given,
        `${which}: its oldText does not occur in ${shown}${after}, and no line is like it; read the file again.`,
      );
    }
    const where = first.line < found.to ? `lines ${first.line} to ${found.to} are` : `line ${first.line} is`;
    const how = found.isAllButSpaces ? "the same but for spaces" : "the nearest";
    return refuse(
      "no-match",
      given,
      `${which}: its oldText does not occur in ${shown}; ${where} ${how}${after}. Write oldText exactly as it is there.`,
      { lines: found.lines },
    );
  }
}

/** Refuses texts by their length, before anything is made of them: one that no file can have, or that may not be written. */
function expectEditable(workspace: Workspace, { edits }: EditRequest, given: string): void {
  const { maxReadBytes } = workspace.limits;
  let newBytes = 0;
  for (const [index, { oldText, newText }] of edits.entries()) {
    newBytes += newText.length; // At least.
    if (oldText.length <= maxReadBytes) continue;
    const which = `Edit ${index + 1} of ${edits.length}`;
    const shown = JSON.stringify(given);
    refuse(
      "too-large",
      given,
      `${which} of ${shown} looks for ${oldText.length} letters; a file of at most ${maxReadBytes} bytes is edited.`,
    );
  }
  expectWritable(workspace, newBytes, given);
}

function replacementsOf({ edits }: EditRequest, given: string): Replacement[] {
  return edits.map(({ oldText, newText }, index) => {
    const which = `Edit ${index + 1} of ${edits.length}`;
    if (!oldText.isWellFormed() || !newText.isWellFormed()) {
      return refuse("not-text", given, `${which} has half of a surrogate pair; a file has only whole letters.`);
    }
    return { oldText, newText };
  });
}

/** The lines in which places begin, each once. */
function* linesOf(text: Buffer, places: Misfit["places"]): Steps<{ line: number; text: string }[]> {
  const lines: { line: number; text: string }[] = [];
  let line = 1;
  let lineStart = 0;
  let passed = 0;
  for (const { start } of places) {
    for (let at = text.indexOf(LF, lineStart); at >= 0 && at < start; at = text.indexOf(LF, lineStart)) {
      line++;
      lineStart = at + 1;
      if (++passed % 4_096 === 0) yield;
    }
    yield; // Its line may be long.
    if (lines.at(-1)?.line !== line) lines.push(lineAt(text, lineStart, line));
  }
  return lines;
}
