import type { Spawner } from "envoi";
import { type FileSystemRef, spawnFileSystem, type Tools } from "envoi/tools";
import type { Command } from "./command-line";

/** The operations that change nothing. */
export const READS = ["list", "read", "search"] as const;

/** Thrown when this machine has no safe way to serve files; its message says what to do. */
export class CannotServe extends Error {}

/** Spawns the file actor of the folder. Files that git or its hooks would run are closed, and so are files with secrets. */
export function spawnFiles(spawner: Spawner, { folder: root, readOnly }: Command): FileSystemRef {
  try {
    return spawnFileSystem(spawner, { root, readOnly, deny: ["**/.git", "**/.env"], maxReadBytes: 1_000_000 });
  } catch (thrown) {
    throw new CannotServe(thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
  }
}

/** The tools of files: those that clients call, and those that code calls, as `await tools.files.read({ path })`. */
export const fileTools = (files: FileSystemRef, { readOnly }: Command) =>
  ({ files: { ref: files, operations: readOnly ? READS : [...READS, "write", "edit"] } }) satisfies Tools;
