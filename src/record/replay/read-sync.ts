import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { RecordingError } from "../files/faults";
import { FrameError, frameLength } from "../files/frames";
import { compressed, isCompressed, seriesOf, sharedStem } from "../files/names";
import { MOST_HELD, Room } from "../files/room";
import { type TextLine, TextLines } from "../files/text-lines";
import { type HeaderLine, type RecordingLine, readLine } from "../format";
import { Tape } from "./tape";

// A recorder of the mode "replay" gives its random numbers and references at once, so its file is read at once, too.

/** Bytes that are read from a file at a time, at least. */
const PIECE = 256 * 1024;

interface Part {
  readonly header: HeaderLine;
  readonly lines: readonly RecordingLine[];
  /** The number of places that could not be read. */
  readonly faults: number;
}

/**
 * Reads a recording with all parts that lie beside the file. The path may be the one that a recorder was given.
 *
 * @param most the most bytes that it may have, decompressed.
 * @throws RecordingError when there is no such recording, or it is of a later format, or larger.
 */
export function readTape(given: string, most = MOST_HELD): Tape {
  const path = partTo(given);
  const room = new Room(most);
  const first = readPart(path, room);
  const { recording } = first.header;
  const parts = new Map([[first.header.part, first]]);
  let faults = 0;
  for (const each of siblingsOf(path)) {
    const header = headerOf(each);
    if (header === undefined && statSync(each).size > 0) faults++; // An empty one was opened, and not begun.
    if (header?.recording !== recording) continue;
    if (parts.has(header.part))
      faults++; // A copy of a part that was read.
    else parts.set(header.part, readPart(each, room));
  }
  const inOrder = [...parts.values()].sort((a, b) => a.header.part - b.header.part);
  faults += inOrder.reduce((sum, part) => sum + part.faults, 0);
  const places = faults === 1 ? "One place" : `${faults} places`;
  const notes = faults === 0 ? [] : [`${places} of the files cannot be read.`];
  return new Tape(path, [first.header, ...inOrder.flatMap(({ lines }) => lines)], notes);
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

/** The header of a file, of which no more than its beginning is read; undefined for a file that has none. */
export function headerOf(path: string): HeaderLine | undefined {
  try {
    for (const read of linesOf(path, new Room(MOST_HELD))) return headerIn(path, read);
    return undefined;
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

function readPart(path: string, room: Room): Part {
  const lines: RecordingLine[] = [];
  let header: HeaderLine | undefined;
  let faults = 0;
  for (const read of linesOf(path, room)) {
    if (header === undefined) header = headerIn(path, read);
    else if (typeof read !== "string") lines.push(read);
    else faults++;
  }
  if (header === undefined) throw new RecordingError(`${path} is no recording: it has no header.`);
  return { header, lines, faults };
}

function headerIn(path: string, read: RecordingLine | string): HeaderLine {
  if (typeof read === "string") throw new RecordingError(`${path} is no recording: its first line ${read}.`);
  if (read.kind !== "header") throw new RecordingError(`${path} is no recording: it has no header.`);
  return read;
}

/** The lines of a file, and for each place that cannot be read the reason. */
function* linesOf(path: string, room: Room): Generator<RecordingLine | string> {
  const reader = new TextLines();
  for (const content of contentsOf(path)) {
    if (typeof content === "string") {
      reader.drop();
      yield content;
      continue;
    }
    room.take(content.length, path);
    for (const text of reader.read(content)) yield lineIn(text);
  }
  const last = reader.end();
  if (last !== undefined) yield lineIn(last);
}

function lineIn(text: TextLine): RecordingLine | string {
  if (text.wrong !== undefined) return text.wrong;
  const { line, wrong } = readLine(text.text);
  return line ?? wrong;
}

/** The content of a file, piece by piece, decompressed frame by frame; in place of what cannot be read the reason. */
function* contentsOf(path: string): Generator<Uint8Array | string> {
  const file = opened(path);
  try {
    let rest: Uint8Array = new Uint8Array(0);
    while (true) {
      // As much as waits, so that a long frame is not copied for each of its pieces.
      const piece = new Uint8Array(Math.max(PIECE, rest.length));
      const bytes = piece.subarray(0, readSync(file, piece));
      if (bytes.length === 0) break;
      if (!isCompressed(path)) {
        yield bytes;
        continue;
      }
      rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      for (let length = frameLength(rest); length !== null; length = frameLength(rest)) {
        yield decompressed(rest.slice(0, length));
        rest = rest.subarray(length);
      }
    }
    if (rest.length > 0) yield "ends within a zstd frame";
  } catch (thrown) {
    if (!(thrown instanceof FrameError)) throw thrown;
    yield thrown.message; // The beginning of the next frame is not known.
  } finally {
    closeSync(file);
  }
}

function opened(path: string): number {
  try {
    // To open a pipe waits for its writer, and a device may have no end.
    if (!statSync(path).isFile()) throw new RecordingError(`${path} is no file, but a folder, a pipe or a device.`);
    return openSync(path, "r");
  } catch (cause) {
    if (cause instanceof RecordingError) throw cause;
    throw new RecordingError(`There is no recording at ${path}.`, { cause });
  }
}

function decompressed(frame: Uint8Array<ArrayBuffer>): Uint8Array | string {
  try {
    return Bun.zstdDecompressSync(frame);
  } catch {
    return "has a broken zstd frame";
  }
}
