import { existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Place = { readonly name: string; readonly kind: string; readonly folder: string };

/** Those that are to go with the process, where nobody removed them: a row may be given up. */
const made = new Set<string>();
process.once("exit", () => made.forEach(remove));

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true });
  made.delete(path);
}

export function makeFolder({ folder }: Place, prefix = "envoi-files-") {
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

const shared = new Map<string, string>();

/** A folder that rows and floors share, since they only look at it: filled when first asked for, removed when the process ends. */
export function sharedFolder(place: Place, name: string, fill: (path: string) => void): string {
  return shared.getOrInsertComputed(`${place.folder}/${name}`, () => {
    const { path } = makeFolder(place, "envoi-shared-");
    fill(path);
    return path;
  });
}

/** By their numbers in `statfs(2)`. */
const KINDS: Readonly<Record<number, string>> = {
  ...{ 61267: "ext4", 16914836: "tmpfs", 2035054128: "overlay", 1481003842: "xfs", 2435016766: "btrfs" },
};

const kindOf = (folder: string): string =>
  existsSync(folder) ? (KINDS[statfsSync(folder).type] ?? "unknown") : "none";

/** Where the operating system keeps temporary files: a disk, unless its `kind` says otherwise. */
export const disk: Place = { name: "disk", kind: kindOf(tmpdir()), folder: tmpdir() };

const MEMORY = "/dev/shm";

export const tmpfs: Place | { readonly none: string } =
  kindOf(MEMORY) === "tmpfs"
    ? { name: "tmpfs", kind: "tmpfs", folder: MEMORY }
    : { none: `${MEMORY} is no tmpfs on this machine` };
