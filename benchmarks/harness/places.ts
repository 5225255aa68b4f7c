import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system that files are measured on. */
export interface Place {
  /** What rows call it. */
  readonly name: string;
  /** What it is: `ext4`, `tmpfs`; or `unknown`. */
  readonly kind: string;
  readonly folder: string;
}

/** Why there is no such file system. */
export interface NoPlace {
  /** As the end of a sentence. */
  readonly none: string;
}

/** A folder of its own for one row, or for its floor. */
export interface Folder {
  readonly path: string;
  readonly remove: () => void;
}

/** Those that are to go with the process, where nobody removed them: a row may be given up. */
const made = new Set<string>();
process.once("exit", () => made.forEach(remove));

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true });
  made.delete(path);
}

/** Makes an empty folder; it is removed with the process at the latest. */
export function makeFolder({ folder }: Place, prefix = "envoi-files-"): Folder {
  const path = mkdtempSync(join(folder, prefix));
  made.add(path);
  return { path, remove: () => remove(path) };
}

/** Writes a file whole or not at all: where the disk is full, or the process ends in the middle, what was there before stays. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const beside = `${path}.${process.pid}.tmp`;
  try {
    await Bun.write(beside, text);
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/** What the names of shared folders begin with. */
export const SHARED = "envoi-shared-";

const shared = new Map<string, string>();

/** A folder that rows and floors share, since they only look at it: filled when first asked for, removed when the process ends. */
export function sharedFolder(place: Place, name: string, fill: (path: string) => void): string {
  const key = `${place.folder}/${name}`;
  const made = shared.get(key);
  if (made !== undefined) return made;
  const { path } = makeFolder(place, SHARED);
  shared.set(key, path);
  fill(path);
  return path;
}

/** What Linux calls some of its file systems in `statfs(2)`. */
const KINDS: Readonly<Record<number, string>> = {
  61267: "ext4",
  16914836: "tmpfs",
  2035054128: "overlay",
  1481003842: "xfs",
  2435016766: "btrfs",
};

function kindOf(folder: string): string {
  try {
    return KINDS[statfsSync(folder).type] ?? "unknown";
  } catch {
    return "none";
  }
}

/** Where the operating system keeps temporary files: a disk, unless its `kind` says otherwise. */
export const disk: Place = { name: "disk", kind: kindOf(tmpdir()), folder: tmpdir() };

/** Where Linux keeps shared memory: a file system without a disk. */
const MEMORY = "/dev/shm";

/** A file system in memory, or why there is none. */
export const tmpfs: Place | NoPlace =
  kindOf(MEMORY) === "tmpfs"
    ? { name: "tmpfs", kind: "tmpfs", folder: MEMORY }
    : { none: `${MEMORY} is no tmpfs on this machine` };
