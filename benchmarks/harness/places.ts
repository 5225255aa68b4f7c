import { existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Place = { readonly name: string; readonly kind: string; readonly folder: string };

/** Those that are to go with the process, where nobody removed them: a row may be given up. */
const made = new Set<string>();
process.once("exit", putAway);

/** Removes all folders that are left. `bun test` tells its files of no exit, so they call it themselves. */
export function putAway(): void {
  made.forEach(remove);
  shared.clear();
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true });
  made.delete(path);
}

export function makeFolder({ folder }: Place, prefix = "envoi-files-") {
  const path = mkdtempSync(join(folder, prefix));
  made.add(path);
  return { path, remove: () => remove(path) };
}

/**
 * Writes files, each whole or not at all. Where the disk is full, what was there before stays, of all of them; where the process ends in
 * the middle, nothing else is left.
 */
export async function writeWhole(texts: Iterable<readonly [path: string, text: string]>): Promise<void> {
  const all = Array.from(texts, ([path, text]) => ({ path, text, beside: `${path}.${process.pid}.tmp` }));
  for (const { beside } of all) made.add(beside);
  try {
    for (const { beside, text } of all) await Bun.write(beside, text);
    for (const { beside, path } of all) await rename(beside, path);
  } finally {
    for (const { beside } of all) remove(beside);
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
