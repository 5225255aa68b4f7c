import { closeSync, mkdirSync, openSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

// What the rows about files and their floors read, write and list: the same for both.

/** A text of so many bytes in lines of 64; `turn` makes texts that differ in every line. */
export function letters(bytes: number, turn: number): string {
  const line = `${turn} the quick brown fox jumps over the lazy dog, and over the fence\n`;
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
}

/** A text with one word that an edit replaces by another, there and back. */
export const EDIT = {
  text: (bytes: number): string => {
    const half = letters(Math.floor(bytes / 2), 0);
    return `${half}\nNORTHWARD\n${half}`;
  },
  /** The word that is there before the edit of this number, and the one that is after. */
  words: (index: number): readonly [oldText: string, newText: string] =>
    index % 2 === 0 ? ["NORTHWARD", "SOUTHWARD"] : ["SOUTHWARD", "NORTHWARD"],
};

export function writeWhole(temporary: string, path: string, content: Buffer): boolean {
  const file = openSync(temporary, "wx");
  const written = writeSync(file, content);
  closeSync(file);
  renameSync(temporary, path);
  return written === content.length;
}

export function fillDirectory(folder: string, count: number): void {
  for (let i = 0; i < count; i++) writeFileSync(join(folder, `entry-${String(i).padStart(5, "0")}.txt`), "");
}

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
