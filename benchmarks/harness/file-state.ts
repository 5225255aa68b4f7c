import { readdirSync, readFileSync, statSync } from "node:fs";
import { letters } from "./file-samples";

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
