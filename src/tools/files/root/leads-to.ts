import { type Root, Status } from "./root";

// All roots share these, since neither is used across a pause.
const open = new Status();
const found = new Status();

/** True if a path below the root leads to this open file or directory. */
export function leadsTo(root: Root, path: string, descriptor: number): boolean {
  if (root.stat(descriptor, open) < 0) return false;
  if (path === "") return root.stat(root.top, found) === 0 && isSame();
  const slash = path.lastIndexOf("/");
  const at = slash < 0 ? root.top : root.open(path.slice(0, slash), "place");
  if (at < 0) return false;
  const code = root.statAt(at, path.slice(slash + 1), found);
  if (slash >= 0) root.close(at);
  return code === 0 && isSame();
}

/** True if an open file has no name left. Such a file cannot have been moved out of the served tree. */
export function isNameless(root: Root, descriptor: number): boolean {
  return root.stat(descriptor, open) === 0 && open.links === 0;
}

const isSame = (): boolean => open.inode === found.inode && open.device === found.device;
