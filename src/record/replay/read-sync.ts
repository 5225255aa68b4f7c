import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { RecordingError } from "../files/faults";
import { FrameError, frameAt } from "../files/frames";
import { compressed, isCompressed, seriesOf, sharedStem } from "../files/names";
import { TextLines } from "../files/text-lines";
import { type HeaderLine, type RecordingLine, readLine } from "../format";
import { Tape } from "./tape";

// A recorder of the mode "replay" gives its random numbers and references at once, so its file is read at once, too.

interface Part {
  readonly header: HeaderLine;
  readonly lines: readonly RecordingLine[];
  /** The number of lines that could not be read. */
  readonly faults: number;
}

/**
 * Reads a recording with all parts that lie beside the file. The path may be the one that a recorder was given.
 *
 * @throws RecordingError when there is no such recording, or it is of a later format.
 */
export function readTape(given: string): Tape {
  const path = partTo(given);
  const first = readPart(path);
  const { recording } = first.header;
  const others = siblingsOf(path)
    .filter((each) => headerOf(each)?.recording === recording)
    .map((each) => readPart(each));
  const parts = [first, ...others].sort((a, b) => a.header.part - b.header.part);
  const faults = parts.reduce((sum, part) => sum + part.faults, 0);
  const notes = faults === 0 ? [] : [`${faults} places of the files cannot be read.`];
  return new Tape(path, [first.header, ...parts.flatMap(({ lines }) => lines)], notes);
}

/** A file of the recording with this `to`, whose first part may be compressed or deleted by now. */
function partTo(to: string): string {
  const path = [to, compressed(to)].find((each) => existsSync(each));
  if (path !== undefined) return path;
  const isFirst = seriesOf(to).stem === sharedStem(to);
  const [part = to] =
    isFirst && existsSync(dirname(to)) ? siblingsOf(to).filter((each) => headerOf(each) !== undefined) : [];
  return part;
}

/** The header of a file; undefined for a file that has none. */
export function headerOf(path: string): HeaderLine | undefined {
  try {
    return readPart(path, 1).header;
  } catch (thrown) {
    if (thrown instanceof RecordingError) return undefined;
    throw thrown;
  }
}

/** The files beside one that may be parts of its recording, by their names. */
function siblingsOf(path: string): string[] {
  const [stem, folder] = [sharedStem(path), dirname(path)];
  const { extension } = seriesOf(path);
  return readdirSync(folder)
    .filter((name) => sharedStem(name) === stem && seriesOf(name).extension === extension)
    .map((name) => join(folder, name))
    .filter((each) => join(each) !== join(path));
}

/** @param most the number of lines that are read. */
function readPart(path: string, most = Number.POSITIVE_INFINITY): Part {
  const lines: RecordingLine[] = [];
  let faults = 0;
  const { texts, isTorn } = textsOf(path);
  for (const text of texts) {
    const read = text.wrong === undefined ? readLine(text.text) : text;
    if ("line" in read && read.line !== undefined) lines.push(read.line);
    else if (lines.length === 0) throw new RecordingError(`${path} is no recording: its first line ${read.wrong}.`);
    else faults++;
    if (lines.length >= most) break;
  }
  const [header, ...others] = lines;
  if (header?.kind !== "header") throw new RecordingError(`${path} is no recording: it has no header.`);
  return { header, lines: others, faults: faults + (isTorn ? 1 : 0) };
}

function textsOf(path: string) {
  const { bytes, isTorn } = contentOf(path);
  const reader = new TextLines();
  const texts = [...reader.read(bytes)];
  const last = reader.end();
  return { texts: last === undefined ? texts : [...texts, last], isTorn };
}

function contentOf(path: string): { readonly bytes: Uint8Array; readonly isTorn: boolean } {
  let rest: Uint8Array;
  try {
    // To open a pipe waits for its writer, and a device may have no end.
    if (!statSync(path).isFile()) throw new RecordingError(`${path} is no file, but a folder, a pipe or a device.`);
    rest = readFileSync(path);
  } catch (cause) {
    if (cause instanceof RecordingError) throw cause;
    throw new RecordingError(`There is no recording at ${path}.`, { cause });
  }
  if (!isCompressed(path)) return { bytes: rest, isTorn: false };
  const contents: Uint8Array[] = [];
  try {
    for (let frame = frameAt(rest); frame !== null; frame = frameAt(rest)) {
      contents.push(Bun.zstdDecompressSync(rest.slice(0, frame.length)));
      rest = rest.subarray(frame.length);
    }
  } catch (thrown) {
    if (!(thrown instanceof FrameError || contents.length > 0)) throw thrown;
  }
  return { bytes: Buffer.concat(contents), isTorn: rest.length > 0 };
}
