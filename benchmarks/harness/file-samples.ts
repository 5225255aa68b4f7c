import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Place, sharedFolder } from "./places";

// What the rows about files and their floors read, write and list: the same for both.

/** How much of a large file is read at a time, in bytes. */
export const PIECE = 256 * 1024;

/** A text of so many bytes in lines of 64; `turn` makes texts that differ in every line. */
export function letters(bytes: number, turn: number): string {
  const line = `${turn} the quick brown fox jumps over the lazy dog, and over the fence\n`;
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
}

/** A text with one word that occurs once, and that an edit replaces by another, there and back. */
export const EDIT = {
  text: (bytes: number): string => {
    const half = letters(Math.floor(bytes / 2), 0);
    return `${half}\nNORTHWARD\n${half}`;
  },
  /** The word that is there before the edit of this number, and the one that is after. */
  words: (index: number): readonly [oldText: string, newText: string] =>
    index % 2 === 0 ? ["NORTHWARD", "SOUTHWARD"] : ["SOUTHWARD", "NORTHWARD"],
};

/** So many names, in their order. */
export const entryNames = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `entry-${String(index).padStart(5, "0")}.txt`);

/** A directory of so many empty files, to be looked at only. */
export const directoryOf = (place: Place, entries: number): string =>
  sharedFolder(place, `${entries} entries`, (path) => fillDirectory(path, entries));

/** Makes so many empty files. */
export function fillDirectory(folder: string, count: number): void {
  for (const name of entryNames(count)) writeFileSync(join(folder, name), "");
}

/** Writes a file of so many bytes, no two pieces of which are the same. */
export function writeLarge(path: string, bytes: number): void {
  const file = openSync(path, "w");
  const piece = Buffer.from(letters(PIECE, 0));
  for (let at = 0; at < bytes; at += PIECE) {
    piece.writeUInt32LE(at / PIECE);
    writeSync(file, piece, 0, Math.min(PIECE, bytes - at));
  }
  closeSync(file);
}

/** What is searched for: one line in one file of a hundred. */
export const NEEDLE = "a needle in the hay";

/** Makes so many files of some 2 KB, a hundred in each directory, and returns their paths below the folder. */
export function fillTree(folder: string, files: number): string[] {
  const paths: string[] = [];
  for (let index = 0; index < files; index++) {
    const directory = `part-${String(Math.floor(index / 100)).padStart(3, "0")}`;
    if (index % 100 === 0) mkdirSync(join(folder, directory));
    const path = `${directory}/file-${String(index).padStart(5, "0")}.txt`;
    const text = letters(1_950, index);
    writeFileSync(join(folder, path), index % 100 === 42 ? `${text}\n${NEEDLE}\n` : `${text}\n`);
    paths.push(path);
  }
  return paths;
}

// What is there after the work of a row about files, or of its floor: each throws unless it is as it should be.

/** The file holds the last of two contents that were written in turn. */
export function expectLast(path: string, bytes: number, writes: number): void {
  const text = readFileSync(path, "utf8");
  if (text !== letters(bytes, (writes - 1) & 1)) throw new Error("the file does not hold what was written last");
}

export function expectSize(path: string, bytes: number): void {
  const { size } = statSync(path);
  if (size !== bytes) throw new Error(`the file has ${size} bytes where ${bytes} were written`);
}

export function expectNames(folder: string, names: readonly string[]): void {
  const found = readdirSync(folder).sort();
  if (found.join("/") === names.join("/")) return;
  throw new Error(`the folder has ${found.length} names, and ${names.length} were to be left`);
}

export function expectSame(path: string, other: string): void {
  if (!readFileSync(path).equals(readFileSync(other))) throw new Error("the copy is not what was copied");
}
