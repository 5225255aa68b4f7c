import type { Name, Root } from "../root/root";
import { discard } from "../root/walk";

/** Length of the shortest path with such a name. */
const SHORTEST = ".envoi-0123456789ab.0".length;
const BESIDE = /(?:^|\/)\.envoi-[0-9a-f]{12}\.\d+(?:\/|$)/i;
const NOTE = /^([0-9a-f-]{12,36}\.\d+)\.at$/;
/** Longest path in bytes. */
const LONGEST_PATH = 4_095;

/**
 * The name of a file that is staged in its target directory. This happens if that directory is on another file system
 * than the staging directory, since a rename cannot cross over. A note in the staging directory keeps the place, so the
 * files of a killed process can be found.
 */
export const besideOf = (id: string): string => `.envoi-${id}`;
export const noteOf = (id: string): string => `${id}.at`;

/** True for a path of such a file, or of something in such a directory. It is hidden from all requests. */
export const isBeside = (path: string): boolean => path.length >= SHORTEST && BESIDE.test(path);

/** The same for a name in a directory. */
export const isBesideName = (name: Name): boolean =>
  isBeside(typeof name === "string" ? name : Buffer.from(name).toString("latin1"));

/** True for the name of a note in the staging directory. */
export const isNote = (name: string): boolean => NOTE.test(name);

/** Notes the directory that will hold the file of this id. Returns 0 or a negated errno. */
export function writeNote(root: Root, staging: number, id: string, directory: string): number {
  const note = root.openAt(staging, noteOf(id), "create");
  if (note < 0) return note;
  const bytes = Buffer.from(directory);
  const count = root.write(note, bytes, bytes.length);
  root.close(note);
  return Math.min(0, count);
}

/** Removes the file that a note describes, if it still exists. */
export function removeNoted(root: Root, staging: number, note: string): void {
  const id = NOTE.exec(note)?.[1];
  const file = root.openAt(staging, note, "read");
  if (id === undefined || file < 0) return;
  const bytes = Buffer.alloc(LONGEST_PATH);
  const length = root.read(file, bytes, bytes.length, 0);
  root.close(file);
  if (length < 0) return;
  const path = bytes.toString("utf8", 0, length);
  const at = path === "" ? root.top : root.open(path, "place");
  if (at < 0) return;
  removeStaged(root, at, besideOf(id));
  if (path !== "") root.close(at);
}

/** Removes a staged file, or a staged directory and everything below it. */
export function removeStaged(root: Root, at: number, name: string): void {
  if (root.unlink(at, name) < 0) for (const _ of discard(root, at, name));
}
