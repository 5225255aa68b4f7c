import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
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

/** Where the operating system keeps temporary files: a disk, unless its `kind` says otherwise. */
export const disk: Place = { name: "disk", kind: kindOf(tmpdir()), folder: tmpdir() };

/** Where Linux keeps shared memory: a file system without a disk. */
const MEMORY = "/dev/shm";

/** A file system in memory, or why there is none. */
export const tmpfs: Place | NoPlace = inMemory();

function inMemory(): Place | NoPlace {
  const kind = kindOf(MEMORY);
  if (kind !== "tmpfs") return { none: `${MEMORY} is no tmpfs on this machine` };
  const place = { name: "tmpfs", kind, folder: MEMORY };
  try {
    makeFolder(place).remove();
  } catch {
    return { none: `${MEMORY} takes no files on this machine` };
  }
  return place;
}

/** The file system of the longest mount point that holds a folder, by Linux's own table. */
function kindOf(folder: string): string {
  let kind = "unknown";
  let longest = -1;
  try {
    const path = realpathSync(folder);
    for (const line of readFileSync("/proc/self/mountinfo", "utf8").split("\n")) {
      // … mount point, options, a few tags, a dash, and then the file system (proc_pid_mountinfo(5)).
      const [before = "", after = ""] = line.split(" - ");
      const point = before.split(" ")[4] ?? "";
      const holds = point === "/" || path === point || path.startsWith(`${point}/`);
      if (!holds || point.length < longest) continue;
      longest = point.length;
      kind = after.split(" ")[0] ?? kind;
    }
  } catch {
    // No such table, or no such folder.
  }
  return kind;
}
