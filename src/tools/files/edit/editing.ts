import { isUtf8 } from "node:buffer";
import { etagOf, PIECE } from "../etag";
import { refuse, refuseChanged, refuseFor } from "../file-error";
import { isText } from "../is-text";
import type { Path } from "../path";
import type { EditRequest } from "../requests/editing";
import { finishAtOnce, finishSlowly, type Steps } from "../steps";
import type { Workspace } from "../workspace";
import { expectWritable } from "../write/limits";
import { type Misfit, type Replacement, replaceTexts } from "./match";
import { lineAt, nearest } from "./nearest";
import { type Range, replaceRanges } from "./ranges";
import { type Content, openWhole, readWhole } from "./read-whole";

/** Most places in an error about a text that occurs often. */
const MOST_PLACES = 20;
const LF = 10;

/** A file's content before and after the edits. */
export interface Edited {
  readonly before: Buffer;
  /** The etag of the content before. */
  readonly etag: string;
  readonly after: Buffer;
}

/** The edits of one file. It reads the file and computes the new text, but writes nothing. */
export class Editing {
  readonly #workspace: Workspace;
  readonly #path: Path;
  readonly #request: Pick<EditRequest, "edits" | "ifMatch">;
  readonly #replacements: Replacement[] = [];
  readonly #ranges: Range[] = [];

  /** Refuses edits that fit no file. */
  constructor(workspace: Workspace, path: Path, request: Pick<EditRequest, "edits" | "ifMatch">) {
    this.#workspace = workspace;
    this.#path = path;
    this.#request = request;
    expectEditable(workspace, request, path.given);
    for (const [index, { oldText, newText, lines, replaceAll }] of request.edits.entries()) {
      if (oldText?.isWellFormed() === false || !newText.isWellFormed()) {
        const which = `Edit ${index + 1} of ${request.edits.length}`;
        refuse("not-text", path.given, `${which} has half of a surrogate pair; a file has only whole letters.`);
      }
      if (lines !== undefined) this.#ranges.push({ index, ...lines, newText, oldText });
      // The schema requires one of the two.
      else this.#replacements.push({ index, oldText: oldText ?? "", newText, isForAll: replaceAll === true });
    }
  }

  /** Edits a small text. Undefined if that would take long, or if a refusal needs details. */
  atOnce(): Edited | undefined {
    const { root, scratch, status } = this.#workspace;
    const opened = openWhole(this.#workspace, this.#path);
    if (status.size >= PIECE) {
      root.close(opened);
      return undefined;
    }
    const length = root.read(opened, scratch, PIECE, 0);
    root.close(opened);
    if (length < 0) return refuseFor(length, this.#path.given);
    const before = scratch.subarray(0, length);
    if (!isUtf8(before)) return this.#refuseBytes();
    const etag = etagOf(before);
    this.#expectMatch(etag);
    const edited = finishAtOnce(this.#edit(before));
    return edited === undefined || "places" in edited ? undefined : { before, etag, after: edited.text };
  }

  /** Edits a text, with pauses. */
  async slowly(signal: AbortSignal): Promise<Edited> {
    const { bytes, etag } = await this.#read(signal);
    this.#expectMatch(etag);
    const edited = await this.#finish(this.#edit(bytes), signal);
    if ("places" in edited) return this.#refuseMisfit(edited, signal);
    return { before: bytes, etag, after: edited.text };
  }

  *#edit(text: Buffer): Steps<{ readonly text: Buffer } | Misfit> {
    const { given } = this.#path;
    const ranged = this.#ranges.length === 0 ? text : yield* replaceRanges(text, this.#ranges, given);
    return yield* replaceTexts(ranged, this.#replacements, MOST_PLACES, (bytes) =>
      expectWritable(this.#workspace, bytes, given),
    );
  }

  async #read(signal: AbortSignal): Promise<Content> {
    const content = await readWhole(this.#workspace, this.#path, signal);
    return (await this.#finish(isText(content.bytes), signal)) ? content : this.#refuseBytes();
  }

  #finish<Value>(steps: Steps<Value>, signal: AbortSignal): Promise<Value> {
    return finishSlowly(steps, this.#workspace, signal);
  }

  #expectMatch(etag: string): void {
    const { ifMatch } = this.#request;
    if (ifMatch !== undefined && ifMatch !== etag) refuseChanged(this.#path.given, etag);
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
        `${which}: its oldText occurs ${often} in ${shown}, at line ${lines.map(({ line }) => line).join(", ")}${after}; make it longer, so that it occurs once, or write replaceAll: true.`,
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

/** Refuses texts by their length before the edit: longer than any file that can be edited, or than may be written. */
function expectEditable(workspace: Workspace, { edits }: Pick<EditRequest, "edits">, given: string): void {
  const { maxReadBytes } = workspace.limits;
  let newBytes = 0;
  for (const [index, { oldText, newText }] of edits.entries()) {
    newBytes += newText.length; // A lower bound of the bytes.
    if (oldText === undefined || oldText.length <= maxReadBytes) continue;
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
    yield; // The line may be long.
    if (lines.at(-1)?.line !== line) lines.push(lineAt(text, lineStart, line));
  }
  return lines;
}
